#include "penstock/kernels/cpu/nn/packed_filter.h"

#include <algorithm>
#include <cstring>

#include "penstock/base/branches.h"

namespace penstock {
namespace {

enum class Seen { kKept, kReplaced, kChanges, kToBeKept, kNew };
constinit BranchTable<5> seen{"convolution/kept_filter",
                              {"kept", "replaced", "changes", "seen again, to be kept", "new"}};

// Some of the filter's bits: training changes all numbers, so some will do. If they are the same by chance, no more is
// lost than the room for what is kept until the filter changes.
uint64_t Sample(const Tensor& filter) {
  constexpr size_t kSamples = 256;
  const auto* const bytes = static_cast<const char*>(filter.raw());
  const size_t words = filter.bytes() / 8, step = std::max<size_t>(1, words / kSamples);
  uint64_t sample = words;
  for (size_t i = 0; i < words; i += step) {
    uint64_t word;
    std::memcpy(&word, bytes + i * 8, 8);
    sample = (sample ^ word) * 0x9E3779B97F4A7C15u;
  }
  return sample;
}

}  // namespace

std::shared_ptr<const PackedFilter::Kept> PackedFilter::Find(const Tensor& filter, bool* keep) {
  std::lock_guard lock(mutex_);
  if (kept_ && kept_->plain.raw() == filter.raw()) {
    seen.Enter(Seen::kKept);
    return kept_;
  }
  if (kept_) {  // it was held and yet there is a new one: it will change again
    kept_.reset();
    changes_ = true;
    seen.Enter(Seen::kReplaced);
    return nullptr;
  }
  if (changes_) {
    seen.Enter(Seen::kChanges);
    return nullptr;
  }
  const uint64_t sample = Sample(filter);
  changes_ = last_seen_ == filter.raw() && last_sample_ != sample;  // updated in place
  // Borrowed memory (a fed array) is its owner's to change.
  *keep = !changes_ && last_seen_ == filter.raw() && filter.buffer() && !filter.buffer()->borrowed();
  seen.Enter(*keep ? Seen::kToBeKept : Seen::kNew);
  last_seen_ = filter.raw();
  last_sample_ = sample;
  return nullptr;
}

void PackedFilter::Keep(Kept kept) {
  std::lock_guard lock(mutex_);
  kept_ = std::make_shared<const Kept>(std::move(kept));
}

Tensor PackedOrKept(const KernelContext& k, const HeldFilter* held, const std::string& key, int64_t floats,
                    int64_t uses, bool lies, FunctionRef<void(float*)> pack) {
  constexpr int64_t kOften = 256;
  bool keep = false;
  std::shared_ptr<const PackedFilter::Kept> kept;
  if (held && uses < kOften) kept = held->packed.Find(held->tensor, &keep);
  if (kept && kept->keys.size() == 1 && kept->keys[0] == key) return kept->packed[0];
  if (lies && !keep) return {};
  Tensor packed = k.Temp(DT_FLOAT, Shape({floats}));
  pack(packed.mutable_data<float>());
  if (keep) held->packed.Keep({held->tensor, {key}, {packed}});
  return packed;
}

}  // namespace penstock
