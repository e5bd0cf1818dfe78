#include "penstock/data/background.h"

namespace penstock::data {

Background::Background(const std::shared_ptr<IteratorContext>& context) : context_(context) {
  context_->ends_slowly.store(true);
  registered_ = context_->cancellation.Register(
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
  const int64_t most = context_->options.most_threads > 0 ? std::min<int64_t>(n, context_->options.most_threads) : n;
  while (!stopping_ && static_cast<int64_t>(threads_.size()) < most) threads_.emplace_back(work);
}

void Background::Stop() {
  if (registered_) context_->cancellation.Deregister(token_);
  registered_ = false;
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
