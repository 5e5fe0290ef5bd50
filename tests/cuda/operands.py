"""Operands of PTX as C expressions: registers, numbers, names of arrays, addresses."""

import re

from tests.cuda.ptx import COLLECTIVE, Instruction, Program, UnsupportedError

#: log2 of the bytes between shared arrays, as in machine.c: far more than an array has, so that what overruns
#: one meets no other.
SHARED_SLOT = 18
#: A type of PTX in C.
C = {f"{kind}{bits}": f"uint{bits}_t" for kind in "bu" for bits in (8, 16, 32, 64)}
C |= {f"s{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)}
C |= {"f32": "float", "f64": "double", "pred": "uint8_t"}
_SPECIAL = {
    "%laneid": "l",
    "%warpid": "warp",
    "%dynamic_smem_size": "L.dynamic",
    "%tid.x": "warp*32+l",
    "%ntid.x": "L.threads",
}
_SPECIAL |= {"%tid.y": "0", "%tid.z": "0", "%ntid.y": "1", "%ntid.z": "1"}
_SPECIAL |= {f"%ctaid.{axis}": f"ctaid_{axis}" for axis in "xyz"} | {
    f"%nctaid.{axis}": f"L.grid_{axis}" for axis in "xyz"
}
_SPECIAL |= {"%lanemask_eq": "1u<<l", "%lanemask_lt": "(1u<<l)-1", "%lanemask_le": "(2u<<l)-1"}
_SPECIAL |= {"%lanemask_gt": "~((2u<<l)-1)", "%lanemask_ge": "~((1u<<l)-1)"}
#: Instructions that have no target among their arguments.
_NO_TARGET = {"st", "red", "bra", "brx", "bar", "ret", "exit", "membar", "fence"}


class Operands:
    """The names that a kernel knows, and what they are in C."""

    def __init__(self, program: Program) -> None:
        self.registers = program.registers
        self.within = _within_blocks(program)
        self.local_bytes = 0
        self.names = {p.name: f"{p.offset}ull" for p in program.parameters}
        self.names |= {name: f"{place << SHARED_SLOT}ull" for place, name in enumerate(program.shared)}
        self.names |= {name: f"L.tables[{place}]" for place, name in enumerate(program.tables)}
        for name, array in program.local.items():
            begin = -(-self.local_bytes // array.align) * array.align
            self.names[name], self.local_bytes = f"{begin}ull", begin + array.size

    def declare(self, register: str) -> str:
        """A register as a C declaration: of a lane, or of the 32 lanes of a warp."""
        return f"{C[self.registers[register]]} {_name(register)}{'' if register in self.within else '[32]'};"

    def value(self, x: str, t: str) -> str:
        """An operand as a C expression of type t; a register of another class gives its bits."""
        if x in self.registers:
            kind, place = self.registers[x], self._place(x)
            if (t[0] == "f") == (kind[0] == "f"):
                return place if kind == t else f"(({C[t]}){place})"
            return (
                f"{'as_float' if t == 'f32' else 'as_double'}({place})"
                if t[0] == "f"
                else f"(({C[t]}){_bits_of(kind)}({place}))"
            )
        if x in _SPECIAL:
            return f"(({C[t]})({_SPECIAL[x]}))"
        if x in self.names:
            return f"(({C[t]}){self.names[x]})"
        if re.fullmatch(r"0[fF][0-9A-Fa-f]{8}", x):
            return f"as_float(0x{x[2:]}u)" if t[0] == "f" else f"(({C[t]})0x{x[2:]}u)"
        if re.fullmatch(r"0[dD][0-9A-Fa-f]{16}", x):
            return f"as_double(0x{x[2:]}ull)" if t[0] == "f" else f"(({C[t]})0x{x[2:]}ull)"
        if re.fullmatch(r"-?(0|[1-9]\d*|0[xX][0-9a-fA-F]+)U?", x):
            return f"(({C[t]})0x{int(x.rstrip('U'), 0) & (2**64 - 1):x}ull)"
        raise UnsupportedError(f"not known to the emulator: operand {x}")

    def predicate(self, x: str) -> str:
        """A predicate, or with a ! its opposite."""
        return f"!{self.value(x[1:], 'pred')}" if x.startswith("!") else self.value(x, "pred")

    def assign(self, x: str, t: str, expression: str) -> str:
        """A C statement that gives the register x a value of type t.

        What is narrower than the register is extended by its sign.
        """
        if x == "_":
            return f"(void)({expression});"
        if x not in self.registers:
            raise UnsupportedError(f"not known to the emulator: register {x}")
        kind, place = self.registers[x], self._place(x)
        if t == "pred":
            return f"{place}=({expression})&1;"
        if (kind[0] == "f") == (t[0] == "f"):
            return f"{place}=({C[t]})({expression});"
        convert = {"f32": "as_float", "f64": "as_double"}[kind] if kind[0] == "f" else _bits_of(t)
        return f"{place}={convert}({expression});"

    def address(self, argument: str) -> str:
        """`[%rd1+4]`, `[name]` or `[name+4]`."""
        match = re.fullmatch(r"\[\s*(%?[\w$]+)\s*(?:\+\s*(-?\d+))?\s*\]", argument)
        if not match:
            raise UnsupportedError(f"not known to the emulator: address {argument}")
        return f"({self.value(match[1], 'u64')}{f'+({match[2]}ll)' if match[2] else ''})"

    def _place(self, register: str) -> str:
        return _name(register) if register in self.within else f"w->r.{_name(register)}[l]"


def registers_of(program: Program, *arguments: str) -> list[str]:
    """The registers that arguments name."""
    return [x for argument in arguments for x in re.findall(r"%?[\w$]+", argument) if x in program.registers]


def _within_blocks(program: Program) -> set[str]:
    """Registers that live within one basic block, where they are written before they are read: ordinary
    variables in C.
    """
    places: dict[str, int] = {}
    across: set[str] = set()
    for k, block in enumerate(program.blocks):
        for instruction in block:
            written = _targets(instruction)
            guard = [instruction.guard[0]] if instruction.guard else []
            across |= {
                x
                for x in registers_of(program, *instruction.arguments[len(written) :], *guard)
                if places.get(x) != k
            }
            for x in registers_of(program, *written):
                if places.setdefault(x, k) != k or instruction.name.startswith(COLLECTIVE):
                    across.add(x)
    return set(places) - across


def _targets(instruction: Instruction) -> tuple[str, ...]:
    """The arguments that an instruction writes in any case."""
    return instruction.arguments[:1] if instruction.kind not in _NO_TARGET and not instruction.guard else ()


def _bits_of(kind: str) -> str:
    return {"f32": "bits32", "f64": "bits64"}[kind]


def _name(register: str) -> str:
    """A register's name in C: %r12 is r12_, which no word of C is."""
    return register.replace("%", "").replace("$", "_") + "_"
