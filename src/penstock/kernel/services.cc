#include "penstock/kernel/services.h"

#include <thread>

namespace penstock {

void CancellationManager::Cancel() {
  std::map<Token, std::function<void()>> callbacks;
  {
    std::lock_guard lock(mutex_);
    if (cancelled_.exchange(true)) return;
    callbacks.swap(callbacks_);
    running_ = std::this_thread::get_id();
    is_running_ = true;
  }
  for (auto& [token, callback] : callbacks) callback();
  std::lock_guard lock(mutex_);
  is_running_ = false;
  finished_.notify_all();
}

bool CancellationManager::Register(std::function<void()> callback, Token* token) {
  std::lock_guard lock(mutex_);
  if (cancelled_) return false;
  *token = next_++;
  callbacks_[*token] = std::move(callback);
  return true;
}

bool CancellationManager::Deregister(Token token) {
  std::unique_lock lock(mutex_);
  if (callbacks_.erase(token)) return true;
  // Its callback may be running now: whoever deregisters is about to destroy what the callback uses.
  finished_.wait(lock, [&] { return !is_running_ || running_ == std::this_thread::get_id(); });
  return false;
}

}  // namespace penstock
