#include "penstock/distributed/cluster.h"

#include <random>

#include "penstock/base/fork.h"
#include "penstock/base/strings.h"
#include "penstock/device/device.h"

namespace penstock {

std::string TaskName(std::string_view job, int task) { return StrCat("/job:", job, "/replica:0/task:", task); }

std::string TaskOfDevice(std::string_view device) {
  const DeviceName name = DeviceName::Parse(device);
  if (!name.has_job || !name.has_task) throw InvalidArgument("No job or no task in the name \"", device, "\"");
  return TaskName(name.job, name.task);
}

int64_t RandomId() {
  static ForkMutex mutex;
  static std::mt19937_64 random{std::random_device()()};
  std::lock_guard lock(mutex);
  return static_cast<int64_t>(random() >> 8);
}

}  // namespace penstock
