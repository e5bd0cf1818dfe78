// Tensor: a small handle to a typed, shaped value. Copying it shares the buffer; values of up to 16 bytes live in it.
//
// Whoever writes into a tensor must be its only holder: kernels write outputs they were given, everything else is
// immutable by convention, and `unique()` tells whether a buffer may be taken over.
#pragma once

#include <cstring>
#include <span>
#include <string>

#include "penstock/tensor/buffer.h"
#include "penstock/tensor/shape.h"
#include "penstock/tensor/tstring.h"
#include "penstock/tensor/types.h"

namespace penstock {

class Tensor {
 public:
  Tensor() = default;  // no value: dtype DT_INVALID
  // Uninitialised numbers; empty strings, handles and variants.
  Tensor(DataType dtype, const Shape& shape, Allocator* allocator = CpuAllocator());
  // A view of `buffer` from byte `offset` on.
  Tensor(DataType dtype, const Shape& shape, Ref<Buffer> buffer, size_t offset);
  // A scalar: Tensor(1.0f), Tensor(int64_t{3}), Tensor(TString("a")).
  template <class T>
    requires requires { TypeOf<T>::value; }
  explicit Tensor(const T& value) : Tensor(kTypeOf<T>, Shape()) {
    *mutable_data<T>() = value;
  }
  // A vector.
  template <class T>
  static Tensor Vector(std::span<const T> values) {
    Tensor t(kTypeOf<T>, Shape({static_cast<int64_t>(values.size())}));
    std::copy(values.begin(), values.end(), t.mutable_data<T>());
    return t;
  }
  template <class T>
  static Tensor Vector(const std::vector<T>& values) {
    return Vector(std::span<const T>(values));
  }

  DataType dtype() const { return dtype_; }
  bool initialized() const { return dtype_ != DT_INVALID; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  int64_t dim(int i) const { return shape_.dim(i); }
  int64_t num_elements() const { return shape_.num_elements(); }
  size_t bytes() const { return num_elements() * DataTypeSize(dtype_); }  // strings: of the handles only

  const void* raw() const { return buffer_ ? static_cast<const char*>(buffer_->data()) + offset_ : inline_; }
  void* mutable_raw() { return const_cast<void*>(static_cast<const Tensor*>(this)->raw()); }
  // T must be the element type (unchecked here; KernelContext checks).
  template <class T>
  const T* data() const {
    return static_cast<const T*>(raw());
  }
  template <class T>
  T* mutable_data() {
    return static_cast<T*>(mutable_raw());
  }
  template <class T>
  std::span<const T> flat() const {
    return {data<T>(), static_cast<size_t>(num_elements())};
  }
  template <class T>
  std::span<T> mutable_flat() {
    return {mutable_data<T>(), static_cast<size_t>(num_elements())};
  }
  template <class T>
  const T& scalar() const {
    return *data<T>();
  }
  // Element `i` of an int32 or int64 tensor.
  int64_t IntAt(int64_t i) const { return dtype_ == DT_INT32 ? data<int32_t>()[i] : data<int64_t>()[i]; }

  // Nobody else holds the memory, nor was it borrowed, so it may be written or taken over.
  bool unique() const { return !buffer_ || (buffer_->unique() && !buffer_->borrowed()); }
  bool SharesBufferWith(const Tensor& other) const { return buffer_ && buffer_.get() == other.buffer_.get(); }
  const Ref<Buffer>& buffer() const { return buffer_; }

  // The same elements under another shape of as many; shares the buffer.
  Tensor Reshaped(const Shape& shape) const;
  // The same bytes as another type of the same size in memory; shares the buffer.
  Tensor ViewAs(DataType dtype, const Shape& shape) const;
  // Elements [begin, end) along dimension 0; shares the buffer (of larger values).
  Tensor Slice(int64_t begin, int64_t end) const;
  Tensor Clone() const;
  // A short form for messages: "Tensor<type: float shape: [2] values: 1 2>"; at most `limit` elements.
  std::string ToString(int limit = 3) const;
  std::string ElementToString(int64_t i) const;

 private:
  DataType dtype_ = DT_INVALID;
  Shape shape_;
  Ref<Buffer> buffer_;  // null for inline and empty values
  size_t offset_ = 0;
  alignas(16) char inline_[16] = {};
};

}  // namespace penstock
