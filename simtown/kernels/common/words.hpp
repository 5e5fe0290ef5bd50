// Types, and the few functions for which the two compilers have words of their own: the processor's and the card's.
#pragma once
#ifdef __CUDACC__
#define SHARED __device__ __forceinline__
typedef unsigned char u8;
typedef signed char s8;
typedef unsigned short u16;
typedef short s16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;

SHARED float least(float a, float b) { return fminf(a, b); }
SHARED float most(float a, float b) { return fmaxf(a, b); }
SHARED double least(double a, double b) { return fmin(a, b); }
SHARED double most(double a, double b) { return fmax(a, b); }
SHARED int least(int a, int b) { return min(a, b); }
SHARED int most(int a, int b) { return max(a, b); }
SHARED float clamped(float x) { return __saturatef(x); }
SHARED float size_of(float x) { return fabsf(x); }
#else
#include <math.h>
#include <stdint.h>
#define SHARED static inline __attribute__((always_inline))
typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;

template <class T> SHARED T least(T a, T b) { return b < a ? b : a; }
template <class T> SHARED T most(T a, T b) { return b > a ? b : a; }
SHARED float clamped(float x) { return least(most(x, 0.0f), 1.0f); }
SHARED float size_of(float x) { return fabsf(x); }
#include <vectors.hpp> // the processor's, with the same functions of eight numbers
#endif

// From 0 to 1 as t does, without a corner at either end.
template <class T> SHARED T smooth(T t) { return t * t * (3.0f - 2.0f * t); }
