// What the kernels of ops that graph optimisation joined share: their steps, and how arguments are stretched.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "penstock/kernel/kernel.h"
#include "penstock/kernel/kernel_context.h"
#include "penstock/kernels/cpu/array/compared_select.h"
#include "penstock/kernels/cpu/loops.h"

namespace penstock {

// How an argument is stretched to the shape of the result: element i is element (i / repeat) % period.
struct Stretch {
  int64_t repeat = 1, period = 1;
};
// Nothing if the argument is stretched in another way, or does not fit.
std::optional<Stretch> StretchTo(const Shape& arg, const Shape& out);

// Results of this size come from memory, not from a cache. While one tile is computed, what the next one reads is asked
// for, a part with each step: all at once it would only be waited for.
inline constexpr int64_t kPrefetchBytes = 1 << 20;
inline void PrefetchLines(const char* at, int64_t bytes) {
  for (int64_t b = 0; b < bytes; b += 64) __builtin_prefetch(at + b);
}

// Memory for tiles, from a cache line's start on: vectors that lie across two lines take twice as long.
class TileMemory {
 public:
  explicit TileMemory(int64_t bytes)
      : memory_(std::make_unique_for_overwrite<char[]>(static_cast<size_t>(bytes + kLine))),
        start_(memory_.get() + (kLine - reinterpret_cast<intptr_t>(memory_.get()) % kLine) % kLine) {}
  char* get() const { return start_; }

 private:
  static constexpr intptr_t kLine = 64;
  std::unique_ptr<char[]> memory_;
  char* start_;
};

// The steps of one node, which stand for nodes of their own. Values are numbered: the arguments, then the steps.
class FusedSteps {
 public:
  struct Step {
    NodeView view;
    std::unique_ptr<Kernel> kernel;
    const ElementwiseLoop* loop = nullptr;  // or a reduction along the last dimension:
    const ReduceLoops* reduction = nullptr;
    bool is_mean = false;
    ComparedSelectLoop select = nullptr;  // or a choice by a comparison
    int inputs = 0, in[4] = {};           // values
    int result = -1;                      // given out as this, or as one of the values that are joined to it
    explicit Step(NodeView view) : view(view) {}
  };

  // Of the attributes `steps`, `names` and `operands`. InvalidArgument: they do not fit together.
  explicit FusedSteps(const NodeView& node);

  int num_args() const { return num_args_; }
  size_t size() const { return steps_.size(); }
  const Step& operator[](size_t i) const { return steps_[i]; }
  Step& operator[](size_t i) { return steps_[i]; }
  int last_read(int value) const { return last_read_[static_cast<size_t>(value)]; }  // by which step; -1: none
  int64_t picoseconds() const { return picoseconds_; }                               // for an element of each

  // Runs the steps one by one, as the ops that they are; `values` has the arguments and gets the rest. An error names
  // the step's node.
  void RunEach(KernelContext& k, std::span<Value> values) const;

 private:
  DataType type_;
  int num_args_;
  int64_t picoseconds_ = 0;
  std::unique_ptr<AttrMap> attrs_;  // of all steps
  std::vector<DataType> types_, reduction_types_;
  std::vector<Step> steps_;
  std::vector<int> last_read_;
  Tensor last_axis_;
};

}  // namespace penstock
