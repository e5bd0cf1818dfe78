// GraphDefs in and out, functions.
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "penstock/io/convert.h"

namespace penstock::python {

void BindGraphIo(nb::class_<PyGraph>& graph) { (void)graph; }

}  // namespace penstock::python
