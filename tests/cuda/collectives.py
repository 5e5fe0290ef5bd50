"""What lanes of a warp do together, as C: shuffles, votes, matches, reductions, and barriers of a warp."""

from tests.cuda.operands import C, Operands
from tests.cuda.ptx import Instruction

_REDUCE = {"add": "a+b", "min": "a<b?a:b", "max": "a>b?a:b", "and": "a&b", "or": "a|b", "xor": "a^b"}
_EACH = "for (int q = 0; q < n; q++) { int l = lanes[q];"
#: The partners of lane l for whom something holds, as a mask.
_BALLOT = "uint32_t b=0; for (int j=0; j<32; j++) b|=(uint32_t)(partners>>j&1&&({}))<<j;"


def collective(i: Instruction, operands: Operands, barrier: int, here: int) -> list[str] | None:
    """The body of the C function of a basic block that is one such instruction, or None if it is not known.

    Args:
        i: the instruction.
        operands: what the kernel's names are in C.
        barrier: its number, if it is a barrier.
        here: the number of the basic block.
    """
    if i.name == "activemask.b32":
        return [
            "uint32_t mask = 0;",
            f"{_EACH} mask|=1u<<l; }}",
            f"{_EACH} {operands.assign(i.arguments[0], 'b32', 'mask')} }}",
            f"return {here + 1};",
        ]
    forms = {"shfl": _shuffle, "vote": _vote, "match": _match, "redux": _reduce, "bar": _synchronise}
    try:
        given, result = forms[i.kind](i, operands, i.parts[1:], i.arguments)
    except (KeyError, ValueError):  # a word, or a number of words, that the form does not know
        return None
    return [
        f"if (L.dropped=={barrier}) return {here + 1};",
        f"{_EACH} {given} meeting.mask[l]={operands.value(i.arguments[-1], 'u32')}; }}",
        f"uint32_t ready=meet(w,warp,lanes,n,{i.line}), done=0; (void)done;",
        f"{_EACH} if (!(ready>>l&1)) continue; uint32_t partners=meeting.mask[l]&ready; {result} }}",
        f"return part(w,lanes,n,ready,{here},{here + 1});",
    ]


# Each form gets the words behind the kind of an instruction, and its arguments. It returns what each lane
# brings and what each is given.


def _shuffle(i: Instruction, o: Operands, words: list[str], a: tuple[str, ...]) -> tuple[str, str]:
    _, how, _ = words
    target, _, inside = a[0].partition("|")
    brought = f"meeting.value[l]={o.value(a[1], 'b32')}; meeting.by[l]={o.value(a[2], 'u32')}; "
    brought += f"meeting.clamp[l]={o.value(a[3], 'u32')};"
    kind = {"up": "UP", "down": "DOWN", "bfly": "BFLY", "idx": "IDX"}[how]
    source = f"int within, from=source_lane(l,{kind},&within);"
    absent = f"if (!(partners>>from&1)) fault(ABSENT_LANE,{i.line},warp*32+l);"
    second = o.assign(inside, "pred", "within") if inside else ""
    return brought, f"{source} {absent} {o.assign(target, 'b32', '(uint32_t)meeting.value[from]')} {second}"


def _vote(i: Instruction, o: Operands, words: list[str], a: tuple[str, ...]) -> tuple[str, str]:
    _, how, t = words
    result = {"ballot": "b", "any": "b!=0", "all": "b==partners", "uni": "b==0||b==partners"}[how]
    return (
        f"meeting.value[l]={o.predicate(a[1])};",
        f"{_BALLOT.format('meeting.value[j]')} {o.assign(a[0], t, result)}",
    )


def _match(i: Instruction, o: Operands, words: list[str], a: tuple[str, ...]) -> tuple[str, str]:
    how, _, t = words
    target, _, same = a[0].partition("|")
    every = {"any": "", "all": "if (b!=partners) b=0;"}[how]
    second = o.assign(same, "pred", "b!=0") if same else ""
    equal = _BALLOT.format("meeting.value[j]==meeting.value[l]")
    return f"meeting.value[l]={o.value(a[1], t)};", f"{equal} {every} {o.assign(target, 'b32', 'b')} {second}"


def _reduce(i: Instruction, o: Operands, words: list[str], a: tuple[str, ...]) -> tuple[str, str]:
    _, how, t = words
    fold = "for (int j=0; j<32; j++) if (j!=l&&partners>>j&1) "
    fold += f"{{ {C[t]} b=({C[t]})meeting.value[j]; a={_REDUCE[how]}; }}"
    return (
        f"meeting.value[l]={o.value(a[1], t)};",
        f"{C[t]} a=({C[t]})meeting.value[l]; {fold} {o.assign(a[0], t, 'a')}",
    )


def _synchronise(i: Instruction, o: Operands, words: list[str], a: tuple[str, ...]) -> tuple[str, str]:
    _ = {("warp", "sync"): None}[tuple(words)]
    return "", "if (!(done>>l&1)) { synchronise(w,meeting.mask[l]); done|=partners; }"
