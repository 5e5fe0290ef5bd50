"""PTX, NVIDIA's assembly language, parsed: one kernel as basic blocks of instructions, its registers,
parameters and arrays.
"""

import re
from dataclasses import dataclass, field

#: Bytes of every type.
SIZES = {
    "b8": 1,
    "u8": 1,
    "s8": 1,
    "b16": 2,
    "u16": 2,
    "s16": 2,
    "b32": 4,
    "u32": 4,
    "s32": 4,
    "f32": 4,
    "b64": 8,
    "u64": 8,
    "s64": 8,
    "f64": 8,
}
#: Instructions that lanes of a warp execute together. Each stands in a basic block of its own.
COLLECTIVE = ("shfl.", "vote.", "match.", "redux.", "activemask.", "bar.warp.sync")

#: SASS instructions that an operation takes, about: the first entry that fits the beginning of its name;
#: otherwise 1, or 2 for wide integers. Fitted by hand to disassembled kernels. `emulator.Kernel.scale`
#: corrects the estimate by the true length of the kernel.
_COSTS = [
    (("ld.param", "cvta", "mov."), 0.35),
    (("div.s64", "rem.s64"), 75.0),
    (("div.u32", "rem.u32", "div.s32"), 18.0),
    (("div.rn.f32",), 11.0),
    (("div.rn.f64",), 22.0),
    (("rcp.rn", "sqrt.rn", "mul.hi"), 8.0),
    (("mul.lo.s64", "min.s64", "max.s64"), 4.0),
]
#: Operations that become a call of a routine: what the call takes where it stands.
_CALLS = {"div.s64": 8.0, "rem.s64": 8.0}
_WIDE = ("add", "sub", "shl", "shr", "and", "or", "xor", "selp", "setp", "neg", "not", "abs")


class UnsupportedError(Exception):
    """The PTX contains something that the emulator does not know; the message names it."""


@dataclass(frozen=True)
class Instruction:
    """One instruction: `@!%p1 add.s32 %r1, %r2, 3;` has the guard ("%p1", True) and three arguments."""

    name: str
    arguments: tuple[str, ...]
    guard: tuple[str, bool] | None = None
    line: int = 0
    source: str = ""  #: "draw.cu:12", where the PTX has line information

    @property
    def parts(self) -> list[str]:
        return self.name.split(".")

    @property
    def kind(self) -> str:
        return self.parts[0]

    @property
    def is_barrier(self) -> bool:
        return self.name.startswith(("bar.sync", "bar.red", "bar.warp.sync"))

    @property
    def is_real(self) -> bool:
        """False for `result`, which the parser puts behind a reducing barrier."""
        return self.kind != "result"

    @property
    def cost(self) -> float:
        """SASS instructions that executing it takes, estimated."""
        if not self.is_real:
            return 0.0
        for beginnings, value in _COSTS:
            if self.name.startswith(beginnings):
                return value
        return (
            2.0
            if self.name.startswith(_WIDE) and self.name.endswith("64") and "f64" not in self.name
            else 1.0
        )

    @property
    def length(self) -> float:
        """SASS instructions that stand for it in the code, estimated, without the routines that it calls."""
        return _CALLS.get(self.name, self.cost)


@dataclass(frozen=True)
class Parameter:
    name: str
    offset: int
    size: int
    type: str  #: "u64", "f32", ...; "b8" for a struct


@dataclass(frozen=True)
class Array:
    """An array in shared or local memory; the dynamic shared array has 0 bytes."""

    size: int
    align: int


@dataclass(frozen=True)
class Table:
    """A variable of the module, in global or constant memory. Without initial values it is zero."""

    name: str
    type: str
    values: bytes


@dataclass
class Program:
    """One kernel, parsed."""

    entry: str
    blocks: list[list[Instruction]] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)  #: label to basic block
    targets: dict[str, list[str]] = field(default_factory=dict)  #: name of a jump table to labels
    registers: dict[str, str] = field(default_factory=dict)  #: name to type: pred, b16, b32, b64, f32 or f64
    most_threads: int = 1024  #: of a block, as the kernel's launch bounds say
    parameters: list[Parameter] = field(default_factory=list)
    shared: dict[str, Array] = field(default_factory=dict)
    local: dict[str, Array] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)

    @property
    def barriers(self) -> list[Instruction]:
        """Those of blocks (bar.sync, bar.red) and of warps (bar.warp.sync), in the order of the text."""
        return [instruction for block in self.blocks for instruction in block if instruction.is_barrier]

    @property
    def length(self) -> float:
        """SASS instructions of the kernel, estimated, without the routines that it calls."""
        return sum(instruction.length for block in self.blocks for instruction in block)


def entries(text: str) -> list[str]:
    """The names of the kernels in a module."""
    return re.findall(r"\.visible \.entry ([\w$]+)\s*\(", text)


def parse(text: str, entry: str | None = None) -> Program:
    """The kernel `entry`, or the only one.

    Raises:
        UnsupportedError: there is no such kernel, or a line cannot be read.
    """
    names = entries(text)
    if entry is None and len(names) == 1:
        entry = names[0]
    if entry not in names:
        raise UnsupportedError(f"no kernel {entry}: the module has {', '.join(names) or 'none'}")
    starts = [match.start() for match in re.finditer(r"^(\.visible|\.weak)?\s*\.(entry|func)\b", text, re.M)]
    begin = re.search(rf"\.visible \.entry {re.escape(entry)}\s*\(", text).start()
    end = min((start for start in starts if start > begin), default=len(text))
    return _Parser(entry, text, begin, end, min(starts)).program


class _Parser:
    def __init__(self, entry: str, text: str, begin: int, end: int, head_end: int) -> None:
        self.program = Program(entry)
        self.files = dict(re.findall(r'^\s*\.file\s+(\d+)\s+"(?:[^"]*/)?([^"/]+)"', text, re.M))
        self.scopes: list[
            dict[str, str]
        ] = []  # registers declared between inner braces, by the names they are given here
        self.inner = 0
        self.source = ""
        kernel, head = text[begin:end], text[:head_end]
        signature, _, body = kernel.partition("{")
        self._parameters(signature)
        if bound := re.search(r"\.(?:maxntid|reqntid)\s+(\d+)", signature):
            self.program.most_threads = int(bound[1])
        self._tables(head)
        self._shared(head)
        self.program.blocks.append([])
        first = text[:begin].count("\n") + signature.count("\n") + 1
        for number, raw in enumerate(body.splitlines(), first):
            line = re.sub(r"//.*", "", raw).strip()
            if line.startswith("}") and not self.scopes:  # the end of the kernel
                break
            self._line(line, number)
        if not self.program.blocks[-1]:
            self.program.blocks.pop()

    # declarations

    def _parameters(self, signature: str) -> None:
        offset = 0
        pattern = r"\.param\s+(?:\.align (\d+)\s+)?\.(\w+)\s+(?:\.ptr\s+(?:\.\w+\s+)??(?:\.align \d+\s+)?)?"
        pattern += r"([\w$]+)(?:\[(\d+)\])?"
        for align, kind, name, count in re.findall(pattern, signature):
            size = SIZES[kind] * int(count or 1)
            offset = -(-offset // int(align or size)) * int(align or size)
            self.program.parameters.append(Parameter(name, offset, size, "b8" if count else kind))
            offset += size

    def _tables(self, head: str) -> None:
        pattern = r"^(?:\.visible |\.weak )*\.(?:global|const)((?: \.\w+| \d+)*?) \.(\w+) ([\w$]+)"
        pattern += r"(\[\d*\])?( = \{?[^;]*)?;"
        for _, kind, name, count, values in re.findall(pattern, head, re.M):
            length = int(count.strip("[]")) if count else 1
            size = SIZES[kind] * length
            numbers = [x.strip() for x in values.strip(" ={}").split(",") if x.strip()]
            if not all(re.fullmatch(r"-?\d+|0[fd][0-9A-Fa-f]+", x) for x in numbers):
                continue  # addresses of other variables: no kernel may ask for it
            binary = b"".join(_bits(x, SIZES[kind]) for x in numbers)
            self.program.tables[name] = Table(name, kind, binary.ljust(size, b"\0"))

    def _shared(self, text: str) -> None:
        for align, kind, name, count in re.findall(
            r"\.shared (?:\.align (\d+) )?\.(\w+) ([\w$]+)(\[\d*\])?;", text
        ):
            self.program.shared[name] = Array(
                SIZES[kind] * int((count or "[1]").strip("[]") or 0), int(align or SIZES[kind])
            )

    def _register(self, declaration: str) -> None:
        """`.reg .b32 %r<9>` declares %r0 to %r8; `.reg .pred %p1, q` what it names.

        Inner braces may hide outer names.
        """
        _, kind, names = declaration.split(None, 2)
        kind = kind.lstrip(".")
        kind = kind if kind in ("pred", "f32", "f64") else f"b{8 * SIZES[kind]}"
        for name in (x.strip() for x in names.split(",")):
            if match := re.fullmatch(r"(%?[\w$]+)<(\d+)>", name):
                self.program.registers.update({f"{match[1]}{i}": kind for i in range(int(match[2]))})
            elif self.scopes:
                self.inner += 1
                self.scopes[-1][name] = f"{name}_inner{self.inner}"
                self.program.registers[self.scopes[-1][name]] = kind
            else:
                self.program.registers[name] = kind

    # the body

    def _line(self, line: str, number: int) -> None:
        program = self.program
        if not line or line.startswith((".pragma", ".file", ".section")):
            return
        if line.startswith("{"):
            self.scopes.append({})
            self._line(line[1:].strip(), number)
        elif line.startswith("}"):
            self.scopes.pop()
        elif re.match(r"\.loc\s", line):
            _, file, row, *_ = line.replace(",", " ").split()
            self.source = f"{self.files.get(file, file)}:{row}"
        elif line.startswith(".reg"):
            declaration, _, rest = line.partition(";")
            self._register(declaration)
            self._line(rest.strip(), number)
        elif line.startswith(".shared"):
            self._shared(line)
        elif line.startswith(".param"):
            raise UnsupportedError(f"line {number}: the call of a function that is not inlined")
        elif match := re.match(r"\.local \.align (\d+) \.b8\s+([\w$]+)\[(\d+)\];", line):
            program.local[match[2]] = Array(int(match[3]), int(match[1]))
        elif match := re.match(r"([\w$]+):\s*\.branchtargets\s+(.*);", line):
            program.targets[match[1]] = [x.strip() for x in match[2].split(",")]
        elif match := re.match(r"([\w$]+):(.*)", line):
            if program.blocks[-1]:
                program.blocks.append([])
            program.labels[match[1]] = len(program.blocks) - 1
            self._line(match[2].strip(), number)
        elif match := re.match(r"(?:@(!?)(%?[\w$]+)\s+)?([a-z][\w.:]*)\s*(.*?)\s*;\s*(.*)$", line):
            arguments = (
                [self._rename(x) for x in re.split(r",(?![^{\[]*[}\]])", match[4])] if match[4] else []
            )
            guard = (self._rename(match[2]), bool(match[1])) if match[2] else None
            self._instruction(Instruction(match[3], tuple(arguments), guard, number, self.source))
            self._line(match[5], number)
        else:
            raise UnsupportedError(f"line {number}: {line[:100]}")

    def _rename(self, argument: str) -> str:
        argument = argument.strip()
        for scope in reversed(self.scopes):
            argument = re.sub(r"%?[\w$]+", lambda match, names=scope: names.get(match[0], match[0]), argument)
        return argument

    def _instruction(self, instruction: Instruction) -> None:
        """Append it, and begin another basic block before and behind what lanes do together or what leaves
        the block.
        """
        blocks = self.program.blocks
        alone = instruction.name.startswith(COLLECTIVE)
        if instruction.guard and (alone or instruction.is_barrier):
            raise UnsupportedError(f"a guarded {instruction.name} in line {instruction.line}")
        if alone and blocks[-1]:
            blocks.append([])
        blocks[-1].append(instruction)
        if instruction.name.startswith("bar.red"):
            destination, _, given = instruction.arguments
            blocks.append(
                [
                    Instruction(
                        f"result.{'.'.join(instruction.parts[2:])}",
                        (destination, given),
                        line=instruction.line,
                    )
                ]
            )
        elif alone or instruction.is_barrier or instruction.kind in ("bra", "brx", "ret", "exit"):
            blocks.append([])


def _bits(number: str, size: int) -> bytes:
    """A number as PTX writes it, in `size` bytes."""
    if number.startswith(("0f", "0d")):
        return int(number[2:], 16).to_bytes(size, "little")
    return (int(number) & (256**size - 1)).to_bytes(size, "little")
