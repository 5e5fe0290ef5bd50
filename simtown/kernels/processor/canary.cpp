// Entry point: whether this library was compiled with operations that round by themselves.
#include "entries.hpp"

// Of numbers whose product and sum lose their last bits nothing is left, unless a compiler contracts or reorders.
extern "C" __attribute__((visibility("default"))) int64_t canary(const Canary* in)
{
    const float* x = in->single;
    const double* y = in->wide;
    bool contracted = x[0] * x[0] - x[1] != 0 || y[0] * y[0] - y[1] != 0;
    bool reordered = (x[2] + x[3]) - x[3] != 0 || (y[2] + y[3]) - y[3] != 0;
    return contracted || reordered;
}
