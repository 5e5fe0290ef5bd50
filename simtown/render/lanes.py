"""Vectors of eight numbers for numba, spelled out where LLVM does not find them by itself.

The renderer's loops are short: LLVM would take thirty-two numbers at a time, or one. In a kernel, vectors of
the type :class:`Lanes` are added and compared like numbers; a number beside a vector stands for eight of it.
Operations on integers are exact, and those on floats are neither reordered nor contracted, so that every
processor gives the same bits, whatever the width of its registers.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

import operator
from collections.abc import Callable

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

#: Numbers in a vector. A buffer of samples must be this much longer than what is drawn in it.
LANES = 8

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_SAMPLES = ir.VectorType(_I32, LANES)
_NONE = ir.Constant(_SAMPLES, [0] * LANES)


class Lanes(types.Type):
    """LANES numbers of one type; comparisons give booleans."""

    def __init__(self, dtype) -> None:
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


def _vector(dtype):
    """The LLVM type of Lanes(dtype)."""
    if isinstance(dtype, types.Float):
        return ir.VectorType(ir.FloatType() if dtype.bitwidth == 32 else ir.DoubleType(), LANES)
    return ir.VectorType(ir.IntType(1 if dtype == types.boolean else dtype.bitwidth), LANES)


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, lanes) -> None:
        super().__init__(manager, lanes, _vector(lanes.dtype))


def _spread(builder, scalar):
    """A vector with `scalar` in every lane."""
    nothing = ir.Constant(ir.VectorType(scalar.type, LANES), ir.Undefined)
    return builder.shuffle_vector(
        builder.insert_element(nothing, scalar, _I32(0)),
        nothing,
        ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES),
    )


def _shuffle(builder, a, b, order):
    """A vector of LANES numbers of a and b one after the other."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_I32, LANES), order))


def _ramp(builder, start, step):
    """A vector of start + i * step."""
    numbers = ir.Constant(ir.VectorType(start.type, LANES), list(range(LANES)))
    return builder.add(_spread(builder, start), builder.mul(numbers, _spread(builder, step)))


def _any(builder, mask):
    """Whether any of LANES booleans is true."""
    bits = builder.bitcast(mask, ir.IntType(LANES))
    return builder.icmp_unsigned("!=", bits, bits.type(0))


def _compare(sign):
    def generate(builder, dtype, a, b):
        if isinstance(dtype, types.Float):
            return builder.fcmp_ordered(sign, a, b) if sign != "!=" else builder.fcmp_unordered(sign, a, b)
        return (builder.icmp_signed if dtype.signed else builder.icmp_unsigned)(sign, a, b)

    return generate


def _arithmetic(on_floats, on_integers):
    def generate(builder, dtype, a, b):
        return getattr(builder, on_floats if isinstance(dtype, types.Float) else on_integers)(a, b)

    return generate


def _shift_right(builder, dtype, a, b):
    return (builder.ashr if dtype.signed else builder.lshr)(a, b)


def _larger(builder, dtype, a, b):
    return builder.select(_compare(">")(builder, dtype, a, b), a, b)


def _smaller(builder, dtype, a, b):
    return builder.select(_compare("<")(builder, dtype, a, b), a, b)


_COMPARISONS: dict[object, str] = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}
_OPERATORS: dict[object, Callable[..., ir.Value]] = {
    operator.add: _arithmetic("fadd", "add"),
    operator.sub: _arithmetic("fsub", "sub"),
    operator.mul: _arithmetic("fmul", "mul"),
    operator.truediv: _arithmetic("fdiv", ""),
    operator.and_: _arithmetic("", "and_"),
    operator.or_: _arithmetic("", "or_"),
    operator.lshift: _arithmetic("", "shl"),
    operator.rshift: _shift_right,
    max: _larger,
    min: _smaller,
    **{key: _compare(sign) for key, sign in _COMPARISONS.items()},
}


def _register(key, generate) -> None:
    """Let numba type and lower an operator of two vectors, or of a vector and a number."""

    class Template(AbstractTemplate):
        def generic(self, args, kws):
            kinds = {a for a in args if isinstance(a, Lanes)}
            if len(kinds) != 1:
                return None
            lanes = kinds.pop()
            result = Lanes(types.boolean) if key in _COMPARISONS else lanes
            return signature(result, *(a if isinstance(a, Lanes) else lanes.dtype for a in args))

    infer_global(key)(Template)

    def lower(context, builder, sig, args):
        dtype = next(a.dtype for a in sig.args if isinstance(a, Lanes))
        a, b = (
            value if isinstance(each, Lanes) else _spread(builder, value)
            for each, value in zip(sig.args, args, strict=True)
        )
        return generate(builder, dtype, a, b)

    for kinds in ((Lanes, Lanes), (Lanes, types.Number), (types.Number, Lanes)):
        lower_builtin(key, *kinds)(lower)


for _key, _generate in _OPERATORS.items():
    _register(_key, _generate)


def _pointer(context, builder, array_type, array, place):
    """Pointer to the LANES numbers from array.flat[place] on."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [place]), _vector(array_type.dtype).as_pointer())


@intrinsic
def load(typing_context, array, place):
    """The numbers array.flat[place : place + LANES] of a contiguous array, without a test of bounds."""

    def generate(context, builder, sig, args):
        return builder.load(_pointer(context, builder, sig.args[0], *args), align=array.dtype.bitwidth // 8)

    return Lanes(array.dtype)(array, types.uint64), generate


@intrinsic
def store(typing_context, array, place, lanes):
    """Write a vector to array.flat[place : place + LANES]."""

    def generate(context, builder, sig, args):
        builder.store(
            args[2], _pointer(context, builder, sig.args[0], *args[:2]), align=array.dtype.bitwidth // 8
        )

    return types.void(array, types.uint64, Lanes(array.dtype)), generate


@intrinsic
def store_first(typing_context, array, place, lanes, count):
    """Write the first `count` numbers of a vector to array.flat[place : place + count]."""

    def generate(context, builder, sig, args):
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        for lane in range(LANES):
            with builder.if_then(builder.icmp_unsigned("<", _I64(lane), args[3])):
                builder.store(
                    builder.extract_element(args[2], _I32(lane)),
                    builder.gep(data, [builder.add(args[1], _I64(lane))]),
                )

    return types.void(array, types.uint64, Lanes(array.dtype), types.uint64), generate


@intrinsic
def store_bytes(typing_context, array, place, lanes):
    """Write the three low bytes of every uint32 one after the other, from array.flat[place] on."""

    def generate(context, builder, sig, args):
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        each = builder.bitcast(args[2], ir.VectorType(ir.IntType(8), 4 * LANES))
        low = builder.shuffle_vector(
            each,
            each,
            ir.Constant(ir.VectorType(_I32, 3 * LANES), [i for i in range(4 * LANES) if i % 4 < 3]),
        )
        builder.store(low, builder.bitcast(builder.gep(data, [args[1]]), low.type.as_pointer()), align=1)

    return types.void(array, types.uint64, lanes), generate


@intrinsic
def pick(typing_context, table, places):
    """table.flat[place] for every lane of `places`, which hold unsigned numbers."""

    def generate(context, builder, sig, args):
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        out = ir.Constant(_vector(table.dtype), ir.Undefined)
        for lane in map(_I32, range(LANES)):
            place = builder.zext(builder.extract_element(args[1], lane), _I64)
            out = builder.insert_element(out, builder.load(builder.gep(data, [place])), lane)
        return out

    return Lanes(table.dtype)(table, places), generate


@intrinsic
def spread(typing_context, number):
    """LANES times the same number."""
    return Lanes(number)(number), lambda context, builder, sig, args: _spread(builder, *args)


@intrinsic
def ramp(typing_context, start, step):
    """start + i * step of integers of one type."""
    return Lanes(start)(start, start), lambda context, builder, sig, args: _ramp(builder, *args)


@intrinsic
def choose(typing_context, mask, yes, no):
    """Lane by lane, one or the other."""
    return yes(mask, yes, yes), lambda context, builder, sig, args: builder.select(*args)


@intrinsic
def convert(typing_context, lanes, dtype):
    """Vectors to vectors of another type of number, rounded towards zero or cut to its low bits."""
    source, target = lanes.dtype, dtype.dtype

    def generate(context, builder, sig, args):
        value, vector = args[0], _vector(target)
        if isinstance(source, types.Float):
            if isinstance(target, types.Float):
                return (
                    builder.fpext(value, vector)
                    if target.bitwidth > source.bitwidth
                    else builder.fptrunc(value, vector)
                )
            return builder.fptosi(value, vector)
        if isinstance(target, types.Float):
            return (builder.sitofp if source.signed else builder.uitofp)(value, vector)
        if target.bitwidth <= source.bitwidth:
            return builder.trunc(value, vector) if target.bitwidth < source.bitwidth else value
        return (builder.sext if source.signed else builder.zext)(value, vector)

    return Lanes(target)(lanes, dtype), generate


@intrinsic
def any_of(typing_context, mask):
    """Whether any lane of a comparison is true."""
    return types.boolean(mask), lambda context, builder, sig, args: _any(builder, *args)


@intrinsic
def pick_rows(typing_context, table, rows):
    """The columns of table[rows] as four vectors; the table is contiguous (n, 4) float32, rows unsigned."""
    lanes = Lanes(table.dtype)

    def generate(context, builder, sig, args):
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        row = ir.VectorType(ir.FloatType(), 4)
        taps = []
        for lane in range(LANES):
            number = builder.zext(builder.extract_element(args[1], _I32(lane)), _I64)
            pointer = builder.gep(data, [builder.shl(number, _I64(2))])
            taps.append(builder.load(builder.bitcast(pointer, row.as_pointer()), align=4))
        # rows i and i + 4
        two = [_shuffle(builder, taps[i], taps[i + 4], [0, 1, 2, 3, 4, 5, 6, 7]) for i in range(4)]
        columns = []
        # columns 0 and 1, then 2 and 3
        for order in (
            [0, 8, 1, 9, 4, 12, 5, 13],
            [2, 10, 3, 11, 6, 14, 7, 15],
        ):
            upper, lower = _shuffle(builder, two[0], two[1], order), _shuffle(builder, two[2], two[3], order)
            columns += [
                _shuffle(builder, upper, lower, halves)
                for halves in ([0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15])
            ]
        return context.make_tuple(builder, sig.return_type, columns)

    return types.UniTuple(lanes, 4)(table, rows), generate


@intrinsic
def store_rows(typing_context, table, row, a, b, c, d):
    """Write four vectors to the columns of table[row : row + LANES], contiguous (n, 4) of float32."""

    def generate(context, builder, sig, args):
        table, row, a, b, c, d = args
        pairs = []
        # rows 0, 1, 4 and 5, then 2, 3, 6 and 7
        for order in (
            [0, 8, 1, 9, 4, 12, 5, 13],
            [2, 10, 3, 11, 6, 14, 7, 15],
        ):
            pairs.append((_shuffle(builder, a, b, order), _shuffle(builder, c, d, order)))
        place = builder.shl(row, _I64(2))
        for order in ([0, 1, 8, 9, 2, 3, 10, 11], [4, 5, 12, 13, 6, 7, 14, 15]):
            for left, right in pairs:
                two = _shuffle(builder, left, right, order)
                builder.store(two, _pointer(context, builder, sig.args[0], table, place), align=4)
                place = builder.add(place, _I64(LANES))

    return types.void(table, types.uint64, a, a, a, a), generate


@intrinsic
def load_odd(typing_context, array, place):
    """The numbers array.flat[place + 1 : place + 1 + 2 * LANES : 2] of a contiguous array."""

    def generate(context, builder, sig, args):
        pointer = _pointer(context, builder, sig.args[0], *args)
        first, second = (
            builder.load(builder.gep(pointer, [_I32(i)]), align=array.dtype.bitwidth // 8) for i in range(2)
        )
        return _shuffle(builder, first, second, list(range(1, 2 * LANES, 2)))

    return Lanes(array.dtype)(array, types.uint64), generate


def _extreme(sign):
    """An intrinsic that gives the largest or smallest lane."""

    @intrinsic
    def reduce(typing_context, lanes):
        def generate(context, builder, sig, args):
            value, nothing = args[0], ir.Constant(_vector(lanes.dtype), ir.Undefined)
            for distance in (4, 2, 1):
                other = _shuffle(builder, value, nothing, [(i + distance) % LANES for i in range(LANES)])
                value = builder.select(_compare(sign)(builder, lanes.dtype, value, other), value, other)
            return builder.extract_element(value, _I32(0))

        return lanes.dtype(lanes), generate

    return reduce


largest, smallest = _extreme(">"), _extreme("<")


@intrinsic
def raise_lanes(typing_context, samples, place, value, step, keep, tag, count):
    """samples.flat[place + i] = max(itself, (value + i * step) & keep | tag) for i < min(count, LANES).

    True if that changed any.
    """

    def generate(context, builder, signature, arguments):
        array, place, value, step, keep, tag, count = arguments
        pointer = _pointer(context, builder, signature.args[0], array, place)
        inside = builder.icmp_unsigned(
            "<", ir.Constant(_SAMPLES, list(range(LANES))), _spread(builder, count)
        )
        before = builder.load(pointer, align=4)
        after = _raised(
            builder,
            before,
            _ramp(builder, value, step),
            _spread(builder, keep),
            _spread(builder, tag),
            inside,
        )
        builder.store(after, pointer, align=4)
        return _any(builder, builder.icmp_unsigned("!=", before, after))

    return types.boolean(samples, types.uint64, *[types.uint32] * 5), generate


@intrinsic
def raise_box(
    typing_context, samples, place, rows, value, step, down, keep, tag, e0, s0, d0, e1, s1, d1, e2, s2, d2
):
    """As raise_lanes in `rows` > 0 rows of a box, where none of three edge functions (int32) is negative.

    The value grows by `step` along a row and by `down` from row to row, edge function e by s and d.
    """

    def generate(context, builder, signature, arguments):
        array, place, rows, value, step, down, keep, tag, *edges = arguments
        stride = builder.extract_value(
            context.make_array(signature.args[0])(context, builder, array).strides, 0
        )
        start = builder.bitcast(
            _pointer(context, builder, signature.args[0], array, place), ir.IntType(8).as_pointer()
        )
        ramps = [_ramp(builder, value, step), *(_ramp(builder, *edges[i : i + 2]) for i in (0, 3, 6))]
        growth = [_spread(builder, d) for d in (down, *edges[2::3])]
        keep, tag = _spread(builder, keep), _spread(builder, tag)
        entry = builder.block
        row = builder.append_basic_block("row")
        done = builder.append_basic_block("done")
        builder.branch(row)
        builder.position_at_end(row)
        first = [rows, start, _NONE, *ramps]
        now = [builder.phi(value.type) for value in first]
        left, at, changed, value, a, b, c = now
        pointer = builder.bitcast(at, _SAMPLES.as_pointer())
        inside = builder.icmp_signed(">=", builder.or_(builder.or_(a, b), c), _NONE)
        before = builder.load(pointer, align=4)
        after = _raised(builder, before, value, keep, tag, inside)
        builder.store(after, pointer, align=4)
        left = builder.sub(left, left.type(1))
        at = builder.gep(at, [stride])
        changed = builder.or_(changed, builder.xor(before, after))
        ramps = [builder.add(ramp, grow) for ramp, grow in zip((value, a, b, c), growth, strict=True)]
        for phi, initial, following in zip(now, first, (left, at, changed, *ramps), strict=True):
            phi.add_incoming(initial, entry)
            phi.add_incoming(following, row)
        builder.cbranch(builder.icmp_unsigned("!=", left, left.type(0)), row, done)
        builder.position_at_end(done)
        return _any(builder, builder.icmp_unsigned("!=", changed, _NONE))

    return types.boolean(
        samples, types.uint64, types.uint64, *[types.uint32] * 5, *[types.int32] * 9
    ), generate


def _raised(builder, before, value, keep, tag, inside):
    """The larger of samples `before` and (value & keep | tag), where `inside`."""
    new = builder.or_(builder.and_(value, keep), tag)
    new = builder.select(inside, new, _NONE)
    return builder.select(builder.icmp_unsigned(">", new, before), new, before)
