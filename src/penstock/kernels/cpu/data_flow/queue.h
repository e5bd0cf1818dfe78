// Queues of tuples of tensors. Whoever cannot enqueue or dequeue at once waits as an entry of a list, not as a thread.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "penstock/kernel/services.h"

namespace penstock {

class Queue : public Resource {
 public:
  using Tuple = std::vector<Tensor>;
  using Done = std::function<void(Status)>;
  using DoneTuple = std::function<void(Status, Tuple)>;

  struct Spec {
    std::string kind;  // "FIFOQueue": named in messages
    std::string name;
    std::vector<DataType> types;
    std::vector<PartialShape> shapes;  // empty: anything
    int64_t capacity = -1;             // negative: unbounded
  };
  explicit Queue(Spec spec);

  const Spec& spec() const { return spec_; }
  // InvalidArgument unless a node with these attributes may share this queue.
  virtual void CheckSharing(const Spec& other) const;

  // `cancellation` may be null. `done` is called once, perhaps before the call returns. InvalidArgument is thrown for
  // tuples that do not fit.
  void Enqueue(Tuple tuple, const Ref<CancellationManager>& cancellation, Done done);
  // Each tensor holds elements along its first dimension.
  void EnqueueMany(Tuple batch, const Ref<CancellationManager>& cancellation, Done done);
  void Dequeue(const Ref<CancellationManager>& cancellation, DoneTuple done);
  // n elements stacked along a new first dimension; with `allow_fewer`, what is left of a closed queue.
  void DequeueMany(int64_t n, bool allow_fewer, const Ref<CancellationManager>& cancellation, DoneTuple done);
  void Close(bool cancel_pending_enqueues, Done done);
  int64_t Size() const;
  bool IsClosed() const;
  std::string DebugString() const override { return StrCat(spec_.kind, " '", spec_.name, "'"); }

 protected:
  // The storage; called under the mutex.
  virtual void Push(Tuple tuple) = 0;
  virtual void PushBack(Tuple tuple) { Push(std::move(tuple)); }  // undoes a Pop
  virtual Tuple Pop() = 0;
  virtual int64_t Stored() const = 0;
  // How many elements must stay behind while the queue is open.
  virtual int64_t min_after_dequeue() const { return 0; }
  // Whether a batch waits until the queue holds all its elements, instead of taking them as they come.
  virtual bool takes_batch_at_once() const { return false; }
  // One tensor of the elements' component `c`.
  virtual Tensor Stack(const std::vector<Tuple>& elements, size_t c) const;
  virtual void CheckShapes(const Tuple& tuple, bool batched) const;
  virtual bool CanStack() const;

 private:
  struct Attempt;
  using Attempts = std::deque<std::shared_ptr<Attempt>>;
  void CheckTuple(const Tuple& tuple, bool batched) const;
  void Add(Attempts& attempts, std::shared_ptr<Attempt> attempt, const Ref<CancellationManager>& cancellation);
  void Cancel(const std::shared_ptr<Attempt>& attempt);
  void Flush();
  bool Advance(Attempts& attempts, std::vector<std::shared_ptr<Attempt>>& finished);
  bool TryEnqueue(Attempt& attempt);
  bool TryDequeue(Attempt& attempt);
  void FinishBatch(Attempt& attempt);

  const Spec spec_;
  mutable std::mutex mutex_;
  bool closed_ = false;
  Attempts enqueues_, dequeues_;
};

// First in, first out.
class FifoQueue : public Queue {
 public:
  using Queue::Queue;

 protected:
  void Push(Tuple tuple) override { elements_.push_back(std::move(tuple)); }
  void PushBack(Tuple tuple) override { elements_.push_front(std::move(tuple)); }
  Tuple Pop() override {
    Tuple first = std::move(elements_.front());
    elements_.pop_front();
    return first;
  }
  int64_t Stored() const override { return static_cast<int64_t>(elements_.size()); }

 private:
  std::deque<Tuple> elements_;
};

// The smallest first component (an int64) first; equal ones in the order that TensorFlow's heap gives them.
class PriorityQueue : public Queue {
 public:
  using Queue::Queue;

 protected:
  void Push(Tuple tuple) override {
    const int64_t priority = tuple[0].scalar<int64_t>();
    heap_.emplace_back(priority, std::move(tuple));
    std::push_heap(heap_.begin(), heap_.end(), Later);
  }
  Tuple Pop() override {
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    Tuple first = std::move(heap_.back().second);
    heap_.pop_back();
    return first;
  }
  int64_t Stored() const override { return static_cast<int64_t>(heap_.size()); }
  bool takes_batch_at_once() const override { return true; }  // so that each batch is sorted

 private:
  using Prioritized = std::pair<int64_t, Tuple>;
  static bool Later(const Prioritized& a, const Prioritized& b) { return a.first > b.first; }
  std::vector<Prioritized> heap_;
};

// Element i along dimension 0 as a tensor of its own.
Tensor CopyRow(const Tensor& batch, int64_t i);

}  // namespace penstock
