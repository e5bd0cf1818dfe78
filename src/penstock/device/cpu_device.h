// The CPU as a device; ConfigProto.device_count says how many of it there are.
#pragma once

#include "penstock/device/device.h"

namespace penstock {

std::unique_ptr<DeviceFactory> MakeCpuDeviceFactory();

}  // namespace penstock
