#include "penstock/distributed/worker_messages.h"

#include "penstock/distributed/derived.h"
#include "penstock/distributed/master_messages.h"
#include "penstock/distributed/tensor_wire.h"
#include "penstock/io/config.h"

namespace penstock {
namespace {

constexpr int kRunGraphSend = 3, kRunGraphReceived = 1;  // fields

// Keys of the details that TensorFlow 2 sends with a status.
constexpr char kDerivedKey[] = "type.googleapis.com/tensorflow.DerivedStatus";
constexpr char kRestartedKey[] = "type.googleapis.com/tensorflow.distributed_runtime.WorkerPossiblyRestarted";

}  // namespace

void ToProto(const WorkerSessionRequest& request, tensorflow::CreateWorkerSessionRequest* proto) {
  proto->set_session_handle(request.session);
  tensorflow::ServerDef* server = proto->mutable_server_def();
  for (const auto& [job, tasks] : request.server.cluster) {
    auto* added = server->mutable_cluster()->add_job();
    added->set_name(job);
    for (const auto& [task, address] : tasks) (*added->mutable_tasks())[task] = address;
  }
  server->set_job_name(request.server.job);
  server->set_task_index(request.server.task);
  server->set_protocol(request.server.protocol);
  proto->set_isolate_session_state(request.isolate_state);
  for (const DeviceAttributes& device : request.cluster_devices)
    ToProto(device, proto->add_cluster_device_attributes());
  proto->set_master_task(request.master_task);
  proto->set_master_incarnation(request.master_incarnation);
}

WorkerSessionRequest FromProto(const tensorflow::CreateWorkerSessionRequest& proto) {
  WorkerSessionRequest request;
  request.session = proto.session_handle();
  for (const auto& job : proto.server_def().cluster().job()) {
    for (const auto& [task, address] : job.tasks()) request.server.cluster[job.name()][task] = address;
  }
  request.server.job = proto.server_def().job_name();
  request.server.task = proto.server_def().task_index();
  if (!proto.server_def().protocol().empty()) request.server.protocol = proto.server_def().protocol();
  request.isolate_state = proto.isolate_session_state();
  for (const auto& device : proto.cluster_device_attributes()) request.cluster_devices.push_back(FromProto(device));
  request.master_task = proto.master_task();
  request.master_incarnation = proto.master_incarnation();
  return request;
}

void ToProto(const RegisterGraphRequest& request, tensorflow::RegisterGraphRequest* proto) {
  proto->set_session_handle(request.session);
  proto->set_create_worker_session_called(request.has_session);
  ToProto(request.graph, proto->mutable_graph_def());
  const GraphOptions& graph = request.options.graph;
  tensorflow::GraphOptions* options = proto->mutable_graph_options();
  using Optimizer = tensorflow::OptimizerOptions;
  if (graph.opt_level < 0) options->mutable_optimizer_options()->set_opt_level(Optimizer::L0);
  options->mutable_optimizer_options()->set_global_jit_level(
      static_cast<Optimizer::GlobalJitLevel>(graph.global_jit_level));
  options->set_enable_recv_scheduling(graph.enable_recv_scheduling);
  options->set_build_cost_model(graph.build_cost_model);
  options->set_build_cost_model_after(graph.build_cost_model_after);
  options->mutable_rewrite_options()->set_disable_meta_optimizer(graph.rewrite.disable_meta_optimizer);
  *proto->mutable_config_proto()->mutable_graph_options() = *options;
  proto->set_collective_graph_key(request.collective_graph_key);
}

RegisterGraphRequest FromProto(const tensorflow::RegisterGraphRequest& proto) {
  RegisterGraphRequest request;
  request.session = proto.session_handle();
  request.has_session = proto.create_worker_session_called();
  request.graph = FromProto(proto.graph_def());
  // Version 1 sends the graph's options only.
  tensorflow::ConfigProto config = proto.config_proto();
  if (!config.has_graph_options()) *config.mutable_graph_options() = proto.graph_options();
  request.options = ParseConfig(config.SerializeAsString());
  request.collective_graph_key = proto.collective_graph_key();
  return request;
}

rpc::Message EncodeRunGraph(const RunGraphRequest& request) {
  tensorflow::RunGraphRequest proto;
  proto.set_session_handle(request.session);
  proto.set_create_worker_session_called(request.has_session);
  proto.set_graph_handle(request.graph);
  proto.set_step_id(request.step_id);
  proto.mutable_exec_opts()->set_record_costs(request.record_costs);
  proto.mutable_exec_opts()->set_record_timeline(request.record_timeline);
  proto.mutable_exec_opts()->set_record_partition_graphs(request.record_partition_graphs);
  for (const std::string& key : request.receives) proto.add_recv_key(key);
  proto.set_is_partial(request.is_partial);
  proto.set_is_last_partial_run(request.is_last_partial);
  proto.set_store_errors_in_response_body(true);
  proto.set_request_id(request.request_id);
  rpc::Message message(SerializeMessage(proto));
  for (const auto& [key, value] : request.sends) AppendNamedTensor(kRunGraphSend, key, value, &message);
  return message;
}

RunGraphRequest DecodeRunGraph(std::string_view bytes, bool* errors_in_body) {
  RunGraphRequest request;
  const ClaimLimit limit;
  const std::string rest = TakeFields(bytes, kRunGraphSend,
                                      [&](std::string_view send) { request.sends.push_back(DecodeNamedTensor(send)); });
  tensorflow::RunGraphRequest proto;
  ParseMessage(rest, &proto);
  request.session = proto.session_handle();
  request.has_session = proto.create_worker_session_called();
  request.graph = proto.graph_handle();
  request.step_id = proto.step_id();
  request.record_costs = proto.exec_opts().record_costs();
  request.record_timeline = proto.exec_opts().record_timeline();
  request.record_partition_graphs = proto.exec_opts().record_partition_graphs();
  request.receives.assign(proto.recv_key().begin(), proto.recv_key().end());
  request.is_partial = proto.is_partial();
  request.is_last_partial = proto.is_last_partial_run();
  request.request_id = proto.request_id();
  *errors_in_body = proto.store_errors_in_response_body();
  return request;
}

rpc::Message EncodeRan(const Status& status, const RunGraphResponse& response) {
  tensorflow::RunGraphResponse proto;
  if (!status.ok()) {
    proto.set_status_code(static_cast<tensorflow::error::Code>(status.code()));
    proto.set_status_error_message(status.message());
    return rpc::Message(SerializeMessage(proto));
  }
  const RunMetadata& metadata = response.metadata;
  if (metadata.has_step_stats || !metadata.partition_graphs.empty() || !metadata.cost_nodes.empty()) {
    tensorflow::RunMetadata recorded;
    ParseMessage(SerializeRunMetadata(metadata), &recorded);
    if (recorded.has_step_stats()) proto.mutable_step_stats()->Swap(recorded.mutable_step_stats());
    if (recorded.has_cost_graph()) proto.mutable_cost_graph()->Swap(recorded.mutable_cost_graph());
    proto.mutable_partition_graph()->Swap(recorded.mutable_partition_graphs());
  }
  rpc::Message message(SerializeMessage(proto));
  for (const auto& [key, value] : response.received) AppendNamedTensor(kRunGraphReceived, key, value, &message);
  return message;
}

RunGraphResponse DecodeRan(std::string_view bytes, const std::vector<std::string>& receives) {
  std::map<std::string, Tensor> values;
  const ClaimLimit limit;
  const std::string rest =
      TakeFields(bytes, kRunGraphReceived, [&](std::string_view value) { values.insert(DecodeNamedTensor(value)); });
  tensorflow::RunGraphResponse proto;
  ParseMessage(rest, &proto);
  if (proto.status_code() != tensorflow::error::OK) {
    throw Error(Status(static_cast<Code>(proto.status_code()), proto.status_error_message()));
  }
  RunGraphResponse response;
  for (const std::string& key : receives) {
    const auto it = values.find(key);
    if (it == values.end()) throw Internal("The answer of the worker lacks the value of ", key);
    response.received.emplace_back(key, it->second);
  }
  if (proto.has_step_stats() || proto.partition_graph_size() > 0 || proto.has_cost_graph()) {
    tensorflow::RunMetadata recorded;
    if (proto.has_step_stats()) recorded.mutable_step_stats()->Swap(proto.mutable_step_stats());
    if (proto.has_cost_graph()) recorded.mutable_cost_graph()->Swap(proto.mutable_cost_graph());
    recorded.mutable_partition_graphs()->Swap(proto.mutable_partition_graph());
    response.metadata.others = SerializeMessage(recorded);
  }
  return response;
}

std::string StatusDetails(const Status& status) {
  std::string details;
  const auto add = [&](std::string_view key) {
    std::string entry;
    AppendBytesField(1, key, &entry);
    AppendBytesField(2, "", &entry);
    AppendBytesField(1, entry, &details);
  };
  if (status.ok()) return details;
  if (IsDerived(status)) add(kDerivedKey);
  const auto says = [&](std::string_view text) { return status.message().find(text) != std::string::npos; };
  if (status.code() == Code::kAborted && (says("\") just restarted.") || says("\") was probably restarted."))) {
    add(kRestartedKey);
  }
  return details;
}

Status WithDetails(Status status, std::string_view details) {
  if (status.ok() || IsDerived(status) || details.find(kDerivedKey) == std::string_view::npos) return status;
  return Status(status.code(), StrCat(kDerivedMark, status.message()), status.node());
}

}  // namespace penstock
