/* A machine that runs one kernel, block of threads after block of threads, on an ordinary processor.

   translate.py writes constants and REGISTERS before this text and the kernel's basic blocks behind it. A warp has 32 lanes, each with
   a program counter: the number of a basic block. The lanes of a warp that stand at the lowest number go next, together. A compiler puts
   the place where branches meet behind them, so lanes that parted meet again there. Within a basic block the lanes run one after the
   other, from the first or from the last. Blocks of threads, and the warps of a block, come in random order; a warp runs 1 to 64 basic
   blocks before another has its turn, and all wait at barriers. */

#include <math.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LOAD, STORE, ATOMIC, RELAXED_LOAD, RELAXED_STORE, CONSTANT_LOAD }; /* a relaxed access may meet atomics; constant: ld.global.nc */
static const int TRAFFIC[] = {LOAD, STORE, ATOMIC, LOAD, STORE, LOAD};    /* as what an access is counted */
/* The same order as FAULTS in emulator.py. What is before MISALIGNED ends the launch. */
enum { BOUNDS, TOO_LONG, MISALIGNED, RACE, CONSTANT, UNWRITTEN, BARRIER, ZERO_DIVISOR, MISSING_LANES, ABSENT_LANE, FAULT_KINDS };
enum { DONE = 0x7fffffff, KEPT = 3, SLOT = 30, SHARED_SLOT = 18 }; /* faults of a kind that are kept; log2 of the bytes between arrays */
/* The spaces of memory. The two windows are where generic addresses of shared and local memory lie. */
enum { GLOBAL, SHARED, LOCAL, PARAMETER };
#define SHARED_WINDOW (1ull << 60)
#define LOCAL_WINDOW (1ull << 61)

/* Who reads, or writes, a piece of memory: the last one, as time << 16 | thread of its block, and those that nothing orders before it:
   lanes of its warp, others as flags. The clock goes on at every barrier. */
typedef struct { uint64_t last; uint32_t lanes, flags; } Mark;
enum { THREAD = 0x3ff, BY_WARPS = 1, BY_BLOCKS = 2, ATOMICALLY = 4 };
typedef struct { Mark readers, writers; uint64_t split; } Cell; /* split: the bytes of the word have cells of their own */
typedef struct {
    uint8_t *data, *written; /* `written`: 1 for every byte that has a value */
    Cell *words, *bytes;
    uint64_t size, align;
} Array;
typedef struct {
    uint8_t *base;
    Array *arrays; /* array i begins at base + (i << SLOT) */
    uint64_t slots, clock;
} Memory;
typedef struct {
    const uint8_t *parameters;
    const uint64_t *tables; /* addresses of the module's variables */
    Memory *memory;
    uint64_t parameter_bytes, seed, steps; /* basic blocks that the warps of a block may run */
    int32_t grid_x, grid_y, grid_z, threads, dynamic, check, dropped; /* `dropped`: number of the barrier to leave out, or -1 */
} Launch;
typedef struct { int64_t line, space, array, offset, thread, block, other_thread, other_block; } Fault; /* -1: not known */
typedef struct {
    double instructions, sass, lanes, critical; /* of warps, in PTX and estimated SASS; of lanes; SASS of the slowest warp between barriers */
    double global_requests[3], global_sectors[3], shared_requests[3], shared_waves[3]; /* loads, stores, atomics */
    double local, clamped;                  /* accesses by lanes; conversions to integers whose value does not fit */
    int64_t faults[FAULT_KINDS];
    Fault kept[FAULT_KINDS][KEPT];
} Counters;
typedef struct {
    struct { REGISTERS } r;
    uint8_t local[32][LOCAL_BYTES], local_written[32][LOCAL_BYTES];
    int pc[32], barrier[32];       /* the next basic block; the number of the barrier at which a lane waits */
    uint32_t alive, held, parked;  /* lanes that have not ended, that wait at a barrier, that wait for lanes of their warp */
    uint32_t given[32];            /* to a barrier that reduces */
    uint64_t met[32][32];          /* when two lanes were last synchronised within the warp */
} Warp;
/* Runs a basic block by `n` lanes; returns the next one, or -1 if the lanes part: then it has set their program counters. */
typedef struct { int (*run)(Warp *w, int warp, const uint8_t *lanes, int n); double ptx, sass; int line; } Block;

static const Block BLOCKS[BLOCK_COUNT];
typedef struct { uint64_t size, align; } SharedArray; /* size 0: the dynamic one */
static const SharedArray SHARED_ARRAYS[SHARED_COUNT];
static const int BARRIER_LINES[BARRIER_COUNT];

static Launch L;
static Counters C;
static int64_t visited[BLOCK_COUNT];
static Warp *warps;
static Array shared[SHARED_COUNT];
static uint64_t at[ACCESS_COUNT][32]; /* addresses of the accesses of a basic block, for counting */
static uint64_t steps, random_state, launch_begin, block_begin, phase_begin, *begins;
static uint32_t block, ctaid_x, ctaid_y, ctaid_z, blocks_begun, *order;
static uint32_t trues, all_threads;   /* what a barrier that reduces has counted */
static jmp_buf end_of_launch;

static int block_of(uint64_t time)
{
    uint32_t i = blocks_begun;
    while (i && begins[i - 1] > time) i--;
    return i ? (int)order[i - 1] : -1;
}

static void fault_at(int kind, int line, int thread, int space, int64_t array, int64_t offset, uint64_t other)
{
    int64_t k = C.faults[kind]++;
    if (k < KEPT)
        C.kept[kind][k] = (Fault){line, space, array, offset, thread, block, other ? (int64_t)(other & THREAD) : -1, other ? block_of(other >> 16) : -1};
    if (kind < MISALIGNED) longjmp(end_of_launch, 1);
}
static void fault(int kind, int line, int thread) { fault_at(kind, line, thread, GLOBAL, -1, 0, 0); }

static uint32_t next_random(void)
{
    random_state ^= random_state << 13; random_state ^= random_state >> 7; random_state ^= random_state << 17;
    return random_state >> 32;
}

static void shuffle(uint32_t *numbers, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) numbers[i] = i;
    for (uint32_t i = n; i-- > 1;) { uint32_t j = next_random() % (i + 1), k = numbers[i]; numbers[i] = numbers[j]; numbers[j] = k; }
}

/* --- arithmetic in which C and PTX differ --- */
static inline float as_float(uint32_t x) { float f; memcpy(&f, &x, 4); return f; }
static inline double as_double(uint64_t x) { double f; memcpy(&f, &x, 8); return f; }
static inline uint32_t bits32(float f) { uint32_t x; memcpy(&x, &f, 4); return x; }
static inline uint64_t bits64(double f) { uint64_t x; memcpy(&x, &f, 8); return x; }
static inline double least(double a, double b) { return a != a ? b : b != b ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b; }
static inline double most(double a, double b) { return a != a ? b : b != b ? a : a == b ? (signbit(a) ? b : a) : a < b ? b : a; }
static inline float saturate(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
/* x is whole, an infinity or not a number */
static inline uint64_t to_integer(double x, int bits, int is_signed, int nan_is_lowest)
{
    double top = ldexp(1, is_signed ? bits - 1 : bits), low = is_signed ? -top : 0;
    uint64_t half = 1ull << (bits - 1);
    if (x >= low && x < top) return is_signed ? (uint64_t)(int64_t)x : (uint64_t)x;
    C.clamped++;
    if (x != x) return nan_is_lowest ? half : 0;
    return x < 0 ? (is_signed ? half : 0) : (is_signed ? half - 1 : half - 1 + half);
}
static __int128 saturate_integer(__int128 x, int bits, int is_signed)
{
    __int128 top = ((__int128)1 << (is_signed ? bits - 1 : bits)) - 1, low = is_signed ? -top - 1 : 0;
    return x < low ? low : x > top ? top : x;
}
static uint64_t reverse(uint64_t x, int bits) { uint64_t y = 0; for (int i = 0; i < bits; i++) y |= (x >> i & 1) << (bits - 1 - i); return y; }
static uint64_t ones(uint32_t n) { return n > 63 ? ~0ull : (1ull << n) - 1; }
static uint64_t insert(uint64_t from, uint64_t into, uint32_t place, uint32_t length, int bits)
{
    place &= 255; length &= 255;
    if (place >= (uint32_t)bits) return into;
    return (from << place & ones(length) << place) | (into & ~(ones(length) << place));
}
static uint64_t extract(uint64_t x, uint32_t place, uint32_t length, int bits, int is_signed)
{
    place &= 255; length &= 255;
    uint32_t last = place + length - 1 < (uint32_t)bits - 1 ? place + length - 1 : (uint32_t)bits - 1;
    uint64_t filled = length && is_signed && x >> last & 1 ? ~0ull : 0;
    uint64_t low = place >= (uint32_t)bits ? 0 : (x & ones(bits)) >> place;
    uint32_t there = place >= (uint32_t)bits ? 0 : (uint32_t)bits - place;
    uint32_t kept = length < there ? length : there;
    return (low & ones(kept)) | (filled & ~ones(kept));
}
/* How far the highest bit that differs from the sign is from the bottom, or with `from_top` from the top; ~0 if there is none. */
static uint32_t find(uint64_t x, int bits, int is_signed, int from_top)
{
    if (is_signed && x >> (bits - 1) & 1) x = ~x;
    x &= ones(bits);
    if (!x) return ~0u;
    int high = 63 - __builtin_clzll(x);
    return from_top ? bits - 1 - high : high;
}
static uint32_t permute(uint32_t a, uint32_t b, uint32_t selector)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t out = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t s = selector >> 4 * i, byte = bytes >> 8 * (s & 7) & 255;
        out |= (s & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
    }
    return out;
}
static uint32_t logic(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t out = 0;
    for (int i = 0; i < 8; i++) if (table >> i & 1) out |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return out;
}
static uint32_t nth_set(uint32_t mask, uint32_t base, int32_t offset)
{
    int step = offset < 0 ? -1 : 1, left = offset ? abs(offset) : 1;
    for (int i = base & 31; i >= 0 && i < 32; i += step) {
        if (!offset) return mask >> i & 1 ? i : ~0u;
        if (mask >> i & 1 && --left == 0) return i;
    }
    return ~0u;
}
static uint32_t dot(uint32_t a, uint32_t b, uint32_t c, int a_signed, int b_signed)
{
    for (int i = 0; i < 32; i += 8) c += (a_signed ? (int8_t)(a >> i) : (int)(a >> i & 255)) * (b_signed ? (int8_t)(b >> i) : (int)(b >> i & 255));
    return c;
}

/* --- memory and its checks --- */

/* An access of a thread. What was done before `since` does not count: before the launch, or before the block if memory is shared. */
typedef struct { int kind; uint32_t thread; const Warp *warp; uint64_t since; } Access;

/* One of those marked that this access is not ordered behind, or 0. */
static inline uint64_t unordered(const Mark *mark, const Access *a)
{
    uint64_t time = mark->last >> 16;
    if (time < a->since) return 0;
    if (time < block_begin || mark->flags & BY_BLOCKS) return mark->last;
    if (time < phase_begin) return 0;
    if ((mark->last & THREAD) / 32 != a->thread / 32 || mark->flags & BY_WARPS) return mark->last;
    const uint64_t *met = a->warp->met[a->thread % 32];
    for (uint32_t left = mark->lanes & ~(1u << a->thread % 32); left; left &= left - 1)
        if (time >= met[__builtin_ctz(left)]) return time << 16 | a->thread / 32 * 32 | __builtin_ctz(left);
    return 0;
}

/* Mark this access; those that it is ordered behind need no mark any more. */
static inline void add(Mark *mark, const Access *a)
{
    uint64_t time = mark->last >> 16, now = L.memory->clock;
    uint32_t lanes = 0, flags = 0;
    if (time >= a->since) flags = time < block_begin ? BY_BLOCKS : mark->flags & BY_BLOCKS;
    if (time >= phase_begin) {
        flags |= mark->flags & BY_WARPS;
        if ((mark->last & THREAD) / 32 != a->thread / 32) flags |= BY_WARPS;
        else lanes = mark->lanes;
        if (time < now)
            for (uint32_t left = lanes; left; left &= left - 1)
                if (time < a->warp->met[a->thread % 32][__builtin_ctz(left)]) lanes &= ~(1u << __builtin_ctz(left));
    }
    *mark = (Mark){now << 16 | a->thread, lanes | 1u << a->thread % 32, flags};
}

/* Note an access; returns what it conflicts with, or 0. */
static inline uint64_t touch(Cell *cell, const Access *a)
{
    int by_atomic = a->kind == ATOMIC || a->kind == RELAXED_STORE;
    uint64_t now = L.memory->clock << 16 | a->thread, conflict = 0;
    if (!(cell->writers.flags & ATOMICALLY && (by_atomic || a->kind == RELAXED_LOAD))) conflict = unordered(&cell->writers, a);
    if (a->kind == RELAXED_LOAD) return conflict;
    if (a->kind == LOAD || a->kind == CONSTANT_LOAD) {
        add(&cell->readers, a);
        return conflict;
    }
    uint64_t read = unordered(&cell->readers, a);
    if (by_atomic) {
        int plain = cell->writers.last == now && !(cell->writers.flags & ATOMICALLY); /* its own store, which no other is ordered behind */
        add(&cell->writers, a);
        cell->writers.flags |= plain ? 0 : ATOMICALLY;
    } else { /* who is ordered behind this store is ordered behind what was before it */
        cell->writers = (Mark){now, 1u << a->thread % 32, 0};
        cell->readers = (Mark){0};
    }
    return conflict ? conflict : read;
}

/* The same of some bytes of a word: bit i of `bytes` is byte i. A word has one cell until a part of it is touched. */
static inline uint64_t touch_word(Array *array, uint64_t word, uint32_t bytes, const Access *a)
{
    Cell *whole = &array->words[word], *parts = &array->bytes[word * 4];
    if (bytes == 15 && !whole->split) return touch(whole, a);
    uint64_t conflict = 0;
    if (!whole->split) {
        for (int i = 0; i < 4; i++) parts[i] = *whole;
        whole->split = 1;
    }
    for (int i = 0; i < 4; i++) {
        uint64_t found = bytes >> i & 1 ? touch(&parts[i], a) : 0;
        if (found) conflict = found;
    }
    if (bytes == 15 && a->kind == STORE) *whole = parts[0];
    return conflict;
}

/* Check an access to `width` bytes; returns where they are. */
static inline uint8_t *check(Array *array, int space, int64_t number, uint64_t offset, int width, int kind, const Warp *w, int thread, int line)
{
    if (offset > array->size || array->size - offset < (uint64_t)width) fault_at(BOUNDS, line, thread, space, number, offset, 0);
    if (offset & (width - 1) || (uint64_t)width > array->align) fault_at(MISALIGNED, line, thread, space, number, offset, 0);
    uint8_t *written = array->written + offset;
    if (L.check) {
        const Access a = {kind, thread, w, space == SHARED ? block_begin : launch_begin};
        uint64_t conflict = 0, found;
        int unwritten = 0;
        if (TRAFFIC[kind] != STORE) for (int i = 0; i < width; i++) unwritten |= !written[i];
        if (unwritten) fault_at(UNWRITTEN, line, thread, space, number, offset, 0);
        if (width < 4) conflict = touch_word(array, offset >> 2, ((1u << width) - 1) << (offset & 3), &a);
        else for (uint64_t i = offset >> 2; i < (offset + width) >> 2; i++) if ((found = touch_word(array, i, 15, &a))) conflict = found;
        if (conflict) fault_at(RACE, line, thread, space, number, offset, conflict);
        if (kind == CONSTANT_LOAD) {
            uint64_t writer = (array->words[offset >> 2].split ? &array->bytes[offset] : &array->words[offset >> 2])->writers.last;
            if (!conflict && writer >> 16 >= launch_begin) fault_at(CONSTANT, line, thread, space, number, offset, writer);
        }
    }
    if (TRAFFIC[kind] != LOAD) memset(written, 1, width);
    return array->data + offset;
}

static inline uint8_t *reach_global(uint64_t address, int width, int kind, Warp *w, int warp, int l, int line)
{
    uint64_t offset = address - (uint64_t)L.memory->base, slot = offset >> SLOT;
    if (address < (uint64_t)L.memory->base || slot >= L.memory->slots) fault_at(BOUNDS, line, warp * 32 + l, GLOBAL, -1, address, 0);
    return check(&L.memory->arrays[slot], GLOBAL, slot, offset & ((1ull << SLOT) - 1), width, kind, w, warp * 32 + l, line);
}

static inline uint8_t *reach_shared(uint64_t address, int width, int kind, Warp *w, int warp, int l, int line)
{
    uint64_t slot = address >> SHARED_SLOT;
    if (slot >= SHARED_COUNT) fault_at(BOUNDS, line, warp * 32 + l, SHARED, -1, address, 0);
    return check(&shared[slot], SHARED, slot, address & ((1ull << SHARED_SLOT) - 1), width, kind, w, warp * 32 + l, line);
}

static inline uint8_t *reach_local(uint64_t address, int width, int kind, Warp *w, int warp, int l, int line)
{
    if (address > LOCAL_BYTES || LOCAL_BYTES - address < (uint64_t)width) fault_at(BOUNDS, line, warp * 32 + l, LOCAL, -1, address, 0);
    if (address & (width - 1)) fault_at(MISALIGNED, line, warp * 32 + l, LOCAL, -1, address, 0);
    uint8_t *written = w->local_written[l] + address;
    int unwritten = 0;
    if (kind == LOAD) for (int i = 0; i < width; i++) unwritten |= !written[i];
    else memset(written, 1, width);
    if (unwritten && L.check) fault_at(UNWRITTEN, line, warp * 32 + l, LOCAL, -1, address, 0);
    C.local++;
    return w->local[l] + address;
}

static const uint8_t *reach_parameter(uint64_t offset, int width, int warp, int l, int line)
{
    if (offset > L.parameter_bytes || L.parameter_bytes - offset < (uint64_t)width) fault_at(BOUNDS, line, warp * 32 + l, PARAMETER, -1, offset, 0);
    return L.parameters + offset;
}

static uint8_t *reach_generic(uint64_t address, int width, int kind, Warp *w, int warp, int l, int line)
{
    if (address >> 60 == 1) return reach_shared(address - SHARED_WINDOW, width, kind, w, warp, l, line);
    if (address >> 60 == 2) return reach_local(address - LOCAL_WINDOW, width, kind, w, warp, l, line);
    return reach_global(address, width, kind, w, warp, l, line);
}

/* Sectors of 32 bytes that a warp's access takes. */
static void count_global(const uint64_t *where, uint32_t lanes, int kind, int width)
{
    uint64_t seen[64];
    int k = 0;
    if (!lanes) return;
    for (; lanes; lanes &= lanes - 1) {
        uint64_t address = where[__builtin_ctz(lanes)];
        for (uint64_t x = address >> 5; x <= (address + width - 1) >> 5; x++) {
            int j = k;
            while (j && seen[j - 1] != x) j--;
            if (!j) seen[k++] = x;
        }
    }
    C.global_requests[TRAFFIC[kind]]++; C.global_sectors[TRAFFIC[kind]] += k;
}

/* Turns that a warp's access takes: 32 banks of 4 bytes; wide accesses go by halves and quarters of a warp; atomics on a word queue. */
static void count_shared(const uint64_t *where, uint32_t lanes, int kind, int width)
{
    int parts = width > 4 ? width / 4 : 1;
    if (!lanes) return;
    for (int part = 0; part < parts; part++) {
        int used[32] = {0}, deepest = 0;
        uint64_t words[32][32];
        for (int l = 32 / parts * part; l < 32 / parts * (part + 1); l++) {
            if (!(lanes >> l & 1)) continue;
            for (uint64_t x = where[l] >> 2; x <= (where[l] + width - 1) >> 2; x++) {
                int b = x & 31, j = TRAFFIC[kind] == ATOMIC ? used[b] : 0;
                while (j < used[b] && words[b][j] != x) j++;
                if (j == used[b]) words[b][used[b]++] = x;
                if (used[b] > deepest) deepest = used[b];
            }
        }
        C.shared_waves[TRAFFIC[kind]] += deepest;
    }
    C.shared_requests[TRAFFIC[kind]]++;
}

static void count_generic(const uint64_t *where, uint32_t lanes, int kind, int width)
{
    uint32_t to_shared = 0, to_local = 0;
    for (int l = 0; l < 32; l++) {
        to_shared |= (uint32_t)(lanes >> l & 1 && where[l] >> 60 == 1) << l;
        to_local |= (uint32_t)(lanes >> l & 1 && where[l] >> 60 == 2) << l;
    }
    count_global(where, lanes & ~to_shared & ~to_local, kind, width);
    count_shared(where, to_shared, kind, width);
}

/* --- what the lanes of a warp do together --- */

/* What each lane brings. */
static struct { uint64_t value[32]; uint32_t by[32], clamp[32], mask[32]; } meeting;

/* Which lanes can go on: those whose partners are here, all of them. The others wait for theirs. */
static uint32_t meet(Warp *w, int warp, const uint8_t *lanes, int n, int line)
{
    uint32_t here = 0, ready = 0;
    for (int q = 0; q < n; q++) here |= 1u << lanes[q];
    for (int q = 0; q < n; q++) {
        int l = lanes[q];
        uint32_t partners = meeting.mask[l] & w->alive, agreed = meeting.mask[l] >> l & 1;
        for (uint32_t left = partners & here; left; left &= left - 1) agreed &= meeting.mask[__builtin_ctz(left)] == meeting.mask[l];
        if (!agreed) fault(MISSING_LANES, line, warp * 32 + l); /* it leaves itself out, or its partners name others */
        if (!agreed || !(partners & ~here)) ready |= 1u << l;
    }
    w->parked = (w->parked & ~here) | (here & ~ready);
    return ready;
}

/* Behind a meeting: the lanes that met go on at basic block `next`, the others stay. */
static int part(Warp *w, const uint8_t *lanes, int n, uint32_t ready, int here, int next)
{
    int met = 0;
    for (int q = 0; q < n; q++) { met += ready >> lanes[q] & 1; w->pc[lanes[q]] = ready >> lanes[q] & 1 ? next : here; }
    return met == n ? next : -1;
}

enum { UP, DOWN, BFLY, IDX };
/* The lane that lane l reads from; *inside: whether it is within the segment, else a lane reads itself. */
static int source_lane(int l, int how, int *inside)
{
    int by = meeting.by[l] & 31, segment = meeting.clamp[l] >> 8 & 31, clamp = meeting.clamp[l] & 31;
    int highest = (l & segment) | (clamp & ~segment), lowest = l & segment;
    int from = how == UP ? l - by : how == DOWN ? l + by : how == BFLY ? l ^ by : lowest | (by & ~segment);
    *inside = how == UP ? from >= highest : from <= highest;
    return *inside ? from : l;
}

static void synchronise(Warp *w, uint32_t mask)
{
    uint64_t row[32] = {0}, now = ++L.memory->clock;
    for (int l = 0; l < 32; l++)
        if (mask >> l & 1) for (int j = 0; j < 32; j++) if (w->met[l][j] > row[j]) row[j] = w->met[l][j];
    for (int l = 0; l < 32; l++) if (mask >> l & 1) row[l] = now;
    for (int l = 0; l < 32; l++) if (mask >> l & 1) memcpy(w->met[l], row, sizeof row);
}

/* Bring lanes to a barrier of the block; returns what comes next, at once if the barrier is left out. */
static int wait_at(Warp *w, const uint8_t *lanes, int n, int barrier, int next)
{
    if (barrier == L.dropped) return next;
    for (int q = 0; q < n; q++) { w->barrier[lanes[q]] = barrier; w->pc[lanes[q]] = next; w->held |= 1u << lanes[q]; }
    return -1;
}

static int end_lanes(Warp *w, const uint8_t *lanes, int n, uint32_t ended, int next)
{
    if (!ended) return next;
    for (int q = 0; q < n; q++) w->pc[lanes[q]] = ended >> lanes[q] & 1 ? DONE : next;
    w->alive &= ~ended;
    w->parked = 0; /* lanes that wait for others look again who is left */
    return -1;
}

static int branch(Warp *w, const uint8_t *lanes, int n, uint32_t taken, int there, int next)
{
    int count = __builtin_popcount(taken);
    if (count == 0) return next;
    if (count == n) return there;
    for (int q = 0; q < n; q++) w->pc[lanes[q]] = taken >> lanes[q] & 1 ? there : next;
    return -1;
}

/* --- the schedule --- */

/* Run up to `turns` basic blocks of a warp; whether it ran any. */
static int advance(Warp *w, int warp, int turns)
{
    int moved = 0;
    while (turns > 0) {
        uint32_t ready = w->alive & ~w->held & ~w->parked, together = 0;
        int pc = DONE, rest = DONE, n = 0, next;
        uint8_t lanes[32];
        for (uint32_t left = ready; left; left &= left - 1) { int l = __builtin_ctz(left); if (w->pc[l] < pc) pc = w->pc[l]; }
        if (pc == DONE) break;
        for (uint32_t left = w->alive & ~w->held; left; left &= left - 1) {
            int l = __builtin_ctz(left);
            if (w->pc[l] == pc) together |= 1u << l;
            else if (w->pc[l] < rest) rest = w->pc[l];
        }
        if (next_random() & 1) for (uint32_t left = together; left; left &= left - 1) lanes[n++] = __builtin_ctz(left);
        else for (uint32_t left = together; left; left &= ~(1u << lanes[n - 1])) lanes[n++] = 31 - __builtin_clz(left);
        do { /* the same lanes go on while they stay together and do not catch up with others */
            if (++steps > L.steps) fault(TOO_LONG, BLOCKS[pc].line, warp * 32);
            const Block *b = &BLOCKS[pc];
            visited[pc]++; C.instructions += b->ptx; C.sass += b->sass; C.lanes += b->ptx * n;
            next = b->run(w, warp, lanes, n);
            turns--;
            if (next >= 0) pc = next;
        } while (next >= 0 && next < rest && turns > 0);
        if (next >= 0) for (int q = 0; q < n; q++) w->pc[lanes[q]] = next;
        moved = 1;
    }
    return moved;
}

/* Let the lanes of all warps go on if they wait at one barrier; 0 if they have ended. */
static int release(int many)
{
    int barrier = -1, mixed = 0, ended = 0, line = 0;
    trues = all_threads = 0;
    for (int i = 0; i < many; i++) {
        Warp *w = &warps[i];
        if (w->parked) {
            int l = __builtin_ctz(w->parked);
            fault(MISSING_LANES, BLOCKS[w->pc[l]].line, i * 32 + l);
            longjmp(end_of_launch, 1);
        }
        ended += 32 - __builtin_popcount(w->alive);
        for (uint32_t left = w->held; left; left &= left - 1) {
            int l = __builtin_ctz(left);
            if (barrier >= 0 && barrier != w->barrier[l]) mixed = 1;
            barrier = w->barrier[l];
            all_threads++; trues += w->given[l];
            line = BARRIER_LINES[barrier];
        }
        w->held = 0;
    }
    if (barrier < 0) return 0;
    if (mixed || ended) { fault(BARRIER, line, -1); longjmp(end_of_launch, 1); }
    phase_begin = ++L.memory->clock;
    return 1;
}

static void run_block(int many)
{
    uint32_t turn[32], moved;
    double busy[32] = {0};
    for (int i = 0; i < SHARED_COUNT; i++) { memset(shared[i].data, 0xAB, shared[i].size); memset(shared[i].written, 0, shared[i].size); }
    for (int i = 0; i < many; i++) {
        memset(&warps[i], 0xCD, sizeof warps[i].r + sizeof warps[i].local);
        memset(warps[i].local_written, 0, sizeof(Warp) - offsetof(Warp, local_written));
        warps[i].alive = ~0u;
    }
    steps = 0;
    block_begin = phase_begin = ++L.memory->clock;
    begins[blocks_begun++] = block_begin;
    do {
        do {
            moved = 0;
            shuffle(turn, many);
            for (int i = 0; i < many; i++) {
                double before = C.sass;
                moved |= advance(&warps[turn[i]], turn[i], 1 + next_random() % 64);
                busy[turn[i]] += C.sass - before;
            }
        } while (moved);
        double longest = 0;
        for (int i = 0; i < many; i++) { if (busy[i] > longest) longest = busy[i]; busy[i] = 0; }
        C.critical += longest;
    } while (release(many));
}

/* Run a grid. */
void run(const Launch *launch, Counters *counters, int64_t *visits)
{
    L = *launch;
    memset(&C, 0, sizeof C); memset(visited, 0, sizeof visited);
    uint32_t many = L.threads / 32, total = L.grid_x * L.grid_y * L.grid_z;
    order = realloc(order, total * sizeof *order); begins = realloc(begins, total * sizeof *begins);
    warps = realloc(warps, many * sizeof *warps);
    for (int i = 0; i < SHARED_COUNT; i++) {
        Array *a = &shared[i];
        a->size = SHARED_ARRAYS[i].size ? SHARED_ARRAYS[i].size : (uint64_t)L.dynamic;
        a->align = SHARED_ARRAYS[i].align;
        a->data = realloc(a->data, a->size + 16); a->written = realloc(a->written, a->size + 16);
        free(a->words); free(a->bytes);
        a->words = calloc(a->size / 4 + 4, sizeof(Cell)); a->bytes = calloc(a->size + 16, sizeof(Cell));
    }
    random_state = L.seed * 2654435761u + 88172645463325252ull;
    launch_begin = ++L.memory->clock;
    blocks_begun = 0;
    shuffle(order, total);
    if (!setjmp(end_of_launch))
        for (uint32_t i = 0; i < total; i++) {
            block = order[i];
            ctaid_x = block % L.grid_x; ctaid_y = block / L.grid_x % L.grid_y; ctaid_z = block / L.grid_x / L.grid_y;
            run_block(many);
        }
    *counters = C;
    memcpy(visits, visited, sizeof visited);
}
