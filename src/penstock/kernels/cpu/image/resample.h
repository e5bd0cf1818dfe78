// Linear resampling along the rows and columns of images: each new position is a weighted sum of old ones.
#pragma once

#include <vector>

#include "penstock/kernel/kernel_context.h"

namespace penstock {

// The shape of a resized image, of the sizes in input 1. InvalidArgument: no image, or sizes that are not positive.
Shape ResizedShape(KernelContext& k);

// How many old positions of an axis a new one stands for.
inline float ResizeScale(bool align_corners, int64_t in, int64_t out) {
  return align_corners && in > 1 && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                            : static_cast<float>(in) / static_cast<float>(out);
}

// Along one axis: what each new position is made of.
class AxisTaps {
 public:
  struct Tap {
    int64_t from;
    float weight;
  };
  void Add(int64_t from, float weight) { taps_.push_back({from, weight}); }
  void EndPosition() { ends_.push_back(taps_.size()); }
  int64_t size() const { return static_cast<int64_t>(ends_.size()); }
  std::span<const Tap> operator[](int64_t i) const {
    const size_t begin = i ? ends_[i - 1] : 0;
    return {taps_.data() + begin, ends_[i] - begin};
  }

 private:
  std::vector<Tap> taps_;
  std::vector<size_t> ends_;
};

// y [batch, rows.size(), columns.size(), channels] from images of the shape `in`. C: float or double
template <class C>
void Resample(const KernelContext& k, const C* x, const Shape& in, const AxisTaps& rows, const AxisTaps& columns, C* y);
// The transposed map: adds dy, of the new size, into dx of the shape `in`.
template <class C>
void ResampleBack(const KernelContext& k, const float* dy, const Shape& in, const AxisTaps& rows,
                  const AxisTaps& columns, C* dx);

}  // namespace penstock
