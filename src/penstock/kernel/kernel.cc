#include "penstock/kernel/kernel.h"

#include <condition_variable>
#include <mutex>

#include "penstock/kernel/kernel_context.h"

namespace penstock {

// Asynchronous kernels keep `done`, so it comes by value.
void Kernel::RunAsync(KernelContext& k, Done done) {  // NOLINT(performance-unnecessary-value-param)
  Status status;
  try {
    Run(k);
  } catch (...) {
    status = CurrentStatus();
  }
  done(status);
}

void AsyncKernel::Run(KernelContext& k) {
  struct Wait {
    std::mutex mutex;
    std::condition_variable ready;
    bool done = false;
    Status status;
  } wait;
  RunAsync(k, [&](Status status) {
    std::lock_guard lock(wait.mutex);
    wait.status = std::move(status);
    wait.done = true;
    wait.ready.notify_one();
  });
  std::unique_lock lock(wait.mutex);
  wait.ready.wait(lock, [&] { return wait.done; });
  ThrowIfError(wait.status);
}

}  // namespace penstock
