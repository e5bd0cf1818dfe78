// Eager values as Python objects.
#pragma once

#include "bindings.h"
#include "penstock/runtime/tape.h"

namespace penstock::python {

struct PyEager {
  PyObject_HEAD
  EagerValue value;
};

extern PyTypeObject* g_eager_class;  // the Python class of all eager tensors
inline EagerValue& ValueOf(PyObject* o) { return reinterpret_cast<PyEager*>(o)->value; }
nb::object Make(EagerValue value);
const EagerValue& ToValue(nb::handle h);  // TypeError: it is no EagerTensor
nb::list MakeAll(std::vector<EagerValue>& values);
size_t WeightOf(const Tensor& tensor);  // how many bytes it holds; of many strings, at least as many

// --- eager_exchange.cc
PyType_Slot* BufferSlots();  // two of them
void BindEagerExchange(nb::module_& m);
// --- eager_calls.cc
void BindEagerCalls(nb::module_& m);

}  // namespace penstock::python
