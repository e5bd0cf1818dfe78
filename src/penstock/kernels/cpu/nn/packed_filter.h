// A convolution's filter in the layouts of those who compute with it, kept from run to run.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "penstock/base/fork.h"
#include "penstock/kernel/kernel_context.h"

namespace penstock {

// Kept as long as the same buffer comes in. It holds that buffer, so that nobody writes into it: variables are changed
// in place only when nobody else holds their value. A filter that changes all the same (in training) is not kept any
// more.
class PackedFilter {
 public:
  struct Kept {
    Tensor plain;
    std::vector<std::string> keys;  // what each of `packed` is for
    std::vector<Tensor> packed;
  };
  // What is kept of this filter; null if nothing. *keep: the caller's packing is worth keeping.
  std::shared_ptr<const Kept> Find(const Tensor& filter, bool* keep);
  void Keep(Kept kept);

 private:
  ForkMutex mutex_;
  std::shared_ptr<const Kept> kept_;
  const void* last_seen_ = nullptr;
  uint64_t last_sample_ = 0;
  bool changes_ = false;
};

// The tensor that a filter's data points into, and where its packed form may be kept.
struct HeldFilter {
  const Tensor& tensor;
  PackedFilter& packed;
};

// `floats` floats that `pack` fills, or what is kept of them under this key. `uses`: how often one run multiplies by
// each; if often, packing is a small part of the work, and nothing is kept. Nothing at all if they are to be packed for
// this run only and the caller reads the filter as it `lies` as well.
Tensor PackedOrKept(const KernelContext& k, const HeldFilter* held, const std::string& key, int64_t floats,
                    int64_t uses, bool lies, FunctionRef<void(float*)> pack);

}  // namespace penstock
