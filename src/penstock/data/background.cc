#include "penstock/data/background.h"

#include <system_error>

namespace penstock::data {

Background::Background(const std::shared_ptr<IteratorContext>& context) : context_(context) {
  context_->ends_slowly.store(true);
  registered_ = context_->cancellation->Register(
      [this] {
        std::lock_guard lock(mutex);
        stopping_ = true;
        work_.notify_all();
        results_.notify_all();
      },
      &token_);
  stopping_ = !registered_;
}

void Background::Start(int n, const std::function<void()>& work) {
  if (threads_.empty() && !stopping_) {
    interrupt_ = Alarm::OnInterrupt([this] {
      std::lock_guard lock(mutex);
      results_.notify_all();
    });
  }
  const int64_t most = context_->options.most_threads > 0 ? std::min<int64_t>(n, context_->options.most_threads) : n;
  while (!stopping_ && static_cast<int64_t>(threads_.size()) < most) {
    try {
      threads_.emplace_back(work);
    } catch (const std::system_error&) {  // the system has no more: those that are there do the work
      if (threads_.empty()) throw;
      return;
    }
  }
}

void Background::PauseUntilDone(State& state) {
  paused_ = true;
  state.PausedUntilDone([this] {
    std::lock_guard lock(mutex);
    paused_ = false;
    work_.notify_all();
  });
}

void Background::Stop() {
  if (registered_) context_->cancellation->Deregister(token_);
  registered_ = false;
  interrupt_.Cancel();
  {
    std::lock_guard lock(mutex);
    stopping_ = true;
    work_.notify_all();
    results_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Visit(State& state, std::string_view key, Made* made) {
  state.Inside(key, [&] {
    state.Value("status", &made->status);
    state.Value("element", &made->element);
    state.Value("end", &made->end);
  });
}

}  // namespace penstock::data
