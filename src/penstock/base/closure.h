// Elements of task queues: callables that are stored inline unless they are large.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace penstock {

// A move-only void().
class Closure {
 public:
  Closure() = default;
  template <class F, class = std::enable_if_t<!std::is_same_v<std::remove_cvref_t<F>, Closure>>>
  Closure(F&& f) {  // NOLINT: implicit by design
    using Callable = std::remove_cvref_t<F>;
    if constexpr (sizeof(Callable) <= kSize && alignof(Callable) <= alignof(std::max_align_t) &&
                  std::is_nothrow_move_constructible_v<Callable>) {
      new (storage_) Callable(std::forward<F>(f));
      kind_ = &kKind<Callable>;
    } else {
      *this = Closure([large = std::make_unique<Callable>(std::forward<F>(f))] { (*large)(); });
    }
  }
  Closure(Closure&& other) noexcept : kind_(std::exchange(other.kind_, nullptr)) {
    if (kind_) kind_->move(other.storage_, storage_);
  }
  Closure& operator=(Closure&& other) noexcept {
    if (this == &other) return *this;
    this->~Closure();
    return *new (this) Closure(std::move(other));
  }
  ~Closure() {
    if (kind_) kind_->destroy(storage_);
  }
  void operator()() { kind_->call(storage_); }
  explicit operator bool() const { return kind_ != nullptr; }

 private:
  static constexpr size_t kSize = 72;
  struct Kind {
    void (*call)(void*);
    void (*move)(void* from, void* to);  // and destroys the source
    void (*destroy)(void*);
  };
  template <class F>
  static constexpr Kind kKind = {
      [](void* f) { (*static_cast<F*>(f))(); },
      [](void* from, void* to) {
        new (to) F(std::move(*static_cast<F*>(from)));
        static_cast<F*>(from)->~F();
      },
      [](void* f) { static_cast<F*>(f)->~F(); },
  };
  const Kind* kind_ = nullptr;
  alignas(std::max_align_t) std::byte storage_[kSize];
};

// First in, first out, in a ring that grows and is reused.
template <class T>
class Fifo {
 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  const T& front() const { return ring_[first_]; }
  void Push(T item) {
    if (size_ == ring_.size()) Grow();
    ring_[(first_ + size_++) % ring_.size()] = std::move(item);
  }
  T Pop() {
    T item = std::move(ring_[first_]);
    first_ = (first_ + 1) % ring_.size();
    --size_;
    return item;
  }

 private:
  void Grow() {
    std::vector<T> larger(ring_.empty() ? 8 : 2 * ring_.size());
    for (size_t i = 0; i < size_; ++i) larger[i] = std::move(ring_[(first_ + i) % ring_.size()]);
    ring_ = std::move(larger);
    first_ = 0;
  }
  std::vector<T> ring_;  // its size is a power of 2
  size_t first_ = 0, size_ = 0;
};

}  // namespace penstock
