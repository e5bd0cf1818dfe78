#include "penstock/distributed/master.h"

#include <algorithm>
#include <cstdio>
#include <random>

#include "penstock/distributed/calls.h"

namespace penstock {
namespace {

std::string RandomHandle() {
  std::random_device random;
  char hex[17];
  std::snprintf(hex, sizeof(hex), "%08x%08x", random(), random());
  return hex;
}

// The task whose address a session's target is.
std::string TaskAt(std::string_view target, const ClusterSpec& cluster) {
  constexpr std::string_view kGrpc = "grpc://";
  if (target.starts_with(kGrpc)) target.remove_prefix(kGrpc.size());
  std::string found;
  for (const auto& [job, tasks] : cluster) {
    for (const auto& [task, address] : tasks) {
      if (address != target) continue;
      if (!found.empty()) {
        throw InvalidArgument("Found multiple entries in cluster_def for the session's target ", target, ": ", found,
                              " and ", TaskName(job, task));
      }
      found = TaskName(job, task);
    }
  }
  if (found.empty()) {
    throw InvalidArgument("Unable to find the session's target ", target, " in the cluster_def of its options");
  }
  return found;
}

}  // namespace

Master::~Master() {
  for (const auto& [handle, session] : sessions_) session->Close();
}

std::shared_ptr<MasterSession> Master::Find(const std::string& session) {
  std::lock_guard lock(mutex_);
  const auto it = sessions_.find(session);
  if (it == sessions_.end()) {
    throw Aborted("Session ", session, " is not found. Possibly, this master has restarted.");
  }
  return it->second;
}

std::string Master::CreateSession(const GraphDef& graph, const std::string& config, const std::string& target,
                                  CancellationManager* cancellation) {
  SessionOptions options = ParseConfig(config);
  if (options.operation_timeout_ms == 0) options.operation_timeout_ms = defaults_.operation_timeout_ms;
  options.log_device_placement |= defaults_.log_device_placement;
  std::string task = task_;
  std::shared_ptr<WorkerDirectory> workers = workers_;
  if (!options.cluster.empty()) {
    if (!make_directory_) throw Unimplemented("A session with its own cluster (ConfigProto.cluster_def)");
    task = TaskAt(target, options.cluster);
    workers = make_directory_(options.cluster, task);
  }
  std::string handle = RandomHandle();
  auto session = std::make_shared<MasterSession>(handle, std::move(task), std::move(workers), graph, std::move(options),
                                                 cancellation);
  std::lock_guard lock(mutex_);
  sessions_[handle] = std::move(session);
  return handle;
}

int64_t Master::ExtendSession(const std::string& session, const GraphDef& graph, int64_t version) {
  return Find(session)->Extend(graph, version);
}

RunStepResponse Master::RunStep(const RunStepRequest& request, CancellationManager* cancellation) {
  return Find(request.session)->Run(request, cancellation);
}

std::string Master::PartialRunSetup(const std::string& session, const std::vector<std::string>& feeds,
                                    const std::vector<std::string>& fetches, const std::vector<std::string>& targets) {
  return Find(session)->PartialRunSetup(feeds, fetches, targets);
}

void Master::CloseSession(const std::string& session) {
  std::shared_ptr<MasterSession> closing = Find(session);
  {
    std::lock_guard lock(mutex_);
    sessions_.erase(session);
  }
  closing->Close();
}

std::vector<DeviceAttributes> Master::ListDevices(const std::string& session) {
  if (!session.empty()) return Find(session)->devices();
  std::vector<DeviceAttributes> all;
  for (auto& devices : DevicesOfTasks(*workers_, VisibleTasks(*workers_, task_, {})))
    std::ranges::move(devices, std::back_inserter(all));
  return all;
}

void Master::Reset(const std::vector<std::string>& containers, const std::vector<std::string>& device_filters) {
  std::map<std::string, std::shared_ptr<MasterSession>> sessions;
  {
    std::lock_guard lock(mutex_);
    sessions.swap(sessions_);
  }
  for (const auto& [handle, session] : sessions) {
    session->Close(Status(Code::kAborted, "Session has been closed, as its server was reset."));
  }
  ClearContainersOfTasks(*workers_, VisibleTasks(*workers_, task_, device_filters), containers);
}

}  // namespace penstock
