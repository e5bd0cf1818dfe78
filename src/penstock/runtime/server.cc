#include "penstock/runtime/server.h"

#include "penstock/base/strings.h"

namespace penstock {

std::vector<std::shared_ptr<Device>> MakeDevices(const std::string& prefix, const SessionOptions& options) {
  std::vector<std::shared_ptr<Device>> devices;
  for (const auto& factory : DeviceRegistry::Global().factories()) {
    const auto it = options.device_count.find(factory->type());
    const int count = it == options.device_count.end() ? 1 : it->second;
    for (auto& device : factory->Create(prefix, count)) devices.push_back(std::move(device));
  }
  if (devices.empty()) throw InvalidArgument("No devices: device_count leaves no device of any type");
  return devices;
}

void ClearContainers(const std::vector<std::shared_ptr<Device>>& devices, const std::vector<std::string>& containers) {
  for (const auto& device : devices) {
    if (containers.empty()) device->resources().ClearAll();
    for (const std::string& container : containers) device->resources().Clear(container);
  }
}

Server::Server(const std::string& job, int task, const SessionOptions& options)
    : prefix_(StrCat("/job:", job, "/replica:0/task:", task)), options_(options) {
  if (job.empty() || task < 0) {
    throw InvalidArgument("A server needs the name of a job and a task, but got \"", job, "\", ", task);
  }
  devices_ = MakeDevicesAlike();
}

std::vector<std::shared_ptr<Device>> Server::MakeDevicesAlike() const { return MakeDevices(prefix_, options_); }

Server::~Server() { Clear({}); }

void Server::Clear(const std::vector<std::string>& containers) { ClearContainers(devices_, containers); }

}  // namespace penstock
