"""Vector steps of the rasteriser, spelled out for LLVM, which does not find them by itself in loops this short.

All in uint32 and int32, so that every processor gives the same bits, whatever its registers' width.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

#: Samples filled at once. A buffer of samples must be this much longer than what is drawn in it.
LANES = 8

_LANE = ir.IntType(32)
_VECTOR = ir.VectorType(_LANE, LANES)
_NUMBERS = ir.Constant(_VECTOR, list(range(LANES)))
_NOTHING = ir.Constant(_VECTOR, ir.Undefined)
_NONE = ir.Constant(_VECTOR, [0] * LANES)
_u32, _i32 = types.uint32, types.int32


def _spread(builder, scalar):
    """A vector with `scalar` in every lane."""
    one = builder.insert_element(_NOTHING, scalar, _LANE(0))
    return builder.shuffle_vector(one, _NOTHING, ir.Constant(_VECTOR, [0] * LANES))


def _ramp(builder, start, step):
    """A vector of start + i * step."""
    return builder.add(_spread(builder, start), builder.mul(_NUMBERS, _spread(builder, step)))


def _raised(builder, before, value, keep, tag, inside):
    """The larger of samples `before` and (value & keep | tag), where `inside`."""
    new = builder.or_(builder.and_(value, keep), tag)
    new = builder.select(inside, new, _NONE)
    return builder.select(builder.icmp_unsigned(">", new, before), new, before)


def _any(builder, before, after):
    """Whether any lane differs."""
    bits = builder.bitcast(builder.icmp_unsigned("!=", before, after), ir.IntType(LANES))
    return builder.icmp_unsigned("!=", bits, bits.type(0))


def _block(context, builder, array_type, array, place):
    """Pointer to the LANES samples from samples.flat[place] on."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())


@intrinsic
def raise_lanes(typing_context, samples, place, value, step, keep, tag, count):
    """samples.flat[place + i] = max(itself, (value + i * step) & keep | tag) for i < min(count, LANES). True if that changed any."""

    def generate(context, builder, signature, arguments):
        array, place, value, step, keep, tag, count = arguments
        pointer = _block(context, builder, signature.args[0], array, place)
        inside = builder.icmp_unsigned("<", _NUMBERS, _spread(builder, count))
        before = builder.load(pointer, align=4)
        after = _raised(builder, before, _ramp(builder, value, step), _spread(builder, keep), _spread(builder, tag), inside)
        builder.store(after, pointer, align=4)
        return _any(builder, before, after)

    return types.boolean(samples, types.uint64, _u32, _u32, _u32, _u32, _u32), generate


@intrinsic
def raise_box(typing_context, samples, place, rows, value, step, down, keep, tag, e0, s0, d0, e1, s1, d1, e2, s2, d2):
    """As raise_lanes in `rows` > 0 rows of a box, where none of three edge functions (int32) is negative.

    The value grows by `step` along a row and by `down` from row to row, edge function e by s and d.
    """

    def generate(context, builder, signature, arguments):
        array, place, rows, value, step, down, keep, tag, *edges = arguments
        stride = builder.extract_value(context.make_array(signature.args[0])(context, builder, array).strides, 0)
        start = builder.bitcast(_block(context, builder, signature.args[0], array, place), ir.IntType(8).as_pointer())
        ramps = [_ramp(builder, value, step), *(_ramp(builder, *edges[i : i + 2]) for i in (0, 3, 6))]
        growth = [_spread(builder, d) for d in (down, *edges[2::3])]
        keep, tag = _spread(builder, keep), _spread(builder, tag)
        entry, row, done = builder.block, builder.append_basic_block("row"), builder.append_basic_block("done")
        builder.branch(row)
        builder.position_at_end(row)
        first = [rows, start, _NONE, *ramps]
        now = [builder.phi(value.type) for value in first]
        left, at, changed, value, a, b, c = now
        pointer = builder.bitcast(at, _VECTOR.as_pointer())
        inside = builder.icmp_signed(">=", builder.or_(builder.or_(a, b), c), _NONE)
        before = builder.load(pointer, align=4)
        after = _raised(builder, before, value, keep, tag, inside)
        builder.store(after, pointer, align=4)
        left, at, changed = builder.sub(left, left.type(1)), builder.gep(at, [stride]), builder.or_(changed, builder.xor(before, after))
        ramps = [builder.add(ramp, grow) for ramp, grow in zip((value, a, b, c), growth, strict=True)]
        for phi, initial, following in zip(now, first, (left, at, changed, *ramps), strict=True):
            phi.add_incoming(initial, entry)
            phi.add_incoming(following, row)
        builder.cbranch(builder.icmp_unsigned("!=", left, left.type(0)), row, done)
        builder.position_at_end(done)
        return _any(builder, changed, _NONE)

    return types.boolean(samples, types.uint64, types.uint64, *[_u32] * 5, *[_i32] * 9), generate
