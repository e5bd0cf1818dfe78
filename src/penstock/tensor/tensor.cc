#include "penstock/tensor/tensor.h"

#include "penstock/base/status.h"
#include "penstock/tensor/resource_handle.h"
#include "penstock/tensor/variant.h"

namespace penstock {

Tensor::Tensor(DataType dtype, const Shape& shape, Allocator* allocator) : dtype_(dtype), shape_(shape) {
  const int64_t n = shape.num_elements();
  if (n == 0) return;
  if (IsPod(dtype) && n <= 16 && n * DataTypeSize(dtype) <= sizeof(inline_)) return;
  buffer_ = AllocateBuffer(dtype, n, allocator);
}

Tensor::Tensor(DataType dtype, const Shape& shape, Ref<Buffer> buffer, size_t offset)
    : dtype_(dtype), shape_(shape), buffer_(std::move(buffer)), offset_(offset) {}

Tensor Tensor::Reshaped(const Shape& shape) const {
  if (shape.num_elements() != num_elements()) {
    throw InvalidArgument("Cannot reshape a tensor with ", num_elements(), " elements to shape ", shape, " (",
                          shape.num_elements(), " elements)");
  }
  Tensor t = *this;
  t.shape_ = shape;
  return t;
}

Tensor Tensor::ViewAs(DataType dtype, const Shape& shape) const {
  Tensor t = *this;
  t.dtype_ = dtype;
  t.shape_ = shape;
  if (t.bytes() != bytes()) throw InvalidArgument("a view must have as many bytes: ", bytes(), " against ", t.bytes());
  return t;
}

Tensor Tensor::Slice(int64_t begin, int64_t end) const {
  Shape shape = shape_;
  const int64_t row = shape_.dim(0) == 0 ? 0 : num_elements() / shape_.dim(0);
  shape.set_dim(0, end - begin);
  const size_t skip = begin * row * DataTypeSize(dtype_);
  if (buffer_) return Tensor(dtype_, shape, buffer_, offset_ + skip);
  Tensor t(dtype_, shape);
  std::memcpy(t.inline_, inline_ + (shape.num_elements() ? skip : 0), t.bytes());
  return t;
}

Tensor Tensor::Clone() const {
  if (!initialized() || !buffer_) return *this;
  Tensor t(dtype_, shape_);
  switch (dtype_) {
    case DT_STRING: std::copy_n(data<TString>(), num_elements(), t.mutable_data<TString>()); break;
    case DT_RESOURCE: std::copy_n(data<ResourceHandle>(), num_elements(), t.mutable_data<ResourceHandle>()); break;
    case DT_VARIANT: std::copy_n(data<Variant>(), num_elements(), t.mutable_data<Variant>()); break;
    default: std::memcpy(t.mutable_raw(), raw(), bytes());
  }
  return t;
}

std::string Tensor::ElementToString(int64_t i) const {
  switch (dtype_) {
    case DT_FLOAT: return StrCat(data<float>()[i]);
    case DT_DOUBLE: return StrCat(data<double>()[i]);
    case DT_HALF: return StrCat(static_cast<float>(data<Half>()[i]));
    case DT_BFLOAT16: return StrCat(static_cast<float>(data<BFloat16>()[i]));
    case DT_INT8:
    case DT_QINT8: return StrCat(static_cast<int>(data<int8_t>()[i]));
    case DT_UINT8:
    case DT_QUINT8: return StrCat(static_cast<int>(data<uint8_t>()[i]));
    case DT_INT16:
    case DT_QINT16: return StrCat(data<int16_t>()[i]);
    case DT_UINT16:
    case DT_QUINT16: return StrCat(data<uint16_t>()[i]);
    case DT_INT32:
    case DT_QINT32: return StrCat(data<int32_t>()[i]);
    case DT_UINT32: return StrCat(data<uint32_t>()[i]);
    case DT_INT64: return StrCat(data<int64_t>()[i]);
    case DT_UINT64: return StrCat(data<uint64_t>()[i]);
    case DT_BOOL: return data<bool>()[i] ? "1" : "0";
    case DT_COMPLEX64: return StrCat("(", data<Complex64>()[i].real(), ",", data<Complex64>()[i].imag(), ")");
    case DT_COMPLEX128: return StrCat("(", data<Complex128>()[i].real(), ",", data<Complex128>()[i].imag(), ")");
    case DT_STRING: return StrCat("\"", data<TString>()[i].view(), "\"");
    case DT_RESOURCE: return StrCat("<resource ", data<ResourceHandle>()[i].name, ">");
    case DT_VARIANT: return data<Variant>()[i].empty() ? "<empty variant>" : data<Variant>()[i].get()->DebugString();
    default: return "?";
  }
}

std::string Tensor::ToString(int limit) const {
  if (!initialized()) return "Tensor<uninitialized>";
  std::string text = StrCat("Tensor<type: ", penstock::ToString(dtype_), " shape: ", shape_, " values:");
  for (int64_t i = 0; i < num_elements(); ++i) {
    if (i == limit) return text + "...>";
    text += " " + ElementToString(i);
  }
  return text + ">";
}

}  // namespace penstock
