// Devices: where kernels run and values live.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/device/resource_manager.h"
#include "penstock/tensor/buffer.h"

namespace penstock {

// A device name, or part of one: "/job:localhost/replica:0/task:0/device:CPU:0" with all of TensorFlow's short forms
// ("/cpu:0", "/device:GPU:*", "/job:ps/task:1"). Missing parts are unset.
struct DeviceName {
  std::string job, type;
  int replica = -1, task = -1, id = -1;
  bool has_job = false, has_replica = false, has_task = false, has_type = false, has_id = false;

  // InvalidArgument "Malformed device specification '...'".
  static DeviceName Parse(std::string_view text);
  static bool TryParse(std::string_view text, DeviceName* name);
  std::string ToString() const;
  // Whether a device of the full name `full` is one of those that this part-name describes.
  bool Matches(const DeviceName& full) const;
  // Fills what this leaves open from `other`. InvalidArgument if they contradict each other, unless
  // `override_conflicts`: then conflicting type and id are cleared (soft placement).
  void MergeFrom(const DeviceName& other, bool override_conflicts = false);
  // What `overriding` sets replaces what this says (nested `with tf.device`).
  void OverrideWith(const DeviceName& overriding);
};

class Device {
 public:
  Device(std::string name, std::string type, Allocator* allocator);
  virtual ~Device();
  const std::string& name() const { return name_; }  // full
  const std::string& type() const { return type_; }  // "CPU"
  const DeviceName& parsed_name() const { return parsed_; }
  Allocator* allocator() const { return allocator_; }
  ResourceManager& resources() const { return *resources_; }
  void SetResources(std::shared_ptr<ResourceManager> resources);  // shared by all sessions of a server
  int64_t memory_limit() const { return memory_limit_; }
  uint64_t incarnation() const { return incarnation_; }

 private:
  std::string name_, type_;
  DeviceName parsed_;
  Allocator* allocator_;
  std::shared_ptr<ResourceManager> resources_;
  int64_t memory_limit_ = int64_t{256} << 20;
  uint64_t incarnation_;
};

// Makes the devices of one type for a process ("/job:localhost/replica:0/task:0").
class DeviceFactory {
 public:
  virtual ~DeviceFactory() = default;
  virtual std::string type() const = 0;
  virtual int priority() const = 0;  // the placer prefers higher ones
  virtual std::vector<std::unique_ptr<Device>> Create(const std::string& prefix, int count) const = 0;
};

class DeviceRegistry {
 public:
  void Add(std::unique_ptr<DeviceFactory> factory);
  const std::vector<std::unique_ptr<DeviceFactory>>& factories() const { return factories_; }
  static DeviceRegistry& Global();

 private:
  std::vector<std::unique_ptr<DeviceFactory>> factories_;
};

}  // namespace penstock
