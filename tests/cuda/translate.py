"""A parsed kernel as C: its basic blocks as functions, which run on the machine of machine.c."""

import re
from pathlib import Path

from tests.cuda.ptx import COLLECTIVE, SIZES, Instruction, Program, Unsupported

MACHINE = Path(__file__).with_name("machine.c")
#: log2 of the bytes between shared arrays, as in machine.c: far more than an array has, so that what overruns one meets no other.
SHARED_SLOT = 18
_C = {"b8": "uint8_t", "u8": "uint8_t", "s8": "int8_t", "b16": "uint16_t", "u16": "uint16_t", "s16": "int16_t", "b32": "uint32_t", "u32": "uint32_t",
      "s32": "int32_t", "b64": "uint64_t", "u64": "uint64_t", "s64": "int64_t", "f32": "float", "f64": "double", "pred": "uint8_t"}  # fmt: skip
_SPECIAL = {"%tid.x": "warp*32+l", "%tid.y": "0", "%tid.z": "0", "%ntid.x": "L.threads", "%ntid.y": "1", "%ntid.z": "1", "%ctaid.x": "ctaid_x",
            "%ctaid.y": "ctaid_y", "%ctaid.z": "ctaid_z", "%nctaid.x": "L.grid_x", "%nctaid.y": "L.grid_y", "%nctaid.z": "L.grid_z", "%laneid": "l",
            "%warpid": "warp", "%dynamic_smem_size": "L.dynamic", "%lanemask_eq": "1u<<l", "%lanemask_lt": "(1u<<l)-1",
            "%lanemask_le": "(1u<<l)*2-1", "%lanemask_gt": "~((1u<<l)*2-1)", "%lanemask_ge": "~((1u<<l)-1)"}  # fmt: skip
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "and": "&", "or": "|", "xor": "^"}
_ROUND = {"rzi": "trunc", "rmi": "floor", "rpi": "ceil", "rni": "rint"}
_ATOMIC = {
    "add": "old+v",
    "or": "old|v",
    "and": "old&v",
    "xor": "old^v",
    "max": "old>v?old:v",
    "min": "old<v?old:v",
    "exch": "v",
    "cas": "old==v?u:old",
}
_REDUCE = {"add": "a+b", "min": "a<b?a:b", "max": "a>b?a:b", "and": "a&b", "or": "a|b", "xor": "a^b"}
#: What a load or store may say of caches and order that changes nothing here.
_HINTS = {"weak", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "relaxed", "cta", "gpu", "sys"}
#: Instructions that have no target among their arguments.
_NO_TARGET = {"st", "red", "bra", "brx", "bar", "ret", "exit", "membar", "fence"}


def translate(program: Program) -> str:
    """The C program of a kernel.

    Raises:
        Unsupported: it has an instruction, or a way to use one, that is not known.
    """
    return _Translator(program).source()


class _Translator:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.shared = {name: place << SHARED_SLOT for place, name in enumerate(program.shared)}
        self.parameters = {p.name: p.offset for p in program.parameters}
        self.local, self.local_bytes = {}, 0
        for name, array in program.local.items():
            self.local[name] = self.local_bytes = -(-self.local_bytes // array.align) * array.align
            self.local_bytes += array.size
        self.tables = {name: place for place, name in enumerate(program.tables)}
        self.barriers = {id(barrier): number for number, barrier in enumerate(program.barriers)}
        self.within = self._within_blocks()
        self.counts: list[str] = []  # what counts the traffic of the basic block at hand
        self.here = 0  # the basic block at hand
        self.accesses = 1

    def source(self) -> str:
        """Constants, the machine, the basic blocks, and tables of them."""
        program = self.program
        functions = [self._function(k, block) for k, block in enumerate(program.blocks)]
        between = "".join(f"{_C[kind]} {_name(name)}[32]; " for name, kind in program.registers.items() if name not in self.within)
        constants = {"BLOCK_COUNT": len(program.blocks), "ACCESS_COUNT": self.accesses, "SHARED_COUNT": len(program.shared) or 1,
                     "BARRIER_COUNT": len(program.barriers) or 1, "LOCAL_BYTES": max(self.local_bytes, 16), "REGISTERS": between or "char none;"}  # fmt: skip
        table = [
            f"{{block_{k},{sum(x.is_real for x in b)},{sum(x.cost for x in b):.2f},{b[0].line if b else 0}}}"
            for k, b in enumerate(program.blocks)
        ]
        shared = [f"{{{a.size}, {a.align}}}" for a in program.shared.values()]
        return "\n".join([
            *(f"#define {name} {value}" for name, value in constants.items()),
            MACHINE.read_text(),
            *functions,
            f"static const Block BLOCKS[BLOCK_COUNT] = {{{', '.join(table)}}};",
            f"static const int BARRIER_LINES[BARRIER_COUNT] = {{{', '.join(str(x.line) for x in program.barriers) or 0}}};",
            f"static const SharedArray SHARED_ARRAYS[SHARED_COUNT] = {{{', '.join(shared) or '{16, 16}'}}};",
            "",
        ])  # fmt: skip

    def _within_blocks(self) -> set[str]:
        """Registers that live within one basic block: they are ordinary C variables."""
        places: dict[str, int] = {}
        several: set[str] = set()
        for k, block in enumerate(self.program.blocks):
            for instruction in block:
                targets = instruction.arguments[:1] if instruction.kind not in _NO_TARGET and not instruction.guard else ()
                read = [*instruction.arguments[len(targets) :], *([instruction.guard[0]] if instruction.guard else [])]
                alone = instruction.name.startswith(COLLECTIVE) or instruction.kind == "result"
                for name in (x for argument in read for x in self._registers(argument)):
                    if places.setdefault(name, -1) != k:  # read before it is written here
                        several.add(name)
                for name in (x for argument in targets for x in self._registers(argument)):
                    if places.setdefault(name, k) != k or alone:
                        several.add(name)
        return set(places) - several

    def _registers(self, argument: str) -> list[str]:
        return [x for x in re.findall(r"%?[\w$]+", argument) if x in self.program.registers]

    def _function(self, number: int, block: list[Instruction]) -> str:
        """A basic block: its lanes one after the other, then what counts traffic, then where to go."""
        self.here, self.counts = number, []
        head = f"static int block_{number}(Warp *w, int warp, const uint8_t *lanes, int n)\n{{"
        if block and (block[0].name.startswith(COLLECTIVE)):
            return "\n".join([head, *self._collective(block[0]), "}"])
        here = dict.fromkeys(x for i in block for argument in i.arguments for x in self._registers(argument) if x in self.within)
        lines = [f"{_C[self.program.registers[x]]} {_name(x)};" for x in here]
        before, after = "", f"return {number + 1};"
        for instruction in block:
            if instruction.kind in ("bra", "brx", "ret", "exit", "bar"):
                before, last, after = self._leave(instruction)
                lines.append(last)
            else:
                line = self._statement(instruction)
                lines.append(f"if ({self._guard(instruction)}) {{ {line} }}" if instruction.guard else line)
        self.accesses = max(self.accesses, len(self.counts))
        used = "".join(f"uint32_t used_{k} = 0; " for k in range(len(self.counts)))
        return "\n".join([head, before + used, "for (int q = 0; q < n; q++) { int l = lanes[q];", *lines, "}", *self.counts, after, "}"])

    def _guard(self, instruction: Instruction) -> str:
        name, negated = instruction.guard
        return f"{'!' * negated}{self.value(name, 'pred')}"

    def _leave(self, instruction: Instruction) -> tuple[str, str, str]:
        """What ends a basic block: what stands before the lanes, what each lane does, what stands behind them."""
        after, lanes = self.here + 1, "w,lanes,n"
        taken = f"taken|=(uint32_t)({self._guard(instruction) if instruction.guard else 1})<<l;"
        if instruction.kind == "bra":
            there = self.program.labels[instruction.arguments[0]]
            if not instruction.guard:
                return "", "", f"return {there};"
            return "uint32_t taken=0; ", taken, f"return branch({lanes},taken,{there},{after});"
        if instruction.kind in ("ret", "exit"):
            if not instruction.guard:
                return "", "", f"return end_lanes({lanes});"
            return "uint32_t taken=0; ", taken, f"return end_some({lanes},taken,{after});"
        if instruction.kind == "brx" and not instruction.guard:
            index, table = instruction.arguments
            targets = [self.program.labels[label] for label in self.program.targets[table]]
            going = f"{{ static const int there[]={{{','.join(map(str, targets))}}}; w->pc[l]=there[{self.value(index, 'u32')}]; }}"
            return "", going, "return -1;"
        number = self.barriers[id(instruction)] if id(instruction) in self.barriers else -1
        waits = f"return wait_at({lanes},{number},{after});"
        if instruction.name in ("bar.sync",) and instruction.arguments == ("0",):
            return "", "", waits
        if instruction.name in ("bar.red.popc.u32", "bar.red.or.pred", "bar.red.and.pred") and instruction.arguments[1] == "0":
            return "", f"w->given[l]={self.value(instruction.arguments[2], 'pred')};", waits
        raise self.unknown(instruction)

    def unknown(self, instruction: Instruction) -> Unsupported:
        return Unsupported(
            f"not known to the emulator: line {instruction.line}: {instruction.name} {', '.join(instruction.arguments)}"[:200]
        )

    # operands

    def value(self, x: str, t: str) -> str:
        """An operand as a C expression of type t."""
        c = _C[t]
        if x in _SPECIAL:
            return f"(({c})({_SPECIAL[x]}))"
        if x in self.program.registers:
            kind = self.program.registers[x]
            place = _name(x) if x in self.within else f"w->r.{_name(x)}[l]"
            if kind == t or (t[0] == "f") == (kind[0] == "f"):
                return place if kind == t else f"(({c}){place})"
            if t[0] == "f":
                return f"{'as_float' if t == 'f32' else 'as_double'}({place})"
            return f"(({c}){'bits32' if kind == 'f32' else 'bits64'}({place}))"
        if x.startswith(("0f", "0d")):
            bits = f"as_float(0x{x[2:]}u)" if x[1] == "f" else f"as_double(0x{x[2:]}ull)"
            return bits if t[0] == "f" else f"(({c})0x{x[2:]}ull)"
        if re.fullmatch(r"-?(\d+|0[xX][0-9a-fA-F]+)U?", x):
            number = int(x.rstrip("U"), 0) if x.strip("-U") != "0" else 0
            return f"(({c})0x{number & (2**64 - 1):x}ull)"
        for places, form in ((self.shared, "{}ull"), (self.local, "{}ull"), (self.parameters, "{}ull"), (self.tables, "L.tables[{}]")):
            if x in places:
                return f"(({c}){form.format(places[x])})"
        raise Unsupported(f"not known to the emulator: operand {x}")

    def assign(self, x: str, t: str, expression: str) -> str:
        """A C statement that gives the register x a value of type t."""
        if x == "_":
            return f"(void)({expression});"
        if x not in self.program.registers:
            raise Unsupported(f"not known to the emulator: register {x}")
        kind = self.program.registers[x]
        place = _name(x) if x in self.within else f"w->r.{_name(x)}[l]"
        if (kind[0] == "f") == (t[0] == "f"):
            return f"{place}=({_C[t]})({expression});"
        cast = {"f32": "as_float", "f64": "as_double"}[kind] if kind[0] == "f" else {"f32": "bits32", "f64": "bits64"}[t]
        return f"{place}={cast}({expression});"

    def address(self, argument: str) -> str:
        match = re.fullmatch(r"\[\s*(%?[\w$]+)\s*(?:\+\s*(-?\d+))?\s*\]", argument)
        if not match:
            raise Unsupported(f"not known to the emulator: address {argument}")
        offset = f"+({match[2]}ll)" if match[2] else ""
        return f"({self.value(match[1], 'u64')}{offset})"

    # memory

    def _memory(self, instruction: Instruction) -> str:
        """A load, store or atomic, checked; adds what counts its traffic to `counts`."""
        kind, t, arguments = instruction.kind, instruction.parts[-1], instruction.arguments
        words = [x for x in re.sub(r"\.L[12]::\w+", "", instruction.name).split(".")[1:-1]]
        space = next((x for x in words if x in ("global", "shared", "local", "const", "param")), "generic")
        vector = next((int(x[1]) for x in words if x in ("v2", "v4")), 1)
        rest = [x for x in words if x not in _HINTS and x not in (space, "v2", "v4")]
        relaxed = "relaxed" in words or "volatile" in words
        if t not in SIZES or (space == "param" and kind != "ld"):
            raise self.unknown(instruction)
        c, width = _C[t], SIZES[t]
        if kind in ("atom", "red"):
            does = rest.pop(0) if rest else ""
            operation = "ATOMIC"
            if does not in _ATOMIC or t[0] == "f" or vector > 1:  # the sum of floats depends on the order
                raise self.unknown(instruction)
        elif kind == "ld":
            operation = "CONSTANT_LOAD" if "nc" in rest else "RELAXED_LOAD" if relaxed else "LOAD"
        else:
            operation = "RELAXED_STORE" if relaxed else "STORE"
        if set(rest) - {"nc", "volatile"}:
            raise self.unknown(instruction)
        place = arguments[0] if kind in ("st", "red") else arguments[1]
        if space == "param":
            before = f"const uint8_t *p=reach_parameter({self.address(place)},{width * vector},warp,l,{instruction.line});"
        elif space == "local":
            before = f"uint8_t *p=reach_local({self.address(place)},{width * vector},{operation},w,warp,l,{instruction.line});"
        else:
            k, where = len(self.counts), "global" if space == "const" else space
            self.counts.append(f"count_{where}(at[{k}],used_{k},{operation},{width * vector});")
            before = (f"uint64_t a={self.address(place)}; at[{k}][l]=a; used_{k}|=1u<<l; "
                      f"uint8_t *p=reach_{where}(a,{width * vector},{operation},w,warp,l,{instruction.line});")  # fmt: skip
        if kind in ("atom", "red"):
            given = arguments[1:] if kind == "red" else arguments[2:]
            both = f"{c} old=*({c}*)p, v={self.value(given[0], t)};" + (f" {c} u={self.value(given[1], t)};" if does == "cas" else "")
            keep = self.assign(arguments[0], t, "old") if kind == "atom" else ""
            return f"{{ {before} {both} *({c}*)p={_ATOMIC[does]}; {keep} }}"
        names = [x.strip() for x in (arguments[0] if kind == "ld" else arguments[1]).strip("{}").split(",")]
        if len(names) != vector:
            raise self.unknown(instruction)
        if kind == "st":
            return f"{{ {before} " + " ".join(f"(({c}*)p)[{i}]={self.value(x, t)};" for i, x in enumerate(names)) + " }"
        return f"{{ {before} " + " ".join(self.assign(x, t, f"(({c}*)p)[{i}]") for i, x in enumerate(names)) + " }"

    # what lanes do together

    def _collective(self, instruction: Instruction) -> list[str]:
        """The body of the function of a basic block that is one collective instruction."""
        kind, parts, arguments, line = instruction.kind, instruction.parts, list(instruction.arguments), instruction.line
        each = "for (int q = 0; q < n; q++) { int l = lanes[q];"
        if instruction.name == "activemask.b32":
            return [
                "uint32_t here = 0;",
                f"{each} here|=1u<<l; }}",
                f"{each} {self.assign(arguments[0], 'b32', 'here')} }}",
                f"return {self.here + 1};",
            ]
        target, _, inside = arguments[0].partition("|")
        partners = "uint32_t m=meeting.mask[l]; (void)m;"
        give, result = "", ""
        if kind == "bar" and len(arguments) == 1:
            result = "if (!(done>>l&1)) { synchronise(w,m); done|=m; }"
            give = f"if (L.dropped=={self.barriers[id(instruction)]}) return {self.here + 1};"
        elif instruction.name in ("shfl.sync.up.b32", "shfl.sync.down.b32", "shfl.sync.bfly.b32", "shfl.sync.idx.b32"):
            _, given, by, clamp, _ = arguments
            give = f"meeting.value[l]={self.value(given, 'b32')}; meeting.by[l]={self.value(by, 'u32')}; meeting.clamp[l]={self.value(clamp, 'u32')};"
            result = (f"int within, from=source_lane(l,{parts[2].upper()},&within); if (!(ready>>from&1&m>>from)) fault(ABSENT_LANE,{line},warp*32+l); "
                      + self.assign(target, "b32", "(uint32_t)meeting.value[from]") + (self.assign(inside, "pred", "within") if inside else ""))  # fmt: skip
        elif kind == "vote" and parts[1] == "sync" and parts[2:] in (["ballot", "b32"], ["any", "pred"], ["all", "pred"], ["uni", "pred"]):
            give = f"meeting.value[l]={'!' * arguments[1].startswith('!')}{self.value(arguments[1].lstrip('!'), 'pred')};"
            ballot = "uint32_t b=0; for (int j=0;j<32;j++) b|=(uint32_t)(ready>>j&m>>j&1&&meeting.value[j])<<j;"
            expression = {"ballot": "b", "any": "b!=0", "all": "b==(m&ready)", "uni": "b==0||b==(m&ready)"}[parts[2]]
            result = ballot + self.assign(target, parts[3], expression)
        elif kind == "match" and parts[2] == "sync" and parts[1] in ("any", "all") and parts[3] in ("b32", "b64"):
            give = f"meeting.value[l]={self.value(arguments[1], parts[3])};"
            result = "uint32_t b=0; for (int j=0;j<32;j++) b|=(uint32_t)(ready>>j&m>>j&1&&meeting.value[j]==meeting.value[l])<<j;"
            if parts[1] == "all":
                result += "if (b!=(m&ready)) b=0;"
            result += self.assign(target, "b32", "b") + (self.assign(inside, "pred", "b!=0") if inside else "")
        elif kind == "redux" and parts[1] == "sync" and parts[2] in _REDUCE and parts[3] in ("u32", "s32", "b32") and len(parts) == 4:
            c = _C[parts[3]]
            give = f"meeting.value[l]={self.value(arguments[1], parts[3])};"
            result = (f"{c} a=({c})meeting.value[l]; for (int j=0;j<32;j++) if (j!=l&&ready>>j&m>>j&1) "
                      f"{{ {c} b=({c})meeting.value[j]; a={_REDUCE[parts[2]]}; }} {self.assign(target, parts[3], 'a')}")  # fmt: skip
        else:
            raise self.unknown(instruction)
        return [f"{each} {give} meeting.mask[l]={self.value(arguments[-1], 'u32')}; }}", f"uint32_t ready=meet(w,warp,lanes,n,{line}), done=0; (void)done;",
                f"{each} if (!(ready>>l&1)) continue; {partners} {result} }}", f"return part(w,lanes,n,ready,{self.here},{self.here + 1});"]  # fmt: skip

    # arithmetic

    def _statement(self, instruction: Instruction) -> str:
        """What does not leave the basic block, as C."""
        kind = instruction.kind
        if kind in ("ld", "st", "atom", "red"):
            return self._memory(instruction)
        if kind in ("membar", "fence"):
            return ""
        form = getattr(self, f"_{kind}", None) or (self._plain if kind in _PLAIN else None)
        try:
            made = form(instruction, instruction.parts[1:-1], instruction.parts[-1], list(instruction.arguments)) if form else None
        except (KeyError, IndexError, ValueError):
            made = None
        if made is None:
            raise self.unknown(instruction)
        return made

    def _plain(self, instruction: Instruction, how: list[str], t: str, a: list[str]) -> str | None:
        """What is one C expression."""
        kind, bits, is_signed = instruction.kind, 8 * SIZES.get(t, 0), int(t[0] == "s")
        if t[0] == "f":
            expression = self._float(kind, how, t, a)
            return expression and self.assign(a[0], t, expression)
        if how and kind not in ("bfind", "prmt"):
            return None
        x = [self.value(operand, t) for operand in a[1:3]]
        third = lambda kind: self.value(a[3], kind)  # noqa: E731
        by = self.value(a[2], "u32") if len(a) > 2 and t != "pred" else ""
        wide = {k: f"((uint64_t){v})" for k, v in enumerate(x)}
        if kind in ("add", "sub", "and", "or", "xor"):
            return self.assign(a[0], t, f"{wide[0]}{_INFIX[kind]}{wide[1]}")
        if kind in ("div", "rem"):
            divided = self.assign(a[0], t, f"{x[0]}{_INFIX[kind]}{x[1]}")
            return f"if ({x[1]}==0) fault(ZERO_DIVISOR,{instruction.line},warp*32+l); else {divided}"
        if kind == "shr" and is_signed:
            return self.assign(a[0], t, f"{x[0]}>>({by}>={bits}?{bits - 1}:{by})")
        if kind in ("shl", "shr"):
            return self.assign(a[0], t, f"{by}>={bits}?0:({_C[t]})({wide[0]}{'<<' if kind == 'shl' else '>>'}{by})")
        if kind == "bfind":
            return (
                self.assign(a[0], "u32", f"find({x[0]},{bits},{is_signed},{int(how == ['shiftamt'])})")
                if how in ([], ["shiftamt"])
                else None
            )
        forms = {
            "neg": lambda: f"0-{wide[0]}",
            "abs": lambda: f"{x[0]}<0?({_C[t]})(0-{wide[0]}):{x[0]}",
            "not": lambda: f"!{x[0]}" if t == "pred" else f"~{wide[0]}",
            "min": lambda: f"{x[0]}<{x[1]}?{x[0]}:{x[1]}",
            "max": lambda: f"{x[0]}>{x[1]}?{x[0]}:{x[1]}",
            "brev": lambda: f"reverse({x[0]},{bits})",
            "bfe": lambda: f"extract({x[0]},{by},{third('u32')},{bits},{is_signed})",
            "bfi": lambda: f"insert({x[0]},{x[1]},{third('u32')},{self.value(a[4], 'u32')},{bits})",
            "prmt": lambda: f"permute({x[0]},{x[1]},{third('u32')})" if not how else None,
            "lop3": lambda: f"logic({x[0]},{x[1]},{third('b32')},{self.value(a[4], 'u32')})",
            "fns": lambda: f"nth_set({x[0]},{x[1]},{third('s32')})",
            "sad": lambda: f"(uint64_t){third(t)}+({x[0]}>{x[1]}?{wide[0]}-{wide[1]}:{wide[1]}-{wide[0]})",
            "selp": lambda: f"{third('pred')}?{x[0]}:{x[1]}",
        }
        counting = {"popc": f"__builtin_popcountll({x[0]})", "clz": f"{x[0]}?__builtin_clzll({x[0]})-{64 - bits}:{bits}"}
        if kind in counting:
            return self.assign(a[0], "u32", counting[kind])
        expression = forms[kind]()
        return expression and self.assign(a[0], t, expression)

    def _float(self, kind: str, how: list[str], t: str, a: list[str]) -> str | None:
        """A C expression of floats. An operation without .rn may be contracted with another, and is refused; so are approximations."""
        x = [self.value(operand, t) for operand in a[1:3]]
        suffix = "f" if t == "f32" else ""
        if kind in ("add", "sub", "mul") and how == ["rn", "sat"] and t == "f32":
            return f"saturate({x[0]}{_INFIX[kind]}{x[1]})"
        if kind in ("add", "sub", "mul", "div", "sqrt", "rcp"):
            forms = {"sqrt": f"sqrt{suffix}({x[0]})", "rcp": f"({_C[t]})1/{x[0]}"}
            return (forms.get(kind) or f"{x[0]}{_INFIX[kind]}{x[1]}") if how == ["rn"] else None
        if how:
            return None
        if kind == "selp":
            return f"{self.value(a[3], 'pred')}?{x[0]}:{x[1]}"
        forms = {
            "neg": "-{0}",
            "abs": f"fabs{suffix}({{0}})",
            "min": "least({0},{1})",
            "max": "most({0},{1})",
            "copysign": f"copysign{suffix}({{1}},{{0}})",
        }
        return forms[kind].format(*x)

    def _mov(self, instruction: Instruction, how: list[str], t: str, a: list[str]) -> str | None:
        """Also from and to registers in braces, the lowest bits first."""
        parts = [x.strip() for x in "".join(a).strip("{}").split(",")] if "{" in "".join(a) else []
        if a[0].startswith("{"):
            names = [x.strip() for x in a[0].strip("{}").split(",")]
            bits = 8 * SIZES[t] // len(names)
            pieces = " ".join(self.assign(x, f"b{bits}", f"whole>>{bits * i}") for i, x in enumerate(names) if x != "_")
            return f"{{ uint64_t whole={self.value(a[1], t)}; {pieces} }}"
        if parts:
            names = [x.strip() for x in a[1].strip("{}").split(",")]
            bits = 8 * SIZES[t] // len(names)
            return self.assign(a[0], t, "|".join(f"(uint64_t){self.value(x, f'b{bits}')}<<{bits * i}" for i, x in enumerate(names)))
        if t == "pred":
            return self.assign(a[0], t, f"{self.value(a[1], 's64') if a[1] not in self.program.registers else self.value(a[1], t)}!=0")
        return self.assign(a[0], t, self.value(a[1], t))

    def _cvta(self, instruction: Instruction, how: list[str], t: str, a: list[str]) -> str | None:
        space = how[-1]
        window = {"global": "0", "const": "0", "shared": "SHARED_WINDOW", "local": "LOCAL_WINDOW"}[space]
        return self.assign(a[0], t, f"{self.value(a[1], t)}{'-' if how[0] == 'to' else '+'}{window}") if t == "u64" else None

    def _slct(self, instruction: Instruction, how: list[str], t: str, a: list[str]) -> str | None:
        (kind,) = how
        return self.assign(a[0], kind, f"{self.value(a[3], t)}>=0?{self.value(a[1], kind)}:{self.value(a[2], kind)}")

    def _shf(self, instruction: Instruction, how: list[str], t: str, a: list[str]) -> str | None:
        """A shift of two words as one: its upper word if to the left, its lower word if to the right."""
        side, mode = how
        by = self.value(a[3], "u32")
        by = {"wrap": f"({by}&31)", "clamp": f"({by}>32?32:{by})"}[mode]
        both = f"((uint64_t){self.value(a[2], 'b32')}<<32|{self.value(a[1], 'b32')})"
        return self.assign(a[0], t, {"l": f"{both}<<{by}>>32", "r": f"{both}>>{by}"}[side]) if t == "b32" else None

    def _dp4a(self, instruction: Instruction, how: list[str], t: str, a: list[str]) -> str | None:
        (first,) = how
        x = [self.value(operand, "u32") for operand in a[1:4]]
        return self.assign(a[0], "u32", f"dot({x[0]},{x[1]},{x[2]},{int(first == 's32')},{int(t == 's32')})")

    def _mul(self, instruction: Instruction, how: list[str], t: str, a: list[str]) -> str | None:
        return self._plain(instruction, how, t, a) if t[0] == "f" else self._product(how, t, a, "")

    def _mad(self, instruction: Instruction, how: list[str], t: str, a: list[str]) -> str | None:
        return None if t[0] == "f" else self._product(how, t, a, a[3])

    def _product(self, how: list[str], t: str, a: list[str], added: str) -> str | None:
        (half,) = how
        width, x, y = SIZES[t], self.value(a[1], t), self.value(a[2], t)
        kind = f"{t[0]}{16 * width}" if half == "wide" else t
        plus = f"+(uint64_t){self.value(added, kind)}" if added else ""
        if half == "lo":
            return self.assign(a[0], t, f"(uint64_t){x}*(uint64_t){y}{plus}")
        if half == "wide":
            return self.assign(a[0], kind, f"(uint64_t)(({_C[kind]}){x}*({_C[kind]}){y}){plus}")
        big = "__int128" if t[0] == "s" else "unsigned __int128"
        return self.assign(a[0], t, f"(uint64_t)((({big}){x}*({big}){y})>>{8 * width}){plus}") if half == "hi" else None

    def _setp(self, instruction: Instruction, how: list[str], t: str, a: list[str]) -> str | None:
        """Also with a second target, which gets the opposite, and combined with a third operand."""
        compare, *combine = how
        x, y = self.value(a[1], t), self.value(a[2], t)
        if t[0] != "f":
            result = f"({x}{_COMPARE[compare]}{y})"
        elif compare in ("num", "nan"):
            result = f"({'!' * (compare == 'num')}({x}!={x}||{y}!={y}))"
        elif compare in _COMPARE:
            result = f"({x}=={x}&&{y}=={y}&&{x}{_COMPARE[compare]}{y})"
        else:  # "ltu" and so on: true as well if one is not a number
            result = f"({x}!={x}||{y}!={y}||{x}{_COMPARE[compare.removesuffix('u')]}{y})"
        joined = ""
        if combine:
            third = f"{'!' * a[3].startswith('!')}{self.value(a[3].lstrip('!'), 'pred')}"
            joined = f"{_INFIX[combine[0]]}{third}"
        target, _, opposite = a[0].partition("|")
        both = "int r=" + result + (f", s=!r{joined}" if opposite else "") + ";"
        return f"{{ {both} {self.assign(opposite, 'pred', 's') if opposite else ''} {self.assign(target, 'pred', f'r{joined}')} }}"

    def _cvt(self, instruction: Instruction, how: list[str], of: str, a: list[str]) -> str | None:
        *how, to = how
        x, c = self.value(a[1], of), _C[to]
        if to[0] == "f":
            if how == ["sat"] and to == of == "f32":
                return self.assign(a[0], to, f"saturate({x})")
            if of[0] == "f" and len(how) == 1 and how[0] in _ROUND:
                return self.assign(a[0], to, f"{_ROUND[how[0]]}({x})")
            return self.assign(a[0], to, f"({c}){x}") if how in ([], ["rn"]) else None
        if of[0] == "f":
            (way,) = how
            lowest = int(of == "f64" or SIZES[to] == 8)  # what becomes of NaN
            return self.assign(a[0], to, f"to_integer({_ROUND[way]}({x}),{8 * SIZES[to]},{int(to[0] == 's')},{lowest})")
        if how == ["sat"]:
            return self.assign(a[0], to, f"saturate_integer({x},{8 * SIZES[to]},{int(to[0] == 's')})")
        return None if how else self.assign(a[0], to, x)

    def _result(self, instruction: Instruction, how: list[str], t: str, a: list[str]) -> str | None:
        """What a barrier that reduces gives each thread."""
        (does,) = how
        return self.assign(a[0], t, {"popc": "trues", "or": "trues!=0", "and": "trues==all_threads"}[does])


_PLAIN = {"add", "sub", "and", "or", "xor", "div", "rem", "shl", "shr", "neg", "abs", "not", "min", "max", "popc", "clz", "bfind", "brev", "bfe", "bfi",
          "prmt", "lop3", "fns", "sad", "selp", "sqrt", "rcp", "copysign"}  # fmt: skip


def _name(register: str) -> str:
    """A register's name in C: %r12 is r12_."""
    return register.replace("%", "").replace("$", "_") + "_"
