// Entry point: a picture as the zlib stream of a PNG file. The same bytes on every machine, as zlib and its successors are not.
#include <stdlib.h>
#include <string.h>
#include "entries.hpp"

// Bits, the lowest first, as deflate packs them.
struct Bits {
    uint8_t* at;
    uint64_t held = 0;
    int count = 0;

    // Writes eight bytes each time, of which whole ones stay: no branch hangs on the lengths of codes.
    void put(uint32_t value, int bits)
    {
        held |= (uint64_t)value << count, count += bits;
        memcpy(at, &held, 8);
        at += count >> 3, held >>= count & ~7, count &= 7;
    }
};

struct Code {
    uint16_t bits = 0;
    uint8_t length = 0;
};

static const int SYMBOLS = 286, LONGEST = 15, END = 256;

// Lengths of a Huffman code of at most 15 bits: the two smallest weights join until one is left; where that gets too deep, rare
// symbols count as less rare. Joined weights grow, so the smallest is the first of those that are sorted, or of the joined ones.
static void choose_lengths(const uint32_t* counts, Code* codes)
{
    uint32_t weight[2 * SYMBOLS];
    int16_t parent[2 * SYMBOLS], symbol[SYMBOLS];
    int n = 0;
    for (int s = 0; s < SYMBOLS; s++) {
        codes[s].length = 0;
        if (!counts[s]) continue;
        int at = n++;
        for (; at > 0 && counts[symbol[at - 1]] > counts[s]; at--) symbol[at] = symbol[at - 1];
        symbol[at] = s;
    }
    for (uint32_t floor = 0;; floor = floor * 2 + 8) {
        int single = 0, joined = n, deepest = 0;
        for (int i = 0; i < n; i++) weight[i] = counts[symbol[i]] + floor;
        for (int node = n; node < 2 * n - 1; node++) {
            weight[node] = 0;
            for (int k = 0; k < 2; k++) {
                int smallest = single < n && (joined == node || weight[single] <= weight[joined]) ? single++ : joined++;
                parent[smallest] = node, weight[node] += weight[smallest];
            }
        }
        int16_t depth[2 * SYMBOLS];
        depth[2 * n - 2] = 0;
        for (int node = 2 * n - 3; node >= 0; node--) {
            depth[node] = depth[parent[node]] + 1;
            if (node < n) codes[symbol[node]].length = depth[node];
            if (depth[node] > deepest) deepest = depth[node];
        }
        if (deepest <= LONGEST) break;
    }
    uint32_t next = 0;
    for (int length = 1; length <= LONGEST; length++, next <<= 1)
        for (int s = 0; s < SYMBOLS; s++)
            if (codes[s].length == length) {
                uint32_t turned = 0;
                for (int bit = 0; bit < length; bit++) turned |= (next >> bit & 1) << (length - 1 - bit);
                codes[s].bits = turned, next++;
            }
}

// The row as differences from the pixel on the left, above, or at the corner between, whichever is nearest to their gradient.
static void filter_row(const uint8_t* row, const uint8_t* above, int64_t bytes, uint8_t* out)
{
    for (int64_t i = 0; i < 3; i++) out[i] = row[i] - above[i];
    for (int64_t i = 3; i < bytes; i++) {
        int16_t left = row[i - 3], up = above[i], corner = above[i - 3], rise = up - corner, step = left - corner;
        int16_t by_left = rise < 0 ? -rise : rise, by_up = step < 0 ? -step : step, both = rise + step;
        int16_t by_corner = both < 0 ? -both : both, guess = by_left <= by_up ? left : up;
        int16_t by = by_left <= by_up ? by_left : by_up;
        out[i] = row[i] - (by <= by_corner ? guess : corner);
    }
}

static const uint16_t BASES[29] = {3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t EXTRA[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};

// Repeats of the pixel before are runs; all else are literals. Returns the bytes that were written.
extern "C" __attribute__((visibility("default"))) int64_t deflate_picture(const DeflatePicture* in)
{
    int64_t row_bytes = in->width * 3, n = (row_bytes + 1) * in->height;
    uint8_t* filtered = (uint8_t*)calloc(n + row_bytes, 1);
    uint16_t* symbols = (uint16_t*)malloc((n + 1) * 2 * sizeof(uint16_t)); // with the length's extra bits
    if (!filtered || !symbols) return free(filtered), free(symbols), NO_MEMORY;
    uint8_t* nothing = filtered + n; // above the first row
    for (int64_t y = 0; y < in->height; y++) {
        const uint8_t* row = in->rgb + y * row_bytes;
        uint8_t* out = filtered + y * (row_bytes + 1);
        *out = 4, filter_row(row, y ? row - row_bytes : nothing, row_bytes, out + 1);
    }
    uint32_t low = 1, high = 0; // Adler's checksum
    for (int64_t begin = 0; begin < n; begin += 1024) { // as many as cannot overflow
        uint32_t k = n - begin < 1024 ? n - begin : 1024, sum = 0, weighted = 0;
        for (uint32_t i = 0; i < k; i++) sum += filtered[begin + i], weighted += (k - i) * filtered[begin + i];
        high = (high + k * low + weighted) % 65521, low = (low + sum) % 65521;
    }
    uint8_t place_of[259];
    for (int length = 3, place = 0; length <= 258; length++) {
        while (place < 28 && BASES[place + 1] <= length) place++;
        place_of[length] = place;
    }
    uint32_t counts[SYMBOLS] = {0};
    int64_t count = 0;
    for (int64_t i = 0; i < n;) {
        int64_t run = 0, room = n - i < 258 ? n - i : 258;
        uint32_t next, before; // a run is at least four bytes; behind the last row lie others
        memcpy(&next, filtered + i, 4), memcpy(&before, filtered + i - (i < 3 ? 0 : 3), 4);
        if (next == before && i >= 3) {
            for (; run + 8 <= room && !memcmp(filtered + i + run, filtered + i + run - 3, 8);) run += 8;
            while (run < room && filtered[i + run] == filtered[i + run - 3]) run++;
        }
        if (run >= 4) {
            int place = place_of[run];
            symbols[2 * count] = 257 + place, symbols[2 * count + 1] = run - BASES[place];
            i += run;
        } else symbols[2 * count] = filtered[i++];
        counts[symbols[2 * count++]]++;
    }
    counts[END] = 1;
    Code codes[SYMBOLS];
    choose_lengths(counts, codes);
    // the header of a block with a code of its own: the lengths of its code, each in five bits, are written one by one
    Bits bits = {in->out};
    bits.put(0x0178, 16), bits.put(1, 1), bits.put(2, 2), bits.put(SYMBOLS - 257, 5), bits.put(2, 5), bits.put(15, 4);
    static const uint8_t ORDER[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    for (int place : ORDER) bits.put(place <= LONGEST ? 4 : 0, 3);
    auto length = [&](int value) {
        uint32_t turned = 0;
        for (int bit = 0; bit < 4; bit++) turned |= (value >> bit & 1) << (3 - bit);
        bits.put(turned, 4);
    };
    for (const Code& code : codes) length(code.length);
    length(0), length(0), length(1); // the one distance: three bytes
    for (int64_t i = 0; i < count; i++) {
        int symbol = symbols[2 * i];
        bits.put(codes[symbol].bits, codes[symbol].length);
        if (symbol > END) bits.put(symbols[2 * i + 1], EXTRA[symbol - 257]), bits.put(0, 1);
    }
    bits.put(codes[END].bits, codes[END].length);
    while (bits.count > 0) *bits.at++ = bits.held, bits.held >>= 8, bits.count -= 8;
    for (int byte = 3; byte >= 0; byte--) *bits.at++ = (high << 16 | low) >> 8 * byte;
    free(filtered), free(symbols);
    return bits.at - in->out;
}
