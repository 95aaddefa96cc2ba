// Which x86-64 level this processor can run: 1 to 4, or 0 on another architecture.
#include <nanobind/nanobind.h>

#if defined(_WIN32)
#include <immintrin.h>
#include <intrin.h>
#endif

#if defined(_WIN32) && defined(__x86_64__)
// Clang has no __builtin_cpu_supports here: the bits of CPUID, and of XGETBV what the system keeps for every thread.
static int x86_level() {
    int leaf1[4], leaf7[4];
    __cpuidex(leaf1, 1, 0);
    __cpuidex(leaf7, 7, 0);
    const auto has = [](int word, std::initializer_list<int> bits) {
        for (int bit : bits)
            if (!(static_cast<unsigned>(word) >> bit & 1)) return false;
        return true;
    };
    const bool v2 = has(leaf1[2], {20, 23});  // SSE4.2, POPCNT
    const auto kept = has(leaf1[2], {27}) ? _xgetbv(0) : 0;
    const bool v3 = v2 && (kept & 0x06) == 0x06 && has(leaf1[2], {12}) && has(leaf7[1], {3, 5, 8});  // FMA; BMI, AVX2
    const bool v4 = v3 && (kept & 0xe6) == 0xe6 && has(leaf7[1], {16, 17, 28, 30, 31});  // AVX512 F, DQ, CD, BW, VL
    return v4 ? 4 : v3 ? 3 : v2 ? 2 : 1;
}
#elif defined(__x86_64__)
static int x86_level() {
    __builtin_cpu_init();
    const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    return v4 ? 4 : v3 ? 3 : v2 ? 2 : 1;
}
#else
static int x86_level() { return 0; }
#endif

NB_MODULE(_cpu, m) { m.def("x86_level", &x86_level, "The x86-64 level of this processor, 0 on another architecture."); }
