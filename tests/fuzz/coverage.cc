// What GCC's instrumentation calls, as libFuzzer (whose runtime clang brings) wants to hear it: one counter for each
// place in the code, by a hash of its address. libFuzzer's own function of this name only refuses.
#include <cstddef>
#include <cstdint>

namespace {

constexpr size_t kPlaces = size_t{1} << 16;
uint8_t g_counters[kPlaces];

}  // namespace

extern "C" {

void __sanitizer_cov_8bit_counters_init(uint8_t* begin, uint8_t* end);

__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc() {
  const auto place = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  ++g_counters[(place ^ place >> 16) % kPlaces];
}

// Comparisons of numbers with fractions, which clang does not report.
__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_cmpf(float, float) {}
__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_cmpd(double, double) {}

__attribute__((constructor, no_sanitize_coverage)) void RegisterCounters() {
  __sanitizer_cov_8bit_counters_init(g_counters, g_counters + kPlaces);
}

}  // extern "C"
