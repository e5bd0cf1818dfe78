#include "penstock/runtime/rendezvous.h"

namespace penstock {

void LocalRendezvous::Send(const std::string& key, Tensor value, bool is_dead) {
  Received receiver;
  {
    std::lock_guard lock(mutex_);
    ThrowIfError(aborted_);
    auto& queue = items_[key];
    if (queue.empty() || !queue.front().receiver) {
      queue.push_back({std::move(value), is_dead, nullptr});
      return;
    }
    receiver = std::move(queue.front().receiver);
    queue.pop_front();
    if (queue.empty()) items_.erase(key);
  }
  receiver(Status(), std::move(value), is_dead);
}

void LocalRendezvous::ReceiveAsync(const std::string& key, Received done) {
  Item item;
  {
    std::unique_lock lock(mutex_);
    if (!aborted_.ok()) {
      const Status status = aborted_;
      lock.unlock();
      done(status, Tensor(), false);
      return;
    }
    auto& queue = items_[key];
    if (queue.empty() || queue.front().receiver) {
      queue.push_back({Tensor(), false, std::move(done)});
      return;
    }
    item = std::move(queue.front());
    queue.pop_front();
    if (queue.empty()) items_.erase(key);
  }
  done(Status(), std::move(item.value), item.is_dead);
}

void LocalRendezvous::Abort(Status status) {
  std::vector<Received> waiting;
  {
    std::lock_guard lock(mutex_);
    if (!aborted_.ok()) return;
    aborted_ = status.ok() ? Status(Code::kAborted, "rendezvous was aborted") : status;
    for (auto& [key, queue] : items_) {
      for (Item& item : queue) {
        if (item.receiver) waiting.push_back(std::move(item.receiver));
      }
    }
    items_.clear();
  }
  for (const Received& receiver : waiting) receiver(aborted_, Tensor(), false);
}

}  // namespace penstock
