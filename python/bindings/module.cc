// The extension penstock._core; _core.pyi beside the package describes it.
#include "bindings.h"
#include "penstock/base/version.h"
#include "penstock/engine/engine.h"
#include "penstock/runtime/eager.h"
#include "penstock/runtime/session.h"

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // graphs and sessions of a program that just ends are no leaks
  penstock::Initialize();
  m.def("version", &penstock::Version);
  penstock::python::BindErrors(m);
  penstock::python::BindBranches(m);
  penstock::python::BindNumpy(m);
  penstock::python::BindAttrs(m);
  penstock::python::BindGraph(m);
  penstock::python::BindSession(m);
  penstock::python::BindPyFunction(m);
  penstock::python::BindEager(m);
  penstock::python::BindFiles(m);
  penstock::python::BindFileSystems(m);
  penstock::python::BindRecords(m);
  penstock::python::AtEnd([] {
    penstock::Session::CloseAll();
    penstock::EagerContext::Global().Stop();
  });
}
