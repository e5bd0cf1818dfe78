// A device as other processes and front ends see it.
#pragma once

#include <cstdint>
#include <string>

#include "penstock/device/device.h"

namespace penstock {

struct DeviceAttributes {
  std::string name;  // full
  std::string type;
  int64_t memory_limit = 0;
  uint64_t incarnation = 0;  // another one after each start of its process
  std::string physical_description;
};

inline DeviceAttributes AttributesOf(const Device& device) {
  return {device.name(), device.type(), device.memory_limit(), device.incarnation(), {}};
}

}  // namespace penstock
