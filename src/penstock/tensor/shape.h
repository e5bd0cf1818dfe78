// Shape: dimensions of a value. PartialShape: what is known of them before there is a value.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace penstock {

inline constexpr int kMaxRank = 254;

// Dimensions, all known and >= 0; up to four are held inline. The number of elements is kept beside them.
class Shape {
 public:
  Shape() = default;  // scalar
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}
  // InvalidArgument: a negative dimension, a rank over 254, or more elements than an int64 counts.
  explicit Shape(std::span<const int64_t> dims);
  explicit Shape(const std::vector<int64_t>& dims) : Shape(std::span<const int64_t>(dims)) {}
  Shape(const Shape& other) { *this = other; }
  Shape(Shape&& other) noexcept { *this = std::move(other); }
  Shape& operator=(const Shape& other);
  Shape& operator=(Shape&& other) noexcept;
  ~Shape() { FreeHeap(); }

  int rank() const { return rank_; }
  int64_t dim(int i) const { return data()[i]; }
  int64_t operator[](int i) const { return data()[i]; }
  int64_t num_elements() const { return num_elements_; }
  const int64_t* data() const { return rank_ <= kInline ? inline_ : heap_; }
  std::span<const int64_t> dims() const { return {data(), static_cast<size_t>(rank_)}; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + rank_; }

  void set_dim(int i, int64_t size);
  void AddDim(int64_t size);
  void InsertDim(int i, int64_t size);
  void RemoveDim(int i);
  std::string ToString() const;  // "[2,3]"

  friend bool operator==(const Shape& a, const Shape& b);

 private:
  static constexpr int kInline = 4;
  void FreeHeap() {
    if (rank_ > kInline) delete[] heap_;
  }
  int64_t* mutable_data() { return rank_ <= kInline ? inline_ : heap_; }
  void Assign(std::span<const int64_t> dims);

  int rank_ = 0;
  int64_t num_elements_ = 1;
  union {
    int64_t inline_[kInline] = {};
    int64_t* heap_;
  };
};

// A shape of which the rank, or some dimensions, may be unknown. Unknown dimensions are negative (-1; other negative
// numbers are kept for symbols).
class PartialShape {
 public:
  PartialShape() = default;  // unknown rank
  PartialShape(std::initializer_list<int64_t> dims) : known_rank_(true), dims_(dims) {}
  explicit PartialShape(std::vector<int64_t> dims) : known_rank_(true), dims_(std::move(dims)) {}
  PartialShape(const Shape& shape) : known_rank_(true), dims_(shape.begin(), shape.end()) {}  // NOLINT: widening
  static PartialShape OfRank(int rank) { return PartialShape(std::vector<int64_t>(rank, -1)); }

  bool known_rank() const { return known_rank_; }
  int rank() const { return known_rank_ ? static_cast<int>(dims_.size()) : -1; }
  int64_t dim(int i) const { return dims_[i]; }  // < 0 if unknown
  int64_t operator[](int i) const { return dims_[i]; }
  const std::vector<int64_t>& dims() const { return dims_; }
  void set_dim(int i, int64_t size) { dims_[i] = size; }
  void AddDim(int64_t size) { dims_.push_back(size); }
  bool fully_known() const;
  int64_t num_elements() const;  // -1 if unknown
  Shape AsShape() const;         // InvalidArgument unless fully known
  bool IsCompatibleWith(const PartialShape& other) const;
  bool IsCompatibleWith(const Shape& shape) const;
  // What both know together. InvalidArgument if they contradict each other.
  PartialShape MergeWith(const PartialShape& other) const;
  std::string ToString() const;  // "<unknown>", "[?,3]"
  friend bool operator==(const PartialShape&, const PartialShape&) = default;

 private:
  bool known_rank_ = false;
  std::vector<int64_t> dims_;
};

}  // namespace penstock
