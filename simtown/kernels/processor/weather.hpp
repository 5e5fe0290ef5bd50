// The weather of one example; simtown/scenes/weather.py holds the table of weathers.
#pragma once
#include "streams.hpp"

struct Weathers {
    const double (*elevation)[2];
    const bool *bare_trees, *clouds;
};

struct Weather {
    uint8_t kind;
    double intensity, azimuth, elevation;
    uint32_t seed;
};

static inline Weather weather_of(const uint64_t* key, int64_t index, const uint8_t* kinds, int64_t count, const Weathers& table)
{
    Words first = words(key, index, 0, 0), second = words(key, index, 0, 1);
    uint8_t kind = kinds[(int64_t)(uniform(first.at[0]) * (double)count)];
    const double *span = table.elevation[kind], from = -2.8, to = -0.34; // the sun stands on the viewer's side
    return {kind, uniform(first.at[1]), from + uniform(first.at[2]) * (to - from),
            span[0] + uniform(first.at[3]) * (span[1] - span[0]), (uint32_t)(uniform(second.at[0]) * 0x1p32)};
}
