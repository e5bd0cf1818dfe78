#include "penstock/kernels/cpu/data_flow/queue.h"

#include <algorithm>

#include "penstock/tensor/elements.h"

namespace penstock {

// One waiting enqueue, dequeue or close. Fields but `token` are guarded by the queue's mutex until it has finished.
struct Queue::Attempt {
  enum Kind { kEnqueue, kClose, kDequeue, kDequeueMany };
  explicit Attempt(Kind k) : kind(k) {}

  const Kind kind;
  std::vector<Tuple> elements;  // still to be enqueued, or dequeued so far
  size_t next = 0;              // first of them that is still to be enqueued
  int64_t wanted = 1;
  bool allow_fewer = false, finished = false;
  Status status;
  Tuple result;
  Done done;
  DoneTuple done_tuple;
  Ref<CancellationManager> cancellation;
  CancellationManager::Token token = 0;

  bool dequeues() const { return kind == kDequeue || kind == kDequeueMany; }
  // It has finished: its cancellation callback is not needed. While that step is being cancelled the callback finds
  // nothing to do, and waiting for it might wait for the caller.
  void Forget() {
    if (cancellation && !cancellation->cancelled()) cancellation->Deregister(token);
  }
  void Call() {
    if (done) done(status);
    if (done_tuple) done_tuple(status, std::move(result));
  }
};

Tensor CopyRow(const Tensor& batch, int64_t i) { return batch.Slice(i, i + 1).Clone(); }

Queue::Queue(Spec spec) : spec_(std::move(spec)) {
  if (!spec_.shapes.empty() && spec_.shapes.size() != spec_.types.size()) {
    throw InvalidArgument("Different number of component types.  Types: ", spec_.types.size(),
                          ", Shapes: ", spec_.shapes.size());
  }
}

void Queue::CheckSharing(const Spec& other) const {
  const auto require = [&](bool same, std::string_view what, const std::string& has, const std::string& wanted) {
    if (!same) {
      throw InvalidArgument("Shared queue '", spec_.name, "' has ", what, " ", has, " but requested ", what,
                            what.ends_with('s') ? " were " : " was ", wanted);
    }
  };
  if (spec_.kind != other.kind) {
    throw InvalidArgument("Shared queue '", spec_.name, "' has type '", spec_.kind,
                          "' that does not match type of Node '", other.name, "': ", other.kind);
  }
  require(std::max<int64_t>(spec_.capacity, -1) == std::max<int64_t>(other.capacity, -1), "capacity",
          StrCat(spec_.capacity), StrCat(other.capacity));
  require(spec_.types == other.types, "component types", StrJoin(spec_.types, ", "), StrJoin(other.types, ", "));
  require(spec_.shapes == other.shapes, "component shapes", StrCat("[", StrJoin(spec_.shapes, ", "), "]"),
          StrCat("[", StrJoin(other.shapes, ", "), "]"));
}

void Queue::CheckTuple(const Tuple& tuple, bool batched) const {
  if (tuple.size() != spec_.types.size()) {
    throw InvalidArgument("Wrong number of components in tuple. Expected ", spec_.types.size(), ", got ", tuple.size());
  }
  for (size_t i = 0; i < tuple.size(); ++i) {
    if (tuple[i].dtype() != spec_.types[i]) {
      throw InvalidArgument("Type mismatch in tuple component ", i, ". Expected ", spec_.types[i], ", got ",
                            tuple[i].dtype());
    }
    if (batched && tuple[i].rank() == 0) {
      throw InvalidArgument("component ", i, " of a batch to enqueue must have a first dimension, but is a scalar");
    }
  }
  CheckShapes(tuple, batched);
  for (size_t i = 1; batched && i < tuple.size(); ++i) {
    if (tuple[i].dim(0) != tuple[0].dim(0)) {
      throw InvalidArgument("All input tensors must have the same size in the 0th dimension. Component ", i, " has ",
                            tuple[i].dim(0), ", and should have ", tuple[0].dim(0));
    }
  }
}

void Queue::CheckShapes(const Tuple& tuple, bool batched) const {
  for (size_t i = 0; i < spec_.shapes.size(); ++i) {
    PartialShape expected = spec_.shapes[i];
    if (batched) {
      std::vector<int64_t> dims = expected.dims();
      dims.insert(dims.begin(), tuple[0].dim(0));
      expected = PartialShape(dims);
    }
    if (!expected.IsCompatibleWith(tuple[i].shape())) {
      throw InvalidArgument("Shape mismatch in tuple component ", i, ". Expected ", expected, ", got ",
                            tuple[i].shape());
    }
  }
}

bool Queue::CanStack() const {
  return !spec_.shapes.empty() &&
         std::all_of(spec_.shapes.begin(), spec_.shapes.end(), [](const PartialShape& s) { return s.fully_known(); });
}

void Queue::Enqueue(Tuple tuple, const Ref<CancellationManager>& cancellation, Done done) {
  CheckTuple(tuple, false);
  auto attempt = std::make_shared<Attempt>(Attempt::kEnqueue);
  attempt->elements.push_back(std::move(tuple));
  attempt->done = std::move(done);
  Add(enqueues_, std::move(attempt), cancellation);
}

void Queue::EnqueueMany(Tuple batch, const Ref<CancellationManager>& cancellation, Done done) {
  CheckTuple(batch, true);
  auto attempt = std::make_shared<Attempt>(Attempt::kEnqueue);
  for (int64_t i = 0; i < batch[0].dim(0); ++i) {
    Tuple element;
    for (const Tensor& component : batch) {
      Tensor row = CopyRow(component, i);
      Shape shape = row.shape();
      shape.RemoveDim(0);
      element.push_back(row.Reshaped(shape));
    }
    attempt->elements.push_back(std::move(element));
  }
  attempt->done = std::move(done);
  if (attempt->elements.empty()) return attempt->Call();
  Add(enqueues_, std::move(attempt), cancellation);
}

void Queue::Dequeue(const Ref<CancellationManager>& cancellation, DoneTuple done) {
  auto attempt = std::make_shared<Attempt>(Attempt::kDequeue);
  attempt->done_tuple = std::move(done);
  Add(dequeues_, std::move(attempt), cancellation);
}

void Queue::DequeueMany(int64_t n, bool allow_fewer, const Ref<CancellationManager>& cancellation, DoneTuple done) {
  if (!CanStack()) {
    throw InvalidArgument(spec_.kind,
                          "'s DequeueMany and DequeueUpTo require the components to have specified shapes.");
  }
  auto attempt = std::make_shared<Attempt>(Attempt::kDequeueMany);
  attempt->wanted = n;
  attempt->allow_fewer = allow_fewer;
  attempt->done_tuple = std::move(done);
  if (n == 0) {
    FinishBatch(*attempt);
    return attempt->Call();
  }
  Add(dequeues_, std::move(attempt), cancellation);
}

void Queue::Close(bool cancel_pending_enqueues, Done done) {
  auto attempt = std::make_shared<Attempt>(Attempt::kClose);
  attempt->done = std::move(done);
  if (!cancel_pending_enqueues) return Add(enqueues_, std::move(attempt), nullptr);
  Attempts cancelled;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    cancelled.swap(enqueues_);
    for (auto& enqueue : cancelled) {
      enqueue->finished = true;
      enqueue->status = Status(Code::kCancelled, "Enqueue operation was cancelled");
    }
  }
  for (auto& enqueue : cancelled) {
    enqueue->Forget();
    enqueue->Call();
  }
  attempt->Call();
  Flush();
}

int64_t Queue::Size() const {
  std::lock_guard lock(mutex_);
  return Stored();
}

bool Queue::IsClosed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

void Queue::Add(Attempts& attempts, std::shared_ptr<Attempt> attempt, const Ref<CancellationManager>& cancellation) {
  if (cancellation) {
    // Registered before the attempt can finish: whoever finishes it deregisters. The queue outlives its attempts.
    attempt->cancellation = cancellation;
    if (!cancellation->Register([self = ShareRef(this), attempt] { self->Cancel(attempt); }, &attempt->token)) {
      attempt->status = Status(Code::kCancelled, attempt->dequeues() ? "Dequeue operation was cancelled"
                                                                     : "Enqueue operation was cancelled");
      return attempt->Call();
    }
  }
  bool cancelled;
  {
    std::lock_guard lock(mutex_);
    cancelled = attempt->finished;  // between registering and here; Cancel has called back
    if (!cancelled) attempts.push_back(std::move(attempt));
  }
  if (!cancelled) Flush();
}

void Queue::Cancel(const std::shared_ptr<Attempt>& attempt) {
  {
    std::lock_guard lock(mutex_);
    if (attempt->finished) return;
    attempt->finished = true;
    Attempts& attempts = attempt->dequeues() ? dequeues_ : enqueues_;
    attempts.erase(std::remove(attempts.begin(), attempts.end(), attempt), attempts.end());
    if (attempt->dequeues()) {
      // What it took already goes back to where it was.
      for (size_t i = attempt->elements.size(); i-- > 0;) PushBack(std::move(attempt->elements[i]));
      attempt->elements.clear();
    }
    attempt->status = Status(
        Code::kCancelled, attempt->dequeues() ? "Dequeue operation was cancelled" : "Enqueue operation was cancelled");
  }
  attempt->Call();
  Flush();
}

void Queue::Flush() {
  std::vector<std::shared_ptr<Attempt>> finished;
  {
    std::lock_guard lock(mutex_);
    bool changed = true;
    while (changed) {
      changed = Advance(enqueues_, finished);
      changed = Advance(dequeues_, finished) || changed;
    }
  }
  for (auto& attempt : finished) {
    attempt->Forget();
    attempt->Call();
  }
}

// Lets attempts go ahead, first come first served, until one must wait. True if anything changed.
bool Queue::Advance(Attempts& attempts, std::vector<std::shared_ptr<Attempt>>& finished) {
  bool changed = false;
  while (!attempts.empty()) {
    Attempt& attempt = *attempts.front();
    const size_t before = attempt.elements.size() - attempt.next;
    try {
      attempt.finished = attempt.dequeues() ? TryDequeue(attempt) : TryEnqueue(attempt);
    } catch (...) {
      attempt.status = CurrentStatus();
      attempt.finished = true;
    }
    if (!attempt.finished) return changed || attempt.elements.size() - attempt.next != before;
    changed = true;
    finished.push_back(std::move(attempts.front()));
    attempts.pop_front();
  }
  return changed;
}

bool Queue::TryEnqueue(Attempt& attempt) {
  if (closed_) {
    attempt.status = Status(Code::kCancelled, attempt.kind == Attempt::kClose
                                                  ? StrCat("Queue '", spec_.name, "' is already closed.")
                                                  : StrCat(spec_.kind, " '", spec_.name, "' is closed."));
    return true;
  }
  if (attempt.kind == Attempt::kClose) {
    closed_ = true;
    return true;
  }
  while (attempt.next < attempt.elements.size() && (spec_.capacity < 0 || Stored() < spec_.capacity)) {
    Push(std::move(attempt.elements[attempt.next++]));
  }
  return attempt.next == attempt.elements.size();
}

bool Queue::TryDequeue(Attempt& attempt) {
  const int64_t missing = attempt.wanted - static_cast<int64_t>(attempt.elements.size());
  if (closed_ && Stored() < missing &&
      !(attempt.allow_fewer && Stored() + static_cast<int64_t>(attempt.elements.size()) > 0)) {
    for (size_t i = attempt.elements.size(); i-- > 0;) PushBack(std::move(attempt.elements[i]));
    attempt.elements.clear();
    attempt.status = Status(
        Code::kOutOfRange, StrCat(spec_.kind, " '", spec_.name, "' is closed and has insufficient elements (requested ",
                                  attempt.wanted, ", current size ", Stored(), ")"));
    return true;
  }
  if (takes_batch_at_once() && Stored() < missing && !closed_) return false;
  const int64_t keep = closed_ ? 0 : min_after_dequeue();
  while (static_cast<int64_t>(attempt.elements.size()) < attempt.wanted && Stored() > keep)
    attempt.elements.push_back(Pop());
  const bool complete =
      static_cast<int64_t>(attempt.elements.size()) == attempt.wanted || (closed_ && attempt.allow_fewer);
  if (!complete) return false;
  if (attempt.kind == Attempt::kDequeue) {
    attempt.result = std::move(attempt.elements[0]);
  } else {
    FinishBatch(attempt);
  }
  return true;
}

void Queue::FinishBatch(Attempt& attempt) {
  for (size_t c = 0; c < spec_.types.size(); ++c) attempt.result.push_back(Stack(attempt.elements, c));
  attempt.elements.clear();
}

Tensor Queue::Stack(const std::vector<Tuple>& elements, size_t c) const {
  Shape shape = spec_.shapes[c].AsShape();
  shape.InsertDim(0, static_cast<int64_t>(elements.size()));
  Tensor batch(spec_.types[c], shape);
  for (size_t i = 0; i < elements.size(); ++i) {
    const Tensor& element = elements[i][c];
    CopyElements(element, 0, element.num_elements(), &batch, static_cast<int64_t>(i) * element.num_elements());
  }
  return batch;
}

}  // namespace penstock
