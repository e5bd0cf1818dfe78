#include "penstock/io/tensor_slice.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "penstock/base/status.h"
#include "penstock/base/strings.h"

namespace penstock {
namespace {

void CopyRun(const Tensor& from, int64_t first, int64_t count, Tensor* to, int64_t at) {
  if (from.dtype() == DT_STRING) {
    std::copy_n(from.data<TString>() + first, count, to->mutable_data<TString>() + at);
    return;
  }
  const size_t size = DataTypeSize(from.dtype());
  std::memcpy(static_cast<char*>(to->mutable_raw()) + at * size, static_cast<const char*>(from.raw()) + first * size,
              count * size);
}

}  // namespace

TensorSlice TensorSlice::Parse(std::string_view text) {
  TensorSlice slice;
  if (text.empty()) return slice;
  for (std::string_view extent : StrSplit(text, ':')) {
    int64_t start = 0, length = kFull;
    if (extent != "-") {
      const auto parts = StrSplit(extent, ',');
      if (parts.size() != 2 || !ParseInt64(parts[0], &start) || !ParseInt64(parts[1], &length) || start < 0 ||
          length <= 0) {
        throw InvalidArgument("Expected a pair of numbers or '-' but got '", extent, "': string = ", text);
      }
    }
    slice.start.push_back(start);
    slice.length.push_back(length);
  }
  return slice;
}

std::string TensorSlice::ToString() const {
  std::string text;
  for (int d = 0; d < rank(); ++d) {
    if (d > 0) text += ":";
    text += length[d] == kFull ? "-" : StrCat(start[d], ",", length[d]);
  }
  return text;
}

bool TensorSlice::IsFull() const {
  return std::all_of(length.begin(), length.end(), [](int64_t n) { return n == kFull; });
}

Shape TensorSlice::Apply(const Shape& of) const {
  if (rank() != of.rank()) throw InvalidArgument("Mismatching ranks: shape = ", of, ", slice = ", ToString());
  Shape shape;
  for (int d = 0; d < rank(); ++d) {
    if (length[d] != kFull && (start[d] < 0 || length[d] < 0 || start[d] > of[d] || length[d] > of[d] - start[d])) {
      throw InvalidArgument("Extent in dimension ", d, " out of bounds: shape = ", of, ", slice = ", ToString());
    }
    shape.AddDim(Length(d, of));
  }
  return shape;
}

void CheckDisjoint(const Shape& of, const std::vector<TensorSlice>& slices) {
  // Parts are sorted along the axis with most of them, so that each is compared with those only that reach into it.
  int axis = 0;
  size_t most = 0;
  for (int d = 0; d < of.rank(); ++d) {
    std::set<int64_t> starts;
    for (const TensorSlice& slice : slices) starts.insert(slice.start[d]);
    if (starts.size() > most) {
      most = starts.size();
      axis = d;
    }
  }
  std::vector<const TensorSlice*> sorted, open;
  for (const TensorSlice& slice : slices) sorted.push_back(&slice);
  if (of.rank() > 0) {
    std::ranges::stable_sort(sorted, {}, [&](const TensorSlice* slice) { return slice->start[axis]; });
  }
  const auto meet = [&](const TensorSlice& a, const TensorSlice& b, int d) {
    return std::max(a.start[d], b.start[d]) < std::min(a.start[d] + a.Length(d, of), b.start[d] + b.Length(d, of));
  };
  for (const TensorSlice* slice : sorted) {
    std::erase_if(open, [&](const TensorSlice* other) { return of.rank() > 0 && !meet(*slice, *other, axis); });
    for (const TensorSlice* other : open) {
      bool all = true;
      for (int d = 0; d < of.rank() && all; ++d) all = meet(*slice, *other, d);
      if (all) throw DataLoss("Overlapping slices: ", other->ToString(), " and ", slice->ToString(), " of shape ", of);
    }
    open.push_back(slice);
  }
}

void ParseShapeAndSlice(std::string_view text, Shape* shape, TensorSlice* slice) {
  const auto parts = StrSplit(text, ' ');
  if (parts.size() < 2) {
    throw InvalidArgument("Need least two elements in shape_and_slice specification: ", text);
  }
  std::vector<int64_t> dims(parts.size() - 1);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!ParseInt64(parts[i], &dims[i]) || dims[i] < 0) {
      throw InvalidArgument("Non numerical dimension in shape_and_slice: ", text);
    }
  }
  *shape = Shape(dims);
  *slice = TensorSlice::Parse(parts.back());
  slice->Apply(*shape);  // checks
}

int64_t CopyOverlap(const Shape& full, const TensorSlice& from_slice, const Tensor& from, const TensorSlice& to_slice,
                    Tensor* to) {
  const int rank = full.rank();
  std::vector<int64_t> low(rank), count(rank), from_stride(rank, 1), to_stride(rank, 1);
  int64_t total = 1, from_at = 0, to_at = 0;
  for (int d = rank - 1; d >= 0; --d) {
    const int64_t from_length = from_slice.Length(d, full), to_length = to_slice.Length(d, full);
    low[d] = std::max(from_slice.start[d], to_slice.start[d]);
    count[d] = std::min(from_slice.start[d] + from_length, to_slice.start[d] + to_length) - low[d];
    if (count[d] <= 0) return 0;
    total *= count[d];
    if (d > 0) {
      from_stride[d - 1] = from_stride[d] * from_length;
      to_stride[d - 1] = to_stride[d] * to_length;
    }
    from_at += (low[d] - from_slice.start[d]) * from_stride[d];
    to_at += (low[d] - to_slice.start[d]) * to_stride[d];
  }
  const int64_t run = rank > 0 ? count[rank - 1] : 1;
  std::vector<int64_t> position(rank, 0);
  for (int64_t done = 0; done < total; done += run) {
    CopyRun(from, from_at, run, to, to_at);
    for (int d = rank - 2; d >= 0; --d) {
      from_at += from_stride[d];
      to_at += to_stride[d];
      if (++position[d] < count[d]) break;
      from_at -= count[d] * from_stride[d];
      to_at -= count[d] * to_stride[d];
      position[d] = 0;
    }
  }
  return total;
}

}  // namespace penstock
