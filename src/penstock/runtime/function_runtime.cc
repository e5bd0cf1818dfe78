#include "penstock/runtime/function_runtime.h"

namespace penstock {

void FunctionRuntime::CallAsync(const FuncRef& function, std::vector<Tensor>, KernelContext&, Results done) {
  done(Status(Code::kUnimplemented, StrCat("function ", function.name, " cannot be called")), {});
}

}  // namespace penstock
