// Denormal numbers as zero while kernels run, as in TensorFlow: some processors take a hundred times as long for each.
#pragma once

#include <xmmintrin.h>

namespace penstock {

// From its construction to its end this thread reads denormal numbers as zero and gives zero for denormal results, or
// does not; then it goes on as before.
class ScopedDenormals {
 public:
  enum Mode { kZero, kKeep };
  explicit ScopedDenormals(Mode mode) : before_(_mm_getcsr()) {
    const unsigned wanted = mode == kZero ? before_ | kZeroBits : before_ & ~kZeroBits;
    changed_ = wanted != before_;
    if (changed_) _mm_setcsr(wanted);
  }
  ~ScopedDenormals() {
    if (changed_) _mm_setcsr((_mm_getcsr() & ~kZeroBits) | (before_ & kZeroBits));
  }
  ScopedDenormals(const ScopedDenormals&) = delete;
  ScopedDenormals& operator=(const ScopedDenormals&) = delete;

 private:
  static constexpr unsigned kZeroBits = 0x8040;  // flush to zero, denormals are zero
  unsigned before_;
  bool changed_;
};

}  // namespace penstock
