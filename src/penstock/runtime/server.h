// Server: devices that several sessions of this process share, with all that lives on them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "penstock/device/device.h"
#include "penstock/io/config.h"

namespace penstock {

class Server {
 public:
  // One task of a job; `options` say how many devices it has, and what sessions get that do not say it themselves: a
  // timeout, a log of the placement.
  Server(const std::string& job, int task, const SessionOptions& options);
  ~Server();
  const std::vector<std::shared_ptr<Device>>& devices() const { return devices_; }
  // Others of the same names, for a session that shares nothing.
  std::vector<std::shared_ptr<Device>> MakeDevicesAlike() const;
  const SessionOptions& options() const { return options_; }
  // Clears containers (all if empty).
  void Clear(const std::vector<std::string>& containers);

 private:
  const std::string prefix_;  // of the devices' names
  const SessionOptions options_;
  std::vector<std::shared_ptr<Device>> devices_;
};

// The devices that a process with these options has; `prefix` names its job, replica and task.
std::vector<std::shared_ptr<Device>> MakeDevices(const std::string& prefix, const SessionOptions& options);

void ClearContainers(const std::vector<std::shared_ptr<Device>>& devices, const std::vector<std::string>& containers);

}  // namespace penstock
