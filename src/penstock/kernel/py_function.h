// How PyFunc kernels reach the host language: a hook that its bindings set.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "penstock/tensor/tensor.h"

namespace penstock {

// Calls the function that `token` stands for and returns its results. Runs on a thread that may block; throws Error.
using PyFunctionHook =
    std::function<std::vector<Tensor>(const std::string& token, const std::string& device, std::vector<Tensor> inputs)>;
void SetPyFunctionHook(PyFunctionHook hook);
PyFunctionHook GetPyFunctionHook();

// Runs `task` on a thread of a pool that grows when all its threads are busy: tasks may wait for each other and for the
// compute threads. False, and nothing happens, if all are busy and the system starts no more. A forked child starts
// with an empty pool.
[[nodiscard]] bool RunOnGrowingPool(const std::function<void()>& task);

}  // namespace penstock
