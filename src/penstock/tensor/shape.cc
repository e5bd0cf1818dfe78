#include "penstock/tensor/shape.h"

#include <algorithm>

#include "penstock/base/status.h"

namespace penstock {

Shape::Shape(std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank) throw InvalidArgument("Shape has ", dims.size(), " dimensions, more than ", kMaxRank);
  // Zero wins over overflow: [0, 2^62, 4] is empty.
  int64_t n = 1;
  bool overflow = false;
  for (int64_t d : dims) {
    if (d < 0) throw InvalidArgument("Dimension ", d, " must be >= 0");
    if (d == 0) {
      n = 0;
    } else if (n != 0 && !overflow) {
      overflow = __builtin_mul_overflow(n, d, &n);
    }
  }
  if (overflow && std::find(dims.begin(), dims.end(), 0) == dims.end()) {
    throw InvalidArgument("Shape [", StrJoin(dims, ","), "] has too many elements: the count overflows an int64");
  }
  Assign(dims);
  num_elements_ = overflow ? 0 : n;
}

void Shape::Assign(std::span<const int64_t> dims) {
  int64_t* to = inline_;
  if (dims.size() > kInline) to = new int64_t[dims.size()];
  std::copy(dims.begin(), dims.end(), to);
  rank_ = static_cast<int>(dims.size());
  if (rank_ > kInline) heap_ = to;
}

Shape& Shape::operator=(const Shape& other) {
  if (this == &other) return *this;
  FreeHeap();
  rank_ = 0;
  num_elements_ = other.num_elements_;
  if (other.rank_ <= kInline) {
    rank_ = other.rank_;
    std::copy(other.inline_, other.inline_ + kInline, inline_);
  } else {
    Assign(other.dims());
  }
  return *this;
}

Shape& Shape::operator=(Shape&& other) noexcept {
  if (this == &other) return *this;
  FreeHeap();
  rank_ = other.rank_;
  num_elements_ = other.num_elements_;
  if (rank_ <= kInline) {
    std::copy(other.inline_, other.inline_ + kInline, inline_);
  } else {
    heap_ = other.heap_;
    other.rank_ = 0;
    other.num_elements_ = 1;
  }
  return *this;
}

void Shape::set_dim(int i, int64_t size) {
  std::vector<int64_t> d(begin(), end());
  d[i] = size;
  *this = Shape(d);
}
void Shape::AddDim(int64_t size) { InsertDim(rank_, size); }
void Shape::InsertDim(int i, int64_t size) {
  std::vector<int64_t> d(begin(), end());
  d.insert(d.begin() + i, size);
  *this = Shape(d);
}
void Shape::RemoveDim(int i) {
  std::vector<int64_t> d(begin(), end());
  d.erase(d.begin() + i);
  *this = Shape(d);
}

std::string Shape::ToString() const { return StrCat("[", StrJoin(dims(), ","), "]"); }

bool operator==(const Shape& a, const Shape& b) { return std::ranges::equal(a.dims(), b.dims()); }

bool PartialShape::fully_known() const {
  return known_rank_ && std::ranges::all_of(dims_, [](int64_t d) { return d >= 0; });
}

int64_t PartialShape::num_elements() const {
  if (!fully_known()) return -1;
  int64_t n = 1;
  for (int64_t d : dims_) {
    if (__builtin_mul_overflow(n, d, &n)) return -1;
  }
  return n;
}

Shape PartialShape::AsShape() const {
  if (!fully_known()) throw InvalidArgument("Shape ", ToString(), " is not fully known");
  return Shape(dims_);
}

bool PartialShape::IsCompatibleWith(const PartialShape& other) const {
  if (!known_rank_ || !other.known_rank_) return true;
  if (dims_.size() != other.dims_.size()) return false;
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (dims_[i] >= 0 && other.dims_[i] >= 0 && dims_[i] != other.dims_[i]) return false;
  }
  return true;
}

bool PartialShape::IsCompatibleWith(const Shape& shape) const {
  if (!known_rank_) return true;
  if (rank() != shape.rank()) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    if (dims_[i] >= 0 && dims_[i] != shape[i]) return false;
  }
  return true;
}

PartialShape PartialShape::MergeWith(const PartialShape& other) const {
  if (!known_rank_) return other;
  if (!other.known_rank_) return *this;
  if (!IsCompatibleWith(other)) {
    if (rank() != other.rank()) {
      throw InvalidArgument("Shapes must be equal rank, but are ", rank(), " and ", other.rank());
    }
    throw InvalidArgument("Dimensions must be equal: shapes ", *this, " and ", other, " are not compatible");
  }
  PartialShape merged = *this;
  for (int i = 0; i < rank(); ++i) {
    if (merged.dims_[i] < 0) merged.dims_[i] = other.dims_[i];
  }
  return merged;
}

std::string PartialShape::ToString() const {
  if (!known_rank_) return "<unknown>";
  std::string text = "[";
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (i) text += ',';
    text += dims_[i] < 0 ? "?" : StrCat(dims_[i]);
  }
  return text + "]";
}

}  // namespace penstock
