// Tensors from and to NumPy arrays.
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include <cstring>
#include <map>

#include "bindings.h"
#include "penstock/io/convert.h"
#include "penstock/tensor/quantized_types.h"
#include "penstock/tensor/tstring.h"

namespace penstock::python {
namespace {

// Below this many bytes a copy costs less than the bookkeeping of a shared buffer.
constexpr size_t kSmall = 4096;
constexpr size_t kLarge = size_t{1} << 20;  // worth giving the GIL back

std::map<int, PyArray_Descr*>* g_extra;  // types that NumPy does not have: bfloat16, quantised, float8...

int NumpyType(DataType dtype) {
  switch (dtype) {
    case DT_FLOAT: return NPY_FLOAT32;
    case DT_DOUBLE: return NPY_FLOAT64;
    case DT_HALF: return NPY_FLOAT16;
    case DT_INT8: return NPY_INT8;
    case DT_INT16: return NPY_INT16;
    case DT_INT32: return NPY_INT32;
    case DT_INT64: return NPY_INT64;
    case DT_UINT8: return NPY_UINT8;
    case DT_UINT16: return NPY_UINT16;
    case DT_UINT32: return NPY_UINT32;
    case DT_UINT64: return NPY_UINT64;
    case DT_BOOL: return NPY_BOOL;
    case DT_COMPLEX64: return NPY_COMPLEX64;
    case DT_COMPLEX128: return NPY_COMPLEX128;
    case DT_STRING: return NPY_OBJECT;
    default: return -1;
  }
}

// A new reference to the NumPy type of `dtype`, or null.
PyArray_Descr* Descr(DataType dtype) {
  if (const int type = NumpyType(dtype); type >= 0) return PyArray_DescrFromType(type);
  const auto it = g_extra->find(dtype);
  if (it == g_extra->end()) return nullptr;
  Py_INCREF(it->second);
  return it->second;
}

TString StringElement(PyObject* item) {
  if (PyBytes_Check(item)) return TString(std::string_view(PyBytes_AS_STRING(item), PyBytes_GET_SIZE(item)));
  if (PyUnicode_Check(item)) {
    Py_ssize_t size;
    const char* text = PyUnicode_AsUTF8AndSize(item, &size);
    if (!text) throw nb::python_error();
    return TString(std::string_view(text, size));
  }
  throw nb::type_error(
      StrCat("Unsupported object type ", Py_TYPE(item)->tp_name, ": strings are bytes or str").c_str());
}

Shape ShapeOf(PyArrayObject* array) {
  std::vector<int64_t> dims(PyArray_DIMS(array), PyArray_DIMS(array) + PyArray_NDIM(array));
  return Shape(dims);
}

Tensor Strings(nb::handle value) {
  PyObject* as_object =
      PyArray_FromAny(value.ptr(), PyArray_DescrFromType(NPY_OBJECT), 0, 0, NPY_ARRAY_CARRAY_RO, nullptr);
  if (!as_object) throw nb::python_error();
  nb::object holder = nb::steal(as_object);
  auto* array = reinterpret_cast<PyArrayObject*>(as_object);
  Tensor t(DT_STRING, ShapeOf(array));
  auto** items = static_cast<PyObject**>(PyArray_DATA(array));
  for (int64_t i = 0; i < t.num_elements(); ++i) t.mutable_data<TString>()[i] = StringElement(items[i]);
  return t;
}

// Copies elements; without the GIL if they are many.
void CopyBytes(void* to, const void* from, size_t bytes) {
  if (!bytes) return;
  const GilUnlessLong gil(bytes > kLarge);
  std::memcpy(to, from, bytes);
}

// The value as a C-ordered array of the type of `dtype`; the array itself if it is one.
nb::object AsArray(nb::handle value, DataType dtype) {
  PyArray_Descr* descr = Descr(dtype);
  if (!descr) throw nb::type_error(StrCat("values of type ", ToString(dtype), " do not come from NumPy").c_str());
  PyObject* array = PyArray_FromAny(value.ptr(), descr, 0, 0, NPY_ARRAY_CARRAY_RO, nullptr);
  if (!array) throw nb::python_error();
  return nb::steal(array);
}

Tensor Copy(PyArrayObject* array, DataType dtype) {
  Tensor t(dtype, ShapeOf(array));
  if (t.bytes() != static_cast<size_t>(PyArray_NBYTES(array))) {
    throw nb::type_error(
        StrCat("an array of ", PyArray_NBYTES(array), " bytes does not hold a tensor of ", t.bytes()).c_str());
  }
  CopyBytes(t.mutable_raw(), PyArray_DATA(array), t.bytes());
  return t;
}

struct PyTensor {
  Tensor tensor;
};

}  // namespace

Tensor FromNumpy(nb::handle value, DataType dtype) {
  if (dtype == DT_STRING) return Strings(value);
  nb::object array = AsArray(value, dtype);
  return Copy(reinterpret_cast<PyArrayObject*>(array.ptr()), dtype);
}

Tensor FromNumpy(nb::handle value) {
  if (nb::isinstance<PyTensor>(value)) return TensorFromHandle(value);
  nb::object holder = nb::steal(PyArray_FromAny(value.ptr(), nullptr, 0, 0, NPY_ARRAY_CARRAY_RO, nullptr));
  if (!holder.is_valid()) throw nb::python_error();
  auto* array = reinterpret_cast<PyArrayObject*>(holder.ptr());
  const int type = PyArray_TYPE(array);
  if (type == NPY_OBJECT || type == NPY_STRING || type == NPY_UNICODE) return Strings(holder);
  for (const auto& [dtype, descr] : *g_extra) {
    if (PyArray_EquivTypes(descr, PyArray_DESCR(array))) return Copy(array, DataType(dtype));
  }
  for (int dtype = DT_FLOAT; dtype <= DT_UINT64; ++dtype) {
    const int known = NumpyType(DataType(dtype));
    if (known >= 0 && PyArray_EquivTypenums(known, type)) return Copy(array, DataType(dtype));
  }
  throw nb::type_error("no tensor holds elements of this NumPy type");
}

Tensor FeedFromNumpy(nb::handle value, DataType dtype) {
  if (PyArray_Check(value.ptr()) && dtype != DT_STRING) {
    auto* array = reinterpret_cast<PyArrayObject*>(value.ptr());
    if (PyArray_TYPE(array) == NumpyType(dtype) && PyArray_ISCARRAY_RO(array) && PyArray_ISNOTSWAPPED(array)) {
      const auto bytes = static_cast<size_t>(PyArray_NBYTES(array));
      const bool aligned = reinterpret_cast<uintptr_t>(PyArray_DATA(array)) % 16 == 0;
      if (bytes <= kSmall || !aligned) return Copy(array, dtype);
      Py_INCREF(array);
      return Tensor(dtype, ShapeOf(array),
                    BorrowBuffer(PyArray_DATA(array), bytes,
                                 [array] {
                                   if (!WithGil::Possible()) return;
                                   const WithGil gil;
                                   Py_DECREF(array);
                                 }),
                    0);
    }
  } else if (nb::isinstance<PyTensor>(value)) {
    const Tensor& tensor = nb::cast<PyTensor&>(value).tensor;
    if (tensor.dtype() != dtype) {
      throw nb::type_error(StrCat("fed a ", ToString(tensor.dtype()), " for a ", ToString(dtype)).c_str());
    }
    return tensor;
  }
  return FromNumpy(value, dtype);
}

nb::object ToNumpy(Tensor value) {
  const int rank = value.rank();
  if (rank > NPY_MAXDIMS) throw nb::value_error("NumPy arrays have fewer dimensions than this tensor");
  npy_intp dims[NPY_MAXDIMS];
  for (int i = 0; i < rank; ++i) dims[i] = value.dim(i);
  if (value.dtype() == DT_STRING) {
    if (rank == 0) {
      const std::string_view s = value.scalar<TString>().view();
      return nb::steal(PyBytes_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size())));
    }
    nb::object holder = nb::steal(PyArray_SimpleNew(rank, dims, NPY_OBJECT));
    if (!holder.is_valid()) throw nb::python_error();
    auto** items = static_cast<PyObject**>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(holder.ptr())));
    for (int64_t i = 0; i < value.num_elements(); ++i) {
      const std::string_view s = value.data<TString>()[i].view();
      Py_XDECREF(items[i]);
      items[i] = PyBytes_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size()));
    }
    return holder;
  }
  PyArray_Descr* descr = Descr(IntegerBehind(value.dtype()));
  if (!descr) return nb::cast(PyTensor{std::move(value)});  // resources and variants stay with the runtime
  const size_t bytes = value.bytes();
  if (bytes <= kSmall || !value.unique() || !value.buffer()) {
    nb::object holder = nb::steal(PyArray_NewFromDescr(&PyArray_Type, descr, rank, dims, nullptr, nullptr, 0, nullptr));
    if (!holder.is_valid()) throw nb::python_error();
    auto* array = reinterpret_cast<PyArrayObject*>(holder.ptr());
    CopyBytes(PyArray_DATA(array), value.raw(), bytes);
    if (rank > 0) return holder;
    return nb::steal(PyArray_Return(reinterpret_cast<PyArrayObject*>(holder.release().ptr())));
  }
  auto* owner = new Tensor(std::move(value));
  nb::object capsule = nb::capsule(owner, [](void* p) noexcept { delete static_cast<Tensor*>(p); });
  PyObject* array =
      PyArray_NewFromDescr(&PyArray_Type, descr, rank, dims, nullptr, owner->mutable_raw(), NPY_ARRAY_CARRAY, nullptr);
  if (!array) throw nb::python_error();
  PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array), capsule.release().ptr());
  return nb::steal(array);
}

void BindNumpy(nb::module_& m) {
  if (_import_array() < 0) throw nb::python_error();
  g_extra = new std::map<int, PyArray_Descr*>();
  m.def("register_numpy_dtype", [](int dtype, nb::handle descr) {
    if (!PyArray_DescrCheck(descr.ptr())) throw nb::type_error("a numpy.dtype is needed");
    Py_INCREF(descr.ptr());
    (*g_extra)[dtype] = reinterpret_cast<PyArray_Descr*>(descr.ptr());
  });
  nb::class_<PyTensor>(m, "Tensor")
      .def_prop_ro("dtype", [](const PyTensor& t) { return static_cast<int>(t.tensor.dtype()); })
      .def_prop_ro("shape",
                   [](const PyTensor& t) {
                     nb::list dims;
                     for (int64_t d : t.tensor.shape()) dims.append(d);
                     return dims;
                   })
      .def("numpy", [](const PyTensor& t) { return ToNumpy(t.tensor); })
      .def("proto", [](const PyTensor& t) {
        const Tensor tensor = t.tensor;
        const std::string bytes = Unlocked(tensor.bytes(), [&] { return SerializeTensor(tensor); });
        return nb::bytes(bytes.data(), bytes.size());
      });
  m.def("tensor_from_numpy",
        [](nb::handle value, int dtype) { return PyTensor{Guard([&] { return FromNumpy(value, DataType(dtype)); })}; });
  m.def("tensor_from_proto", [](nb::bytes proto) {
    const std::string_view bytes(proto.c_str(), proto.size());
    return PyTensor{Unlocked(bytes.size(), [&] { return ParseTensor(bytes); })};
  });
}

// Used by attrs.cc and graph.cc, which know tensors only by these.
Tensor TensorFromHandle(nb::handle value) {
  if (!nb::isinstance<PyTensor>(value)) throw nb::type_error("a _core.Tensor is needed");
  return nb::cast<PyTensor&>(value).tensor;
}
nb::object TensorToHandle(Tensor value) { return nb::cast(PyTensor{std::move(value)}); }

}  // namespace penstock::python
