// Gradient tapes: what ran eagerly, to be walked back.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_set>
#include <vector>

#include "penstock/graph/gradient.h"
#include "penstock/runtime/eager.h"

namespace penstock {

// A gradient of eager values.
struct EagerGrad {
  EagerValue dense, values, indices, dense_shape;
  bool none() const { return !dense.id && !values.id; }
  bool sparse() const { return values.id != 0; }
};

// From the gradients of some outputs (none where nothing flows in) to those of the inputs.
using BackwardFunction = std::function<std::vector<EagerGrad>(const std::vector<EagerGrad>&)>;

// Thread-safe: one thread may differentiate what another has recorded, while that goes on.
class Tape {
 public:
  struct Entry {
    std::shared_ptr<const EagerOp> op;  // null for a recorded function
    std::vector<EagerValue> inputs, outputs;
    BackwardFunction backward;
  };
  void Watch(const EagerValue& value) {
    const std::lock_guard lock(mutex_);
    watched_.insert(value.id);
  }
  bool IsWatched(const EagerValue& value) const {
    const std::lock_guard lock(mutex_);
    return watched_.contains(value.id);
  }
  void Record(std::shared_ptr<const EagerOp> op, std::span<const EagerValue> inputs,
              std::span<const EagerValue> outputs, BackwardFunction backward = {});
  // The derivative of the sum of targets with respect to each source; `flowing` as grad_ys of AddGradients. NotFound:
  // an op on the way has no gradient.
  std::vector<EagerGrad> Gradient(const std::vector<EagerValue>& targets, const std::vector<EagerValue>& sources,
                                  const std::vector<EagerGrad>& flowing);
  // What was recorded, in order.
  std::vector<std::shared_ptr<const Entry>> entries() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }

  // The tapes that record on this thread.
  static std::vector<std::shared_ptr<Tape>>& Active();

 private:
  mutable std::mutex mutex_;
  std::unordered_set<int64_t> watched_;
  std::vector<std::shared_ptr<const Entry>> entries_;
};

// Runs an op and lets the active tapes record it. With `record` false they do not.
std::vector<EagerValue> RunEagerly(std::string_view op, std::span<const EagerValue> inputs, AttrMap attrs,
                                   bool record = true, int device = 0);
std::vector<EagerValue> RunEagerly(const std::shared_ptr<const EagerOp>& op, std::span<const EagerValue> inputs,
                                   bool record = true);

}  // namespace penstock
