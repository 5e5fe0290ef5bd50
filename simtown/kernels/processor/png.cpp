// Entry point: a picture as the zlib stream of a PNG file. The same bytes on every machine, as zlib and its successors are not.
#include <stdlib.h>
#include <string.h>
#include "entries.hpp"
#include "words.hpp"

// Bits, the lowest first, as deflate packs them.
struct Bits {
    uint8_t* at;
    uint64_t held = 0;
    int count = 0;

    // Writes eight bytes each time, of which whole ones stay: no branch hangs on the lengths of codes. Takes at most 57 bits.
    void put(uint64_t value, int bits)
    {
        held |= value << count, count += bits;
        memcpy(at, &held, 8);
        at += count >> 3, held >>= count & ~7, count &= 7;
    }
};

struct Code {
    uint32_t bits = 0;
    int length = 0;
};

// Symbols of deflate; ours are a byte, or 256 and the length of a run.
static const int SYMBOLS = 286, LONGEST = 15, END = 256, OURS = 256 + 259, NONE = 257;

// Lengths of a Huffman code of at most 15 bits: the two smallest weights join until one is left; where that gets too deep, rare
// symbols count as less rare. Joined weights grow, so the smallest is the first of those that are sorted, or of the joined ones.
static void choose_lengths(const uint32_t* counts, Code* codes)
{
    uint32_t weight[2 * SYMBOLS];
    int16_t parent[2 * SYMBOLS], symbol[SYMBOLS];
    int n = 0;
    for (int k = 0; k < SYMBOLS; k++) { // the rarest first, as far as one can guess: little has to move
        int s = k >= 256 ? k : k % 2 ? 128 + k / 2 : 127 - k / 2, at = n;
        codes[s].length = 0;
        if (!counts[s]) continue;
        for (; at > 0; at--) {
            int other = symbol[at - 1];
            if (counts[other] < counts[s] || (counts[other] == counts[s] && other < s)) break;
            symbol[at] = other;
        }
        symbol[at] = s, n++;
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
    uint32_t next[LONGEST + 2] = {0};
    for (int s = 0; s < SYMBOLS; s++) next[codes[s].length + 1] += codes[s].length > 0;
    for (int length = 1; length <= LONGEST; length++) next[length] = (next[length - 1] + next[length]) << 1;
    for (int s = 0; s < SYMBOLS; s++) {
        uint32_t code = next[codes[s].length]++, turned = 0;
        for (int bit = codes[s].length; bit--; code >>= 1) turned |= (code & 1) << bit;
        codes[s].bits = turned;
    }
}

// The row as differences from the pixel on the left, above, or at the corner between, whichever is nearest to their gradient.
static void filter_row(const uint8_t* __restrict row, const uint8_t* __restrict above, int64_t bytes, uint8_t* __restrict out)
{
    for (int64_t i = 0; i < 3; i++) out[i] = row[i] - above[i];
    for (int64_t i = 3; i < bytes; i++) {
        uint8_t left = row[i - 3], up = above[i], corner = above[i - 3];
        bool rises = up > corner, climbs = left > corner;
        uint8_t by_left = rises ? up - corner : corner - up, by_up = climbs ? left - corner : corner - left;
        uint8_t near = by_left < by_up ? by_left : by_up, far = by_left < by_up ? by_up : by_left, by_corner = far - near;
        uint8_t guess = by_left <= by_up ? left : up;
        out[i] = row[i] - (rises != climbs && by_corner < near ? corner : guess); // else the corner is at least as far as both
    }
}

static const uint16_t BASES[29] = {3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t EXTRA[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};

// A bit for each of n bytes that is the one three before, the lowest first, by eights of them.
static void mark_repeats(const uint8_t* bytes, int64_t n, uint8_t* marks)
{
    const uint64_t low = 0x7F7F7F7F7F7F7F7F;
    for (int64_t i = 0; i < n; i += 8) {
        uint64_t here, before;
        memcpy(&here, bytes + i, 8), memcpy(&before, bytes + i - 3, 8);
        uint64_t other = here ^ before, same = ~((other & low) + low | other | low); // 0x80 in each byte that is the same
        marks[i / 8] = (same >> 7) * 0x0102040810204080 >> 56;
    }
}

// Write n bytes, of which the marked ones repeat the pixel before, as symbols: repeats of at least four bytes are runs, all else
// are literals. Returns how many there are.
static int64_t find_runs(const uint8_t* bytes, int64_t n, const uint8_t* marks, uint16_t* symbols)
{
    auto from = [&](int64_t i) { // at least 57 marks, then zeros
        uint64_t word;
        memcpy(&word, marks + i / 8, 8);
        return word >> i % 8;
    };
    uint16_t* next = symbols;
    for (int64_t i = 0; i < n;) {
        uint64_t same = from(i), begins = same & same >> 1 & same >> 2 & same >> 3;
        int64_t literals = begins ? __builtin_ctzll(begins) : least<int64_t>(n - i, 54), run = 0, more = 57;
        for (int64_t done = 0; done < literals; done += 16)
            for (int k = 0; k < 16; k++) next[done + k] = bytes[i + done + k];
        i += literals, next += literals;
        if (!begins) continue;
        for (; more == 57 && run < 258; run += more) more = __builtin_ctzll(~from(i + run) | 1ull << 57);
        run = least<int64_t>(run, 258);
        *next++ = 256 + run, i += run;
    }
    return next - symbols;
}

// Returns the bytes that were written.
extern "C" __attribute__((visibility("default"))) int64_t deflate_picture(const DeflatePicture* in)
{
    int64_t row_bytes = in->width * 3, n = (row_bytes + 1) * in->height;
    const int64_t ROOM = 32; // behind each array, and before the bytes
    uint16_t* symbols = (uint16_t*)malloc(4 * n + row_bytes + 6 * ROOM);
    if (!symbols) return NO_MEMORY;
    uint8_t *nothing = (uint8_t*)(symbols + n + ROOM), *filtered = nothing + row_bytes + ROOM, *marks = filtered + n + ROOM;
    memset(nothing, 0, row_bytes); // above the first row
    for (int64_t y = 0; y < in->height; y++) {
        const uint8_t* row = in->rgb + y * row_bytes;
        uint8_t* out = filtered + y * (row_bytes + 1);
        *out = 4, filter_row(row, y ? row - row_bytes : nothing, row_bytes, out + 1);
    }
    for (int64_t i = -3; i < 0; i++) filtered[i] = filtered[i + 3] + 1; // the first three bytes repeat nothing,
    for (int64_t i = n; i < n + 8; i++) filtered[i] = filtered[i - 3] + 1; // nor does what is behind the last one
    mark_repeats(filtered, n, marks);
    memset(marks + (n + 7) / 8, 0, 8);
    uint32_t low = 1, high = 0; // Adler's checksum
    for (int64_t begin = 0; begin < n; begin += 1024) { // as many as cannot overflow
        uint32_t k = n - begin < 1024 ? n - begin : 1024, sum = 0, weighted = 0;
        for (uint32_t i = 0; i < k; i++) sum += filtered[begin + i], weighted += (k - i) * filtered[begin + i];
        high = (high + k * low + weighted) % 65521, low = (low + sum) % 65521;
    }
    int64_t count = find_runs(filtered, n, marks, symbols);
    symbols[count++] = END, symbols[count] = NONE;
    uint32_t seen[4][OURS] = {0}, counts[SYMBOLS] = {0}; // four tables: the same symbol often comes twice
    for (int64_t k = 0; k < count; k++) seen[k & 3][symbols[k]]++;
    int place_of[OURS]; // among deflate's symbols
    for (int symbol = 0, place = 0; symbol < OURS; symbol++) {
        while (place < 28 && symbol - 256 >= BASES[place + 1]) place++;
        place_of[symbol] = symbol <= END ? symbol : 257 + place;
        for (auto& table : seen) counts[place_of[symbol]] += table[symbol];
    }
    Code codes[SYMBOLS], table[OURS];
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
    for (int symbol = 0; symbol < OURS; symbol++) {
        Code code = codes[place_of[symbol]];
        int place = place_of[symbol] - 257;
        if (symbol > END) code.bits |= (symbol - 256 - BASES[place]) << code.length, code.length += EXTRA[place] + 1; // and the distance, 0
        table[symbol] = code;
    }
    table[NONE] = Code();
    for (int64_t k = 0; k < count; k += 2) { // two codes have at most 42 bits
        Code one = table[symbols[k]], other = table[symbols[k + 1]];
        bits.put(one.bits | (uint64_t)other.bits << one.length, one.length + other.length);
    }
    while (bits.count > 0) *bits.at++ = bits.held, bits.held >>= 8, bits.count -= 8;
    for (int byte = 3; byte >= 0; byte--) *bits.at++ = (high << 16 | low) >> 8 * byte;
    free(symbols);
    return bits.at - in->out;
}
