#include "penstock/runtime/balance.h"

#include <algorithm>

namespace penstock {
namespace {

constexpr int kLargestToImprove = 256;  // pieces; beyond that the first schedule has to do
constexpr int kLargestToPair = 24;      // pieces; beyond that only single ones are moved

// What a schedule needs to know of the pieces: an order, and how much time lies between each one's start and the end of
// all.
class Schedule {
 public:
  Schedule(const std::vector<Work>& work, int devices) : work_(work), devices_(devices) {
    const int n = static_cast<int>(work.size());
    std::vector<int> state(n);
    // Depth first, inputs before the piece; an edge to a piece that is still open closes a cycle and is left out.
    inputs_.resize(n);
    std::vector<std::pair<int, size_t>> stack;
    for (int root = 0; root < n; ++root) {
      if (state[root]) continue;
      stack.emplace_back(root, 0);
      state[root] = 1;
      while (!stack.empty()) {
        const int piece = stack.back().first;
        if (stack.back().second == work[piece].inputs.size()) {
          state[piece] = 2;
          order_.push_back(piece);
          stack.pop_back();
          continue;
        }
        const auto edge = work[piece].inputs[stack.back().second++];
        if (state[edge.first] == 1) continue;
        inputs_[piece].push_back(edge);
        if (state[edge.first]) continue;
        state[edge.first] = 1;
        stack.emplace_back(edge.first, 0);
      }
    }
    for (const double share : {1.0, 0.5, 0.0}) {  // how much of the transfers counts for the critical path
      std::vector<int64_t>& rest = rest_.emplace_back(n);
      for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
        rest[*it] += work[*it].cost_ns;
        for (const auto& [from, transfer] : inputs_[*it]) {
          rest[from] = std::max(rest[from], rest[*it] + static_cast<int64_t>(share * static_cast<double>(transfer)));
        }
      }
    }
  }

  int variants() const { return static_cast<int>(rest_.size()); }

  // Runs the pieces by priority. `assignment`: where each runs, -1 to be chosen here. The time at which all is done.
  int64_t Run(int variant, std::vector<int>* assignment) const {
    const int n = static_cast<int>(work_.size());
    std::vector<int> by_priority = order_;
    const std::vector<int64_t>& rest = rest_[variant];
    std::ranges::stable_sort(by_priority, [&](int a, int b) { return rest[a] > rest[b]; });
    std::vector<int64_t> finish(n, -1), free(devices_);
    int64_t end = 0;
    // What a piece waits for has at least its priority, and stood before it: the order is one in which the pieces can
    // run.
    for (const int piece : by_priority) {
      int best = -1;
      int64_t best_end = INT64_MAX;
      for (int d = 0; d < devices_; ++d) {
        const int fixed = work_[piece].device >= 0 ? work_[piece].device : (*assignment)[piece];
        if (fixed >= 0 && fixed != d) continue;
        int64_t start = free[d];
        for (const auto& [from, transfer] : inputs_[piece]) {
          start = std::max(start, finish[from] + ((*assignment)[from] == d ? 0 : transfer));
        }
        if (start + work_[piece].cost_ns < best_end) best = d, best_end = start + work_[piece].cost_ns;
      }
      (*assignment)[piece] = best;
      finish[piece] = free[best] = best_end;
      end = std::max(end, best_end);
    }
    return end;
  }

 private:
  const std::vector<Work>& work_;
  const int devices_;
  std::vector<std::vector<std::pair<int, int64_t>>> inputs_;
  std::vector<int> order_;
  std::vector<std::vector<int64_t>> rest_;
};

int64_t BestOf(const Schedule& schedule, const std::vector<int>& assignment) {
  int64_t best = INT64_MAX;
  for (int v = 0; v < schedule.variants(); ++v) {
    std::vector<int> copy = assignment;
    best = std::min(best, schedule.Run(v, &copy));
  }
  return best;
}

}  // namespace

std::vector<int> Balance(const std::vector<Work>& work, int devices) {
  const Schedule schedule(work, devices);
  const int n = static_cast<int>(work.size());
  std::vector<int> best(n, 0);
  for (int i = 0; i < n; ++i) best[i] = std::max(0, work[i].device);
  // Everything at home is the schedule to beat: a tie stays there.
  int64_t best_end = n <= kLargestToImprove ? BestOf(schedule, best) : schedule.Run(0, &best);
  for (int v = 0; v < schedule.variants(); ++v) {
    std::vector<int> assignment(n, -1);
    const int64_t end = schedule.Run(v, &assignment);
    if (end < best_end) best = std::move(assignment), best_end = end;
    if (n > 4 * kLargestToImprove) break;
  }
  if (n > kLargestToImprove) return best;
  // Keeps a change of the assignment that ends earlier.
  const auto better_with = [&](auto change) {
    std::vector<int> changed = best;
    if (!change(changed)) return false;
    const int64_t end = BestOf(schedule, changed);
    if (end >= best_end) return false;
    best = std::move(changed), best_end = end;
    return true;
  };
  const auto move = [&](std::vector<int>& at, int i, int d) {
    if (work[i].device >= 0 || at[i] == d) return false;
    at[i] = d;
    return true;
  };
  for (int round = 0; round < 4; ++round) {
    bool better = false;
    for (int i = 0; i < n; ++i) {
      for (int d = 0; d < devices; ++d) {
        better |= better_with([&](std::vector<int>& at) { return move(at, i, d); });
      }
    }
    if (!better && n <= kLargestToPair) {
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j) {
          for (int d = 0; d < devices * devices; ++d) {
            better |=
                better_with([&](std::vector<int>& at) { return move(at, i, d / devices) && move(at, j, d % devices); });
          }
        }
      }
    }
    if (!better) break;
  }
  return best;
}

int64_t Makespan(const std::vector<Work>& work, const std::vector<int>& assignment, int devices) {
  return BestOf(Schedule(work, devices), assignment);
}

}  // namespace penstock
