// Statuses as Python exceptions: the classes come from penstock._src.graph.errors.
#include <nanobind/stl/string.h>

#include "bindings.h"

namespace penstock::python {
namespace {

nb::object* g_classes = nullptr;  // {code: class}; never destroyed, the interpreter may be gone

// Messages may quote bytes that are no UTF-8.
nb::object Text(const std::string& s) {
  PyObject* text = PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "backslashreplace");
  if (!text) nb::raise_python_error();
  return nb::steal(text);
}

}  // namespace

void Raise(const Status& status) {
  if (PyErr_Occurred()) throw nb::python_error();  // raised by Python code that the runtime called
  nb::object code = nb::int_(static_cast<int>(status.code()));
  if (g_classes && g_classes->is_valid() && PyDict_Contains(g_classes->ptr(), code.ptr()) == 1) {
    nb::object cls = (*g_classes)[code];
    nb::object error = cls(nb::none(), nb::none(), Text(status.message()), Text(status.node()));
    PyErr_SetObject(cls.ptr(), error.ptr());
  } else {
    PyErr_SetObject(PyExc_RuntimeError, Text(status.ToString()).ptr());
  }
  throw nb::python_error();
}

Error FromPython(nb::python_error& e) {
  nb::handle value = e.value();
  if (value.is_valid() && nb::hasattr(value, "error_code") && nb::hasattr(value, "message")) {
    const int code = nb::cast<int>(value.attr("error_code"));
    if (code > 0 && code <= static_cast<int>(Code::kUnauthenticated)) {
      return Error(Status(static_cast<Code>(code), nb::cast<std::string>(nb::str(value.attr("message")))));
    }
  }
  return Error(Status(Code::kUnknown, e.what()));
}

void BindErrors(nb::module_& m) {
  m.def("set_error_classes", [](nb::dict classes) {
    if (!g_classes) g_classes = new nb::object();
    *g_classes = classes;
  });
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Error& e) {
      try {
        Raise(e.status());
      } catch (nb::python_error& raised) {
        raised.restore();
      }
    }
  });
}

}  // namespace penstock::python
