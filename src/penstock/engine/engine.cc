#include "penstock/engine/engine.h"

#include <mutex>

#include "penstock/data/all.h"
#include "penstock/device/cpu_device.h"
#include "penstock/kernels/cpu/all.h"
#include "penstock/ops/all.h"
#include "penstock/runtime/evaluate.h"

namespace penstock {

void Initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    RegisterAllOps(OpRegistry::Global());
    RegisterAllCpuKernels(KernelRegistry::Global());
    data::RegisterAllDatasets(KernelRegistry::Global());
    DeviceRegistry::Global().Add(MakeCpuDeviceFactory());
    Graph::SetEvaluator(&EvaluateNode);
  });
}

}  // namespace penstock
