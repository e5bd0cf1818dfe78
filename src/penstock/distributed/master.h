// The sessions whose steps one task drives.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "penstock/distributed/master_session.h"

namespace penstock {

class Master final : public MasterInterface {
 public:
  // Makes the directory of another cluster, in which this process is the task `own`.
  using MakeDirectory = std::function<std::shared_ptr<WorkerDirectory>(const ClusterSpec&, const std::string& own)>;
  // `task`: TaskName of the task that the master is on. `defaults`: for options that sessions leave open.
  // `make_directory`: for sessions with their own cluster.
  Master(std::string task, std::shared_ptr<WorkerDirectory> workers, SessionOptions defaults,
         MakeDirectory make_directory = nullptr)
      : task_(std::move(task)),
        workers_(std::move(workers)),
        defaults_(std::move(defaults)),
        make_directory_(std::move(make_directory)) {}
  ~Master() override;
  const std::string& task() const { return task_; }

  std::string CreateSession(const GraphDef& graph, const std::string& config, const std::string& target,
                            CancellationManager* cancellation) override;
  int64_t ExtendSession(const std::string& session, const GraphDef& graph, int64_t version) override;
  RunStepResponse RunStep(const RunStepRequest& request, CancellationManager* cancellation) override;
  std::string PartialRunSetup(const std::string& session, const std::vector<std::string>& feeds,
                              const std::vector<std::string>& fetches,
                              const std::vector<std::string>& targets) override;
  void CloseSession(const std::string& session) override;
  std::vector<DeviceAttributes> ListDevices(const std::string& session) override;
  void Reset(const std::vector<std::string>& containers, const std::vector<std::string>& device_filters) override;

 private:
  // Aborted: no such session, as after a restart of the master.
  std::shared_ptr<MasterSession> Find(const std::string& session);

  const std::string task_;
  const std::shared_ptr<WorkerDirectory> workers_;
  const SessionOptions defaults_;
  const MakeDirectory make_directory_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<MasterSession>> sessions_;
};

}  // namespace penstock
