// Short roads: ops and functions that are called again and again with values of the same kinds.
//
// They apply while the thread executes eagerly with nothing around that matters (device scopes, gradient overrides), and
// give everything else to Python.
#include <nanobind/stl/string.h>

#include <structmember.h>

#include <array>
#include <limits>
#include <unordered_map>

#include "eager.h"

namespace penstock::python {
namespace {

// What is known of the thread: its stack of default graphs (a Python list that lives as long as the thread), and whether
// scopes are open that only Python knows.
thread_local PyObject* t_stack = nullptr;
thread_local int t_scopes = 0;
bool g_mode_is_eager = false;
PyObject* g_eager_graph_class = nullptr;
PyObject* g_python_gradients = nullptr;  // {op or name: function}

bool ExecutesEagerly() {
  if (!t_stack || t_scopes) return false;
  const Py_ssize_t depth = PyList_GET_SIZE(t_stack);
  if (depth == 0) return g_mode_is_eager;
  return reinterpret_cast<PyObject*>(Py_TYPE(PyList_GET_ITEM(t_stack, depth - 1))) == g_eager_graph_class;
}

constexpr int kMostInputs = 4;
constexpr size_t kReleaseAbove = 1 << 16;

// An op with one result as a callable. `fallback` takes the same arguments.
struct OpState {
  std::string op;
  AttrMap attrs;
  int arity = 0;
  bool reflected = false;  // the arguments come in the other order
  bool numbers = false;    // one of two arguments may be a Python number
  bool floating = false;   // only for floating-point numbers
  int rank = -1;           // only for inputs of this rank
  PyObject* fallback = nullptr;
  PyObject* name = nullptr;
  struct Known {
    std::array<DataType, kMostInputs> types;
    std::shared_ptr<const EagerOp> op;
    int64_t generation = -1;
  };
  std::array<Known, 4> known;
  size_t next = 0;
};

struct PyFastOp {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  OpState* state;
};

PyTypeObject* g_fast_op = nullptr;

// A number as a scalar of a tensor's type; false if it has no place there.
bool Scalar(PyObject* number, DataType type, Tensor* out) {
  if (PyFloat_CheckExact(number)) {
    const double value = PyFloat_AS_DOUBLE(number);
    if (type == DT_FLOAT) return *out = Tensor(static_cast<float>(value)), true;
    if (type == DT_DOUBLE) return *out = Tensor(value), true;
    return false;
  }
  if (!PyLong_CheckExact(number)) return false;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow) return false;
  if (type == DT_FLOAT) return *out = Tensor(static_cast<float>(value)), true;
  if (type == DT_DOUBLE) return *out = Tensor(static_cast<double>(value)), true;
  if (type == DT_INT64) return *out = Tensor(static_cast<int64_t>(value)), true;
  if (type == DT_INT32 && value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max()) {
    return *out = Tensor(static_cast<int32_t>(value)), true;
  }
  return false;
}

const std::shared_ptr<const EagerOp>& Find(OpState& state, const std::array<DataType, kMostInputs>& types) {
  EagerContext& context = EagerContext::Global();
  const int64_t generation = context.generation();
  for (OpState::Known& known : state.known) {
    if (known.op && known.generation == generation && known.types == types) return known.op;
  }
  OpState::Known& known = state.known[state.next++ % state.known.size()];
  known.op = context.Prepare(state.op, {types.data(), size_t(state.arity)}, state.attrs);
  known.types = types;
  known.generation = generation;
  return known.op;
}

// The result, or null without an exception if Python has to do it.
PyObject* TryFast(OpState& state, PyObject* const* args) {
  if (!ExecutesEagerly()) return nullptr;
  std::array<const EagerValue*, kMostInputs> values;
  std::array<DataType, kMostInputs> types{};
  EagerValue number;
  size_t bytes = 0;
  for (int i = 0; i < state.arity; ++i) {
    PyObject* arg = args[state.reflected ? state.arity - 1 - i : i];
    if (Py_TYPE(arg) == g_eager_class) {
      values[i] = &ValueOf(arg);
    } else {
      PyObject* other = args[state.reflected ? i : state.arity - 1 - i];
      if (!state.numbers || Py_TYPE(other) != g_eager_class ||
          !Scalar(arg, ValueOf(other).tensor.dtype(), &number.tensor)) {
        return nullptr;
      }
      values[i] = &number;
    }
    const Tensor& tensor = values[i]->tensor;
    types[i] = tensor.dtype();
    if (types[i] == DT_RESOURCE || (state.rank >= 0 && tensor.rank() != state.rank)) return nullptr;
    if (state.floating && !IsFloating(types[i])) return nullptr;
    bytes += tensor.bytes();
  }
  const std::vector<std::shared_ptr<Tape>>& tapes = Tape::Active();
  if (!tapes.empty() && PyDict_Contains(g_python_gradients, state.name) != 0) return nullptr;
  try {
    const std::shared_ptr<const EagerOp>& op = Find(state, types);
    if (number.tensor.initialized()) number.id = EagerValue::NewId();
    if (tapes.empty() && bytes <= kReleaseAbove && !op->may_take_long()) {
      std::array<const Tensor*, kMostInputs> inputs;
      for (int i = 0; i < state.arity; ++i) inputs[i] = &values[i]->tensor;
      EagerValue result;
      EagerContext::Global().Run(*op, {inputs.data(), size_t(state.arity)}, {&result.tensor, 1});
      result.id = EagerValue::NewId();
      return Make(std::move(result)).release().ptr();
    }
    std::array<EagerValue, kMostInputs> inputs;
    for (int i = 0; i < state.arity; ++i) inputs[i] = *values[i];
    const std::span<const EagerValue> in(inputs.data(), size_t(state.arity));
    const std::shared_ptr<const EagerOp> held = op;
    std::vector<EagerValue> outputs;
    if (bytes > kReleaseAbove || held->may_take_long()) {
      nb::gil_scoped_release no_gil;
      outputs = RunEagerly(held, in);
    } else {
      outputs = RunEagerly(held, in);
    }
    return Make(std::move(outputs[0])).release().ptr();
  } catch (const Error&) {
    return nullptr;  // Python says it with more words
  }
}

PyObject* CallOp(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* names) {
  OpState& state = *reinterpret_cast<PyFastOp*>(self)->state;
  if (PyVectorcall_NARGS(nargsf) == state.arity && (!names || PyTuple_GET_SIZE(names) == 0)) {
    try {
      if (PyObject* result = TryFast(state, args)) return result;
    } catch (nb::python_error& e) {
      e.restore();
      return nullptr;
    }
    if (PyErr_Occurred()) return nullptr;
  }
  return PyObject_Vectorcall(state.fallback, args, nargsf, names);
}

PyObject* BindMethod(PyObject* self, PyObject* instance, PyObject*) {
  if (!instance || instance == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, instance);
}

void DeallocOp(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  OpState* state = reinterpret_cast<PyFastOp*>(self)->state;
  Py_XDECREF(state->fallback);
  Py_XDECREF(state->name);
  delete state;
  type->tp_free(self);
  Py_DECREF(type);
}

void MakeFastOpType(nb::module_& m) {
  static PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(PyFastOp, vectorcall), READONLY, nullptr},
                                  {nullptr, 0, 0, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(DeallocOp)},
                         {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                         {Py_tp_descr_get, reinterpret_cast<void*>(BindMethod)},
                         {Py_tp_members, members},
                         {Py_tp_doc, const_cast<char*>("An op with a short road for eager values.")},
                         {0, nullptr}};
  PyType_Spec spec = {"penstock._core.FastOp", sizeof(PyFastOp), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR, slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (!type) throw nb::python_error();
  g_fast_op = reinterpret_cast<PyTypeObject*>(type);
  m.attr("FastOp") = nb::handle(type);
}

nb::object MakeFastOp(const std::string& op, int arity, nb::object fallback, bool reflected, bool numbers, bool floating,
                      int rank) {
  if (arity < 1 || arity > kMostInputs) throw nb::value_error("a FastOp has one to four inputs");
  PyObject* made = g_fast_op->tp_alloc(g_fast_op, 0);
  if (!made) throw nb::python_error();
  auto* state = new OpState();
  state->op = op;
  state->arity = arity;
  state->reflected = reflected;
  state->numbers = numbers;
  state->floating = floating;
  state->rank = rank;
  state->fallback = fallback.release().ptr();
  state->name = PyUnicode_InternFromString(op.c_str());
  reinterpret_cast<PyFastOp*>(made)->vectorcall = CallOp;
  reinterpret_cast<PyFastOp*>(made)->state = state;
  return nb::steal(made);
}

// A function of the eager library.
struct PyFunction {
  std::string name;
  std::shared_ptr<const CompiledStep> compiled;
};

struct PyCancellation {
  std::shared_ptr<CancellationManager> manager = std::make_shared<CancellationManager>();
};

std::vector<EagerValue> Run(PyFunction& self, std::span<const Tensor> args, CancellationManager* cancellation) {
  std::vector<EagerValue> outputs;
  Status status;
  {
    nb::gil_scoped_release no_gil;
    try {
      EagerContext& context = EagerContext::Global();
      if (!self.compiled) self.compiled = context.PrepareFunction(self.name);
      std::vector<Tensor> results = context.Call(self.name, *self.compiled, args, cancellation);
      outputs.reserve(results.size());
      for (Tensor& result : results) outputs.push_back({std::move(result), EagerValue::NewId()});
    } catch (const Error& e) {
      status = e.status();
    }
  }
  if (!status.ok()) Raise(status);
  return outputs;
}

nb::list CallFunction(PyFunction& self, nb::handle inputs, nb::object cancellation) {
  std::vector<Tensor> args;
  args.reserve(nb::len(inputs));
  for (nb::handle item : inputs) args.push_back(ToValue(item).tensor);
  std::shared_ptr<CancellationManager> manager;
  if (!cancellation.is_none()) manager = nb::cast<PyCancellation&>(cancellation).manager;
  std::vector<EagerValue> outputs = Run(self, args, manager.get());
  return MakeAll(outputs);
}

// The traces of a tf.function, found by the kinds of plain arguments: tensors and Python numbers, strings, None.
struct PyTraces {
  struct Trace {
    nb::object function;  // PyFunction
    std::vector<Tensor> captured;
    nb::object build;  // from the list of results to what the call gives; None: the result itself, or None
  };
  std::unordered_map<std::string, Trace> traces;

  // False: the arguments are not plain.
  static bool Key(nb::handle args, std::string* key) {
    const Py_ssize_t count = PyTuple_GET_SIZE(args.ptr());
    const auto append = [&](char kind, const void* data, size_t size) {
      key->push_back(kind);
      key->append(static_cast<const char*>(data), size);
    };
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* arg = PyTuple_GET_ITEM(args.ptr(), i);
      if (Py_TYPE(arg) == g_eager_class) {
        const Tensor& tensor = ValueOf(arg).tensor;
        const int32_t head[2] = {static_cast<int32_t>(tensor.dtype()), tensor.rank()};
        append('T', head, sizeof(head));
        for (int d = 0; d < tensor.rank(); ++d) {
          const int64_t dim = tensor.dim(d);
          key->append(reinterpret_cast<const char*>(&dim), sizeof(dim));
        }
      } else if (arg == Py_None || arg == Py_True || arg == Py_False) {
        key->push_back(arg == Py_None ? 'N' : arg == Py_True ? '1' : '0');
      } else if (PyFloat_CheckExact(arg)) {
        const double value = PyFloat_AS_DOUBLE(arg);
        append('f', &value, sizeof(value));
      } else if (PyLong_CheckExact(arg)) {
        int overflow = 0;
        const long long value = PyLong_AsLongLongAndOverflow(arg, &overflow);
        if (overflow) return false;
        append('i', &value, sizeof(value));
      } else if (PyUnicode_CheckExact(arg)) {
        Py_ssize_t size = 0;
        const char* text = PyUnicode_AsUTF8AndSize(arg, &size);
        if (!text) return PyErr_Clear(), false;
        const int64_t length = size;
        append('s', &length, sizeof(length));
        key->append(text, static_cast<size_t>(size));
      } else {
        return false;
      }
    }
    return true;
  }

  bool Add(nb::tuple args, nb::object function, nb::handle captured, nb::object build) {
    std::string key;
    if (!Key(args, &key)) return false;
    Trace trace{std::move(function), {}, std::move(build)};
    for (nb::handle item : captured) trace.captured.push_back(ToValue(item).tensor);
    traces.insert_or_assign(std::move(key), std::move(trace));
    return true;
  }

  // NotImplemented: Python has to look.
  nb::object Call(nb::handle args) {
    const auto unknown = [] { return nb::borrow(Py_NotImplemented); };
    if (traces.empty() || !ExecutesEagerly() || !Tape::Active().empty()) return unknown();
    std::string key;
    if (!Key(args, &key)) return unknown();
    const auto it = traces.find(key);
    if (it == traces.end()) return unknown();
    const nb::object function = it->second.function, build = it->second.build;  // the call may add traces
    std::vector<Tensor> inputs;
    const Py_ssize_t count = PyTuple_GET_SIZE(args.ptr());
    inputs.reserve(static_cast<size_t>(count) + it->second.captured.size());
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* arg = PyTuple_GET_ITEM(args.ptr(), i);
      if (Py_TYPE(arg) == g_eager_class) inputs.push_back(ValueOf(arg).tensor);
    }
    inputs.insert(inputs.end(), it->second.captured.begin(), it->second.captured.end());
    std::vector<EagerValue> outputs = Run(nb::cast<PyFunction&>(function), inputs, nullptr);
    if (!build.is_none()) return build(MakeAll(outputs));
    return outputs.empty() ? nb::object(nb::none()) : Make(std::move(outputs[0]));
  }
};

}  // namespace

void BindEagerCalls(nb::module_& m) {
  MakeFastOpType(m);
  m.def("fast_op", &MakeFastOp, nb::arg("op"), nb::arg("arity"), nb::arg("fallback"), nb::kw_only(),
        nb::arg("reflected") = false, nb::arg("numbers") = false, nb::arg("floating") = false, nb::arg("rank") = -1);
  m.def("eager_watch_thread", [](nb::handle stack) { t_stack = stack.ptr(); });
  m.def("eager_thread_scopes", [](int count) { t_scopes = count; });
  m.def("eager_set_mode", [](bool eager) { g_mode_is_eager = eager; });
  m.def("eager_set_classes", [](nb::object graph_class, nb::object gradients) {
    g_eager_graph_class = graph_class.release().ptr();
    g_python_gradients = gradients.release().ptr();
  });
  nb::class_<PyCancellation>(m, "CancellationManager")
      .def(nb::init<>())
      .def_prop_ro("is_cancelled", [](const PyCancellation& c) { return c.manager->cancelled(); })
      .def("cancel", [](PyCancellation& c) {
        nb::gil_scoped_release no_gil;
        c.manager->Cancel();
      });
  nb::class_<PyFunction>(m, "EagerFunction")
      .def("__init__", [](PyFunction* self, const std::string& name) { new (self) PyFunction{name, nullptr}; })
      .def("__call__", &CallFunction, nb::arg("inputs"), nb::arg("cancellation") = nb::none());
  nb::class_<PyTraces>(m, "Traces")
      .def(nb::init<>())
      .def("add", &PyTraces::Add, nb::arg("args"), nb::arg("function"), nb::arg("captured"), nb::arg("build").none())
      .def("clear", [](PyTraces& t) { t.traces.clear(); })
      .def("__call__", &PyTraces::Call);
}

}  // namespace penstock::python
