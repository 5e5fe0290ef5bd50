// Sine and cosine that round alike everywhere: additions, multiplications and divisions alone (simtown/core/exact.py).
#pragma once
#include "words.hpp"

struct Turn {
    double sin, cos;
};

// Of an angle in radians, error below 1e-15 for |x| < 1e5.
SHARED Turn turn_of(double x)
{
    double k = floor(x * 0.6366197723675814 + 0.5);
    double r = (x - k * 1.5707963267341256) - k * 6.077100506506192e-11, t = r * r;
    double tail = 1.0 / 362880 + t * (-1.0 / 39916800 + t * (1.0 / 6227020800.0 - t / 1307674368000.0));
    double s = r * (1.0 + t * (-1.0 / 6 + t * (1.0 / 120 + t * (-1.0 / 5040 + t * tail))));
    tail = -1.0 / 3628800 + t * (1.0 / 479001600 + t * (-1.0 / 87178291200.0 + t / 20922789888000.0));
    double c = 1.0 + t * (-1.0 / 2 + t * (1.0 / 24 + t * (-1.0 / 720 + t * (1.0 / 40320 + t * tail))));
    int quadrant = (int)((s64)k & 3);
    double a = quadrant & 1 ? c : s, b = quadrant & 1 ? s : c;
    return {quadrant & 2 ? -a : a, quadrant == 1 || quadrant == 2 ? -b : b};
}
