#include "gil.h"

#include <cxxabi.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace nb = nanobind;

namespace penstock::python {
namespace {

std::atomic<int> g_away{0};       // threads in a NoGil
std::atomic<int> g_in_python{0};  // of these, those that wait for a Python function
std::atomic<bool> g_ended{false};
std::atomic<unsigned long> g_ender{0};
const pid_t g_process = getpid();

[[noreturn]] void WaitForTheEnd() {
  while (true) pause();
}

bool Finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

// A step ends at its next instruction, so the wait is for a kernel; a Python function may never return.
void WaitForOthers() {
  using std::chrono::steady_clock;
  const auto start = steady_clock::now();
  while (g_away.load() > 0) {
    const auto waited = steady_clock::now() - start;
    if (waited > std::chrono::seconds(g_in_python.load() > 0 ? 1 : 20)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void (*g_stop)() = nullptr;

void End() {
  if (getpid() != g_process) return;  // a forked child has none of these threads
  g_ender = PyThread_get_thread_ident();
  g_ended = true;
  PyThreadState* const state = PyEval_SaveThread();
  g_stop();
  WaitForOthers();
  PyEval_RestoreThread(state);
}

// Nothing new begins after End, and nobody hears of what it cancelled: only daemon threads are left.
void LeaveIfEnded() {
  if (!g_ended || PyThread_get_thread_ident() == g_ender) return;
  g_away.fetch_sub(1);
  WaitForTheEnd();
}

}  // namespace

NoGil::NoGil() : state_(PyEval_SaveThread()), work_(LongWork::Exchange(nullptr)) {
  g_away.fetch_add(1);
  LeaveIfEnded();
}

NoGil::~NoGil() {
  LeaveIfEnded();
  g_away.fetch_sub(1);
  LongWork::Exchange(work_);
  try {
    PyEval_RestoreThread(state_);
  } catch (abi::__forced_unwind&) {
    WaitForTheEnd();
  }
}

WithGil::WithGil() {
  try {
    state_ = PyGILState_Ensure();
  } catch (abi::__forced_unwind&) {
    WaitForTheEnd();
  }
}

bool WithGil::Possible() { return Py_IsInitialized() && (!Finalizing() || PyGILState_Check()); }

PyObject* CallPython(PyObject* function, PyObject* arguments) {
  g_in_python.fetch_add(1);
  PyObject* result = nullptr;
  try {
    result = PyObject_Call(function, arguments, nullptr);
  } catch (abi::__forced_unwind&) {
    WaitForTheEnd();
  }
  g_in_python.fetch_sub(1);
  return result;
}

void AtEnd(void (*stop)()) {
  g_stop = stop;
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&End));
}

}  // namespace penstock::python
