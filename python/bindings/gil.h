// Python's global lock: given back while C++ works, taken by threads that are not Python's.
//
// CPython ends a thread that asks for the lock while the interpreter ends, by unwinding its stack: through frames of
// ours whose destructors need the lock, or may not throw. Here such a thread waits for the end of the process instead.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "penstock/base/long_work.h"

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
  LongWork* const work_;  // has nothing to give back meanwhile
};

// The lock is kept, as giving it back costs more than what is short, until what runs says that it is long. Others go on
// then, so what it reads must not be theirs to change: values are held, not borrowed from lists.
class GilUnlessLong final : LongWork {
 public:
  explicit GilUnlessLong(bool is_long) {
    if (is_long) Begins();
  }

 private:
  void Begin() override { no_gil_.emplace(); }
  std::optional<NoGil> no_gil_;
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
