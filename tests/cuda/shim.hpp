// CUDA C++ on the processor: what a kernel of simtown/kernels/card needs to be compiled as plain C++ and run.
//
// host_card.py puts a kernel's source behind this file. Blocks run one after the other, in a shuffled order. A block's threads are fibres that
// run one at a time until they meet at a barrier, or at a collective of their warp; warps and lanes take turns in an order that changes at
// every barrier, so that a missing one shows in the pictures.
//
// Compiled with -fsanitize=thread, every access to memory calls check() first. It keeps who touched each byte last, and reports races,
// reads of bytes that nobody wrote, and accesses outside of arrays. What -fsanitize=bounds,alignment,float-cast-overflow finds is reported too.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#define __CUDACC__

#define HOST __attribute__((disable_sanitizer_instrumentation, no_sanitize("undefined")))
#define INLINE HOST static inline __attribute__((always_inline))
#define __device__
#define __forceinline__ inline
#define __global__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ static __attribute__((section("shared"), used))
#define threadIdx (host::me->index)
#define blockIdx host::block
#define gridDim host::grid

struct __align__(4) short2 { short x, y; };
struct float3 { float x, y, z; };
struct __align__(8) short4 { short x, y, z, w; };
struct __align__(16) float4 { float x, y, z, w; };
struct __align__(16) int4 { int x, y, z, w; };
struct __align__(8) uint2 { unsigned x, y; };
struct __align__(16) uint4 { unsigned x, y, z, w; };
struct dim3 { unsigned x, y, z; };

extern "C" __attribute__((visibility("hidden"))) char __start_shared[], __stop_shared[], __ehdr_start[], _end[]; // the linker's


namespace host {

// The card's memory and what is known of it; host_card.py has the same struct.
struct Machine {
    char* memory;
    uint64_t size;
    struct Touch* touches;      // of every byte
    uint64_t clock;             // barriers so far
    char report[4096];          // faults, a line each
};

// Who wrote and read a byte last: the time of the last barrier before, and the thread.
struct Touch { uint32_t wrote, read; };
constexpr uint32_t UNALLOCATED = 0, UNWRITTEN = 1, WHEN = 9, WHO = (1u << WHEN) - 1, ATOMIC = WHO, SEVERAL = WHO - 1, LANES = 256; // LANES + w: several of warp w

constexpr uint64_t ABANDONED = 1ull << 63; // in Machine.clock: the launch has ended early
constexpr int MOST = 256, STACK = 1 << 16, SHARED = 1 << 18, DYNAMIC = 1 << 17;
enum State { RUNS, IN_WARP, AT_BARRIER, DONE };
struct Fibre { dim3 index; State state; unsigned meetings; jmp_buf place; };
struct Warp { int live, met; unsigned meetings, synced; uint32_t since; uint64_t values[2][32]; const char* call[2]; };

__shared__ char nothing; // so that the section is there
static Machine* machine;
static Fibre fibres[MOST], *me;
static Warp warps[MOST / 32];
static char stacks[MOST][STACK] __align__(16), dynamic[DYNAMIC] __align__(256);
static Touch shared_touches[SHARED], dynamic_touches[DYNAMIC];
static dim3 block, grid;
static const char* name;
static uint32_t block_since;
static uint64_t dynamic_size, chance;
static jmp_buf scheduler;
static void (*entry)(const void*);
static const void* argument;

HOST static uint64_t random_below(uint64_t n)
{
    chance ^= chance << 13, chance ^= chance >> 7, chance ^= chance << 17;
    return (chance >> 11) % n;
}

HOST static void report(const char* format, ...)
{
    size_t used = strlen(machine->report), room = sizeof machine->report - used;
    if (room < 300) return;
    int head = snprintf(machine->report + used, room, "%s, block (%u, %u, %u), thread %d: ", name, block.x, block.y, block.z, me ? (int)me->index.x : -1);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(machine->report + used + head, room - head, format, arguments);
    va_end(arguments);
    strcat(machine->report, "\n");
}

// Fibres

HOST static __attribute__((noinline)) void jump(jmp_buf from, jmp_buf to) { if (!_setjmp(from)) _longjmp(to, 1); }
HOST static void pause(State state) { me->state = state; jump(me->place, scheduler); }
[[noreturn]] HOST static void abandon() { me->state = DONE, machine->clock |= ABANDONED; _longjmp(scheduler, 1); }

HOST static uint32_t now() { return (uint32_t)machine->clock << WHEN; }

HOST static void leave(Warp& warp)
{
    warp.met = 0, warp.meetings++;
    for (int lane = 0; lane < 32; lane++) {
        Fibre& fibre = fibres[32 * (&warp - warps) + lane];
        if (fibre.state == IN_WARP) fibre.state = RUNS;
    }
}

HOST static void loop()
{
    for (;;) {
        entry(argument);
        Warp& warp = warps[me->index.x / 32];
        if (--warp.live == warp.met && warp.met) leave(warp);
        pause(DONE);
    }
}

// What all lanes of a warp hand in at a collective. Threads that have returned hand in 0.
HOST static const uint64_t* meet(const char* call, uint64_t value)
{
    Warp& warp = warps[me->index.x / 32];
    unsigned turn = me->meetings++ & 1;
    if (warp.met == 0) memset(warp.values[turn], 0, sizeof warp.values[turn]), warp.call[turn] = call;
    else if (strcmp(warp.call[turn], call)) report("calls %s while its warp calls %s", call, warp.call[turn]);
    warp.values[turn][me->index.x % 32] = value;
    if (++warp.met == warp.live) leave(warp);
    else pause(IN_WARP);
    return warp.values[turn];
}

HOST static void tick(uint32_t& since)
{
    machine->clock++;
    since = now();
}

HOST static void sync_warp()
{
    meet("__syncwarp", 0);
    Warp& warp = warps[me->index.x / 32];
    if (warp.synced != warp.meetings) tick(warp.since), warp.synced = warp.meetings; // the first lane that goes on
}

HOST static void run_block(int threads)
{
    int count = (threads + 31) / 32, live = threads, order[MOST / 32];
    memset(__start_shared, (int)random_below(256), __stop_shared - __start_shared);
    memset(dynamic, (int)random_below(256), dynamic_size);
    for (int i = 0; i < __stop_shared - __start_shared; i++) shared_touches[i] = {UNWRITTEN, 0};
    for (uint64_t i = 0; i < DYNAMIC; i++) dynamic_touches[i] = {i < dynamic_size ? UNWRITTEN : UNALLOCATED, 0};
    for (int i = 0; i < threads; i++) fibres[i].state = RUNS, fibres[i].meetings = 0;
    for (int w = 0; w < count; w++) warps[w].live = threads - 32 * w < 32 ? threads - 32 * w : 32, warps[w].met = warps[w].meetings = warps[w].synced = 0;
    while (live > 0) {
        tick(block_since);
        for (int w = 0; w < count; w++) {
            int other = (int)random_below(w + 1);
            order[w] = order[other], order[other] = w;
            warps[w].since = block_since;
        }
        for (int w = 0; w < count; w++) {
            unsigned factor = 2 * (unsigned)random_below(16) + 1, offset = (unsigned)random_below(32);
            for (bool ran = true; ran;) {
                ran = false;
                for (unsigned i = 0; i < 32; i++) {
                    int thread = 32 * order[w] + (int)(i * factor + offset & 31);
                    if (thread >= threads || fibres[thread].state != RUNS) continue;
                    me = fibres + thread, ran = true;
                    jump(scheduler, me->place);
                    if (machine->clock & ABANDONED) return;
                }
            }
        }
        live = 0;
        for (int i = 0; i < threads; i++) {
            if (fibres[i].state == IN_WARP) {
                me = fibres + i, report("waits for its warp forever"), machine->clock |= ABANDONED;
                return;
            }
            if (fibres[i].state == AT_BARRIER) fibres[i].state = RUNS, live++;
        }
    }
}

// Checks

INLINE uint32_t warp_of(uint32_t stamp) { return (stamp & WHO) < LANES ? (stamp & WHO) / 32 : (stamp & WHO) - LANES; }

HOST static void check(const void* address, uint64_t size, bool writes, bool atomic = false)
{
    const char* at = (const char*)address;
    Touch* touches;
    if (at >= __start_shared && at < __stop_shared) touches = shared_touches + (at - __start_shared);
    else if (at >= dynamic && at < dynamic + DYNAMIC) touches = dynamic_touches + (at - dynamic);
    else if (at >= machine->memory && at < machine->memory + machine->size) touches = machine->touches + (at - machine->memory);
    else if (at >= __ehdr_start && at < _end) return; // a fibre's own stack, or a constant
    else report("%s %p, which is no card's memory", writes ? "writes" : "reads", at), abandon();
    uint32_t warp = me->index.x / 32, who = atomic ? ATOMIC : me->index.x;
    const char* word = writes ? "writes" : "reads";
    for (uint64_t i = 0; i < size; i++) {
        Touch& t = touches[i];
        if (t.wrote == UNALLOCATED) report("%s out of bounds at %p", word, at + i), abandon();
        if (t.wrote == UNWRITTEN && (!writes || atomic)) return report("reads %p, which nobody wrote", at + i);
        for (int k = 0; k < (writes ? 2 : 1); k++) {
            uint32_t other = k ? t.read : t.wrote;
            if (other > WHO && other >= (warp_of(other) == warp ? warps[warp].since : block_since) && (other & WHO) != who)
                return report("%s %p, which thread %u touched since the last barrier", word, at + i, other & WHO);
        }
        if (writes) t.wrote = now() | who;
        else if (t.read < block_since || (t.read & WHO) == who) t.read = now() | who;
        else t.read = now() | (warp_of(t.read) == warp ? LANES + warp : SEVERAL);
    }
}

} // namespace host

extern "C" {
#define ACCESS(size) \
    HOST void __tsan_read##size(void* at) { host::check(at, size, false); } \
    HOST void __tsan_write##size(void* at) { host::check(at, size, true); } \
    HOST void __tsan_unaligned_read##size(void* at) { host::check(at, size, false); } \
    HOST void __tsan_unaligned_write##size(void* at) { host::check(at, size, true); }
ACCESS(1) ACCESS(2) ACCESS(4) ACCESS(8) ACCESS(16)
HOST void __tsan_init() {}
HOST void __tsan_func_entry(void*) {}
HOST void __tsan_func_exit() {}
HOST void* __tsan_memset(void* to, int value, size_t size) { host::check(to, size, true); return memset(to, value, size); }
HOST void* __tsan_memcpy(void* to, const void* from, size_t size)
{
    host::check(from, size, false), host::check(to, size, true);
    return memcpy(to, from, size);
}

// The data of UndefinedBehaviorSanitizer's calls begin with file, line and column.
struct Where { const char* file; unsigned line, column; };
HOST void __ubsan_handle_out_of_bounds(Where* w, void*) { host::report("line %u: index out of bounds", w->line), host::abandon(); }
HOST void __ubsan_handle_type_mismatch_v1(Where* w, void* at) { host::report("line %u: misaligned address %p", w->line, at); }
HOST void __ubsan_handle_float_cast_overflow(Where* w, void*) { host::report("line %u: a number too large for its integer", w->line); }

// Run all blocks of a launch; false if something was at fault, which `report` then says.
HOST bool run(host::Machine* machine, const char* name, void (*entry)(const void*), const void* argument, const unsigned* grid, int threads,
              uint64_t dynamic_size, uint64_t seed)
{
    using namespace host;
    host::machine = machine, host::name = name, host::entry = entry, host::argument = argument, host::dynamic_size = dynamic_size;
    host::grid = {grid[0], grid[1], grid[2]}, chance = (seed + 1) * 0x9E3779B97F4A7C15ull, machine->report[0] = 0;
    if (threads > MOST || dynamic_size > DYNAMIC || __stop_shared - __start_shared > SHARED) return report("needs more than there is"), false;
    for (int i = 0; i < threads; i++) {
        ucontext_t begin, back;
        getcontext(&begin);
        begin.uc_stack.ss_sp = stacks[i], begin.uc_stack.ss_size = STACK, begin.uc_link = nullptr;
        fibres[i].index = {(unsigned)i, 0, 0};
        makecontext(&begin, (void (*)())+[] { jump(me->place, scheduler); loop(); }, 0);
        me = fibres + i;
        if (!_setjmp(scheduler)) swapcontext(&back, &begin);
    }
    uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2], first = random_below(blocks);
    for (uint64_t i = 0; i < blocks && !(machine->clock & ABANDONED); i++) {
        unsigned at = (unsigned)((first + (seed % 2 ? i : blocks - i)) % blocks);
        block = {at % grid[0], at / grid[0] % grid[1], at / grid[0] / grid[1]};
        run_block(threads);
    }
    machine->clock &= ~(ABANDONED);
    return !machine->report[0];
}
}

// CUDA's functions

INLINE void __syncthreads() { host::pause(host::AT_BARRIER); }
INLINE void __syncwarp() { host::sync_warp(); }

template <class T> HOST static T shuffle(const char* call, T value, int from)
{
    uint64_t sent = 0;
    memcpy(&sent, &value, sizeof value);
    const uint64_t* values = host::meet(call, sent);
    memcpy(&value, values + from, sizeof value);
    return value;
}
INLINE int lane_of_me() { return (int)(host::me->index.x & 31); }
template <class T> INLINE T __shfl_sync(unsigned, T value, int from) { return shuffle("__shfl_sync", value, from & 31); }
template <class T> INLINE T __shfl_xor_sync(unsigned, T value, int bits) { return shuffle("__shfl_xor_sync", value, (lane_of_me() ^ bits) & 31); }
template <class T> INLINE T __shfl_up_sync(unsigned, T value, int by)
{
    return shuffle("__shfl_up_sync", value, lane_of_me() < by ? lane_of_me() : lane_of_me() - by);
}
template <class T> INLINE T __shfl_down_sync(unsigned, T value, int by)
{
    return shuffle("__shfl_down_sync", value, lane_of_me() + by > 31 ? lane_of_me() : lane_of_me() + by);
}
HOST static unsigned __ballot_sync(unsigned, bool here)
{
    const uint64_t* values = host::meet("__ballot_sync", here);
    unsigned mask = 0;
    for (int lane = 0; lane < 32; lane++) mask |= (unsigned)values[lane] << lane;
    return mask;
}
INLINE bool __any_sync(unsigned mask, bool here) { return __ballot_sync(mask, here) != 0; }
HOST static unsigned __reduce_or_sync(unsigned, unsigned bits)
{
    const uint64_t* values = host::meet("__reduce_or_sync", bits);
    unsigned all = 0;
    for (int lane = 0; lane < 32; lane++) all |= (unsigned)values[lane];
    return all;
}

template <class T> HOST static T atomicAdd(T* at, T more)
{
    host::check(at, sizeof *at, true, true);
    T old = *at;
    *at = old + more;
    return old;
}

// `red.shared.max.u32`, the one instruction that the kernels write in PTX, and the addresses that it takes.
INLINE size_t __cvta_generic_to_shared(const void* at) { return (const char*)at - host::dynamic; }
HOST static void raise_shared(unsigned at, unsigned value)
{
    unsigned* word = (unsigned*)(host::dynamic + (at < host::DYNAMIC ? at : host::DYNAMIC - 4));
    host::check(word, 4, true, true);
    if (*word < value) *word = value;
}

template <class T> INLINE T __ldg(const T* at) { return *at; }
template <class To, class From> INLINE To bits_as(From from)
{
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
INLINE unsigned __float_as_uint(float x) { return bits_as<unsigned>(x); }
INLINE float __uint_as_float(unsigned x) { return bits_as<float>(x); }
INLINE float __int_as_float(int x) { return bits_as<float>(x); }
INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
INLINE int __ffs(unsigned x) { return __builtin_ffs((int)x); }

INLINE float fminf(float a, float b) { return __builtin_fminf(a, b); }
INLINE float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
INLINE double fmin(double a, double b) { return __builtin_fmin(a, b); }
INLINE double fmax(double a, double b) { return __builtin_fmax(a, b); }
INLINE float fabsf(float x) { return __builtin_fabsf(x); }
INLINE double fabs(double x) { return __builtin_fabs(x); }
INLINE float floorf(float x) { return __builtin_floorf(x); }
INLINE double floor(double x) { return __builtin_floor(x); }
INLINE float truncf(float x) { return __builtin_truncf(x); }
INLINE float sqrtf(float x) { return __builtin_sqrtf(x); }
INLINE float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
INLINE int abs(int x) { return x < 0 ? -x : x; }
INLINE int __float2int_rz(float x) // the nearest int where there is none, 0 for what is not a number
{
    if (!(x >= -2147483648.0f)) return x < 0 ? -2147483647 - 1 : 0;
    return x >= 2147483648.0f ? 2147483647 : (int)x;
}
INLINE int __float2int_rd(float x) { return __float2int_rz(floorf(x)); }

INLINE int min(int a, int b) { return a < b ? a : b; }
INLINE int max(int a, int b) { return a < b ? b : a; }
INLINE unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
INLINE long long min(long long a, long long b) { return a < b ? a : b; }
INLINE long long max(long long a, long long b) { return a < b ? b : a; }

INLINE uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
INLINE uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
INLINE short4 make_short4(short x, short y, short z, short w) { return {x, y, z, w}; }
INLINE float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
