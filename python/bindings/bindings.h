// Shared by the files of the native module: conversions between Python and the runtime.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "gil.h"
#include "penstock/graph/graph.h"
#include "penstock/tensor/tensor.h"

namespace nb = nanobind;

namespace penstock::python {

// --- errors.cc
void BindErrors(nb::module_& m);
// Runs `f` and turns an Error into the Python exception of its class.
[[noreturn]] void Raise(const Status& status);
// A Python exception as the error of the step: its own code and message if it is one of ours.
Error FromPython(nb::python_error& e);

// --- branches.cc
void BindBranches(nb::module_& m);

// --- numpy.cc
void BindNumpy(nb::module_& m);
// An array (or anything that becomes one) of the element type of `dtype`, copied. TypeError or ValueError if it does
// not fit.
Tensor FromNumpy(nb::handle value, DataType dtype);
// The same, of the type that the array has; a _core.Tensor is what it holds.
Tensor FromNumpy(nb::handle value);
// A fed value. Large arrays are borrowed, not copied: the buffer holds the array.
Tensor FeedFromNumpy(nb::handle value, DataType dtype);
// A fetched value: NumPy scalars for rank 0; the buffer itself, writable, when nobody else holds it; a copy otherwise.
nb::object ToNumpy(Tensor value);
// The class _core.Tensor.
Tensor TensorFromHandle(nb::handle value);
nb::object TensorToHandle(Tensor value);

// --- attrs.cc
void BindAttrs(nb::module_& m);
// `kind` as OpDefs write it; "" guesses from the Python type (attributes that start with "_").
AttrValue AttrFromPython(nb::handle value, const std::string& kind);
nb::object AttrToPython(const AttrValue& value);
nb::object ShapeToPython(const PartialShape& shape);
PartialShape ShapeFromPython(nb::handle value);

// --- graph.cc
struct PyGraph {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  Node* At(int id) const;  // IndexError if there is none
  Endpoint At(int id, int output) const;
  Endpoint At(nb::handle tensor) const;  // (node, output)
};
void BindGraph(nb::module_& m);
void BindGraphIo(nb::class_<PyGraph>& graph);
void BindGradients(nb::class_<PyGraph>& graph);
std::vector<Endpoint> Endpoints(const PyGraph& graph, nb::handle tensors);
inline nb::object ToBytes(const std::string& s) { return nb::bytes(s.data(), s.size()); }
inline nb::tuple ToTuple(Endpoint e) { return nb::make_tuple(e.node->id(), e.index); }

// --- session.cc
void BindSession(nb::module_& m);
// --- eager.cc
void BindEager(nb::module_& m);
// --- files.cc
void BindFiles(nb::module_& m);
// --- file_systems.cc
void BindFileSystems(nb::module_& m);
// --- records.cc
void BindRecords(nb::module_& m);
// --- py_function.cc
void BindPyFunction(nb::module_& m);

template <class F>
auto Guard(F&& f) {
  try {
    return f();
  } catch (const Error& e) {
    Raise(e.status());
  }
}

// The same without the GIL: for what may wait.
template <class F>
auto Waiting(F&& f) {
  return Guard([&] {
    const NoGil no_gil;
    return f();
  });
}

// The same without the GIL if it works through many bytes.
template <class F>
auto Unlocked(size_t bytes, F&& f) {
  return Guard([&] {
    const GilUnlessLong gil(bytes > size_t{1} << 16);
    return f();
  });
}

// A graph's mutex, which a thread without the GIL may hold for long: that is waited for without the GIL, and taken with
// it, as who holds the GIL may not wait for somebody who waits for the GIL. No object of Python is made or dropped
// while it is held, since the garbage collector may then run code that locks the same graph.
class GraphLock {
 public:
  explicit GraphLock(Graph& graph) : lock_(graph.mutex(), std::defer_lock) { Lock(); }

  // Gives the mutex back for a scope in which Python runs, which may change the graph.
  class Released {
   public:
    explicit Released(GraphLock& lock) : lock_(lock) { lock_.lock_.unlock(); }
    ~Released() { lock_.Lock(); }
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;

   private:
    GraphLock& lock_;
  };

 private:
  void Lock() {
    while (!lock_.try_lock()) {
      const NoGil no_gil;
      const std::lock_guard until_free(*lock_.mutex());
    }
  }
  std::unique_lock<std::mutex> lock_;
};

// Calls `f` with the graph locked: for all that changes it, or what it has found out about itself, as sessions of other
// threads read it without the GIL.
template <class F>
auto Changing(const PyGraph& self, F&& f) {
  return Guard([&] {
    const GraphLock lock(*self.graph);
    return f(*self.graph);
  });
}

// Something that many threads may use, one after the other, and that may wait.
template <class T>
struct Shared {
  T value;
  std::mutex mutex;
  template <class... Args>
  explicit Shared(const std::string& path, Args&&... args) : value(path, std::forward<Args>(args)...) {}

  template <class F>
  auto Use(F&& f) {
    return Waiting([&] {
      const std::lock_guard lock(mutex);
      return f(value);
    });
  }

  // The same for what seldom waits: with the GIL kept, which costs more than a few bytes copied, where nobody else uses
  // the value and `quick` finds that it will not wait.
  template <class Quick, class F>
  void UseSeldomWaiting(Quick&& quick, F&& f) {
    if (const std::unique_lock lock(mutex, std::try_to_lock); lock && quick(std::as_const(value))) {
      return Guard([&] { f(value); });
    }
    Use(f);
  }
};

inline std::string_view View(const nb::bytes& b) { return {b.c_str(), b.size()}; }

}  // namespace penstock::python
