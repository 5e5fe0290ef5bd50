// Arithmetic that rounds alike on every processor: additions, multiplications, divisions and square roots alone.
#pragma once
#include <math.h>
#include <stdint.h>

struct Turn {
    double sin, cos;
};

// Sine and cosine of an angle in radians, error below 1e-15 for |x| < 1e5.
static inline Turn sincos(double x)
{
    double k = floor(x * 0.6366197723675814 + 0.5);
    double r = (x - k * 1.5707963267341256) - k * 6.077100506506192e-11;
    double t = r * r;
    double tail = 1.0 / 362880 + t * (-1.0 / 39916800 + t * (1.0 / 6227020800 - t / 1307674368000.0));
    double s = r * (1 + t * (-1.0 / 6 + t * (1.0 / 120 + t * (-1.0 / 5040 + t * tail))));
    tail = -1.0 / 3628800 + t * (1.0 / 479001600 + t * (-1.0 / 87178291200 + t / 20922789888000.0));
    double c = 1 + t * (-1.0 / 2 + t * (1.0 / 24 + t * (-1.0 / 720 + t * (1.0 / 40320 + t * tail))));
    switch ((int64_t)k & 3) {
    case 0: return {s, c};
    case 1: return {c, -s};
    case 2: return {-s, -c};
    default: return {-c, s};
    }
}

template <class T> static inline T least(T a, T b) { return b < a ? b : a; }
template <class T> static inline T most(T a, T b) { return b > a ? b : a; }
