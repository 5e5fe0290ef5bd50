// Vectors of eight numbers, spelled out: the renderer's loops are short, and compilers would take thirty-two or one.
#pragma once
#include <string.h>
#include "words.hpp"

enum { LANES = 8 };
template <class T> using Vec __attribute__((vector_size(LANES * sizeof(T)))) = T;
typedef float Floats __attribute__((vector_size(32)));
typedef int32_t Ints __attribute__((vector_size(32)));
typedef uint32_t Words32 __attribute__((vector_size(32)));
typedef int64_t Longs __attribute__((vector_size(64)));
typedef uint64_t Words64 __attribute__((vector_size(64)));
typedef double Doubles __attribute__((vector_size(64)));
// Sixteen samples: what is wide enough is filled by more than eight.
enum { WIDE = 16 };
typedef uint32_t Samples __attribute__((vector_size(64)));
static const Samples ORDER = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const Words32 STEPS = {0, 1, 2, 3, 4, 5, 6, 7};
typedef uint8_t Bytes __attribute__((vector_size(8)));

#define INLINE SHARED

template <class V, class T> INLINE V load(const T* at)
{
    V value;
    memcpy(&value, at, sizeof value);
    return value;
}
template <class V, class T> INLINE void store(T* at, V value) { memcpy(at, &value, sizeof value); }
// Store the first `count` numbers, all of them if there are more places: a copy of known size is one instruction.
template <class V, class T> INLINE void put(T* at, V value, int64_t count)
{
    if (count >= LANES) memcpy(at, &value, sizeof value);
    else
        for (int lane = 0; lane < LANES; lane++)
            if (lane < count) at[lane] = value[lane];
}
template <class To, class From> INLINE To convert(From value) { return __builtin_convertvector(value, To); }
template <class V> INLINE V larger(V a, V b) { return a > b ? a : b; }
template <class V> INLINE V smaller(V a, V b) { return a < b ? a : b; }
template <class V, class T> INLINE V spread(T value) { return V{} + value; }
INLINE Floats clamped(Floats x) { return smaller(larger(x, Floats{}), spread<Floats>(1.0f)); }
INLINE Floats floored(Floats x)
{
    for (int lane = 0; lane < LANES; lane++) x[lane] = floorf(x[lane]);
    return x;
}
INLINE Floats size_of(Floats x) { return larger(x, 0.0f - x); }
template <class V, class T> INLINE V ramp(T start, T step)
{
    V value = {start, (T)(start + step), (T)(start + 2 * step), (T)(start + 3 * step), (T)(start + 4 * step), (T)(start + 5 * step), (T)(start + 6 * step), (T)(start + 7 * step)};
    return value;
}
template <class V, class Number> INLINE V lanes_of(Number number)
{
    V value = {number(0), number(1), number(2), number(3), number(4), number(5), number(6), number(7)};
    return value;
}
template <class V, class T, class P> INLINE V pick(const T* table, P places)
{
    return lanes_of<V>([&](int lane) { return table[places[lane]]; });
}
// Whether any lane of a comparison of 32-bit numbers is true.
INLINE bool any(Ints mask)
{
    Longs halves = (Longs)__builtin_shufflevector(mask, mask, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
    return (halves[0] | halves[1] | halves[2] | halves[3]) != 0;
}
// Whether any of sixteen numbers is not 0.
INLINE bool any(Samples numbers)
{
    Words64 words = (Words64)numbers;
    return (words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] | words[7]) != 0;
}
// Whether all of sixteen numbers are one.
INLINE bool same(Samples numbers) { return !any(numbers ^ numbers[0]); }
INLINE float largest(Floats a)
{
    a = larger(a, __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3));
    a = larger(a, __builtin_shufflevector(a, a, 2, 3, 4, 5, 6, 7, 0, 1));
    a = larger(a, __builtin_shufflevector(a, a, 1, 2, 3, 4, 5, 6, 7, 0));
    return a[0];
}
INLINE float smallest(Floats a)
{
    a = smaller(a, __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3));
    a = smaller(a, __builtin_shufflevector(a, a, 2, 3, 4, 5, 6, 7, 0, 1));
    a = smaller(a, __builtin_shufflevector(a, a, 1, 2, 3, 4, 5, 6, 7, 0));
    return a[0];
}

// The columns of eight rows of four numbers.
struct Columns {
    Floats a, b, c, d;
};
// `row` says where that of a lane is.
template <class Row> INLINE Columns columns_of(Row row)
{
    typedef float Four __attribute__((vector_size(16)));
    Four taps[LANES];
    for (int lane = 0; lane < LANES; lane++) memcpy(&taps[lane], row(lane), sizeof taps[lane]);
    Floats two[4]; // rows i and i + 4
    for (int i = 0; i < 4; i++) two[i] = __builtin_shufflevector(taps[i], taps[i + 4], 0, 1, 2, 3, 4, 5, 6, 7);
    Floats upper = __builtin_shufflevector(two[0], two[1], 0, 8, 1, 9, 4, 12, 5, 13), lower = __builtin_shufflevector(two[2], two[3], 0, 8, 1, 9, 4, 12, 5, 13);
    Columns out;
    out.a = __builtin_shufflevector(upper, lower, 0, 1, 8, 9, 4, 5, 12, 13), out.b = __builtin_shufflevector(upper, lower, 2, 3, 10, 11, 6, 7, 14, 15);
    upper = __builtin_shufflevector(two[0], two[1], 2, 10, 3, 11, 6, 14, 7, 15), lower = __builtin_shufflevector(two[2], two[3], 2, 10, 3, 11, 6, 14, 7, 15);
    out.c = __builtin_shufflevector(upper, lower, 0, 1, 8, 9, 4, 5, 12, 13), out.d = __builtin_shufflevector(upper, lower, 2, 3, 10, 11, 6, 7, 14, 15);
    return out;
}
template <class P> INLINE Columns pick_rows(const float (*table)[4], P rows)
{
    return columns_of([&](int lane) { return table[rows[lane]]; });
}
INLINE void store_rows(float (*row)[4], Columns v)
{
    Floats p = __builtin_shufflevector(v.a, v.b, 0, 8, 1, 9, 4, 12, 5, 13), q = __builtin_shufflevector(v.c, v.d, 0, 8, 1, 9, 4, 12, 5, 13); // rows 0, 1, 4, 5
    Floats r = __builtin_shufflevector(v.a, v.b, 2, 10, 3, 11, 6, 14, 7, 15), s = __builtin_shufflevector(v.c, v.d, 2, 10, 3, 11, 6, 14, 7, 15);
    float* at = row[0];
    store(at, __builtin_shufflevector(p, q, 0, 1, 8, 9, 2, 3, 10, 11));
    store(at + 8, __builtin_shufflevector(r, s, 0, 1, 8, 9, 2, 3, 10, 11));
    store(at + 16, __builtin_shufflevector(p, q, 4, 5, 12, 13, 6, 7, 14, 15));
    store(at + 24, __builtin_shufflevector(r, s, 4, 5, 12, 13, 6, 7, 14, 15));
}
