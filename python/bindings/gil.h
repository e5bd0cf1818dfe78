// Python's global lock: given back while C++ works, taken by threads that are not Python's.
//
// CPython ends a thread that asks for the lock while the interpreter ends, by unwinding its stack: through frames of
// ours whose destructors need the lock, or may not throw. Here such a thread waits for the end of the process instead.
#pragma once

#include <nanobind/nanobind.h>

namespace penstock::python {

// The lock is given back, and taken again at the end of the scope.
class NoGil {
 public:
  NoGil();
  ~NoGil();
  NoGil(const NoGil&) = delete;
  NoGil& operator=(const NoGil&) = delete;

 private:
  PyThreadState* const state_;
};

// The lock is held, whatever thread this is.
class WithGil {
 public:
  WithGil();
  ~WithGil() { PyGILState_Release(state_); }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;
  // False when the interpreter ends and somebody else holds the lock: for good.
  static bool Possible();

 private:
  PyGILState_STATE state_;
};

// function(*arguments) from within frames of C++: a reference, or null with an error set.
PyObject* CallPython(PyObject* function, PyObject* arguments);

// What the end of the interpreter does first: `stop` is to cancel what runs; then all threads that work without the
// lock are waited for, as the process is about to lose what they use.
void AtEnd(void (*stop)());

}  // namespace penstock::python
