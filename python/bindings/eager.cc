// Eager values, ops that run at once, gradient tapes.
//
// _core.EagerTensorBase is a plain C type, so that penstock's EagerTensor can derive from it and from Tensor both.
#include <nanobind/stl/string.h>
#include <structmember.h>

#include <new>

#include "eager.h"
#include "penstock/graph/export.h"
#include "penstock/io/convert.h"
#include "penstock/runtime/monitor.h"
#include "penstock/tensor/resource_handle.h"
#include "penstock/tensor/tstring.h"
#include "penstock/tensor/variant.h"

namespace penstock::python {

PyTypeObject* g_eager_class = nullptr;

namespace {

PyTypeObject* g_base = nullptr;
PyObject* g_dtypes = nullptr;  // {enum number: DType}

PyObject* New(PyTypeObject* type, PyObject*, PyObject*) {
  PyErr_Format(PyExc_TypeError, "%s is made by running ops", type->tp_name);
  return nullptr;
}

void Dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  ValueOf(self).~EagerValue();
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* GetDtype(PyObject* self, void*) {
  nb::object key = nb::int_(static_cast<int>(ValueOf(self).tensor.dtype()));
  PyObject* found = PyDict_GetItem(g_dtypes, key.ptr());
  if (!found) {
    PyErr_SetString(PyExc_TypeError, "a type without a DType");
    return nullptr;
  }
  Py_INCREF(found);
  return found;
}

PyObject* GetTypeEnum(PyObject* self, void*) { return PyLong_FromLong(ValueOf(self).tensor.dtype()); }
PyObject* GetId(PyObject* self, void*) { return PyLong_FromLongLong(ValueOf(self).id); }
PyObject* GetDims(PyObject* self, void*) {
  const Shape& shape = ValueOf(self).tensor.shape();
  PyObject* dims = PyTuple_New(shape.rank());
  for (int i = 0; dims && i < shape.rank(); ++i) PyTuple_SET_ITEM(dims, i, PyLong_FromLongLong(shape.dim(i)));
  return dims;
}
PyObject* NumElements(PyObject* self, PyObject*) { return PyLong_FromLongLong(ValueOf(self).tensor.num_elements()); }

PyGetSetDef g_properties[] = {{"_dtype", GetDtype, nullptr, "The DType.", nullptr},
                              {"_type_enum", GetTypeEnum, nullptr, "The type's number.", nullptr},
                              {"_eager_id", GetId, nullptr, "What tapes know it by.", nullptr},
                              {"_dims", GetDims, nullptr, "The sizes of all dimensions.", nullptr},
                              {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef g_methods[] = {{"_num_elements", NumElements, METH_NOARGS, "The number of elements."},
                           {nullptr, nullptr, 0, nullptr}};

void MakeBase(nb::module_& m) {
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(New)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)},
                         {Py_tp_getset, g_properties},
                         {Py_tp_methods, g_methods},
                         BufferSlots()[0],
                         BufferSlots()[1],
                         {Py_tp_doc, const_cast<char*>("A value, held by the runtime.")},
                         {0, nullptr}};
  PyType_Spec spec = {"penstock._core.EagerTensorBase", sizeof(PyEager), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                      slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (!type) throw nb::python_error();
  g_base = reinterpret_cast<PyTypeObject*>(type);
  m.attr("EagerTensorBase") = nb::handle(type);
}

}  // namespace

nb::object Make(EagerValue value) {
  if (!g_eager_class) throw std::runtime_error("set_eager_tensor_class was not called");
  PyObject* made = g_eager_class->tp_alloc(g_eager_class, 0);
  if (!made) throw nb::python_error();
  new (&ValueOf(made)) EagerValue(std::move(value));
  return nb::steal(made);
}

const EagerValue& ToValue(nb::handle h) {
  if (!PyObject_TypeCheck(h.ptr(), g_base)) throw nb::type_error("an EagerTensor is needed");
  return ValueOf(h.ptr());
}

size_t WeightOf(const Tensor& tensor) {
  constexpr int64_t kMany = 4096;
  size_t bytes = tensor.bytes();
  if (tensor.dtype() != DT_STRING || tensor.num_elements() > kMany) return bytes;
  for (const TString& s : tensor.flat<TString>()) bytes += s.size();
  return bytes;
}

nb::list MakeAll(std::vector<EagerValue>& values) {
  nb::list out = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i) {
    PyList_SET_ITEM(out.ptr(), static_cast<Py_ssize_t>(i), Make(std::move(values[i])).release().ptr());
  }
  return out;
}

namespace {

std::vector<EagerValue> Values(nb::handle list) {
  std::vector<EagerValue> values;
  for (nb::handle item : list) values.push_back(ToValue(item));
  return values;
}

nb::object GradToPython(const EagerGrad& g) {
  if (g.none()) return nb::none();
  if (!g.sparse()) return Make(g.dense);
  nb::object shape = g.dense_shape.id ? Make(g.dense_shape) : nb::object(nb::none());
  return nb::make_tuple(Make(g.values), Make(g.indices), shape);
}

EagerGrad GradFromPython(nb::handle h) {
  EagerGrad g;
  if (h.is_none()) return g;
  if (!PyTuple_Check(h.ptr())) {
    g.dense = ToValue(h);
    return g;
  }
  g.values = ToValue(nb::handle(h[0]));
  g.indices = ToValue(nb::handle(h[1]));
  if (!nb::handle(h[2]).is_none()) g.dense_shape = ToValue(nb::handle(h[2]));
  return g;
}

AttrMap Attrs(const std::string& op, nb::dict attrs) {
  AttrMap out;
  if (PyDict_Size(attrs.ptr()) == 0) return out;
  const OpDef* def = OpRegistry::Global().Find(op);
  for (auto [key, value] : attrs) {
    const std::string name = nb::cast<std::string>(key);
    if (name.starts_with("_")) continue;
    const AttrDef* attr = def ? def->FindAttr(name) : nullptr;
    out.Set(name, AttrFromPython(value, attr ? attr->kind : ""));
  }
  return out;
}

nb::list Execute(const std::string& op, nb::handle inputs, nb::dict attrs, bool record, int device) {
  std::vector<EagerValue> outputs;
  Status status;
  {
    const std::vector<EagerValue> values = Values(inputs);
    try {
      std::vector<DataType> types;
      size_t bytes = 0;
      types.reserve(values.size());
      for (const EagerValue& value : values) {
        types.push_back(value.tensor.dtype());
        bytes += WeightOf(value.tensor);
        if (value.tensor.dtype() == DT_RESOURCE) device = value.device;  // where the resource is
      }
      const auto prepared = EagerContext::Global().Prepare(op, types, Attrs(op, attrs), device);
      const GilUnlessLong gil(bytes > prepared->long_above() || prepared->may_take_long());
      outputs = RunEagerly(prepared, values, record);
    } catch (const Error& e) {
      status = e.status();
    }
  }
  if (!status.ok()) Raise(status);
  return MakeAll(outputs);
}

// A Python function that a tape calls; any thread may drop the last copy.
BackwardFunction Backward(nb::object function) {
  std::shared_ptr<nb::object> held(new nb::object(std::move(function)), [](nb::object* o) {
    if (!WithGil::Possible()) return;
    const WithGil gil;
    delete o;
  });
  return [held](const std::vector<EagerGrad>& dys) {
    const WithGil gil;
    nb::list args;
    for (const EagerGrad& dy : dys) args.append(GradToPython(dy));
    nb::object result = nb::steal(CallPython(held->ptr(), nb::make_tuple(args).ptr()));
    if (!result.is_valid()) throw nb::python_error();
    std::vector<EagerGrad> dxs;
    for (nb::handle item : result) dxs.push_back(GradFromPython(item));
    return dxs;
  };
}

struct PyTape {
  std::shared_ptr<Tape> tape = std::make_shared<Tape>();
};

nb::list Gradient(PyTape& self, nb::handle targets, nb::handle sources, nb::handle flowing) {
  const std::shared_ptr<Tape> tape = self.tape;
  const std::vector<EagerValue> ys = Values(targets), xs = Values(sources);
  std::vector<EagerGrad> given, grads;
  for (nb::handle g : flowing) given.push_back(GradFromPython(g));
  try {
    // What runs backward may call Python, on other threads too.
    const NoGil no_gil;
    grads = tape->Gradient(ys, xs, given);
  } catch (const Error& e) {
    if (e.code() == Code::kNotFound && std::string_view(e.what()).starts_with("No gradient defined")) {
      PyErr_SetString(PyExc_LookupError, e.what());
      throw nb::python_error();
    }
    Raise(e.status());
  }
  nb::list out;
  for (const EagerGrad& g : grads) out.append(GradToPython(g));
  return out;
}

// What a tape has recorded: (NodeDef, or None for a function, inputs, outputs).
nb::list Recorded(const PyTape& self) {
  nb::list out;
  for (const auto& entry : self.tape->entries()) {
    nb::object node = nb::none();
    if (entry->op) node = Guard([&] { return ToBytes(SerializeNodeDef(ToNodeDef(entry->op->node()))); });
    std::vector<EagerValue> inputs = entry->inputs, outputs = entry->outputs;
    out.append(nb::make_tuple(node, MakeAll(inputs), MakeAll(outputs)));
  }
  return out;
}

// What stands for a handle where a tensor is printed.
std::string Text(const ResourceHandle& handle) {
  std::string text = StrCat("<ResourceHandle(name=\"", handle.name, "\", device=\"", handle.device, "\", container=\"",
                            handle.container, "\", type=\"", handle.type_name, "\", dtype and shapes : \"[ ");
  const char* between = "";
  for (const DtypeAndShape& d : handle.dtypes_and_shapes) {
    text += StrCat(between, "DType enum: ", static_cast<int>(d.dtype), ", Shape: ", d.shape);
    between = ", ";
  }
  return text + " ]\")>";
}
std::string Text(const Variant& variant) {
  if (variant.empty()) return "<[invalid]>";
  std::string text = variant.get()->DebugString();
  const size_t name = text.starts_with("tensorflow::") ? text.rfind("::") + 2 : 0;  // behind the namespaces
  return StrCat("<", text.substr(name), ">");
}

// The texts of a tensor's handles or variants, one for each element.
nb::list Texts(nb::handle value) {
  const Tensor& t = ToValue(value).tensor;
  nb::list out;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    out.append(nb::cast(t.dtype() == DT_RESOURCE ? Text(t.data<ResourceHandle>()[i]) : Text(t.data<Variant>()[i])));
  }
  return out;
}

struct TapeList {
  std::vector<std::shared_ptr<Tape>> tapes;
};

}  // namespace

void BindEager(nb::module_& m) {
  MakeBase(m);
  m.def("set_eager_tensor_class", [](nb::handle cls, nb::dict dtypes) {
    g_eager_class = reinterpret_cast<PyTypeObject*>(nb::borrow(cls).release().ptr());
    g_dtypes = nb::borrow(dtypes).release().ptr();
  });
  m.def("eager_execute", &Execute, nb::arg("op"), nb::arg("inputs"), nb::arg("attrs"), nb::arg("record") = true,
        nb::arg("device") = 0);
  m.def("eager_set_device_count", [](int count) { return EagerContext::Global().SetDeviceCount(count); });
  m.def("eager_set_threads",
        [](int inter_op, int intra_op) { Waiting([&] { EagerContext::Global().SetThreads(inter_op, intra_op); }); });
  m.def("eager_set_soft_placement", [](bool soft) { EagerContext::Global().set_soft_placement(soft); });
  m.def("eager_find_device",
        [](const std::string& name) { return Guard([&] { return EagerContext::Global().FindDevice(name); }); });
  m.def("eager_from_core", [](nb::handle tensor) { return Make({TensorFromHandle(tensor), EagerValue::NewId()}); });
  m.def("eager_from_numpy", [](nb::handle value, int dtype) {
    return Make({Guard([&] { return FromNumpy(value, DataType(dtype)); }), EagerValue::NewId()});
  });
  m.def("eager_numpy", [](nb::handle value) { return ToNumpy(ToValue(value).tensor); });
  m.def("eager_to_core", [](nb::handle value) { return TensorToHandle(ToValue(value).tensor); });
  m.def(
      "eager_alias",
      [](nb::handle value, int device) { return Make({ToValue(value).tensor, EagerValue::NewId(), device}); },
      nb::arg("value"), nb::arg("device") = 0);
  m.def("eager_handle_data", [](nb::handle value) -> nb::object {
    const Tensor& t = ToValue(value).tensor;
    if (t.dtype() != DT_RESOURCE || t.num_elements() != 1) return nb::none();
    nb::list out;
    for (const DtypeAndShape& d : t.data<ResourceHandle>()->dtypes_and_shapes) {
      out.append(nb::make_tuple(static_cast<int>(d.dtype), ShapeToPython(d.shape)));
    }
    return out;
  });
  m.def("eager_handle_texts", &Texts);
  // Kernels may end threads of theirs that call Python.
  m.def("eager_remove_function",
        [](const std::string& name) { Waiting([&] { EagerContext::Global().RemoveFunction(name); }); });
  m.def("eager_clear_caches", [] { Waiting([] { EagerContext::Global().ClearCaches(); }); });
  m.def("log_placement", &LogPlacement);
  m.def("check_numerics", &CheckNumerics);
  m.def("process_trace_start", &StartProcessTrace);
  m.def("process_trace_stop", [] { return ToBytes(Waiting([] { return SerializeRunMetadata(StopProcessTrace()); })); });
  m.def("eager_graph", [] { return PyGraph{EagerContext::Global().functions()}; });
  m.def("eager_device_name",
        [](nb::handle value) { return EagerContext::Global().device(ToValue(value).device).name(); });
  m.def("tape_is_active", [] { return !Tape::Active().empty(); });
  m.def("tape_record", [](nb::handle inputs, nb::handle outputs, nb::object backward) {
    const std::vector<EagerValue> in = Values(inputs), out = Values(outputs);
    for (const auto& tape : Tape::Active()) tape->Record(nullptr, in, out, Backward(backward));
  });
  m.def("tape_wants", [](nb::handle inputs) {
    const std::vector<EagerValue> in = Values(inputs);
    for (const auto& tape : Tape::Active()) {
      for (const EagerValue& v : in) {
        if (tape->IsWatched(v)) return true;
      }
    }
    return false;
  });
  BindEagerCalls(m);
  BindEagerExchange(m);
  nb::class_<TapeList>(m, "TapeList");
  m.def("tape_stop", [] { return TapeList{std::exchange(Tape::Active(), {})}; });
  m.def("tape_resume", [](const TapeList& tapes) { Tape::Active() = tapes.tapes; });
  nb::class_<PyTape>(m, "Tape")
      .def(nb::init<>())
      .def("push", [](PyTape& self) { Tape::Active().push_back(self.tape); })
      .def("pop", [](PyTape& self) { std::erase(Tape::Active(), self.tape); })
      .def("watch", [](PyTape& self, nb::handle value) { self.tape->Watch(ToValue(value)); })
      .def("gradient", &Gradient, nb::arg("targets"), nb::arg("sources"), nb::arg("flowing"))
      .def("recorded", &Recorded);
}

}  // namespace penstock::python
