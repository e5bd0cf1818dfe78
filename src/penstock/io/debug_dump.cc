#include "penstock/io/debug_dump.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "penstock/io/files.h"
#include "penstock/io/messages.h"
#include "tensorflow/core/util/event.pb.h"

namespace penstock {
namespace {

constexpr std::string_view kFile = "file://";

int64_t NowMicros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string RootOf(const std::string& url) {
  if (!url.starts_with(kFile)) throw Unimplemented("debug URLs other than file://: ", url);
  return url.substr(kFile.size());
}

// "/job:a/cpu:0" is ",job_a,cpu_0".
std::string DeviceFolder(const std::string& device) {
  std::string folder = "_tfdbg_device_";
  for (const char c : device) folder += c == ':' ? '_' : c == '/' ? ',' : c;
  return folder;
}

void Write(const std::string& path, const tensorflow::Event& event) {
  MakeDirectories(std::string(DirectoryOf(path)));
  OutputFile file(path, WriteMode::kReplace);  // there are many, and nobody needs them after a crash of the machine
  file.Append(SerializeMessage(event));
  file.Commit();
}

std::atomic<uint64_t> dumped_bytes{0};

uint64_t DumpedBytesLimit() {
  static const uint64_t limit = [] {
    const char* text = std::getenv("TFDBG_DISK_BYTES_LIMIT");
    int64_t bytes = 0;
    return text && ParseInt64(text, &bytes) && bytes > 0 ? static_cast<uint64_t>(bytes) : uint64_t{100} << 30;
  }();
  return limit;
}

void TakeBytes(const DebugKey& key, uint64_t bytes) {
  if (bytes == 0) return;
  uint64_t used = dumped_bytes.load();
  do {
    if (used + bytes >= DumpedBytesLimit()) {
      throw ResourceExhausted("TensorFlow Debugger has exhausted file-system byte-size allowance (", DumpedBytesLimit(),
                              "), therefore it cannot dump an additional ", bytes,
                              " byte(s) of tensor data for the debug tensor ", key.node, ":", key.slot,
                              ". You may use the environment variable TFDBG_DISK_BYTES_LIMIT to set a higher limit.");
    }
  } while (!dumped_bytes.compare_exchange_weak(used, used + bytes));
}

// PATH_TIME, or PATH_TIME-NUMBER if there is a file of that name.
std::string FreeName(const std::string& path, int64_t now) {
  std::string name = StrCat(path, "_", now);
  for (int i = 1; FileExists(name); ++i) name = StrCat(path, "_", now, "-", i);
  return name;
}

std::string JsonList(const std::vector<std::string>& items) {
  std::string list = "[";
  for (const std::string& item : items) list += StrCat(list.size() > 1 ? "," : "", "\"", item, "\"");
  return list + "]";
}

}  // namespace

void ResetDumpedBytes() { dumped_bytes = 0; }

void DumpTensor(const DebugKey& key, const Tensor& tensor, const std::vector<std::string>& urls) {
  const int64_t now = NowMicros();
  tensorflow::Event event;
  event.set_wall_time(static_cast<double>(now));
  auto* value = event.mutable_summary()->add_value();
  value->set_tag(key.node);
  value->set_node_name(StrCat(key.node, ":", key.slot, ":", key.debug_op));
  auto* plugin = value->mutable_metadata()->mutable_plugin_data();
  plugin->set_plugin_name("debugger");
  plugin->set_content(
      StrCat("{\"device\":\"", key.device, "\",\"outputSlot\":", key.slot, ",\"numChunks\":1,\"chunkIndex\":0}"));
  if (tensor.initialized()) {
    ToProto(tensor, value->mutable_tensor());
  } else {
    value->mutable_tensor()->set_dtype(tensorflow::DT_INVALID);
  }
  for (const std::string& url : urls) {
    TakeBytes(key, tensor.initialized() ? tensor.bytes() : 0);
    Write(FreeName(StrCat(RootOf(url), "/", DeviceFolder(key.device), "/", key.node, "_", key.slot, "_", key.debug_op),
                   now),
          event);
  }
}

void DumpGraph(const std::string& device, const GraphDef& graph, const std::vector<std::string>& urls) {
  const int64_t now = NowMicros();
  tensorflow::GraphDef message;
  ToProto(graph, &message);
  tensorflow::Event event;
  event.set_wall_time(static_cast<double>(now));
  event.set_graph_def(SerializeMessage(message));
  const auto hash = static_cast<uint64_t>(std::hash<std::string>()(event.graph_def()));
  for (const std::string& url : urls) {
    Write(StrCat(RootOf(url), "/", DeviceFolder(device), "/_tfdbg_graph_hash", hash, "_", now), event);
  }
}

void DumpRun(const DebugRun& run, const std::vector<std::string>& urls) {
  const int64_t now = NowMicros();
  tensorflow::Event event;
  event.set_wall_time(static_cast<double>(now));
  const std::string core_metadata =
      StrCat("{\"global_step\":", run.global_step, ",\"session_run_index\":", run.session_run_index,
             ",\"executor_step_index\":", run.executor_step_index, ",\"input_names\":", JsonList(run.inputs),
             ",\"output_names\":", JsonList(run.outputs), ",\"target_nodes\":", JsonList(run.targets), "}");
  // The field is deprecated, and it is where readers of dumps look.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  event.mutable_log_message()->set_message(core_metadata);
#pragma GCC diagnostic pop
  char index[24];
  std::snprintf(index, sizeof(index), "%.14lld", static_cast<long long>(run.session_run_index));
  for (const std::string& url : urls) {
    Write(StrCat(RootOf(url), "/_tfdbg_core_metadata_sessionrun", std::string_view(index), "_", now), event);
  }
}

}  // namespace penstock
