// Entry points: batch norm, ReLU and dropout of whole channels as one operation (simtown/training/models/stage.py).
//
// A lane is a channel of one place of a group. Maps are float32, or the upper halves of it (bfloat16). What has to be subtracted
// from the lanes of each row of kinds is the centre, less what a label adds.
#include <stdlib.h>
#include <string.h>
#include "entries.hpp"

namespace {
float wide(float value) { return value; }
float wide(int16_t bits)
{
    uint32_t whole = (uint32_t)(uint16_t)bits << 16;
    float value;
    memcpy(&value, &whole, sizeof value);
    return value;
}
void keep(float& to, float value) { to = value; }
void keep(int16_t& to, float value) // rounded to the nearest, the even one of two
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    to = (int16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

// The maps of pictures, and what is added to them; result n is of picture n % pictures.
template <class T> struct Source {
    const T* x;
    const float* added;
    const int64_t *kind_of, *row_of;
    int64_t pictures, groups, lanes, channels, kinds, rows, places, labels;

    const T* map(int64_t n, int64_t group) const { return x + ((n % pictures) * groups + group) * lanes; }

    // What has to be subtracted from the lanes of each row of result n.
    void centred(int64_t n, const float* centre, float* out) const
    {
        for (int64_t row = 0; row < rows; row++)
            for (int64_t place = 0; place < places; place++) {
                const float* more = added + (n * kinds + kind_of[row * places + place]) * channels;
                float* to = out + row * lanes + place * channels;
                for (int64_t c = 0; c < channels; c++) to[c] = centre[c] - more[c];
            }
    }
};

template <class T, class Arguments> Source<T> source_of(const Arguments* in, const T* x)
{
    return {x, in->added, in->kind_of, in->row_of, in->pictures, in->groups, in->lanes, in->channels, in->kinds, in->rows, in->places, in->labels};
}

struct Floats {
    float* at;
    explicit Floats(int64_t count) : at((float*)calloc(count + 1, sizeof(float))) {}
    ~Floats() { free(at); }
};

float gradient_of(float value, float arriving, float scale, float shift, float slope, float offset)
{
    float passed = value * scale + shift > 0 ? arriving : 0;
    return passed * scale + value * slope + offset;
}

template <class T> void sum(const NormSums* in, const T* x)
{
    Source<T> source = source_of(in, x);
    Floats rows(source.rows * source.lanes), totals(source.lanes), squares(source.lanes);
    float *__restrict total = totals.at, *__restrict square = squares.at;
    for (int64_t n = 0; n < in->results; n++) {
        if (n < source.labels) source.centred(n, in->centre, rows.at);
        memset(total, 0, source.lanes * sizeof *total), memset(square, 0, source.lanes * sizeof *square);
        for (int64_t group = 0; group < source.groups; group++) {
            const T* __restrict before = source.map(n, group);
            const float* __restrict row = rows.at + source.row_of[group] * source.lanes;
            for (int64_t lane = 0; lane < source.lanes; lane++) {
                float value = wide(before[lane]) - row[lane];
                total[lane] += value, square[lane] += value * value;
            }
        }
        for (int64_t lane = 0; lane < source.lanes; lane++) {
            int64_t c = lane % source.channels;
            in->sums[c] += (double)total[lane], in->sums[source.channels + c] += (double)square[lane];
        }
    }
}

template <class T> void result(const NormResults* in, const T* x, T* y)
{
    Source<T> source = source_of(in, x);
    Floats rows(source.rows * source.lanes);
    const float *__restrict scale = in->scale, *__restrict shift = in->shift;
    for (int64_t n = 0; n < in->results; n++) {
        if (n < source.labels) source.centred(n, in->centre, rows.at);
        const float* __restrict share = in->keep + n * source.lanes;
        for (int64_t group = 0; group < source.groups; group++) {
            const T* __restrict before = source.map(n, group);
            const float* __restrict row = rows.at + source.row_of[group] * source.lanes;
            T* __restrict after = y + (n * source.groups + group) * source.lanes;
            for (int64_t lane = 0; lane < source.lanes; lane++) {
                float value = (wide(before[lane]) - row[lane]) * scale[lane] + shift[lane];
                keep(after[lane], (value <= 0 ? 0.0f : value) * share[lane]);
            }
        }
    }
}

template <class T> void gradient_sum(const NormGradientSums* in, const T* x, const T* gradient)
{
    Source<T> source = source_of(in, x);
    Floats rows(source.rows * source.lanes), totals(source.lanes), products(source.lanes);
    const float *__restrict scale = in->scale, *__restrict shift = in->shift;
    float *__restrict total = totals.at, *__restrict product = products.at;
    for (int64_t n = 0; n < in->results; n++) {
        if (n < source.labels) source.centred(n, in->centre, rows.at);
        memset(total, 0, source.lanes * sizeof *total), memset(product, 0, source.lanes * sizeof *product);
        for (int64_t group = 0; group < source.groups; group++) {
            const T *__restrict before = source.map(n, group), *__restrict after = gradient + (n * source.groups + group) * source.lanes;
            const float* __restrict row = rows.at + source.row_of[group] * source.lanes;
            for (int64_t lane = 0; lane < source.lanes; lane++) {
                float value = wide(before[lane]) - row[lane], arriving = wide(after[lane]);
                float passed = value * scale[lane] + shift[lane] > 0 ? arriving : 0;
                total[lane] += passed, product[lane] += passed * value;
            }
        }
        for (int64_t lane = 0; lane < source.lanes; lane++) {
            int64_t c = lane % source.channels;
            float share = in->keep[n * source.lanes + c];
            in->sums[c] += (double)(total[lane] * share), in->sums[source.channels + c] += (double)(product[lane] * share);
        }
    }
}

// The gradients of the maps, summed over the slots of labels, and of what is added, summed over the places.
template <class T> void gradient(const NormGradients* in, const T* x, const T* arrived, T* of_x)
{
    Source<T> source = source_of(in, x);
    int64_t lanes = source.lanes, like = source.rows * lanes, slots = in->results / source.pictures;
    Floats rows(slots * like), totals(slots * like), of_slots(lanes);
    const float *__restrict scale = in->scale, *__restrict shift = in->shift, *__restrict slope = in->slope, *__restrict offset = in->offset;
    float* __restrict all = of_slots.at;
    if (source.labels == 1) source.centred(0, in->centre, rows.at);
    for (int64_t b = 0; b < source.pictures; b++) {
        memset(totals.at, 0, slots * like * sizeof(float));
        for (int64_t slot = 0; source.labels > 1 && slot < slots; slot++)
            source.centred(slot * source.pictures + b, in->centre, rows.at + slot * like);
        for (int64_t group = 0; group < source.groups; group++) {
            const T* __restrict before = source.map(b, group);
            memset(all, 0, lanes * sizeof *all);
            for (int64_t slot = 0; slot < slots; slot++) {
                int64_t n = slot * source.pictures + b, at = slot * like + source.row_of[group] * lanes;
                const T* __restrict after = arrived + (n * source.groups + group) * lanes;
                const float *__restrict share = in->keep + n * lanes, *__restrict row = rows.at + at;
                float* __restrict total = totals.at + at;
                for (int64_t lane = 0; lane < lanes; lane++) {
                    float value = wide(before[lane]) - row[lane];
                    float g = gradient_of(value, wide(after[lane]) * share[lane], scale[lane], shift[lane], slope[lane], offset[lane]);
                    total[lane] += g, all[lane] += g;
                }
            }
            T* __restrict to = of_x + (b * source.groups + group) * lanes;
            for (int64_t lane = 0; lane < lanes; lane++) keep(to[lane], all[lane]);
        }
        if (source.labels == 1) continue;
        for (int64_t slot = 0; slot < slots; slot++)
            for (int64_t row = 0; row < source.rows; row++)
                for (int64_t place = 0; place < source.places; place++) {
                    float* to = in->of_added + ((slot * source.pictures + b) * source.kinds + source.kind_of[row * source.places + place]) * source.channels;
                    const float* from = totals.at + slot * like + row * lanes + place * source.channels;
                    for (int64_t c = 0; c < source.channels; c++) to[c] += from[c];
                }
    }
}
} // namespace

extern "C" __attribute__((visibility("default"))) int64_t norm_sums(const NormSums* in)
{
    in->half ? sum(in, (const int16_t*)in->x) : sum(in, (const float*)in->x);
    return 0;
}
extern "C" __attribute__((visibility("default"))) int64_t norm_results(const NormResults* in)
{
    in->half ? result(in, (const int16_t*)in->x, (int16_t*)in->y) : result(in, (const float*)in->x, (float*)in->y);
    return 0;
}
extern "C" __attribute__((visibility("default"))) int64_t norm_gradient_sums(const NormGradientSums* in)
{
    in->half ? gradient_sum(in, (const int16_t*)in->x, (const int16_t*)in->gradient) : gradient_sum(in, (const float*)in->x, (const float*)in->gradient);
    return 0;
}
extern "C" __attribute__((visibility("default"))) int64_t norm_gradients(const NormGradients* in)
{
    if (in->half) gradient(in, (const int16_t*)in->x, (const int16_t*)in->gradient, (int16_t*)in->of_x);
    else gradient(in, (const float*)in->x, (const float*)in->gradient, (float*)in->of_x);
    return 0;
}
