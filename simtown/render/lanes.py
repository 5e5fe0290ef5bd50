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
_u32, _i32 = types.uint32, types.int32


def _spread(builder, scalar):
    """A vector with `scalar` in every lane."""
    one = builder.insert_element(_NOTHING, scalar, _LANE(0))
    return builder.shuffle_vector(one, _NOTHING, ir.Constant(_VECTOR, [0] * LANES))


def _ramp(builder, start, step):
    """A vector of start + i * step."""
    return builder.add(_spread(builder, start), builder.mul(_NUMBERS, _spread(builder, step)))


def _raise(context, builder, array_type, array, place, value, step, keep, tag, inside):
    """samples.flat[place + i] = max(itself, (value + i * step) & keep | tag) where `inside`."""
    data = context.make_array(array_type)(context, builder, array).data
    pointer = builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())
    before = builder.load(pointer, align=4)
    new = builder.or_(builder.and_(_ramp(builder, value, step), _spread(builder, keep)), _spread(builder, tag))
    builder.store(builder.select(builder.and_(builder.icmp_unsigned(">", new, before), inside), new, before), pointer, align=4)
    return context.get_dummy_value()


@intrinsic
def raise_lanes(typing_context, samples, place, value, step, keep, tag, count):
    """samples.flat[place + i] = max(itself, (value + i * step) & keep | tag) for i < min(count, LANES)."""

    def generate(context, builder, signature, arguments):
        array, place, value, step, keep, tag, count = arguments
        inside = builder.icmp_unsigned("<", _NUMBERS, _spread(builder, count))
        return _raise(context, builder, signature.args[0], array, place, value, step, keep, tag, inside)

    return types.void(samples, types.uint64, _u32, _u32, _u32, _u32, _u32), generate


@intrinsic
def raise_between(typing_context, samples, place, value, step, keep, tag, e0, s0, e1, s1, e2, s2):
    """As raise_lanes, where none of the three edge functions e + i * s (int32) is negative."""

    def generate(context, builder, signature, arguments):
        array, place, value, step, keep, tag, *edges = arguments
        a, b, c = (_ramp(builder, edges[2 * i], edges[2 * i + 1]) for i in range(3))
        inside = builder.icmp_signed(">=", builder.or_(builder.or_(a, b), c), ir.Constant(_VECTOR, [0] * LANES))
        return _raise(context, builder, signature.args[0], array, place, value, step, keep, tag, inside)

    return types.void(samples, types.uint64, _u32, _u32, _u32, _u32, _i32, _i32, _i32, _i32, _i32, _i32), generate
