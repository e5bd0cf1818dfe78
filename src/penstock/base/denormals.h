// Denormal numbers as zero while kernels run, as in TensorFlow: some processors take a hundred times as long for each.
#pragma once

#include <cstdint>

namespace penstock {

// From its construction to its end this thread reads denormal numbers as zero and gives zero for denormal results, or
// does not; then it goes on as before.
class ScopedDenormals {
 public:
  enum Mode { kZero, kKeep };
  explicit ScopedDenormals(Mode mode) : before_(Control()) {
    const uint64_t wanted = mode == kZero ? before_ | kZeroBits : before_ & ~kZeroBits;
    changed_ = wanted != before_;
    if (changed_) SetControl(wanted);
  }
  ~ScopedDenormals() {
    if (changed_) SetControl((Control() & ~kZeroBits) | (before_ & kZeroBits));
  }
  ScopedDenormals(const ScopedDenormals&) = delete;
  ScopedDenormals& operator=(const ScopedDenormals&) = delete;

 private:
  // The thread's control register for floating point.
#if defined(__x86_64__)
  static constexpr uint64_t kZeroBits = 0x8040;  // flush to zero, denormals are zero
  static uint64_t Control() { return __builtin_ia32_stmxcsr(); }
  static void SetControl(uint64_t bits) { __builtin_ia32_ldmxcsr(static_cast<unsigned>(bits)); }
#elif defined(__aarch64__)
  static constexpr uint64_t kZeroBits = uint64_t{1} << 24;  // flush to zero, for what is read and what is given
  static uint64_t Control() {
    uint64_t bits;
    asm volatile("mrs %0, fpcr" : "=r"(bits));
    return bits;
  }
  static void SetControl(uint64_t bits) { asm volatile("msr fpcr, %0" : : "r"(bits)); }
#else
  static constexpr uint64_t kZeroBits = 0;
  static uint64_t Control() { return 0; }
  static void SetControl(uint64_t) {}
#endif
  uint64_t before_;
  bool changed_;
};

}  // namespace penstock
