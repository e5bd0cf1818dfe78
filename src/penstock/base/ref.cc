#include "penstock/base/ref.h"

#include <vector>

namespace penstock {
namespace {

constexpr int kDeepest = 64;
thread_local constinit int t_depth = 0;
thread_local constinit std::vector<const RefCounted*>* t_waiting = nullptr;

}  // namespace

void RefCounted::DestroyInTurn() const {
  if (t_depth == kDeepest) {
    t_waiting->push_back(this);
    return;
  }
  std::vector<const RefCounted*> waiting;
  const bool outermost = t_depth++ == 0;
  if (outermost) t_waiting = &waiting;
  delete this;
  while (outermost && !waiting.empty()) {
    const RefCounted* next = waiting.back();
    waiting.pop_back();
    delete next;
  }
  if (outermost) t_waiting = nullptr;
  --t_depth;
}

}  // namespace penstock
