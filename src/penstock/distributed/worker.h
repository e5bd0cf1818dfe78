// Worker: one task of a cluster. It runs the parts of steps that masters put on its devices, and gives their values to
// other tasks.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "penstock/distributed/recent_requests.h"
#include "penstock/distributed/step_rendezvous.h"
#include "penstock/distributed/worker_session.h"
#include "penstock/runtime/server.h"

namespace penstock {

struct WorkerOptions {
  // The tasks of a cluster that only one session knows. InvalidArgument: a malformed one.
  std::function<std::shared_ptr<WorkerDirectory>(const ServerSpec&)> make_directory;
  // How long a receiver waits for a step that does not begin.
  std::chrono::milliseconds patience{120'000};
};

// To be held by std::shared_ptr; steps hold it too. RegisterGraph compiles on the caller's thread, and RunGraph runs
// graphs that cannot block there (RunGraphElsewhere does not). A master calls its own task last.
class Worker final : public WorkerInterface, public std::enable_shared_from_this<Worker> {
 public:
  // `server`: the devices and the options of sessions; `task`: "/job:ps/replica:0/task:0"; `workers`: all tasks of the
  // cluster. They outlive every session.
  Worker(std::shared_ptr<Server> server, std::string task, const std::shared_ptr<WorkerDirectory>& workers,
         WorkerOptions options = {});
  ~Worker() override;

  // Cancels all steps, and drops all sessions. Later calls find none.
  void Stop();

  void GetStatus(Ref<CancellationManager> cancellation, Done<std::vector<DeviceAttributes>> done) override;
  void CreateSession(WorkerSessionRequest request, Finished done) override;
  void DeleteSession(std::string session, Finished done) override;
  void RegisterGraph(RegisterGraphRequest request, Done<std::string> done) override;
  void DeregisterGraph(std::string session, bool has_session, std::string graph, Finished done) override;
  void RunGraph(RunGraphRequest request, Ref<CancellationManager> cancellation, Done<RunGraphResponse> done) override;
  // The same, but nothing is computed on the caller's thread.
  void RunGraphElsewhere(RunGraphRequest request, Ref<CancellationManager> cancellation, Done<RunGraphResponse> done);
  void CleanupStep(int64_t step_id, Finished done) override;
  void CleanupAll(std::vector<std::string> containers, Finished done) override;
  void ReceiveTensor(int64_t step_id, std::string key, Ref<CancellationManager> cancellation,
                     Rendezvous::Received done) override;

  const std::string& task() const { return task_; }
  // Steps that have not been cleaned up.
  size_t num_steps() const { return steps_.size(); }

 private:
  class Step;
  using SessionPtr = std::shared_ptr<WorkerSession>;

  // The session that calls with this handle mean. Aborted: none.
  SessionPtr FindSession(const std::string& handle, bool has_session);
  // The same; the session of a master that creates none is made when it registers its first graph.
  SessionPtr FindOrMakeSession(const std::string& handle, bool has_session);
  std::shared_ptr<const RegisteredGraph> FindGraph(const std::string& session, bool has_session,
                                                   const std::string& graph, std::string_view hint);
  SessionPtr NewSession(const WorkerSessionRequest& request);
  void CheckSource(const std::string& key) const;
  void Run(RunGraphRequest request, bool here, Ref<CancellationManager> cancellation, Done<RunGraphResponse> done);
  // Ends what runs in a session.
  void EndSteps(const SessionPtr& session);
  void Forget(Step* step);

  const std::shared_ptr<Server> server_;
  const std::string task_;
  const std::weak_ptr<WorkerDirectory> workers_;
  const WorkerOptions options_;
  RecentRequests recent_;
  StepRendezvousTable steps_;

  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, SessionPtr> sessions_;
  std::map<std::string, std::weak_ptr<WorkerSession>> own_sessions_;  // of masters that create none: kept by graphs
  struct Created {
    int64_t incarnation;
    std::string session;
  };
  std::multimap<std::string, Created> by_master_;
  std::map<std::string, std::shared_ptr<const RegisteredGraph>> graphs_;
  uint64_t next_graph_;  // begins somewhere else in each life
  std::map<Step*, std::shared_ptr<Step>> running_;
  std::map<int64_t, std::shared_ptr<Step>> partial_;  // runs in pieces, by step id
};

}  // namespace penstock
