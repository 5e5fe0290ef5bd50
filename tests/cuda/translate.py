"""A parsed kernel as C: its basic blocks as functions, which run on the machine of machine.c."""

import re
from pathlib import Path

from tests.cuda.arithmetic import statement
from tests.cuda.collectives import collective
from tests.cuda.operands import C, Operands, registers_of
from tests.cuda.ptx import COLLECTIVE, SIZES, Instruction, Program, UnsupportedError

_MACHINE = Path(__file__).with_name("machine.c")
#: What an atomic operation writes, from the old value, its operand v and, of cas, its second operand u.
_ATOMIC = {
    "add": "old+v",
    "or": "old|v",
    "and": "old&v",
    "xor": "old^v",
    "max": "old>v?old:v",
    "min": "old<v?old:v",
}
_ATOMIC |= {"exch": "v", "cas": "old==v?u:old"}
#: What a load or store may say of caches and order that changes nothing here.
_HINTS = {"weak", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "relaxed", "cta", "gpu", "sys"}
_LEAVING = ("bra", "brx", "ret", "exit", "bar")
_REDUCING = ("bar.red.popc.u32", "bar.red.or.pred", "bar.red.and.pred")


def translate(program: Program) -> str:
    """The C program of a kernel.

    Raises:
        UnsupportedError: it has an instruction, or a way to use one, that is not known.
    """
    return _Translator(program).source()


class _Translator:
    def __init__(self, program: Program) -> None:
        self.program, self.operands = program, Operands(program)
        self.barriers = {id(barrier): number for number, barrier in enumerate(program.barriers)}
        self.counts: list[str] = []  # what counts the traffic of the basic block at hand
        self.accesses = 1  # the most that a basic block has

    def source(self) -> str:
        """Constants, the machine, the basic blocks, and tables of them."""
        program, operands = self.program, self.operands
        functions = [self._function(number, block) for number, block in enumerate(program.blocks)]
        across = " ".join(operands.declare(x) for x in program.registers if x not in operands.within)
        sizes = {
            "BLOCK_COUNT": len(program.blocks),
            "ACCESS_COUNT": self.accesses,
            "LOCAL_BYTES": max(operands.local_bytes, 16),
        }
        sizes |= {"SHARED_COUNT": len(program.shared) or 1, "BARRIER_COUNT": len(program.barriers) or 1}
        blocks = [
            f"{{block_{number}, {sum(x.is_real for x in block)}, {sum(x.cost for x in block):.2f}, "
            f"{block[0].line if block else 0}}}"
            for number, block in enumerate(program.blocks)
        ]
        return "\n".join(
            [
                *(f"#define {name} {size}" for name, size in sizes.items()),
                f"#define REGISTERS {across or 'char none;'}",
                _MACHINE.read_text(encoding="utf-8"),
                *functions,
                _table("Block BLOCKS[BLOCK_COUNT]", blocks),
                _table(
                    "int BARRIER_LINES[BARRIER_COUNT]", [str(barrier.line) for barrier in program.barriers]
                ),
                _table(
                    "SharedArray SHARED_ARRAYS[SHARED_COUNT]",
                    [f"{{{a.size}, {a.align}}}" for a in program.shared.values()],
                ),
            ]
        )

    def _function(self, number: int, block: list[Instruction]) -> str:
        """A basic block: its lanes one after the other, then what counts traffic, then where to go."""
        self.counts = []
        head = f"static int block_{number}(Warp *w, int warp, const uint8_t *lanes, int n)\n{{"
        if block and block[0].name.startswith(COLLECTIVE):
            body = collective(block[0], self.operands, self.barriers.get(id(block[0]), -2), number)
            if body is None:
                raise _unknown(block[0])
            return "\n".join([head, *body, "}"])
        within = (
            x for i in block for x in registers_of(self.program, *i.arguments) if x in self.operands.within
        )
        lines = [self.operands.declare(x) for x in dict.fromkeys(within)]
        after = f"return {number + 1};"
        for instruction in block:
            if instruction.kind in _LEAVING:
                line, after = self._leave(instruction, number + 1)
            else:
                line = (
                    self._access(instruction)
                    if instruction.kind in ("ld", "st", "atom", "red")
                    else statement(instruction, self.operands)
                )
                if line is None:
                    raise _unknown(instruction)
                line = f"if ({self._guard(instruction)}) {{ {line} }}" if instruction.guard else line
            lines.append(line)
        self.accesses = max(self.accesses, len(self.counts))
        used = " ".join(f"uint32_t used_{k} = 0;" for k in range(len(self.counts)))
        each = "for (int q = 0; q < n; q++) { int l = lanes[q];"
        return "\n".join(
            [head, f"uint32_t taken = 0; (void)taken; {used}", each, *lines, "}", *self.counts, after, "}"]
        )

    def _guard(self, instruction: Instruction) -> str:
        """Whether a lane executes an instruction."""
        if not instruction.guard:
            return "1"
        name, negated = instruction.guard
        return self.operands.predicate("!" * negated + name)

    def _leave(self, instruction: Instruction, after: int) -> tuple[str, str]:
        """What ends a basic block: what each lane does, and what stands behind the lanes."""
        taken = f"taken|=(uint32_t)({self._guard(instruction)})<<l;"
        if instruction.kind == "bra":
            there = self.program.labels[instruction.arguments[0]]
            return (
                (taken, f"return branch(w,lanes,n,taken,{there},{after});")
                if instruction.guard
                else ("", f"return {there};")
            )
        if instruction.kind in ("ret", "exit"):
            return taken, f"return end_lanes(w,lanes,n,taken,{after});"
        if instruction.kind == "brx" and not instruction.guard:
            index, table = instruction.arguments
            labels = ",".join(str(self.program.labels[label]) for label in self.program.targets[table])
            return (
                f"{{ static const int there[]={{{labels}}}; "
                f"w->pc[l]=there[{self.operands.value(index, 'u32')}]; }}",
                "return -1;",
            )
        waits = f"return wait_at(w,lanes,n,{self.barriers.get(id(instruction), -2)},{after});"
        if instruction.name == "bar.sync" and instruction.arguments == ("0",):
            return "", waits
        if instruction.name in _REDUCING and instruction.arguments[1] == "0":
            return f"w->given[l]={self.operands.predicate(instruction.arguments[2])};", waits
        raise _unknown(instruction)

    def _access(self, instruction: Instruction) -> str | None:
        """A load, store or atomic, checked; adds what counts its traffic to `counts`."""
        kind, t, arguments = instruction.kind, instruction.parts[-1], instruction.arguments
        operands = self.operands
        words = re.sub(r"\.L[12]::\w+", "", instruction.name).split(".")[1:-1]
        space = next((x for x in words if x in ("global", "shared", "local", "const", "param")), "generic")
        vector = next((int(x[1]) for x in words if x in ("v2", "v4")), 1)
        rest = [x for x in words if x not in _HINTS and x not in (space, "v2", "v4", "volatile")]
        relaxed = "relaxed" in words or "volatile" in words
        if kind == "ld":
            (target, place), given = arguments, ()
            operation = "CONSTANT_LOAD" if "nc" in rest else "RELAXED_LOAD" if relaxed else "LOAD"
            rest = [x for x in rest if x != "nc"]
        else:
            target = arguments[0] if kind == "atom" else "_"
            place, *given = arguments[1:] if kind == "atom" else arguments
            operation = "ATOMIC" if kind != "st" else "RELAXED_STORE" if relaxed else "STORE"
        does = rest.pop(0) if operation == "ATOMIC" and rest else ""
        # The sum of floats depends on the order of the threads.
        if (
            rest
            or t not in SIZES
            or (operation == "ATOMIC" and (does not in _ATOMIC or t[0] == "f" or vector > 1))
        ):
            return None
        reached = self._reach(space, operands.address(place), SIZES[t] * vector, operation, instruction.line)
        names = [x.strip() for x in (given[0] if kind == "st" else target).strip("{}").split(",")]
        if operation == "ATOMIC":
            also = f"{C[t]} u={operands.value(given[1], t)};" if does == "cas" else ""
            new = f"{C[t]} old=*({C[t]}*)p, v={operands.value(given[0], t)}; "
            new += f"{also} *({C[t]}*)p={_ATOMIC[does]};"
            return f"{{ {reached} {new} {operands.assign(target, t, 'old')} }}"
        if kind == "st":
            moved = " ".join(f"(({C[t]}*)p)[{k}]={operands.value(x, t)};" for k, x in enumerate(names))
        else:
            moved = " ".join(operands.assign(x, t, f"(({C[t]}*)p)[{k}]") for k, x in enumerate(names))
        return f"{{ {reached} {moved} }}" if len(names) == vector else None

    def _reach(self, space: str, address: str, width: int, operation: str, line: int) -> str:
        """C that checks an access and gives the pointer p."""
        if space == "param":
            return f"const uint8_t *p=reach_parameter({address},{width},warp,l,{line});"
        if space == "local":
            return f"uint8_t *p=reach_local({address},{width},{operation},w,warp,l,{line});"
        number, space = len(self.counts), "global" if space == "const" else space
        self.counts.append(f"count_{space}(at[{number}],used_{number},{operation},{width});")
        noted = f"uint64_t a={address}; at[{number}][l]=a; used_{number}|=1u<<l;"
        return f"{noted} uint8_t *p=reach_{space}(a,{width},{operation},w,warp,l,{line});"


def _table(declaration: str, rows: list[str]) -> str:
    return f"static const {declaration} = {{{', '.join(rows) or '0'}}};"


def _unknown(instruction: Instruction) -> UnsupportedError:
    written = f"{instruction.name} {', '.join(instruction.arguments)}"
    return UnsupportedError(f"not known to the emulator: {written[:160]} (line {instruction.line})")
