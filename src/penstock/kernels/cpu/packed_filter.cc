#include "penstock/kernels/cpu/packed_filter.h"

namespace penstock {

std::shared_ptr<const PackedFilter::Kept> PackedFilter::Find(const Tensor& filter, bool* keep) {
  std::lock_guard lock(mutex_);
  if (kept_ && kept_->plain.raw() == filter.raw()) return kept_;
  if (kept_) {  // it was held and yet there is a new one: it will change again
    kept_.reset();
    changes_ = true;
  }
  // The same memory twice may still be an update in place; whoever holds it from now on will see.
  // Borrowed memory (a fed array) is its owner's to change.
  *keep = !changes_ && last_seen_ == filter.raw() && filter.buffer() && !filter.buffer()->borrowed();
  last_seen_ = filter.raw();
  return nullptr;
}

void PackedFilter::Keep(Kept kept) {
  std::lock_guard lock(mutex_);
  kept_ = std::make_shared<const Kept>(std::move(kept));
}

Tensor PackedOrKept(const KernelContext& k, const HeldFilter* held, const std::string& key, int64_t floats,
                    FunctionRef<void(float*)> pack) {
  bool keep = false;
  std::shared_ptr<const PackedFilter::Kept> kept;
  if (held) kept = held->packed.Find(held->tensor, &keep);
  if (kept && kept->keys.size() == 1 && kept->keys[0] == key) return kept->packed[0];
  Tensor packed = k.Temp(DT_FLOAT, Shape({floats}));
  pack(packed.mutable_data<float>());
  if (keep) held->packed.Keep({held->tensor, {key}, {packed}});
  return packed;
}

}  // namespace penstock
