// Eager values in other libraries' hands, and theirs here, without copies: the buffer protocol and DLPack.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cctype>
#include <cstring>

#include "eager.h"
#include "penstock/tensor/buffer.h"

namespace penstock::python {
namespace {

// The element's code in the struct module; null: others do not know the type.
const char* Format(DataType dtype) {
  switch (dtype) {
    case DT_FLOAT: return "f";
    case DT_DOUBLE: return "d";
    case DT_HALF: return "e";
    case DT_INT8: return "b";
    case DT_INT16: return "h";
    case DT_INT32: return "i";
    case DT_INT64: return "l";  // as NumPy names it
    case DT_UINT8: return "B";
    case DT_UINT16: return "H";
    case DT_UINT32: return "I";
    case DT_UINT64: return "L";
    case DT_BOOL: return "?";
    case DT_COMPLEX64: return "Zf";
    case DT_COMPLEX128: return "Zd";
    default: return nullptr;
  }
}

nb::dlpack::dtype ElementType(DataType dtype) {
  const auto make = [&](nb::dlpack::dtype_code code) {
    return nb::dlpack::dtype{static_cast<uint8_t>(code), static_cast<uint8_t>(DataTypeSize(dtype) * 8), 1};
  };
  if (dtype == DT_BOOL) return make(nb::dlpack::dtype_code::Bool);
  if (dtype == DT_BFLOAT16) return make(nb::dlpack::dtype_code::Bfloat);
  if (IsComplex(dtype)) return make(nb::dlpack::dtype_code::Complex);
  if (IsFloating(dtype) && Format(dtype)) return make(nb::dlpack::dtype_code::Float);
  const char* format = Format(dtype);
  if (!format) {
    std::string name = ToString(dtype);
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    Raise(Status(Code::kInvalidArgument, StrCat("DT_", name, " is not supported by dlpack")));
  }
  return make(std::islower(*format) ? nb::dlpack::dtype_code::Int : nb::dlpack::dtype_code::UInt);
}

DataType TypeOfElements(nb::dlpack::dtype type) {
  const int bits = type.bits;
  if (type.lanes == 1) {
    switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
      case nb::dlpack::dtype_code::Float:
        if (bits == 16) return DT_HALF;
        if (bits == 32) return DT_FLOAT;
        if (bits == 64) return DT_DOUBLE;
        break;
      case nb::dlpack::dtype_code::Bfloat:
        if (bits == 16) return DT_BFLOAT16;
        break;
      case nb::dlpack::dtype_code::Int:
        if (bits == 8) return DT_INT8;
        if (bits == 16) return DT_INT16;
        if (bits == 32) return DT_INT32;
        if (bits == 64) return DT_INT64;
        break;
      case nb::dlpack::dtype_code::UInt:
        if (bits == 8) return DT_UINT8;
        if (bits == 16) return DT_UINT16;
        if (bits == 32) return DT_UINT32;
        if (bits == 64) return DT_UINT64;
        break;
      case nb::dlpack::dtype_code::Bool:
        if (bits == 8) return DT_BOOL;
        break;
      case nb::dlpack::dtype_code::Complex:
        if (bits == 64) return DT_COMPLEX64;
        if (bits == 128) return DT_COMPLEX128;
        break;
      default: break;
    }
  }
  Raise(Status(Code::kInvalidArgument, StrCat("no tensor holds DLPack elements of code ", int(type.code), " with ",
                                              bits, " bits and ", int(type.lanes), " lanes")));
}

// What a view points at besides the elements.
struct View {
  Tensor tensor;
  std::vector<Py_ssize_t> shape, strides;
};

int GetBuffer(PyObject* self, Py_buffer* view, int flags) {
  const Tensor& tensor = ValueOf(self).tensor;
  const char* format = Format(tensor.dtype());
  if (!format) {
    const bool handle = tensor.dtype() == DT_RESOURCE || tensor.dtype() == DT_VARIANT;
    PyErr_Format(PyExc_BufferError,
                 handle ? "Cannot convert a Tensor of dtype %s to a NumPy array." : "values of type %s have no buffer",
                 ToString(tensor.dtype()).c_str());
    return -1;
  }
  if (flags & PyBUF_WRITABLE) {
    PyErr_SetString(PyExc_BufferError, "an EagerTensor cannot be changed");
    return -1;
  }
  auto* held = new View{tensor, {}, {}};
  Py_ssize_t stride = static_cast<Py_ssize_t>(DataTypeSize(tensor.dtype()));
  const Py_ssize_t size = stride;
  held->strides.resize(tensor.rank());
  for (int i = tensor.rank() - 1; i >= 0; --i) {
    held->strides[i] = stride;
    stride *= tensor.dim(i);
  }
  for (int i = 0; i < tensor.rank(); ++i) held->shape.push_back(tensor.dim(i));
  // Small values lie in the tensor itself: in this copy of it.
  view->buf = const_cast<void*>(held->tensor.raw());
  view->obj = nb::borrow(self).release().ptr();
  view->len = static_cast<Py_ssize_t>(tensor.bytes());
  view->itemsize = size;
  view->readonly = 1;
  view->ndim = tensor.rank();
  view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
  view->shape = flags & PyBUF_ND ? held->shape.data() : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? held->strides.data() : nullptr;
  view->suboffsets = nullptr;
  view->internal = held;
  return 0;
}

void ReleaseBuffer(PyObject*, Py_buffer* view) { delete static_cast<View*>(view->internal); }

nb::object ToDlpack(nb::handle value) {
  const Tensor& tensor = ToValue(value).tensor;
  const nb::dlpack::dtype type = ElementType(tensor.dtype());
  auto* owner = new Tensor(tensor);
  nb::capsule keep(owner, [](void* p) noexcept { delete static_cast<Tensor*>(p); });
  std::vector<size_t> shape;
  for (const int64_t dim : owner->shape()) shape.push_back(static_cast<size_t>(dim));
  return nb::cast(nb::ndarray<>(const_cast<void*>(owner->raw()), shape.size(), shape.data(), keep, nullptr, type,
                                nb::device::cpu::value, 0));
}

nb::object FromDlpack(nb::object capsule) {
  nb::ndarray<nb::device::cpu> array;
  if (!nb::try_cast(capsule, array)) throw nb::type_error("a DLPack capsule of host memory is needed");
  const DataType dtype = TypeOfElements(array.dtype());
  std::vector<int64_t> dims;
  int64_t stride = 1;
  bool dense = true;
  for (size_t i = 0; i < array.ndim(); ++i) dims.push_back(static_cast<int64_t>(array.shape(i)));
  const Shape shape(dims);
  for (size_t i = array.ndim(); i-- > 0;) {
    dense = dense && (dims[i] <= 1 || array.stride(i) == stride);
    stride *= dims[i];
  }
  if (!dense && shape.num_elements() > 0) {
    Raise(Status(Code::kInvalidArgument, "a DLPack array must be dense, in row-major order"));
  }
  const size_t bytes = static_cast<size_t>(shape.num_elements()) * DataTypeSize(dtype);
  // What is not aligned would be slow for kernels; what is tiny lies in the tensor itself.
  if (bytes <= 16 || reinterpret_cast<uintptr_t>(array.data()) % 16 != 0) {
    Tensor copy(dtype, shape);
    if (bytes) std::memcpy(copy.mutable_raw(), array.data(), bytes);
    return Make({std::move(copy), EagerValue::NewId()});
  }
  auto* held = new nb::ndarray<nb::device::cpu>(array);
  Ref<Buffer> buffer = BorrowBuffer(array.data(), bytes, [held] {
    if (!WithGil::Possible()) return;
    const WithGil gil;
    delete held;
  });
  return Make({Tensor(dtype, shape, std::move(buffer), 0), EagerValue::NewId()});
}

}  // namespace

PyType_Slot* BufferSlots() {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(GetBuffer)},
                                {Py_bf_releasebuffer, reinterpret_cast<void*>(ReleaseBuffer)}};
  return slots;
}

void BindEagerExchange(nb::module_& m) {
  m.def("eager_to_dlpack", &ToDlpack);
  m.def("eager_from_dlpack", &FromDlpack);
}

}  // namespace penstock::python
