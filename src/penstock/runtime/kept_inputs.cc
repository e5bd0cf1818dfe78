#include "penstock/runtime/kept_inputs.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

namespace penstock {
namespace {

bool Refers(DataType type) { return type == DT_RESOURCE || type == DT_VARIANT || IsRef(type); }

bool Checks() {
#ifdef NDEBUG
  static const bool checks = [] {
    const char* text = std::getenv("PENSTOCK_CHECK_FEEDS");
    return text && std::string_view(text) == "1";
  }();
  return checks;
#else
  return true;
#endif
}

}  // namespace

bool MayKeepInputs(const Node& node) {
  const OpDef& op = node.op();
  if (node.num_inputs() == 0 || op.traits.reads_variable) return false;
  // TensorArrays and stacks end with their step.
  if (op.name.starts_with("TensorArray") || op.name.starts_with("Stack")) return false;
  // Also of ops with functions, as datasets have them.
  if (std::ranges::any_of(op.outputs, [](const ArgDef& output) { return Refers(output.type); })) return true;
  // The kernels of a function that is called decide for themselves.
  const bool calls = std::ranges::any_of(op.attrs, [](const AttrDef& attr) { return attr.kind == "func"; });
  if (calls || node.calls_function()) return false;
  if (op.traits.stateful || op.FindAttr("shared_name")) return true;
  if (op.FindAttr("token")) return true;  // Python's functions may go on after their step was cancelled
  return std::ranges::any_of(node.input_types(), Refers) || std::ranges::any_of(node.output_types(), Refers);
}

void OwnInputs(std::span<const KernelContext::Input> inputs) {
  for (const KernelContext::Input& input : inputs) {
    Tensor& tensor = input.value->tensor;
    if (tensor.buffer() && tensor.buffer()->borrowed()) tensor = tensor.Clone();
  }
}

void CheckNoneKept(std::span<const Tensor> feeds, std::span<const Tensor> fetches) {
  if (!Checks()) return;
  for (const Tensor& feed : feeds) {
    if (!feed.buffer() || !feed.buffer()->borrowed()) continue;
    if (std::ranges::any_of(fetches, [&](const Tensor& fetch) { return fetch.SharesBufferWith(feed); })) continue;
    // Another thread of the step may still be about to drop what it read.
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::seconds(2);
    while (!feed.buffer()->unique() && Clock::now() < deadline) std::this_thread::yield();
    if (!feed.buffer()->unique()) {
      throw Internal("Memory that was fed to a step is still held after it: ", feed.ToString());
    }
  }
}

}  // namespace penstock
