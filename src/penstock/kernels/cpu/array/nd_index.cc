#include "penstock/kernels/cpu/array/nd_index.h"

#include "penstock/tensor/elements.h"

namespace penstock {

std::vector<int64_t> RowNumbers(const Tensor& indices, const Shape& shape, std::string_view what, bool ignore_bad) {
  const int64_t depth = indices.dim(indices.rank() - 1);
  Shape outer = indices.shape();
  outer.RemoveDim(outer.rank() - 1);
  std::vector<int64_t> rows(outer.num_elements());
  const auto fill = [&](const auto* from) {
    for (int64_t i = 0; i < static_cast<int64_t>(rows.size()); ++i, from += depth) {
      int64_t at = 0;
      bool good = true;
      for (int64_t d = 0; d < depth; ++d) {
        const int64_t index = from[d], size = shape[static_cast<int>(d)];
        good &= index >= 0 && index < size;
        at = at * size + (good ? index : 0);
      }
      if (!good && !ignore_bad) {
        throw InvalidArgument("indices", Position{outer, i}, " = [",
                              StrJoin(std::vector<int64_t>(from, from + depth), ", "), "] does not index into ", what,
                              " ", shape);
      }
      rows[i] = good ? at : -1;
    }
  };
  switch (indices.dtype()) {
    case DT_INT16: fill(indices.data<int16_t>()); break;
    case DT_INT32: fill(indices.data<int32_t>()); break;
    default: fill(indices.data<int64_t>());
  }
  return rows;
}

}  // namespace penstock
