#include "penstock/io/debug_events.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

#include "penstock/base/fork.h"
#include "penstock/io/event_writer.h"
#include "penstock/io/files.h"
#include "penstock/io/messages.h"
#include "penstock/io/table.h"
#include "tensorflow/core/framework/tensor.pb.h"

namespace penstock {
namespace {

constexpr const char* kEnds[] = {"metadata", "source_files", "stack_frames",
                                 "graphs",   "execution",    "graph_execution_traces"};
constexpr std::string_view kTensorFlow = "2.21.0", kFormat = "debug.Event:1";

bool IsOfExecution(int file) { return file == DebugEvents::kExecution || file == DebugEvents::kGraphExecutionTraces; }

// A message written field by field: debug_event.proto has no C++ class, as nothing else here needs one.
class Fields {
 public:
  void Text(int number, std::string_view value) {
    AppendVarint(&bytes_, static_cast<uint64_t>(number) << 3 | 2);
    AppendVarint(&bytes_, value.size());
    bytes_ += value;
  }
  void Integer(int number, int64_t value) {
    AppendVarint(&bytes_, static_cast<uint64_t>(number) << 3);
    AppendVarint(&bytes_, static_cast<uint64_t>(value));
  }
  void Double(int number, double value) {
    AppendVarint(&bytes_, static_cast<uint64_t>(number) << 3 | 1);
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(bits >> shift);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// A DebugEvent of this moment with one of its messages.
std::string EventWith(int field, const Fields& message) {
  Fields event;
  event.Double(1, WallTime());
  event.Text(field, message.bytes());
  return event.bytes();
}

// PREFIX of names that no other files have: tfdbg_events.SECONDS.HOST.
std::string FreePrefix(const std::string& directory) {
  char host[256] = {}, seconds[32];
  if (gethostname(host, sizeof(host) - 1) != 0) std::snprintf(host, sizeof(host), "localhost");
  for (auto now = static_cast<long long>(WallTime());; ++now) {
    std::snprintf(seconds, sizeof(seconds), "%010lld", now);
    std::string prefix = StrCat(directory, "/tfdbg_events.", std::string_view(seconds), ".", std::string_view(host));
    if (!FileExists(StrCat(prefix, ".", kEnds[0]))) return prefix;
  }
}

ForkMutex g_mutex;
// Null: they have been ended.
std::map<std::string, std::shared_ptr<DebugEvents>>& Known() {
  static auto* known = new std::map<std::string, std::shared_ptr<DebugEvents>>();
  return *known;
}

}  // namespace

std::shared_ptr<DebugEvents> DebugEvents::Begin(const std::string& directory, const std::string& run_id, int64_t kept) {
  const std::lock_guard lock(g_mutex);
  std::shared_ptr<DebugEvents>& found = Known()[directory];
  if (!found) found.reset(new DebugEvents(directory, run_id, kept));
  return found;
}

std::shared_ptr<DebugEvents> DebugEvents::OfStep(const std::string& directory, const std::string& run_id,
                                                 int64_t kept) {
  const std::lock_guard lock(g_mutex);
  const auto it = Known().find(directory);
  if (it != Known().end()) return it->second;
  return Known()[directory] = std::shared_ptr<DebugEvents>(new DebugEvents(directory, run_id, kept));
}

DebugEvents::DebugEvents(const std::string& directory, const std::string& run_id, int64_t kept)
    : kept_(kept > 0 ? static_cast<size_t>(kept) : 0) {
  MakeDirectories(directory);
  const std::string prefix = FreePrefix(directory);
  for (int i = 0; i < kFiles; ++i) {
    files_[i] = std::make_unique<RecordFile>(StrCat(prefix, ".", kEnds[i]), Compression::kNone);
  }
  Fields metadata;
  metadata.Text(1, kTensorFlow);
  metadata.Text(2, kFormat);
  metadata.Text(3, run_id);
  files_[kMetadata]->Write(EventWith(3, metadata));
  for (const auto& file : files_) file->Flush();
}

void DebugEvents::Write(File file, std::string_view event) {
  const std::lock_guard lock(mutex_);
  if (!files_[file]) return;
  if (!kept_ || !IsOfExecution(file)) return files_[file]->Write(event);
  std::deque<std::string>& waiting = waiting_[file];
  if (waiting.size() == kept_) waiting.pop_front();
  waiting.emplace_back(event);
}

void DebugEvents::FlushNonExecution() {
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < kFiles; ++i) {
    if (files_[i] && !IsOfExecution(i)) files_[i]->Flush();
  }
}

void DebugEvents::FlushExecution() {
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < kFiles; ++i) {
    if (!files_[i] || !IsOfExecution(i)) continue;
    for (const std::string& event : waiting_[i]) files_[i]->Write(event);
    waiting_[i].clear();
    files_[i]->Flush();
  }
}

void DebugEvents::Close() {
  FlushNonExecution();
  FlushExecution();
  {
    const std::lock_guard lock(mutex_);
    for (auto& file : files_) {
      if (file) std::exchange(file, nullptr)->Close();
    }
  }
  const std::lock_guard lock(g_mutex);
  for (auto& [directory, events] : Known()) {
    if (events.get() == this) events = nullptr;  // the caller has another reference
  }
}

std::string SerializeTrace(const DebugTrace& trace, const Tensor& value) {
  tensorflow::TensorProto tensor;
  ToProto(value, &tensor);
  Fields message;
  message.Text(1, trace.context);
  message.Text(2, trace.op);
  message.Integer(3, trace.slot);
  message.Integer(4, trace.mode);
  message.Text(5, SerializeMessage(tensor));
  message.Text(6, trace.device);
  return EventWith(10, message);
}

}  // namespace penstock
