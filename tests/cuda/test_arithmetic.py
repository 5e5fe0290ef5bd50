"""Every instruction that computes, against NumPy or plain Python: on numbers of all sizes, and those at the
edges.
"""

import math
from functools import cache

import numpy as np
import pytest

pytest.importorskip("cuda.bindings", reason="needs cuda-bindings: pip install '.[dev]'")

from tests.cuda.emulator import Kernel, Memory
from tests.cuda.ptx import SIZES

N = 512


def dtype(t: str) -> np.dtype:
    return np.dtype(f"{'u' if t[0] in 'ub' else 'i' if t[0] == 's' else 'f'}{SIZES[t]}")


def samples(t: str, place: int) -> np.ndarray:
    """Numbers of a type: its edges, and others of every magnitude."""
    rng = np.random.default_rng([ord(t[0]), SIZES[t], place])
    bits = rng.integers(0, 2**64, N, np.uint64) >> rng.integers(0, 64, N, np.uint64)
    if t[0] == "f":
        edges = [
            0.0,
            -0.0,
            0.5,
            -0.5,
            1.5,
            2.5,
            -2.5,
            255.5,
            1e-40,
            3e38,
            2.0**31,
            -(2.0**31),
            2.0**32,
            2.0**63,
            2.0**64,
            math.inf,
            -math.inf,
            math.nan,
        ]
        numbers = np.concatenate([edges, np.ldexp(rng.uniform(-1, 1, N), rng.integers(-40, 70, N))]).astype(
            dtype(t)
        )
        return rng.permutation(numbers)[:N]
    edges = np.array(
        [
            0,
            1,
            2,
            4,
            31,
            32,
            33,
            64,
            127,
            128,
            255,
            2**15,
            2**31 - 1,
            2**31,
            2**32 - 1,
            2**63 - 1,
            2**63,
            2**64 - 1,
        ],
        np.uint64,
    )
    signs = np.where(rng.random(N) < 0.3, np.uint64(2**64 - 1), np.uint64(0))
    return rng.permutation(np.concatenate([edges, bits ^ signs]))[:N].astype(dtype(t))


def wrap(number: int, t: str) -> int:
    """An integer in the range of a type."""
    bits = 8 * SIZES[t]
    number &= 2**bits - 1
    return number - 2**bits if t[0] == "s" and number >> (bits - 1) else number


def divide(a: int, b: int) -> int:
    """Towards zero; what a division by zero gives is not looked at."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0


def extract(t: str):
    """bfe as the manual defines it: bit by bit."""
    bits = 8 * SIZES[t]

    def of(a: int, place: int, length: int) -> int:
        place, length = place & 255, length & 255
        sign = 0 if t[0] == "u" or not length else a >> min(place + length - 1, bits - 1) & 1
        out = 0
        for i in range(bits):
            out |= (a >> (place + i) & 1 if i < length and place + i < bits else sign) << i
        return out

    return of


def insert(a: int, b: int, place: int, length: int) -> int:
    for i in range(length & 255):
        if (place & 255) + i < 32:
            at = (place & 255) + i
            b = b & ~(1 << at) | (a >> i & 1) << at
    return b


def permute(a: int, b: int, selector: int) -> int:
    pool = [(b << 32 | a) >> 8 * i & 255 for i in range(8)]
    choices = [selector >> 4 * i & 15 for i in range(4)]
    return sum((pool[x & 7] if x < 8 else 255 * (pool[x & 7] >> 7)) << 8 * i for i, x in enumerate(choices))


def logic(table: int):
    return lambda a, b, c: sum(
        (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i for i in range(32)
    )


def highest(bits: int, is_signed: bool, from_top: bool):
    def of(a: int) -> int:
        a = ~a if is_signed and a < 0 else a
        return 2**32 - 1 if a == 0 else bits - a.bit_length() if from_top else a.bit_length() - 1

    return of


def nth_set(mask: int, base: int, offset: int) -> int:
    """fns of base and offset within the range that the manual defines."""
    places = [i for i in range(32) if mask >> i & 1]
    if offset == 0:
        return base if base in places else 2**32 - 1
    ahead = [i for i in places if i >= base] if offset > 0 else [i for i in reversed(places) if i <= base]
    return ahead[abs(offset) - 1] if len(ahead) >= abs(offset) else 2**32 - 1


def dot(first: str, second: str):
    def of(a: int, b: int, c: int) -> int:
        return c + sum(wrap(a >> i, first + "8") * wrap(b >> i, second + "8") for i in range(0, 32, 8))

    return of


def to_integer(t: str, round_: str, of: str):
    """A float as an integer, as cards do: out of range to the nearest, NaN to zero, of 64 bits to the highest
    bit.
    """
    low, high = (
        (-(2 ** (8 * SIZES[t] - 1)), 2 ** (8 * SIZES[t] - 1) - 1)
        if t[0] == "s"
        else (0, 2 ** (8 * SIZES[t]) - 1)
    )

    def convert(x: float) -> int:
        if math.isnan(x):
            return 2 ** (8 * SIZES[t] - 1) if of == "f64" or SIZES[t] == 8 else 0
        if math.isinf(x):
            return high if x > 0 else low
        return min(
            max({"rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil, "rni": round}[round_](x), low), high
        )

    return convert


def saturate(t: str):
    low, high = (
        (-(2 ** (8 * SIZES[t] - 1)), 2 ** (8 * SIZES[t] - 1) - 1)
        if t[0] == "s"
        else (0, 2 ** (8 * SIZES[t]) - 1)
    )
    return lambda x: min(max(x, low), high)


def funnel(side: str, mode: str):
    def of(a: int, b: int, by: int) -> int:
        by = by & 31 if mode == "wrap" else min(by, 32)
        return (b << 32 | a) << by >> 32 if side == "l" else (b << 32 | a) >> by

    return of


def compare(how: str):
    """For floats: with a u behind, true as well if one is not a number."""
    signs = {"eq": "__eq__", "ne": "__ne__", "lt": "__lt__", "le": "__le__", "gt": "__gt__", "ge": "__ge__"}

    def of(a: float, b: float) -> bool:
        unordered = math.isnan(a) or math.isnan(b)
        if how in ("num", "nan"):
            return unordered == (how == "nan")
        return how[2:] == "u" if unordered else getattr(a, signs[how[:2]])(b)

    return of


def least(a: float, b: float) -> float:
    """The number if one is none; -0 below 0."""
    return b if math.isnan(a) else a if math.isnan(b) else min(a, b, key=lambda x: (x, math.copysign(1, x)))


def most(a: float, b: float) -> float:
    return -least(-a, -b)


# instruction: result's type, operands' types, oracle (of Python's numbers)
WHOLE = {
    **{
        f"{k}.{t}": (t, [t, t], f)
        for t in ("s32", "u32", "s64", "u64", "s16")
        for k, f in {
            "add": lambda a, b: a + b,
            "sub": lambda a, b: a - b,
            "mul.lo": lambda a, b: a * b,
            "min": min,
            "max": max,
        }.items()
    },
    **{
        f"{k}.{t}": (t, [t, t], f)
        for t in ("b16", "b32", "b64")
        for k, f in {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}.items()
    },
    **{
        f"mul.hi.{t}": (t, [t, t], lambda a, b, n=8 * SIZES[t]: a * b >> n)
        for t in ("s32", "u32", "s64", "u64", "u16")
    },
    **{
        f"mul.wide.{t}": (f"{t[0]}{16 * SIZES[t]}", [t, t], lambda a, b: a * b)
        for t in ("s32", "u32", "u16", "s16")
    },
    **{f"mad.lo.{t}": (t, [t, t, t], lambda a, b, c: a * b + c) for t in ("s32", "u64")},
    "mad.wide.s32": ("s64", ["s32", "s32", "s64"], lambda a, b, c: a * b + c),
    "mad.hi.u32": ("u32", ["u32", "u32", "u32"], lambda a, b, c: (a * b >> 32) + c),
    **{f"div.{t}": (t, [t, t], divide) for t in ("s32", "u32", "s64", "u64")},
    **{
        f"rem.{t}": (t, [t, t], lambda a, b: a - b * divide(a, b) if b else 0)
        for t in ("s32", "u32", "s64", "u64")
    },
    **{f"shl.{t}": (t, [t, "u32"], lambda a, b: a << b if b < 64 else 0) for t in ("b16", "b32", "b64")},
    **{
        f"shr.{t}": (t, [t, "u32"], lambda a, b: a >> min(b, 64)) for t in ("u32", "s32", "u64", "s64", "s16")
    },
    **{f"not.{t}": (t, [t], lambda a: ~a) for t in ("b32", "b64")},
    **{f"neg.{t}": (t, [t], lambda a: -a) for t in ("s32", "s64")},
    **{f"abs.{t}": (t, [t], abs) for t in ("s32", "s64")},
    "sad.s32": ("s32", ["s32", "s32", "s32"], lambda a, b, c: abs(a - b) + c),
    "sad.u32": ("u32", ["u32", "u32", "u32"], lambda a, b, c: abs(a - b) + c),
    "slct.b32.s32": ("b32", ["b32", "b32", "s32"], lambda a, b, c: a if c >= 0 else b),
}
BITS = {
    **{f"popc.{t}": ("u32", [t], lambda a: a.bit_count()) for t in ("b32", "b64")},
    **{f"clz.{t}": ("u32", [t], lambda a, n=8 * SIZES[t]: n - a.bit_length()) for t in ("b32", "b64")},
    **{f"brev.{t}": (t, [t], lambda a, n=8 * SIZES[t]: int(f"{a:0{n}b}"[::-1], 2)) for t in ("b32", "b64")},
    **{
        f"bfind{how}.{t}": ("u32", [t], highest(8 * SIZES[t], t[0] == "s", bool(how)))
        for t in ("u32", "s32", "u64", "s64")
        for how in ("", ".shiftamt")
    },
    **{f"bfe.{t}": (t, [t, "u32", "u32"], extract(t)) for t in ("u32", "s32", "u64", "s64")},
    "bfi.b32": ("b32", ["b32", "b32", "u32", "u32"], insert),
    **{f"lop3.b32 {table:#x}": ("b32", ["b32", "b32", "b32"], logic(table)) for table in (0xE8, 0x2D, 0x96)},
    "fns.b32": ("b32", ["b32", "u32", "s32"], nth_set),
    "prmt.b32": ("b32", ["b32", "b32", "b32"], permute),
    **{
        f"shf.{side}.{mode}.b32": ("b32", ["b32", "b32", "u32"], funnel(side, mode))
        for side in "lr"
        for mode in ("wrap", "clamp")
    },
    **{f"dp4a.{a}32.{b}32": ("s32", ["b32", "b32", "s32"], dot(a, b)) for a in "su" for b in "su"},
}
CONVERSIONS = {
    **{
        f"cvt.{to}.{of}": (to, [of], lambda a: a)
        for of in ("s32", "u32", "s64", "s16", "u16")
        for to in ("s64", "u32", "s16", "u16", "u64")
    },
    **{
        f"cvt.sat.{to}.{of}": (to, [of], saturate(to))
        for of in ("s32", "s64")
        for to in ("u8", "s8", "u16", "s16")
    },
    **{
        f"cvt.{how}.{to}.{of}": (to, [of], to_integer(to, how, of))
        for how in ("rzi", "rmi", "rpi", "rni")
        for to in ("s32", "u32", "s64", "u64", "u16")
        for of in ("f32", "f64")
    },
    **{
        f"cvt.rn.{to}.{of}": (to, [of], dtype(to).type)
        for of in ("s32", "u32", "s16")
        for to in ("f32", "f64")
    },
    **{f"cvt.rn.f64.{of}": ("f64", [of], float) for of in ("s64", "u64")},
    "cvt.rn.f32.f64": ("f32", ["f64"], np.float32),
    "cvt.f64.f32": ("f64", ["f32"], float),
    **{
        f"cvt.{how}.f32.f32": ("f32", ["f32"], f)
        for how, f in {"rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil, "rni": np.rint}.items()
    },
    "cvt.sat.f32.f32": ("f32", ["f32"], lambda a: 0.0 if math.isnan(a) else min(max(a, 0.0), 1.0)),
}
FLOATS = {
    **{
        f"{k}.rn.{t}": (t, [t, t], lambda a, b, f=f, t=t: f(dtype(t).type(a), dtype(t).type(b)))
        for t in ("f32", "f64")
        for k, f in {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}.items()
    },
    **{f"sqrt.rn.{t}": (t, [t], lambda a, t=t: np.sqrt(dtype(t).type(a))) for t in ("f32", "f64")},
    **{
        f"rcp.rn.{t}": (t, [t], lambda a, t=t: np.divide(dtype(t).type(1), dtype(t).type(a)))
        for t in ("f32", "f64")
    },
    **{
        f"{k}.{t}": (t, [t, t], f)
        for t in ("f32", "f64")
        for k, f in {"min": least, "max": most, "copysign": lambda a, b: math.copysign(b, a)}.items()
    },
    **{f"neg.{t}": (t, [t], lambda a: -a) for t in ("f32", "f64")},
    **{f"abs.{t}": (t, [t], abs) for t in ("f32", "f64")},
    "add.rn.sat.f32": (
        "f32",
        ["f32", "f32"],
        lambda a, b: CONVERSIONS["cvt.sat.f32.f32"][2](float(np.float32(a) + np.float32(b))),
    ),
}
COMPARISONS = {
    **{
        f"setp.{how}.{t}": ("pred", [t, t], compare(how))
        for t in ("s32", "u32", "s64", "u64")
        for how in ("eq", "ne", "lt", "le", "gt", "ge")
    },
    **{
        f"setp.{how}.{t}": ("pred", [t, t], compare(how))
        for t in ("f32", "f64")
        for how in (
            "eq",
            "ne",
            "lt",
            "le",
            "gt",
            "ge",
            "equ",
            "neu",
            "ltu",
            "leu",
            "gtu",
            "geu",
            "num",
            "nan",
        )
    },
}


@cache
def run(group: str) -> dict[str, tuple[np.ndarray, list[np.ndarray]]]:
    """What the emulator makes of every instruction of a group, and of what: one kernel for all of them."""
    cases = globals()[group]
    memory = Memory(64)
    made, addresses, code = {}, [], []
    for name, (t, kinds, _) in cases.items():
        given = [memory.put(name, samples(kind, place)) for place, kind in enumerate(kinds)]
        if name.startswith(("bfe", "bfi", "shl", "shr", "shf")):  # most numbers of bits within the range
            for numbers in given[1:]:
                if numbers.dtype == np.uint32:
                    numbers[::2] %= 40
        if name == "fns.b32":
            given[1] %= 32
            given[2] = memory.put(name, given[2] % 70 - 35)
        out = memory.empty(name, N, dtype("u32" if t == "pred" else t))
        made[name] = out, given
        code.append(_code(name, t, kinds, 8 * len(addresses)))
        addresses += [x.ctypes.data for x in (*given, out)]
    registers = " ".join(f".reg .{t} %{t}_<6>;" for t in ("pred", *SIZES) if SIZES.get(t) != 1)
    text = ".version 8.0\n.target sm_90\n.address_size 64\n"
    text += f".visible .entry k(\n.param .u64 table\n)\n{{\n{registers}\n"
    text += "mov.u32 %u32_5, %tid.x;\nld.param.u64 %u64_5, [table];\n" + "".join(code) + "ret;\n}\n"
    counters = Kernel(text.replace("; .reg", ";\n.reg")).run(
        memory, [memory.put("table", np.array(addresses, np.uint64))], (1,), N
    )
    assert set(counters.fault_counts) <= {"division by zero", "read before it was written"}, counters.faults
    return made


def _code(name: str, t: str, kinds: list[str], place: int) -> str:
    """PTX that does one instruction: thread i on the i-th numbers of its operands."""
    lines = []
    for number, kind in enumerate((*kinds, t)):
        register = kind if SIZES.get(kind) != 1 else kind[0] + "16"
        lines.append(f"ld.global.u64 %u64_4, [%u64_5+{place + 8 * number}];")
        lines.append(f"mad.wide.u32 %u64_4, %u32_5, {SIZES.get(kind, 4)}, %u64_4;")
        if number < len(kinds):
            lines.append(f"ld.global.{kind} %{register}_{number}, [%u64_4];")
    name, *immediate = name.split()
    operands = ", ".join([f"%{kind}_{number}" for number, kind in enumerate(kinds)] + immediate)
    if t == "pred":
        lines += [
            f"{name} %pred_0, {operands};",
            "selp.u32 %u32_4, 1, 0, %pred_0;",
            "st.global.u32 [%u64_4], %u32_4;",
        ]
    else:
        lines += [f"{name} %{register}_3, {operands};", f"st.global.{t} [%u64_4], %{register}_3;"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("group", "name"),
    [
        (group, name)
        for group in ("WHOLE", "BITS", "CONVERSIONS", "FLOATS", "COMPARISONS")
        for name in globals()[group]
    ],
)
def test_instruction(group, name):
    out, given = run(group)[name]
    t, _, oracle = globals()[group][name]
    rows = zip(*(x.tolist() for x in given), strict=True)
    with np.errstate(all="ignore"):
        wanted = [oracle(*row) for row in rows]
    if t == "pred":
        assert out.tolist() == [int(x) for x in wanted]
    elif t[0] == "f":
        wanted = np.array(wanted, out.dtype)
        assert np.array_equal(np.isnan(out), np.isnan(wanted))
        number = ~np.isnan(out)
        assert (
            out.view(f"u{out.itemsize}")[number].tolist() == wanted.view(f"u{out.itemsize}")[number].tolist()
        )
    else:
        wanted = np.array([wrap(int(x), t) for x in wanted], out.dtype)
        defined = given[1] != 0 if name.startswith(("div", "rem")) else np.ones(N, bool)
        assert out[defined].tolist() == wanted[defined].tolist()
