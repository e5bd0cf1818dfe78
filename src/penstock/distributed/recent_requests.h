// Which requests came lately, so that one that comes twice can be refused.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_set>

namespace penstock {

// A client that loses its connection may send a request again, although it has been carried out.
class RecentRequests {
 public:
  // False: among the last kRemembered ids. 0 means that the client counts no requests: always true.
  bool Insert(int64_t id) {
    if (id == 0) return true;
    std::lock_guard lock(mutex_);
    if (!ids_.insert(id).second) return false;
    order_.push_back(id);
    if (order_.size() > kRemembered) {
      ids_.erase(order_.front());
      order_.pop_front();
    }
    return true;
  }

 private:
  static constexpr size_t kRemembered = 100'000;  // as many as TensorFlow remembers
  std::mutex mutex_;
  std::unordered_set<int64_t> ids_;
  std::deque<int64_t> order_;
};

}  // namespace penstock
