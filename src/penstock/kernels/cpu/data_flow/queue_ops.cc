// The ops on queues. Those that may wait are asynchronous.
#include <algorithm>
#include <cstring>

#include "penstock/base/random.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/data_flow/queue.h"
#include "penstock/kernels/cpu/state/named_resource.h"
#include "penstock/tensor/elements.h"

namespace penstock {
namespace {

Queue::Spec MakeSpec(const NodeView& node) {
  std::string kind = node.op().name;
  if (kind.ends_with("V2")) kind.resize(kind.size() - 2);
  return {kind, std::string(node.name()), node.attr<std::vector<DataType>>("component_types"),
          node.attr<std::vector<PartialShape>>("shapes"), node.attr<int64_t>("capacity")};
}

class QueueKernel : public NamedResourceKernel<Queue> {
 public:
  explicit QueueKernel(const NodeView& node)
      : NamedResourceKernel(node, "tensorflow::QueueInterface"), spec_(MakeSpec(node)) {}

 protected:
  virtual Ref<Queue> MakeQueue(const Queue::Spec& spec) const { return MakeRef<FifoQueue>(spec); }
  Ref<Queue> Make(KernelContext&, const std::string& name) const final { return MakeQueue(Named(name)); }
  void CheckSharing(KernelContext& k, const Queue& queue) const final {
    queue.CheckSharing(Named(k.ResourceName().second));
  }
  Queue::Spec spec_;

 private:
  Queue::Spec Named(const std::string& name) const {
    Queue::Spec spec = spec_;
    spec.name = name;
    return spec;
  }
};

// Gives a random element, which the last one replaces.
class ShuffleQueue : public Queue {
 public:
  ShuffleQueue(Spec spec, int64_t keep, int64_t seed, int64_t seed2)
      : Queue(std::move(spec)), keep_(keep), generator_(seed, seed2), singles_(generator_.Reserve(0)) {}

 protected:
  void Push(Tuple tuple) override { elements_.push_back(std::move(tuple)); }
  Tuple Pop() override {
    const size_t i = singles_() % elements_.size();
    std::swap(elements_[i], elements_.back());
    Tuple tuple = std::move(elements_.back());
    elements_.pop_back();
    return tuple;
  }
  int64_t Stored() const override { return static_cast<int64_t>(elements_.size()); }
  int64_t min_after_dequeue() const override { return keep_; }

 private:
  const int64_t keep_;
  SharedPhilox generator_;
  PhiloxSingles singles_;
  std::vector<Tuple> elements_;
};

class ShuffleQueueKernel : public QueueKernel {
 public:
  explicit ShuffleQueueKernel(const NodeView& node)
      : QueueKernel(node),
        keep_(node.attr<int64_t>("min_after_dequeue")),
        seed_(node.attr<int64_t>("seed")),
        seed2_(node.attr<int64_t>("seed2")) {
    if (keep_ < 0) throw InvalidArgument("min_after_dequeue ", keep_, " must be >= 0");
    if (spec_.capacity >= 0 && keep_ >= spec_.capacity) {
      throw InvalidArgument("min_after_dequeue ", keep_, " must be < capacity ", spec_.capacity);
    }
  }

 protected:
  Ref<Queue> MakeQueue(const Queue::Spec& spec) const override {
    return MakeRef<ShuffleQueue>(spec, keep_, seed_, seed2_);
  }

 private:
  const int64_t keep_, seed_, seed2_;
};

// Pads the elements of a batch with zeros to the size of the largest.
class PaddingQueue : public FifoQueue {
 public:
  using FifoQueue::FifoQueue;

 protected:
  bool CanStack() const override {
    return !spec().shapes.empty() && std::all_of(spec().shapes.begin(), spec().shapes.end(),
                                                 [](const PartialShape& s) { return s.known_rank(); });
  }
  Tensor Stack(const std::vector<Tuple>& elements, size_t c) const override {
    std::vector<int64_t> dims = spec().shapes[c].dims();
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] >= 0) continue;
      dims[d] = 0;
      for (const Tuple& element : elements) dims[d] = std::max(dims[d], element[c].dim(static_cast<int>(d)));
    }
    const Shape one(dims);
    dims.insert(dims.begin(), static_cast<int64_t>(elements.size()));
    Tensor batch(spec().types[c], Shape(dims));
    if (IsPod(batch.dtype()) && batch.bytes() > 0) std::memset(batch.mutable_raw(), 0, batch.bytes());
    for (size_t i = 0; i < elements.size(); ++i) {
      CopyCorner(elements[i][c], one, &batch, static_cast<int64_t>(i) * one.num_elements());
    }
    return batch;
  }

 private:
  // `from` into the corner of a box of shape `box` that begins at element `at`.
  static void CopyCorner(const Tensor& from, const Shape& box, Tensor* to, int64_t at) {
    const int rank = from.rank();
    const int64_t run = rank > 0 ? from.dim(rank - 1) : 1;
    for (int64_t i = 0; i < from.num_elements(); i += run) {
      int64_t rest = i, stride = 1, offset = at;
      for (int d = rank - 1; d >= 0; --d) {
        offset += rest % from.dim(d) * stride;
        rest /= from.dim(d);
        stride *= box[d];
      }
      CopyElements(from, i, run, to, offset);
    }
  }
};

class PaddingQueueKernel : public QueueKernel {
 public:
  explicit PaddingQueueKernel(const NodeView& node) : QueueKernel(node) {
    if (spec_.shapes.size() != spec_.types.size()) {
      throw InvalidArgument("Shapes must be provided for all components, but received ", spec_.types.size(),
                            " dtypes and ", spec_.shapes.size(), " shapes.");
    }
  }

 protected:
  Ref<Queue> MakeQueue(const Queue::Spec& spec) const override { return MakeRef<PaddingQueue>(spec); }
};

class PriorityQueueKernel : public QueueKernel {
 public:
  explicit PriorityQueueKernel(const NodeView& node) : QueueKernel(node) {
    if (spec_.shapes.size() != spec_.types.size()) {
      throw InvalidArgument("Priority queues need a shape for each of their ", spec_.types.size(), " components");
    }
    spec_.types.insert(spec_.types.begin(), DT_INT64);
    spec_.shapes.insert(spec_.shapes.begin(), PartialShape({}));
  }

 protected:
  Ref<Queue> MakeQueue(const Queue::Spec& spec) const override { return MakeRef<PriorityQueue>(spec); }
};

Ref<Queue> QueueOf(KernelContext& k) { return NamedResource<Queue>(k, 0); }

void RequireNoTimeout(const NodeView& node) {
  if (node.attr<int64_t>("timeout_ms") != -1) throw InvalidArgument("Timeout not supported yet.");
}

// What follows the handle. A queue outlives the step, so memory that is only lent to it is copied.
Queue::Tuple Components(KernelContext& k) {
  Queue::Tuple tuple;
  for (int i = 1; i < k.num_inputs(); ++i) tuple.push_back(k.CanTake(i) ? k.Take(i) : k.input(i).Clone());
  return tuple;
}

template <bool kMany>
class Enqueue : public AsyncKernel {
 public:
  explicit Enqueue(const NodeView& node) { RequireNoTimeout(node); }
  void RunAsync(KernelContext& k, Done done) override {
    Ref<Queue> queue = QueueOf(k);
    if (kMany) {
      Queue::Tuple batch;
      for (int i = 1; i < k.num_inputs(); ++i) batch.push_back(k.input(i));
      queue->EnqueueMany(std::move(batch), k.step().cancellation, std::move(done));
    } else {
      queue->Enqueue(Components(k), k.step().cancellation, std::move(done));
    }
  }
};

enum DequeueKind { kOne, kBatch, kUpTo };

template <DequeueKind kKind>
class Dequeue : public AsyncKernel {
 public:
  explicit Dequeue(const NodeView& node) : types_(node.attr<std::vector<DataType>>("component_types")) {
    RequireNoTimeout(node);
  }
  void RunAsync(KernelContext& k, Done done) override {
    Ref<Queue> queue = QueueOf(k);
    if (queue->spec().types != types_) [[unlikely]] {
      throw InvalidArgument("Type mismatch: the queue holds ", StrJoin(queue->spec().types, ", "),
                            " but the outputs are ", StrJoin(types_, ", "));
    }
    Queue::DoneTuple finish = [&k, done = std::move(done)](Status status, Queue::Tuple tuple) {
      if (status.ok()) {
        for (size_t i = 0; i < tuple.size(); ++i) k.SetOutput(static_cast<int>(i), std::move(tuple[i]));
      }
      done(std::move(status));
    };
    if (kKind == kOne) return queue->Dequeue(k.step().cancellation, std::move(finish));
    const int64_t n = k.Int(1);
    k.Require(n >= 0, kKind == kUpTo ? "DequeueUpToOp" : "DequeueManyOp", " requested ", n, " < 0 elements");
    queue->DequeueMany(n, kKind == kUpTo, k.step().cancellation, std::move(finish));
  }

 private:
  const std::vector<DataType> types_;
};

class Close : public AsyncKernel {
 public:
  explicit Close(const NodeView& node) : cancel_(node.attr<bool>("cancel_pending_enqueues")) {}
  void RunAsync(KernelContext& k, Done done) override { QueueOf(k)->Close(cancel_, std::move(done)); }

 private:
  const bool cancel_;
};

struct Size {
  void operator()(KernelContext& k) const { k.SetOutput(0, Tensor(static_cast<int32_t>(QueueOf(k)->Size()))); }
};
struct IsClosed {
  void operator()(KernelContext& k) const { k.SetOutput(0, Tensor(QueueOf(k)->IsClosed())); }
};

}  // namespace

void RegisterQueueKernels(KernelRegistry& kernels) {
  for (const char* version : {"", "V2"}) {
    kernels.Add<QueueKernel>(StrCat("FIFOQueue", version));
    kernels.Add<ShuffleQueueKernel>(StrCat("RandomShuffleQueue", version));
    kernels.Add<PaddingQueueKernel>(StrCat("PaddingFIFOQueue", version));
    kernels.Add<PriorityQueueKernel>(StrCat("PriorityQueue", version));
    kernels.Add<Enqueue<false>>(StrCat("QueueEnqueue", version));
    kernels.Add<Enqueue<true>>(StrCat("QueueEnqueueMany", version));
    kernels.Add<Dequeue<kOne>>(StrCat("QueueDequeue", version));
    kernels.Add<Dequeue<kBatch>>(StrCat("QueueDequeueMany", version)).HostInput(1);
    kernels.Add<Dequeue<kUpTo>>(StrCat("QueueDequeueUpTo", version)).HostInput(1);
    kernels.Add<Close>(StrCat("QueueClose", version));
    kernels.Add<Size>(StrCat("QueueSize", version)).HostOutput(0);
    kernels.Add<IsClosed>(StrCat("QueueIsClosed", version)).HostOutput(0);
  }
}

}  // namespace penstock
