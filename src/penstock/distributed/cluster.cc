#include "penstock/distributed/cluster.h"

#include "penstock/base/strings.h"
#include "penstock/device/device.h"

namespace penstock {

std::string TaskName(std::string_view job, int task) { return StrCat("/job:", job, "/replica:0/task:", task); }

std::string TaskOfDevice(std::string_view device) {
  const DeviceName name = DeviceName::Parse(device);
  if (!name.has_job || !name.has_task) throw InvalidArgument("No job or no task in the name \"", device, "\"");
  return TaskName(name.job, name.task);
}

}  // namespace penstock
