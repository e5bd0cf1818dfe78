// One task of a cluster in this process: a worker, a master, and the port that serves them.
#pragma once

#include <memory>
#include <string>

#include "penstock/distributed/master.h"
#include "penstock/distributed/worker.h"
#include "penstock/runtime/server.h"

namespace penstock {

namespace rpc {
class Server;
}

// It lives until the process ends, whatever happens to references: other tasks may depend on it.
class ClusterServer {
 public:
  // Listens on the task's port (0: any). InvalidArgument: no such task, a malformed address. Unknown: the port cannot
  // be had.
  static std::shared_ptr<ClusterServer> Create(ServerSpec spec);
  // The server of this process that clients reach at "grpc://host:port"; null if there is none.
  static std::shared_ptr<ClusterServer> Find(const std::string& target);
  ~ClusterServer();

  // "grpc://localhost:2222".
  const std::string& target() const { return target_; }
  const ServerSpec& spec() const { return spec_; }
  const std::shared_ptr<Master>& master() const { return master_; }
  // The task's devices, for sessions of this process if the cluster has no other task.
  const std::shared_ptr<Server>& local() const { return local_; }
  bool is_alone() const;

 private:
  explicit ClusterServer(ServerSpec spec);
  void Listen();

  ServerSpec spec_;
  std::string target_;
  std::shared_ptr<Server> local_;
  std::shared_ptr<WorkerDirectory> workers_;
  std::shared_ptr<Worker> worker_;
  std::shared_ptr<Master> master_;
  std::unique_ptr<rpc::Server> transport_;
};

// A ServerDef. InvalidArgument: no such message, a number that makes no sense.
ServerSpec ParseServerSpec(std::string_view bytes);

}  // namespace penstock
