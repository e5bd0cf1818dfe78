// How PyFunc kernels reach Python.
#include <nanobind/stl/string.h>

#include "bindings.h"

namespace penstock::python {

void BindPyFunction(nb::module_& m) { (void)m; }

}  // namespace penstock::python
