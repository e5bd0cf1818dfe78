#include "penstock/distributed/cluster_server.h"

#include <map>

#include "penstock/base/fork.h"
#include "penstock/distributed/master_service.h"
#include "penstock/distributed/remote_worker.h"
#include "penstock/distributed/worker_service.h"
#include "penstock/io/messages.h"
#include "penstock/rpc/rpc.h"
#include "tensorflow/core/protobuf/tensorflow_server.pb.h"

namespace penstock {
namespace {

ForkMutex g_mutex;  // guards the servers
std::map<std::string, std::shared_ptr<ClusterServer>>& Servers() {
  static auto* servers = new std::map<std::string, std::shared_ptr<ClusterServer>>();
  return *servers;
}

// The own task directly, the others over channels that open when they are first used.
class Tasks final : public WorkerDirectory {
 public:
  Tasks(const ClusterSpec& cluster, std::string own) : own_(std::move(own)) {
    for (const auto& [job, tasks] : cluster) {
      for (const auto& [task, address] : tasks) addresses_[TaskName(job, task)] = address;
    }
  }
  void SetOwn(std::weak_ptr<WorkerInterface> worker) { worker_ = std::move(worker); }

  std::shared_ptr<WorkerInterface> Find(const std::string& task) override {
    if (task == own_) return worker_.lock();
    const auto address = addresses_.find(task);
    if (address == addresses_.end()) return nullptr;
    std::lock_guard lock(mutex_);
    std::shared_ptr<WorkerInterface>& worker = remote_[task];
    if (!worker) worker = MakeRemoteWorker(task, address->second);
    return worker;
  }
  std::vector<std::string> tasks() const override {
    std::vector<std::string> names;
    for (const auto& [name, address] : addresses_) names.push_back(name);
    return names;
  }

 private:
  const std::string own_;
  std::map<std::string, std::string> addresses_;
  std::weak_ptr<WorkerInterface> worker_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<WorkerInterface>> remote_;
};

const std::string& AddressOf(const ServerSpec& spec) {
  const auto job = spec.cluster.find(spec.job);
  if (job == spec.cluster.end()) throw InvalidArgument("Job \"", spec.job, "\" was not defined in cluster");
  const auto task = job->second.find(spec.task);
  if (task == job->second.end()) {
    throw InvalidArgument("Task ", spec.task, " was not defined in job \"", spec.job, "\"");
  }
  return task->second;
}

}  // namespace

ServerSpec ParseServerSpec(std::string_view bytes) {
  tensorflow::ServerDef proto;
  ParseMessage(bytes, &proto);
  ServerSpec spec;
  for (const auto& job : proto.cluster().job()) {
    for (const auto& [task, address] : job.tasks()) {
      if (task < 0) throw InvalidArgument("Task ", task, " of job \"", job.name(), "\" is negative");
      spec.cluster[job.name()][task] = address;
    }
  }
  spec.job = proto.job_name();
  spec.task = proto.task_index();
  if (!proto.protocol().empty()) spec.protocol = proto.protocol();
  spec.port = proto.port();
  spec.default_options = ParseConfig(proto.default_session_config().SerializeAsString());
  return spec;
}

ClusterServer::ClusterServer(ServerSpec spec) : spec_(std::move(spec)) {}

ClusterServer::~ClusterServer() = default;

bool ClusterServer::is_alone() const { return spec_.cluster.size() == 1 && spec_.cluster.begin()->second.size() == 1; }

std::shared_ptr<ClusterServer> ClusterServer::Create(ServerSpec spec) {
  std::shared_ptr<ClusterServer> server(new ClusterServer(std::move(spec)));
  server->Listen();
  std::lock_guard lock(g_mutex);
  Servers()[server->target_] = server;
  return server;
}

void ClusterServer::Listen() {
  const std::string address = AddressOf(spec_);
  const std::string task = TaskName(spec_.job, spec_.task);
  local_ = std::make_shared<Server>(spec_.job, spec_.task, spec_.default_options);
  const auto tasks = std::make_shared<Tasks>(spec_.cluster, task);
  workers_ = tasks;
  // Sessions may bring their own cluster, in which this task has another name.
  const auto own = std::make_shared<std::weak_ptr<WorkerInterface>>();
  const auto make_directory = [own](const ClusterSpec& cluster, const std::string& name) {
    auto others = std::make_shared<Tasks>(cluster, name);
    others->SetOwn(*own);
    return others;
  };
  WorkerOptions options;
  options.make_directory = [make_directory](const ServerSpec& server) {
    return make_directory(server.cluster, TaskName(server.job, server.task));
  };
  worker_ = std::make_shared<Worker>(local_, task, workers_, options);
  *own = worker_;
  tasks->SetOwn(worker_);
  master_ = std::make_shared<Master>(task, workers_, spec_.default_options, make_directory);
  transport_ = std::make_unique<rpc::Server>();
  AddWorkerService(worker_, transport_.get());
  AddMasterService(master_, transport_.get());
  try {
    transport_->Start(address);
  } catch (const Error& error) {
    if (error.code() == Code::kInvalidArgument) throw;
    throw Unknown("Could not start gRPC server: ", error.what());
  }
  target_ = StrCat("grpc://localhost:", transport_->port());
}

std::shared_ptr<ClusterServer> ClusterServer::Find(const std::string& target) {
  std::lock_guard lock(g_mutex);
  const auto it = Servers().find(target);
  return it == Servers().end() ? nullptr : it->second;
}

}  // namespace penstock
