// Clusters: jobs of tasks with their addresses, and one task's place among them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/device/device_attributes.h"
#include "penstock/io/config.h"

namespace penstock {

// job -> task -> "host:port". Tasks of a job need not be consecutive.
using ClusterSpec = std::map<std::string, std::map<int, std::string>>;

// tensorflow.ServerDef: one task of a cluster. An empty cluster in a request to a worker means the worker's own.
struct ServerSpec {
  ClusterSpec cluster;
  std::string job;
  int task = 0;
  std::string protocol = "grpc";
  int port = 0;  // to listen on, if the task's address names none
  SessionOptions default_options;
};

// "/job:ps/replica:0/task:1".
std::string TaskName(std::string_view job, int task);
// Its first part, of the full name of a device or task. InvalidArgument: it names no job or no task.
std::string TaskOfDevice(std::string_view device);

// A random number of 56 bits: of a step, a request. The highest bits have other uses in TensorFlow.
int64_t RandomId();

}  // namespace penstock
