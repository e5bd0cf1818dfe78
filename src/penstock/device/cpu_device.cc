#include "penstock/device/cpu_device.h"

namespace penstock {
namespace {

class CpuDeviceFactory final : public DeviceFactory {
 public:
  std::string type() const override { return "CPU"; }
  int priority() const override { return 60; }
  std::vector<std::unique_ptr<Device>> Create(const std::string& prefix, int count) const override {
    std::vector<std::unique_ptr<Device>> devices;
    for (int i = 0; i < count; ++i) {
      devices.push_back(std::make_unique<Device>(StrCat(prefix, "/device:CPU:", i), "CPU", CpuAllocator()));
    }
    return devices;
  }
};

}  // namespace

std::unique_ptr<DeviceFactory> MakeCpuDeviceFactory() { return std::make_unique<CpuDeviceFactory>(); }

}  // namespace penstock
