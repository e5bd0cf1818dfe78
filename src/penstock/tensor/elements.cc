#include "penstock/tensor/elements.h"

#include <algorithm>
#include <cstring>

#include "penstock/base/strings.h"
#include "penstock/tensor/resource_handle.h"
#include "penstock/tensor/variant.h"

namespace penstock {
namespace {

template <class T>
void CopyObjects(const Tensor& from, int64_t first, int64_t count, Tensor* to, int64_t at) {
  std::copy_n(from.data<T>() + first, count, to->mutable_data<T>() + at);
}

}  // namespace

void CopyElements(const Tensor& from, int64_t first, int64_t count, Tensor* to, int64_t at) {
  const size_t size = DataTypeSize(from.dtype());
  switch (from.dtype()) {
    case DT_STRING: return CopyObjects<TString>(from, first, count, to, at);
    case DT_RESOURCE: return CopyObjects<ResourceHandle>(from, first, count, to, at);
    case DT_VARIANT: return CopyObjects<Variant>(from, first, count, to, at);
    default:
      std::memcpy(static_cast<char*>(to->mutable_raw()) + at * size,
                  static_cast<const char*>(from.raw()) + first * size, count * size);
  }
}

void MoveElements(Tensor* from, Tensor* to, int64_t at) {
  if (from->dtype() == DT_STRING && from->unique()) {
    std::ranges::move(from->mutable_flat<TString>(), to->mutable_data<TString>() + at);
  } else {
    CopyElements(*from, 0, from->num_elements(), to, at);
  }
}

std::string Position::ToString() const {
  if (shape.rank() == 0) return "";
  std::vector<int64_t> index(shape.rank());
  int64_t rest = at;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    index[d] = rest % shape[d];
    rest /= shape[d];
  }
  return StrCat("[", StrJoin(index, ","), "]");
}

}  // namespace penstock
