// The extension penstock._core.
#include <nanobind/nanobind.h>

#include "penstock/base/version.h"

NB_MODULE(_core, m) { m.def("version", &penstock::Version); }
