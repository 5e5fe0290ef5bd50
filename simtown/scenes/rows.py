"""Vector steps of silhouettes, spelled out for LLVM, which does not find them by itself in loops this short.

A mask holds a bit a pixel: (words, rows + LANES - 1) uint64, so that a word's rows lie side by side and any LANES of them can be taken.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

#: Rows taken at once.
LANES = 8

_FLOAT, _INT, _WORD = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_FLOATS, _INTS, _WORDS = (ir.VectorType(kind, LANES) for kind in (_FLOAT, _INT, _WORD))
_NUMBERS = ir.Constant(_FLOATS, [float(lane) for lane in range(LANES)])
_ZEROS, _64S = ir.Constant(_INTS, [0] * LANES), ir.Constant(_INTS, [64] * LANES)
_ONES, _ALL = ir.Constant(_WORDS, [1] * LANES), ir.Constant(_WORDS, [2**64 - 1] * LANES)


def _spread(builder, scalar):
    """A vector with `scalar` in every lane."""
    nothing = ir.Constant(ir.VectorType(scalar.type, LANES), ir.Undefined)
    one = builder.insert_element(nothing, scalar, _INT(0))
    return builder.shuffle_vector(one, nothing, _ZEROS)


def _up(builder, x, base):
    """x rounded up to a whole number, less base: int32, below 0 as 0 and above 64 as 64."""
    low, high = builder.fsub(base, _spread(builder, _FLOAT(1.0))), builder.fadd(base, _spread(builder, _FLOAT(65.0)))
    x = builder.select(builder.fcmp_ordered(">", x, low), x, low)
    x = builder.select(builder.fcmp_ordered("<", x, high), x, high)
    whole = builder.fptosi(x, _INTS)
    rounded = builder.sub(whole, builder.sext(builder.fcmp_ordered("<", builder.sitofp(whole, _FLOATS), x), _INTS))
    n = builder.sub(rounded, builder.fptosi(base, _INTS))
    n = builder.select(builder.icmp_signed(">", n, _ZEROS), n, _ZEROS)
    return builder.select(builder.icmp_signed("<", n, _64S), n, _64S)


def _left_of(builder, n):
    """Words whose lowest n bits are set, n from 0 to 64."""
    bits = builder.sub(builder.shl(_ONES, builder.zext(n, _WORDS)), _ONES)
    return builder.select(builder.icmp_signed("<", n, _64S), bits, _ALL)


@intrinsic
def clear_rows(typing_context, mask, word, row, end, base, x0, y0, long, above, middle, x1, y1, below):
    """Clear what lies in a triangle of a word's rows row to min(row + LANES, end) - 1.

    The word's first bit is column `base`, float32 as all that follows. The long side begins at (x0, y0) and moves by `long` a row; the
    others by `above` from there in rows before `middle`, and by `below` from (x1, y1) in the rest.
    """

    def generate(context, builder, signature, arguments):
        array, word, row = arguments[:3]
        data = context.make_array(signature.args[0])(context, builder, array)
        stride = builder.udiv(builder.extract_value(data.strides, 0), _WORD(8))
        pointer = builder.bitcast(builder.gep(data.data, [builder.add(builder.mul(word, stride), row)]), _WORDS.as_pointer())
        start = _spread(builder, builder.uitofp(row, _FLOAT))
        end, base, x0, y0, long, above, middle, x1, y1, below = (_spread(builder, value) for value in arguments[3:])
        y = builder.fadd(start, _NUMBERS)
        down = builder.fsub(y, y0)
        a = builder.fadd(x0, builder.fmul(down, long))
        upper, lower = builder.fadd(x0, builder.fmul(down, above)), builder.fadd(x1, builder.fmul(builder.fsub(y, y1), below))
        b = builder.select(builder.fcmp_ordered("<", y, middle), upper, lower)
        swap = builder.fcmp_ordered("<", b, a)
        first, last = _up(builder, builder.select(swap, b, a), base), _up(builder, builder.select(swap, a, b), base)
        inside = builder.and_(_left_of(builder, last), builder.not_(_left_of(builder, first)))
        inside = builder.select(builder.fcmp_ordered("<", y, end), inside, ir.Constant(_WORDS, [0] * LANES))
        builder.store(builder.and_(builder.load(pointer, align=8), builder.not_(inside)), pointer, align=8)
        return context.get_dummy_value()

    return types.void(mask, types.uint64, types.uint64, *[types.float32] * 10), generate
