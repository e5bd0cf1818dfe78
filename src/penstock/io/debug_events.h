// The files of a debugged program in the second format of TensorFlow's debugger, which TensorBoard's Debugger V2 reads:
// record files of DebugEvent messages that share a name but for its end.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "penstock/io/record_stream.h"
#include "penstock/tensor/tensor.h"

namespace penstock {

// Thread-safe. Each directory has one of these at a time, for the whole process.
class DebugEvents {
 public:
  enum File { kMetadata, kSourceFiles, kStackFrames, kGraphs, kExecution, kGraphExecutionTraces, kFiles };

  // Begins files in a directory, which is made if need be, unless it has some that are open. What is written to the
  // last two kinds of files is kept in memory until it is flushed, as many events as `kept` says, unless that is 0 or
  // less.
  static std::shared_ptr<DebugEvents> Begin(const std::string& directory, const std::string& run_id, int64_t kept);
  // Of a directory whose files were ended: null. Of one that never had any: as Begin.
  static std::shared_ptr<DebugEvents> OfStep(const std::string& directory, const std::string& run_id, int64_t kept);

  void Write(File file, std::string_view event);  // a serialized DebugEvent
  void FlushNonExecution();                       // returns when all is in the files that are not of executions
  void FlushExecution();                          // the same for the two that are; what was kept is written
  void Close();                                   // flushes all; what is written after this is lost

 private:
  DebugEvents(const std::string& directory, const std::string& run_id, int64_t kept);
  const size_t kept_;
  std::mutex mutex_;
  std::unique_ptr<RecordFile> files_[kFiles];
  std::deque<std::string> waiting_[kFiles];
};

// What a step saw of a tensor of a graph.
struct DebugTrace {
  std::string context, op, device;  // context: of the graph that holds the op
  int64_t slot = 0, mode = 0;
};
std::string SerializeTrace(const DebugTrace& trace, const Tensor& value);  // as a DebugEvent of this moment

}  // namespace penstock
