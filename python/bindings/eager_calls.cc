// Short roads: ops and functions that are called again and again with values of the same kinds.
//
// They apply while the thread executes eagerly with nothing around that matters (device scopes, gradient overrides),
// and give everything else to Python.
#include <nanobind/stl/string.h>

#include <structmember.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "eager.h"
#include "penstock/base/behavior.h"
#include "penstock/base/branches.h"

namespace penstock::python {
namespace {

constinit BranchTable<3> op_calls{"eager/op", {"at once", "recorded, long or of several results", "Python"}};
constinit BranchTable<2> function_calls{"eager/function", {"known trace", "Python"}};

// What is known of the thread: its stack of default graphs (a Python list that lives as long as the thread), and
// whether scopes are open that only Python knows.
thread_local PyObject* t_stack = nullptr;
thread_local int t_scopes = 0;
bool g_mode_is_eager = false;
PyObject* g_eager_graph_class = nullptr;
PyTypeObject* g_variable_class = nullptr;
PyObject* g_value = nullptr;             // "value"
PyObject* g_python_gradients = nullptr;  // {op or name: function}

bool ExecutesEagerly() {
  if (!t_stack || t_scopes) return false;
  const Py_ssize_t depth = PyList_GET_SIZE(t_stack);
  if (depth == 0) return g_mode_is_eager;
  return reinterpret_cast<PyObject*>(Py_TYPE(PyList_GET_ITEM(t_stack, depth - 1))) == g_eager_graph_class;
}

constexpr int kMostInputs = static_cast<int>(EagerContext::kFew) - 1;
using Types = std::array<DataType, kMostInputs>;

// An op as a callable: gives its result, a list of several, or None. `fallback` takes the same arguments; without one
// the call gives NotImplemented.
struct OpState {
  // What a Python value becomes in the place of an input: of the declared type, of that of a tensor with the same type
  // attribute, of the attribute's default.
  struct Input {
    DataType type = DT_INVALID;
    int attr = -1;
    DataType otherwise = DT_INVALID;
  };
  std::string op;
  AttrMap attrs;
  std::vector<Input> inputs;
  size_t results = 1;      // or none
  bool several = false;    // results, in a list
  int list = -1;           // the input that is a list
  std::string count;       // the attribute with its length
  bool reflected = false;  // two arguments come in the other order
  bool floating = false;   // only for floating-point numbers
  int rank = -1;           // only for inputs of this rank
  PyObject* fallback = nullptr;
  PyObject* name = nullptr;
  struct Known {
    Types types;
    int num_inputs = -1;
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

template <class T>
bool Fill(PyObject* const* items, Py_ssize_t count, const Shape& shape, Tensor* out) {
  Tensor made(kTypeOf<T>, shape);
  T* to = made.mutable_data<T>();
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = items[i];
    if constexpr (std::is_same_v<T, bool>) {
      if (!PyBool_Check(item)) return false;
      to[i] = item == Py_True;
    } else {
      if (PyFloat_CheckExact(item)) {
        if constexpr (std::is_integral_v<T>) return false;
        to[i] = static_cast<T>(PyFloat_AS_DOUBLE(item));
        continue;
      }
      if (!PyLong_CheckExact(item)) return false;
      int overflow = 0;
      const long long value = PyLong_AsLongLongAndOverflow(item, &overflow);
      if (overflow || (std::is_integral_v<T> && static_cast<long long>(static_cast<T>(value)) != value)) return false;
      to[i] = static_cast<T>(value);
    }
  }
  *out = std::move(made);
  return true;
}

bool IsSequence(PyObject* value) { return PyList_CheckExact(value) || PyTuple_CheckExact(value); }

// The items of lists that are items of lists, which all have as many, down to the first level without lists.
bool Flatten(std::vector<PyObject*>* items, Shape* shape) {
  constexpr int kDeepest = 8;  // and a list that holds itself ends here
  for (int depth = 1; !items->empty() && IsSequence((*items)[0]); ++depth) {
    const Py_ssize_t size = PySequence_Fast_GET_SIZE((*items)[0]);
    std::vector<PyObject*> next;
    next.reserve(items->size() * static_cast<size_t>(size));
    for (PyObject* item : *items) {
      if (depth > kDeepest || !IsSequence(item) || PySequence_Fast_GET_SIZE(item) != size) return false;
      next.insert(next.end(), PySequence_Fast_ITEMS(item), PySequence_Fast_ITEMS(item) + size);
    }
    shape->AddDim(size);
    *items = std::move(next);
  }
  return true;
}

// A Python number, or nested lists of numbers, as a tensor of a type, or of the one that the numbers suggest
// (DT_INVALID). False: it takes more care.
bool FromPython(PyObject* value, DataType wanted, Tensor* out) {
  PyObject* const* items = &value;
  Py_ssize_t count = 1;
  Shape shape;
  std::vector<PyObject*> nested;
  if (IsSequence(value)) {
    count = PySequence_Fast_GET_SIZE(value);
    items = PySequence_Fast_ITEMS(value);
    shape = Shape({static_cast<int64_t>(count)});
    if (count > 0 && IsSequence(items[0])) {
      nested.assign(items, items + count);
      if (!Flatten(&nested, &shape)) return false;
      count = static_cast<Py_ssize_t>(nested.size());
      items = nested.data();
    }
  }
  if (wanted == DT_INVALID) {
    wanted = count == 0 ? DT_FLOAT : PyBool_Check(items[0]) ? DT_BOOL : DT_INT32;
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (PyFloat_CheckExact(items[i])) wanted = DT_FLOAT;
    }
  }
  switch (wanted) {
    case DT_FLOAT: return Fill<float>(items, count, shape, out);
    case DT_DOUBLE: return Fill<double>(items, count, shape, out);
    case DT_INT32: return Fill<int32_t>(items, count, shape, out);
    case DT_INT64: return Fill<int64_t>(items, count, shape, out);
    case DT_BOOL: return Fill<bool>(items, count, shape, out);
    default: return false;
  }
}

const std::shared_ptr<const EagerOp>& Find(OpState& state, const Types& types, int num_inputs, int length) {
  EagerContext& context = EagerContext::Global();
  const int64_t generation = context.generation();
  for (OpState::Known& known : state.known) {
    if (known.num_inputs == num_inputs && known.generation == generation && known.types == types) return known.op;
  }
  AttrMap attrs = state.attrs;
  if (state.list >= 0) attrs.Set(state.count, static_cast<int64_t>(length));
  std::shared_ptr<const EagerOp> op = context.Prepare(state.op, {types.data(), size_t(num_inputs)}, std::move(attrs));
  OpState::Known& known = state.known[state.next++ % state.known.size()];
  known = {types, num_inputs, std::move(op), generation};
  return known.op;
}

// The arguments of one call.
class Arguments {
 public:
  // False: Python has to look.
  bool Take(const OpState& state, PyObject* const* args) {
    const int arity = static_cast<int>(state.inputs.size());
    for (int i = 0; i < arity; ++i) {
      PyObject* arg = args[state.reflected ? arity - 1 - i : i];
      if (i == state.list) {
        if (!PyList_CheckExact(arg) && !PyTuple_CheckExact(arg)) return false;
        length = static_cast<int>(PySequence_Fast_GET_SIZE(arg));
        if (length == 0) return false;
        for (int j = 0; j < length; ++j) {
          if (!Add(state, i, PySequence_Fast_GET_ITEM(arg, j))) return false;
        }
      } else if (!Add(state, i, arg)) {
        return false;
      }
    }
    for (int i = 0; i < count; ++i) {
      if (values[i]) continue;
      const OpState::Input& input = state.inputs[at_[i]];
      DataType type = input.type;
      if (type == DT_INVALID && input.attr >= 0) type = bound_[input.attr];
      if (type == DT_INVALID && input.otherwise != DT_INVALID) {
        if (has_sequence_) {  // own types may count before defaults: graph/default_types.py decides
          Tensor own;
          if (!FromPython(plain_[i], DT_INVALID, &own)) return false;
          if (own.num_elements() > 0 && own.dtype() != input.otherwise) return false;
        }
        type = input.otherwise;
      }
      if (!FromPython(plain_[i], type, &made_[i].tensor)) return false;
      made_[i].id = EagerValue::NewId();
      values[i] = &made_[i];
      if (input.attr >= 0 && bound_[input.attr] == DT_INVALID) bound_[input.attr] = made_[i].tensor.dtype();
    }
    for (int i = 0; i < count; ++i) {
      const Tensor& tensor = values[i]->tensor;
      types[i] = tensor.dtype();
      if (types[i] == DT_RESOURCE && values[i]->device != 0) return false;  // the op runs where the resource is
      if (state.rank >= 0 && tensor.rank() != state.rank) return false;
      if (state.floating && !IsFloating(types[i])) return false;
      bytes += WeightOf(tensor);
    }
    return true;
  }

  std::array<const EagerValue*, kMostInputs> values{};
  Types types{};
  int count = 0, length = 0;
  size_t bytes = 0;

 private:
  bool Add(const OpState& state, int input, PyObject* arg) {
    if (count == kMostInputs) return false;
    at_[count] = input;
    if (Py_TYPE(arg) == g_eager_class) {
      values[count] = &ValueOf(arg);
      const int attr = state.inputs[input].attr;
      if (attr >= 0 && bound_[attr] == DT_INVALID) bound_[attr] = values[count]->tensor.dtype();
    } else if (g_variable_class && PyObject_TypeCheck(arg, g_variable_class)) {
      PyObject* value = PyObject_CallMethodNoArgs(arg, g_value);  // reads it, and tells the tapes
      if (!value) throw nb::python_error();
      read_[count] = nb::steal(value);
      if (Py_TYPE(value) != g_eager_class) return false;
      values[count] = &ValueOf(value);
      const int attr = state.inputs[input].attr;
      if (attr >= 0 && bound_[attr] == DT_INVALID) bound_[attr] = values[count]->tensor.dtype();
    } else {
      plain_[count] = arg;
      has_sequence_ |= IsSequence(arg);
    }
    ++count;
    return true;
  }

  std::array<int, kMostInputs> at_;
  std::array<PyObject*, kMostInputs> plain_;
  std::array<EagerValue, kMostInputs> made_;
  std::array<nb::object, kMostInputs> read_;
  Types bound_{};
  bool has_sequence_ = false;
};

// The result, or null without an exception if Python has to do it.
PyObject* TryFast(OpState& state, PyObject* const* args) {
  if (!ExecutesEagerly()) return nullptr;
  Arguments in;
  if (!in.Take(state, args)) return nullptr;
  const std::vector<std::shared_ptr<Tape>>& tapes = Tape::Active();
  if (!tapes.empty() && PyDict_Contains(g_python_gradients, state.name) != 0) return nullptr;
  const size_t count = static_cast<size_t>(in.count);
  bool once = false;  // it has state: what has run must not run again
  try {
    const std::shared_ptr<const EagerOp> op = Find(state, in.types, in.count, in.length);
    once = op->op().traits.stateful;
    const bool is_long = in.bytes > op->long_above() || op->may_take_long();
    if (!state.several && tapes.empty() && !is_long) {
      std::array<const Tensor*, kMostInputs> inputs;
      for (size_t i = 0; i < count; ++i) inputs[i] = &in.values[i]->tensor;
      op_calls.Enter(0);
      EagerValue result;
      {
        const GilUnlessLong gil(false);
        EagerContext::Global().Run(*op, {inputs.data(), count}, {&result.tensor, state.results});
      }
      if (state.results == 0) return nb::borrow(Py_None).release().ptr();
      result.id = EagerValue::NewId();
      return Make(std::move(result)).release().ptr();
    }
    std::array<EagerValue, kMostInputs> inputs;
    for (size_t i = 0; i < count; ++i) inputs[i] = *in.values[i];
    std::vector<EagerValue> outputs;
    op_calls.Enter(1);
    {
      const GilUnlessLong gil(is_long);
      outputs = RunEagerly(op, {inputs.data(), count});
    }
    if (state.several) return MakeAll(outputs).release().ptr();
    return state.results == 0 ? nb::borrow(Py_None).release().ptr() : Make(std::move(outputs[0])).release().ptr();
  } catch (const Error& e) {
    if (once) Raise(e.status());
    return nullptr;  // Python says it with more words
  }
}

PyObject* CallOp(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* names) {
  OpState& state = *reinterpret_cast<PyFastOp*>(self)->state;
  const bool plain = !names || PyTuple_GET_SIZE(names) == 0;
  if (plain && PyVectorcall_NARGS(nargsf) == static_cast<Py_ssize_t>(state.inputs.size())) {
    try {
      if (PyObject* result = TryFast(state, args)) return result;
    } catch (nb::python_error& e) {
      e.restore();
      return nullptr;
    }
    if (PyErr_Occurred()) return nullptr;
  }
  op_calls.Enter(2);
  if (!state.fallback) return nb::borrow(Py_NotImplemented).release().ptr();
  return PyObject_Vectorcall(state.fallback, args, nargsf, names);
}

PyObject* BindMethod(PyObject* self, PyObject* instance, PyObject*) {
  if (!instance || instance == Py_None) return nb::borrow(self).release().ptr();
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
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyFastOp, vectorcall), READONLY, nullptr},
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

nb::object MakeFastOp(const std::string& op, nb::object fallback, nb::dict attrs, bool reflected, bool floating,
                      int rank) {
  const OpDef* def = OpRegistry::Global().Find(op);
  if (!def) throw nb::value_error("no such op");
  auto state = std::make_unique<OpState>();
  const std::vector<ArgDef>& results = def->outputs;
  state->results = results.size();
  state->several = results.size() > 1 || (results.size() == 1 && !results[0].number_attr.empty());
  std::vector<std::string> bound;
  for (const ArgDef& arg : def->inputs) {
    OpState::Input input;
    input.type = arg.type;
    if (!arg.type_list_attr.empty() || arg.is_ref || (!arg.number_attr.empty() && state->list >= 0)) {
      throw nb::value_error("a FastOp has at most one list, of one type");
    }
    if (!arg.number_attr.empty()) {
      state->list = static_cast<int>(state->inputs.size());
      state->count = arg.number_attr;
    }
    if (!arg.type_attr.empty()) {
      const auto it = std::ranges::find(bound, arg.type_attr);
      input.attr = static_cast<int>(it - bound.begin());
      if (it == bound.end()) bound.push_back(arg.type_attr);
      const AttrDef* attr = def->FindAttr(arg.type_attr);
      const DataType* otherwise = attr ? attr->default_value.If<DataType>() : nullptr;
      if (otherwise) input.otherwise = *otherwise;
    }
    state->inputs.push_back(input);
  }
  if (state->inputs.empty() || state->inputs.size() > kMostInputs) throw nb::value_error("a FastOp has few inputs");
  for (auto [key, value] : attrs) {
    const std::string name = nb::cast<std::string>(key);
    const AttrDef* attr = def->FindAttr(name);
    state->attrs.Set(name, AttrFromPython(value, attr ? attr->kind : ""));
  }
  state->op = op;
  state->reflected = reflected;
  state->floating = floating;
  state->rank = rank;
  state->fallback = fallback.is_none() ? nullptr : fallback.release().ptr();
  state->name = PyUnicode_InternFromString(op.c_str());
  PyObject* made = g_fast_op->tp_alloc(g_fast_op, 0);
  if (!made) throw nb::python_error();
  reinterpret_cast<PyFastOp*>(made)->vectorcall = CallOp;
  reinterpret_cast<PyFastOp*>(made)->state = state.release();
  return nb::steal(made);
}

// A function of the eager library.
struct PyFunction {
  std::string name;
  std::shared_ptr<const CompiledStep> compiled;
};

struct PyCancellation {
  Ref<CancellationManager> manager = MakeRef<CancellationManager>();
};

std::vector<EagerValue> Run(PyFunction& self, std::span<const Tensor> args,
                            const Ref<CancellationManager>& cancellation) {
  std::vector<EagerValue> outputs;
  std::shared_ptr<const CompiledStep> compiled = self.compiled;
  Status status;
  {
    NoGil no_gil;
    try {
      EagerContext& context = EagerContext::Global();
      if (!compiled) compiled = context.PrepareFunction(self.name);
      std::vector<Tensor> results = context.Call(self.name, *compiled, args, cancellation);
      outputs.reserve(results.size());
      for (Tensor& result : results) outputs.push_back({std::move(result), EagerValue::NewId()});
    } catch (const Error& e) {
      status = e.status();
    }
  }
  self.compiled = std::move(compiled);
  if (!status.ok()) Raise(status);
  return outputs;
}

nb::list CallFunction(PyFunction& self, nb::handle inputs, nb::object cancellation) {
  std::vector<Tensor> args;
  args.reserve(nb::len(inputs));
  for (nb::handle item : inputs) args.push_back(ToValue(item).tensor);
  Ref<CancellationManager> manager;
  if (!cancellation.is_none()) manager = nb::cast<PyCancellation&>(cancellation).manager;
  std::vector<EagerValue> outputs = Run(self, args, manager);
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
    const auto unknown = [] {
      function_calls.Enter(1);
      return nb::borrow(Py_NotImplemented);
    };
    if (traces.empty() || !ExecutesEagerly() || !Tape::Active().empty()) return unknown();
    std::string key;
    if (!Key(args, &key)) return unknown();
    const auto it = traces.find(key);
    if (it == traces.end()) return unknown();
    function_calls.Enter(0);
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
  static PyMethodDef functions[] = {
      {"executes_eagerly", [](PyObject*, PyObject*) { return PyBool_FromLong(ExecutesEagerly()); }, METH_NOARGS,
       "Whether the thread executes eagerly with nothing around that matters."},
      {nullptr, nullptr, 0, nullptr}};
  if (PyModule_AddFunctions(m.ptr(), functions) < 0) throw nb::python_error();
  m.def("fast_op", &MakeFastOp, nb::arg("op"), nb::arg("fallback").none(), nb::arg("attrs") = nb::dict(), nb::kw_only(),
        nb::arg("reflected") = false, nb::arg("floating") = false, nb::arg("rank") = -1);
  m.def("eager_from_python", [](nb::handle value, int dtype) -> nb::object {
    EagerValue made;
    if (!FromPython(value.ptr(), DataType(dtype), &made.tensor)) return nb::none();
    made.id = EagerValue::NewId();
    return Make(std::move(made));
  });
  m.def("eager_watch_thread", [](nb::handle stack) { t_stack = stack.ptr(); });
  m.def("eager_thread_scopes", [](int count) { t_scopes = count; });
  m.def("eager_set_variable_class", [](nb::object cls) {
    g_value = PyUnicode_InternFromString("value");
    g_variable_class = reinterpret_cast<PyTypeObject*>(cls.release().ptr());
  });
  m.def("eager_set_mode", [](bool eager) { g_mode_is_eager = eager; });
  m.def("set_version_two", [](bool on) { g_version_two = on; });
  m.def("eager_set_classes", [](nb::object graph_class, nb::object gradients) {
    g_eager_graph_class = graph_class.release().ptr();
    g_python_gradients = gradients.release().ptr();
  });
  nb::class_<PyCancellation>(m, "CancellationManager")
      .def(nb::init<>())
      .def_prop_ro("is_cancelled", [](const PyCancellation& c) { return c.manager->cancelled(); })
      .def("cancel", [](PyCancellation& c) {
        NoGil no_gil;
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
