// How PyFunc kernels reach Python.
#include "penstock/kernel/py_function.h"

#include <nanobind/stl/string.h>

#include "bindings.h"
#include "penstock/base/denormals.h"

namespace penstock::python {
namespace {

std::vector<Tensor> CallHook(nb::handle function, const std::string& token, const std::string& device,
                             std::vector<Tensor> inputs) {
  try {
    nb::list args;
    for (Tensor& input : inputs) args.append(ToNumpy(std::move(input)));
    const nb::tuple arguments = nb::make_tuple(nb::bytes(token.data(), token.size()), nb::str(device.c_str()), args);
    args.reset();
    nb::object results = nb::steal(CallPython(function.ptr(), arguments.ptr()));
    if (!results.is_valid()) throw nb::python_error();
    std::vector<Tensor> outputs;
    for (nb::handle result : results) outputs.push_back(FromNumpy(result));
    return outputs;
  } catch (nb::python_error& e) {
    throw FromPython(e);
  } catch (const nb::builtin_exception& e) {
    throw InvalidArgument(e.what());
  }
}

}  // namespace

void BindPyFunction(nb::module_& m) {
  m.def("set_py_function", [](nb::object function) {
    // Never destroyed: a step may still call it while the interpreter ends.
    auto* kept = new nb::object(std::move(function));
    SetPyFunctionHook([kept](const std::string& token, const std::string& device, std::vector<Tensor> inputs) {
      if (!WithGil::Possible()) throw Cancelled("Python has ended");
      const WithGil gil;
      const ScopedDenormals denormals(ScopedDenormals::kKeep);
      return CallHook(*kept, token, device, std::move(inputs));
    });
  });
}

}  // namespace penstock::python
