#include "penstock/runtime/monitor.h"

#include <iostream>
#include <set>

#include "penstock/runtime/trace.h"
#include "penstock/tensor/special_values.h"

namespace penstock {

std::atomic<StepRecorder*> g_process_recorder{nullptr};

namespace {

void Check(const Node& node, std::span<const Value> outputs) {
  static const std::set<std::string_view> kSafe = {"Concat",
                                                   "ConcatV2",
                                                   "ExpandDims",
                                                   "Fill",
                                                   "Gather",
                                                   "Maximum",
                                                   "Minimum",
                                                   "Reshape",
                                                   "Slice",
                                                   "Squeeze",
                                                   "Stack",
                                                   "StridedSlice",
                                                   "StridedSliceGrad",
                                                   "TensorListConcatV2",
                                                   "TensorListGather",
                                                   "TensorListGetItem",
                                                   "TensorListPopBack",
                                                   "TensorListStack",
                                                   "Transpose",
                                                   "Unpack"};
  if (kSafe.contains(node.op_name())) return;
  const size_t end = node.op_name().starts_with("FusedBatchNorm") ? 1 : outputs.size();
  for (size_t i = 0; i < std::min(end, outputs.size()); ++i) {
    const Tensor& t = outputs[i].tensor;
    if (!t.initialized()) continue;
    const SpecialValues found = CountSpecialValues(t);
    if (!found.any()) continue;
    std::string message = StrCat("\n\n!!! Detected Infinity or NaN in output ", i, " of op \"", node.op_name(),
                                 "\" (# of outputs: ", outputs.size(), ") !!!\n  dtype: ", ToString(t.dtype()),
                                 "\n  shape: ", t.shape(), "\n");
    std::vector<std::string> kinds;
    const auto tell = [&](int64_t count, const char* kind) {
      if (count == 0) return;
      message += StrCat("  # of ", kind, " elements: ", count, "\n");
      kinds.push_back(kind);
    };
    tell(found.negative_infinity, "-Inf");
    tell(found.positive_infinity, "+Inf");
    tell(found.nan, "NaN");
    throw InvalidArgument(message, " : Tensor had ", StrJoin(kinds, " and "), " values");
  }
}

// One for ever: a step that began while it was asked for may still tell it something.
class Monitor final : public StepRecorder {
 public:
  static Monitor& Get() {
    static Monitor* const monitor = new Monitor;
    return *monitor;
  }

  void Ran(const Node& node, const Device& device, int64_t start_ns, int64_t end_ns,
           std::span<const Value> outputs) override {
    if (logs_) std::cerr << StrCat("Executing op ", node.op_name(), " in device ", device.name(), "\n");
    if (traces_) trace_.Ran(node, device, start_ns, end_ns, outputs);
    if (checks_) Check(node, outputs);
  }

  void Switch(std::atomic<bool> Monitor::* what, bool on) {
    this->*what = on;
    g_process_recorder = traces_ || logs_ || checks_ ? this : nullptr;
  }

  std::atomic<bool> traces_{false}, logs_{false}, checks_{false};
  StepTrace trace_;
};

}  // namespace

void StartProcessTrace() {
  Monitor::Get().trace_.Clear();
  Monitor::Get().Switch(&Monitor::traces_, true);
}

RunMetadata StopProcessTrace() {
  Monitor& monitor = Monitor::Get();
  monitor.Switch(&Monitor::traces_, false);
  RunMetadata metadata;
  monitor.trace_.Fill(&metadata);
  monitor.trace_.Clear();
  return metadata;
}

void LogPlacement(bool on) { Monitor::Get().Switch(&Monitor::logs_, on); }

void CheckNumerics(bool on) { Monitor::Get().Switch(&Monitor::checks_, on); }

}  // namespace penstock
