#include "penstock/runtime/balance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

namespace penstock {
namespace {

// The earliest end over all assignments and all orders in which the pieces can run: what no schedule beats. Pieces come
// after those that they read, as in `work`.
class BruteForce {
 public:
  BruteForce(const std::vector<Work>& work, int devices)
      : work_(work),
        devices_(devices),
        finish_(work.size()),
        rest_(work.size()),
        at_(work.size()),
        alike_(std::ranges::all_of(work, [](const Work& w) { return w.device < 0; })) {
    for (size_t i = work.size(); i-- > 0;) {
      rest_[i] += work[i].cost_ns;  // until here, the longest of those that read it
      for (const auto& [from, transfer] : work[i].inputs) rest_[from] = std::max(rest_[from], rest_[i]);
    }
  }
  // The best, or `known`, the end of some schedule, if that is as good.
  int64_t Best(int64_t known) {
    best_ = known;
    std::vector<int64_t> free(devices_);
    Search(0, free, 0, 0);
    return best_;
  }

 private:
  // Every schedule is found in the order of its starts, which spares the other orders.
  void Search(unsigned done, std::vector<int64_t>& free, int64_t end, int64_t last_start) {
    if (std::max(end, Bound(done, free, last_start)) >= best_) return;
    if (done + 1 == 1u << work_.size()) {
      best_ = end;
      return;
    }
    for (size_t i = 0; i < work_.size(); ++i) {
      if (done >> i & 1) continue;
      if (std::ranges::any_of(work_[i].inputs, [&](const auto& e) { return !(done >> e.first & 1); })) continue;
      bool empty_tried = false;
      for (int d = 0; d < devices_; ++d) {
        if (work_[i].device >= 0 && work_[i].device != d) continue;
        if (alike_ && free[d] == 0 && std::exchange(empty_tried, true)) continue;
        int64_t start = free[d];
        for (const auto& [from, transfer] : work_[i].inputs) {
          start = std::max(start, finish_[from] + (at_[from] == d ? 0 : transfer));
        }
        if (start < last_start) continue;
        const int64_t before = free[d];
        free[d] = finish_[i] = start + work_[i].cost_ns;
        at_[i] = d;
        Search(done | 1u << i, free, std::max(end, free[d]), start);
        free[d] = before;
      }
    }
  }
  // No schedule that goes on from here ends earlier: by the longest chain, and by the work that is left.
  int64_t Bound(unsigned done, const std::vector<int64_t>& free, int64_t last_start) const {
    int64_t bound = 0, all = 0;
    for (const int64_t f : free) all += f;
    std::vector<int64_t> earliest(work_.size());
    for (size_t i = 0; i < work_.size(); ++i) {
      if (done >> i & 1) continue;
      all += work_[i].cost_ns;
      earliest[i] = last_start;
      for (const auto& [from, transfer] : work_[i].inputs) {
        const bool finished = done >> from & 1;
        earliest[i] = std::max(earliest[i], finished ? finish_[from] : earliest[from] + work_[from].cost_ns);
      }
      bound = std::max(bound, earliest[i] + rest_[i]);
    }
    return std::max(bound, (all + devices_ - 1) / devices_);
  }

  const std::vector<Work>& work_;
  const int devices_;
  std::vector<int64_t> finish_, rest_;  // rest_: from a piece's start to the end of the longest chain that it begins
  std::vector<int> at_;
  const bool alike_;  // no piece is fixed: which of the idle devices comes first does not matter
  int64_t best_ = 0;
};

TEST(Balance, IsNearTheBestOnRandomGraphs) {
  std::mt19937 random(7);
  const auto up_to = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  double worst = 0;
  for (int round = 0; round < 200; ++round) {
    const int n = 2 + up_to(9);
    const int devices = 2 + up_to(2);
    std::vector<Work> work(n);
    for (int i = 0; i < n; ++i) {
      work[i].cost_ns = up_to(4) == 0 ? up_to(10) : 100 + up_to(1000);
      for (int j = 0; j < i; ++j) {
        if (up_to(3) == 0) work[i].inputs.emplace_back(j, up_to(500));
      }
      if (up_to(8) == 0) work[i].device = up_to(devices);
    }
    const std::vector<int> assignment = Balance(work, devices);
    for (int i = 0; i < n; ++i) {
      if (work[i].device >= 0) {
        EXPECT_EQ(assignment[i], work[i].device);
      }
    }
    const int64_t ours = Makespan(work, assignment, devices), best = BruteForce(work, devices).Best(ours);
    ASSERT_LE(2 * ours, 3 * best) << "round " << round;
    worst = std::max(worst, static_cast<double>(ours) / static_cast<double>(std::max<int64_t>(best, 1)));
  }
  RecordProperty("worst_ratio", std::to_string(worst));
}

TEST(Balance, IndependentHeavyBranchesPartAndCheapChainsStay) {
  // Two heavy chains from one source to one sink: one device each.
  std::vector<Work> work(6);
  work[0].cost_ns = 1;
  for (int chain = 0; chain < 2; ++chain) {
    work[1 + 2 * chain] = {1'000'000, -1, {{0, 5'000}}};
    work[2 + 2 * chain] = {1'000'000, -1, {{1 + 2 * chain, 5'000}}};
  }
  work[5] = {1, -1, {{2, 5'000}, {4, 5'000}}};
  std::vector<int> at = Balance(work, 2);
  EXPECT_EQ(at[1], at[2]);
  EXPECT_EQ(at[3], at[4]);
  EXPECT_NE(at[1], at[3]);
  // The same with work that is cheaper than a transfer: all stays on the first.
  for (Work& piece : work) piece.cost_ns = std::min<int64_t>(piece.cost_ns, 100);
  at = Balance(work, 2);
  EXPECT_EQ(at, std::vector<int>(6, 0));
}

TEST(Balance, CyclesAndNothingAtAllAreFine) {
  EXPECT_TRUE(Balance({}, 3).empty());
  std::vector<Work> work(2);
  work[0] = {10, -1, {{1, 5}}};
  work[1] = {10, -1, {{0, 5}}};
  EXPECT_EQ(Balance(work, 2).size(), 2u);
}

}  // namespace
}  // namespace penstock
