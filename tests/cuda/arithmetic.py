"""Arithmetic of PTX as C: instructions that touch no memory and no other lane.

What C does otherwise stands in machine.c.
"""

from collections.abc import Callable

from tests.cuda.operands import C, Operands
from tests.cuda.ptx import SIZES, Instruction

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "and": "&", "or": "|", "xor": "^"}
_COMPARE = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "lo": "<",
    "ls": "<=",
    "hi": ">",
    "hs": ">=",
}
_ROUND = {"rzi": "trunc", "rmi": "floor", "rpi": "ceil", "rni": "rint"}


def statement(instruction: Instruction, operands: Operands) -> str | None:
    """An instruction as a C statement, or None if it is not known."""
    form = _FORMS.get(instruction.kind)
    # a type, a way of rounding or a number of arguments that the form does not know
    try:
        return (
            form(instruction, operands, instruction.parts[1:-1], instruction.parts[-1], instruction.arguments)
            if form
            else None
        )
    except (
        KeyError,
        IndexError,
        ValueError,
    ):
        return None


# Each form gets the words between an instruction's kind and its type, the type, and the arguments.


def _whole(i: Instruction, o: Operands, how: list[str], t: str, a: tuple[str, ...]) -> str | None:
    """Whole numbers, one C expression; sums and products are made of 64 bits without sign, since overflow has
    no meaning in C.
    """
    if how:
        return None
    bits, kind = 8 * SIZES.get(t, 0), i.kind
    x = [o.value(operand, t) for operand in a[1:3]]
    wide = [f"((uint64_t){operand})" for operand in x]
    if kind in ("add", "sub", "and", "or", "xor"):
        return o.assign(a[0], t, f"{wide[0]}{_INFIX[kind]}{wide[1]}")
    if kind in ("div", "rem"):
        # the processor traps on the lowest by -1
        plain = f"{x[0]}{_INFIX[kind]}{x[1]}"
        by_minus_one = f"0-{wide[0]}" if kind == "div" else "0"
        quotient = f"{x[1]}==-1?{by_minus_one}:{plain}" if t[0] == "s" else plain
        return f"if ({x[1]}==0) fault(ZERO_DIVISOR,{i.line},warp*32+l); else {o.assign(a[0], t, quotient)}"
    if kind in ("min", "max"):
        return o.assign(a[0], t, f"{x[0]}{'<' if kind == 'min' else '>'}{x[1]}?{x[0]}:{x[1]}")
    if kind == "sad":
        return o.assign(
            a[0], t, f"(uint64_t){o.value(a[3], t)}+({x[0]}>{x[1]}?{wide[0]}-{wide[1]}:{wide[1]}-{wide[0]})"
        )
    if kind == "not" and t == "pred":
        return o.assign(a[0], t, f"!{x[0]}")
    expression = {
        "neg": f"0-{wide[0]}",
        "abs": f"{x[0]}<0?0-{wide[0]}:{wide[0]}",
        "not": f"~{wide[0]}",
        "brev": f"reverse({x[0]},{bits})",
    }
    return o.assign(a[0], t, expression[kind])


def _float(i: Instruction, o: Operands, how: list[str], t: str, a: tuple[str, ...]) -> str | None:
    """Floats. An operation without .rn may be contracted with another, and is not known; nor are
    approximations.
    """
    x = [o.value(operand, t) for operand in a[1:3]]
    suffix = "f" if t == "f32" else ""
    infix = f"{x[0]}{_INFIX[i.kind]}{x[1]}" if i.kind in ("add", "sub", "mul", "div") else ""
    rounded = {"sqrt": f"sqrt{suffix}({x[0]})", "rcp": f"({C[t]})1/{x[0]}"}
    if infix or i.kind in rounded:
        expression = infix or rounded[i.kind]
        if how == ["rn", "sat"] and t == "f32":
            return o.assign(a[0], t, f"saturate({expression})")
        return o.assign(a[0], t, expression) if how == ["rn"] else None
    exact = {"neg": "-{0}", "abs": f"fabs{suffix}({{0}})", "min": "least({0},{1})", "max": "most({0},{1})"}
    return o.assign(a[0], t, exact[i.kind].format(*x)) if not how else None


def _either(i: Instruction, o: Operands, how: list[str], t: str, a: tuple[str, ...]) -> str | None:
    return (_float if t[0] == "f" else _whole)(i, o, how, t, a)


def _shift(i: Instruction, o: Operands, how: list[str], t: str, a: tuple[str, ...]) -> str | None:
    """By more than there are bits: zero, or the sign."""
    bits, x, by = 8 * SIZES[t], o.value(a[1], t), o.value(a[2], "u32")
    if i.kind == "shr" and t[0] == "s":
        return o.assign(a[0], t, f"{x}>>({by}>={bits}?{bits - 1}:{by})")
    return o.assign(a[0], t, f"{by}>={bits}?0:(uint64_t){x}{'<<' if i.kind == 'shl' else '>>'}{by}")


def _funnel(i: Instruction, o: Operands, how: list[str], t: str, a: tuple[str, ...]) -> str | None:
    """Two words shifted as one: gives the upper word if to the left, the lower word if to the right."""
    (side, mode), by = how, o.value(a[3], "u32")
    by = {"wrap": f"({by}&31)", "clamp": f"({by}>32?32:{by})"}[mode]
    both = f"((uint64_t){o.value(a[2], 'b32')}<<32|{o.value(a[1], 'b32')})"
    return o.assign(a[0], t, {"l": f"{both}<<{by}>>32", "r": f"{both}>>{by}"}[side])


def _bits(i: Instruction, o: Operands, how: list[str], t: str, a: tuple[str, ...]) -> str | None:
    """Counting, finding, cutting out and permuting bits: functions of machine.c."""
    bits, is_signed = 8 * SIZES[t], int(t[0] == "s")
    x = [o.value(operand, t) for operand in a[1:3]]
    number = lambda k: o.value(a[k], "u32")  # noqa: E731
    if i.kind == "bfind" and how in ([], ["shiftamt"]):
        return o.assign(a[0], "u32", f"find({x[0]},{bits},{is_signed},{len(how)})")
    if how:
        return None
    if i.kind in ("popc", "clz"):
        counts = {
            "popc": f"__builtin_popcountll({x[0]})",
            "clz": f"{x[0]}?__builtin_clzll({x[0]})-{64 - bits}:{bits}",
        }
        return o.assign(a[0], "u32", counts[i.kind])
    forms = {
        "bfe": lambda: f"extract({x[0]},{number(2)},{number(3)},{bits},{is_signed})",
        "bfi": lambda: f"insert({x[0]},{x[1]},{number(3)},{number(4)},{bits})",
        "prmt": lambda: f"permute({x[0]},{x[1]},{number(3)})",
        "lop3": lambda: f"logic({x[0]},{x[1]},{number(3)},{number(4)})",
        "fns": lambda: f"nth_set({x[0]},{x[1]},{number(3)})",
    }
    return o.assign(a[0], t, forms[i.kind]())


def _choose(i: Instruction, o: Operands, how: list[str], t: str, a: tuple[str, ...]) -> str | None:
    if i.kind == "slct":
        (kind,) = how
        return o.assign(a[0], kind, f"{o.value(a[3], t)}>=0?{o.value(a[1], kind)}:{o.value(a[2], kind)}")
    return (
        o.assign(a[0], t, f"{o.value(a[3], 'pred')}?{o.value(a[1], t)}:{o.value(a[2], t)}")
        if not how
        else None
    )


def _copysign(i: Instruction, o: Operands, how: list[str], t: str, a: tuple[str, ...]) -> str | None:
    return (
        o.assign(a[0], t, f"copysign{'f' if t == 'f32' else ''}({o.value(a[2], t)},{o.value(a[1], t)})")
        if not how
        else None
    )


def _move(i: Instruction, o: Operands, how: list[str], t: str, a: tuple[str, ...]) -> str | None:
    """Also from and to registers in braces, the lowest bits first."""
    packed = next((x for x in a if x.startswith("{")), None)
    if packed is None:
        return o.assign(a[0], t, o.value(a[1], t))
    names = [x.strip() for x in packed.strip("{}").split(",")]
    bits = 8 * SIZES[t] // len(names)
    if packed == a[1]:
        return o.assign(
            a[0], t, "|".join(f"(uint64_t){o.value(x, f'b{bits}')}<<{bits * k}" for k, x in enumerate(names))
        )
    pieces = " ".join(
        o.assign(x, f"b{bits}", f"(uint{bits}_t)(whole>>{bits * k})") for k, x in enumerate(names) if x != "_"
    )
    return f"{{ uint64_t whole={o.value(a[1], f'b{8 * SIZES[t]}')}; {pieces} }}"


def _to_space(i: Instruction, o: Operands, how: list[str], t: str, a: tuple[str, ...]) -> str | None:
    """Between a generic address and one of a space."""
    window = {"global": "0", "const": "0", "shared": "SHARED_WINDOW", "local": "LOCAL_WINDOW"}[how[-1]]
    return (
        o.assign(a[0], t, f"{o.value(a[1], t)}{'-' if how[0] == 'to' else '+'}{window}")
        if t == "u64"
        else None
    )


def _product(i: Instruction, o: Operands, how: list[str], t: str, a: tuple[str, ...]) -> str | None:
    """Of whole numbers: the lower half, the upper half or all of it, with mad a sum."""
    if t[0] == "f":
        return _float(i, o, how, t, a) if i.kind == "mul" else None
    (half,), x, y = how, o.value(a[1], t), o.value(a[2], t)
    kind = f"{t[0]}{16 * SIZES[t]}" if half == "wide" else t
    big = "__int128" if t[0] == "s" else "unsigned __int128"
    forms = {
        "lo": f"(uint64_t){x}*(uint64_t){y}",
        "hi": f"(uint64_t)((({big}){x}*({big}){y})>>{8 * SIZES[t]})",
        "wide": f"(({C[kind]}){x}*({C[kind]}){y})",
    }
    return o.assign(
        a[0], kind, f"{forms[half]}+(uint64_t){o.value(a[3], kind)}" if i.kind == "mad" else forms[half]
    )


def _dot(i: Instruction, o: Operands, how: list[str], t: str, a: tuple[str, ...]) -> str | None:
    (first,) = how
    x = ",".join(o.value(operand, "u32") for operand in a[1:4])
    return o.assign(a[0], "u32", f"dot({x},{int(first == 's32')},{int(t == 's32')})")


def _compare(i: Instruction, o: Operands, how: list[str], t: str, a: tuple[str, ...]) -> str | None:
    """Also with a second target, which gets the opposite; both can be combined with a third operand."""
    (compare, *combine), x, y = how, o.value(a[1], t), o.value(a[2], t)
    unordered = f"({x}!={x}||{y}!={y})"
    if t[0] != "f":
        result = f"{x}{_COMPARE[compare]}{y}"
    elif compare in ("num", "nan"):
        result = unordered if compare == "nan" else f"!{unordered}"
    elif compare in _COMPARE:
        result = f"!{unordered}&&{x}{_COMPARE[compare]}{y}"
    else:  # "ltu" and so on: true as well if one is not a number
        result = f"{unordered}||{x}{_COMPARE[compare.removesuffix('u')]}{y}"
    joined = f"{_INFIX[combine[0]]}({o.predicate(a[3])})" if combine else ""
    target, _, opposite = a[0].partition("|")
    second = o.assign(opposite, "pred", "no") if opposite else ""
    return (
        f"{{ int is={result}, yes=is{joined}, no=!is{joined}; {o.assign(target, 'pred', 'yes')} {second} }}"
    )


def _convert(i: Instruction, o: Operands, how: list[str], of: str, a: tuple[str, ...]) -> str | None:
    *how, to = how
    x = o.value(a[1], of)
    if to[0] == "f" and of[0] == "f" and len(how) == 1 and how[0] in _ROUND:
        return o.assign(a[0], to, f"{_ROUND[how[0]]}({x})")
    if to == of == "f32" and how == ["sat"]:
        return o.assign(a[0], to, f"saturate({x})")
    if to[0] == "f":
        return o.assign(a[0], to, x) if how in ([], ["rn"]) else None
    size = f"{8 * SIZES[to]},{int(to[0] == 's')}"
    if of[0] == "f":
        (way,) = how
        nan_is_lowest = int(of == "f64" or SIZES[to] == 8)
        return o.assign(a[0], to, f"to_integer({_ROUND[way]}({x}),{size},{nan_is_lowest})")
    if how == ["sat"]:
        return o.assign(a[0], to, f"saturate_integer({x},{size})")
    return o.assign(a[0], to, x) if not how else None


def _result(i: Instruction, o: Operands, how: list[str], t: str, a: tuple[str, ...]) -> str | None:
    """What a barrier that reduces gives each thread."""
    return o.assign(a[0], t, {"popc": "trues", "or": "trues!=0", "and": "trues==all_threads"}[how[0]])


def _fence(i: Instruction, o: Operands, how: list[str], t: str, a: tuple[str, ...]) -> str:
    """Memory is sequential here."""
    return ""


_Form = Callable[[Instruction, Operands, list[str], str, tuple[str, ...]], str | None]
_FORMS: dict[str, _Form] = {
    **dict.fromkeys(("add", "sub", "div", "neg", "abs", "min", "max"), _either),
    **dict.fromkeys(("and", "or", "xor", "not", "rem", "sad", "brev"), _whole),
    **dict.fromkeys(("sqrt", "rcp"), _float),
    **dict.fromkeys(("shl", "shr"), _shift),
    **dict.fromkeys(("popc", "clz", "bfind", "bfe", "bfi", "prmt", "lop3", "fns"), _bits),
    **dict.fromkeys(("selp", "slct"), _choose),
    **dict.fromkeys(("mul", "mad"), _product),
    **dict.fromkeys(("membar", "fence"), _fence),
    "shf": _funnel,
    "copysign": _copysign,
    "mov": _move,
    "cvta": _to_space,
    "dp4a": _dot,
    "setp": _compare,
    "cvt": _convert,
    "result": _result,
}
