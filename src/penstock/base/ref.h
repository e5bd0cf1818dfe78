// Intrusive reference counting: one atomic in the object, one pointer in the handle.
#pragma once

#include <atomic>
#include <utility>

namespace penstock {

class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  void AddRef() const { count_.fetch_add(1, std::memory_order_relaxed); }
  void Release() const {
    // The only holder needs no atomic decrement: nobody can copy the handle meanwhile.
    if (count_.load(std::memory_order_acquire) == 1 || count_.fetch_sub(1, std::memory_order_acq_rel) == 1) Destroy();
  }
  bool unique() const { return count_.load(std::memory_order_acquire) == 1; }

 protected:
  virtual ~RefCounted() = default;
  virtual void Destroy() const { delete this; }
  // For objects that may hold others of their kind, which hold others: a chain is destroyed whole, however long it is,
  // without one destructor inside of the other.
  void DestroyInTurn() const;

 private:
  mutable std::atomic<int> count_{1};
};

template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  // Takes over the count that the object was made with.
  explicit Ref(T* fresh) : p_(fresh) {}
  Ref(const Ref& other) : p_(other.p_) {
    if (p_) p_->AddRef();
  }
  template <class U>
  Ref(const Ref<U>& other) : p_(other.get()) {
    if (p_) p_->AddRef();
  }
  Ref(Ref&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  ~Ref() {
    if (p_) p_->Release();
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(p_, other.p_);
    return *this;
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  T* p_ = nullptr;
};

// Another handle of an object that is held already.
template <class T>
Ref<T> ShareRef(T* held) {
  if (held) held->AddRef();
  return Ref<T>(held);
}

template <class T, class... Args>
Ref<T> MakeRef(Args&&... args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace penstock
