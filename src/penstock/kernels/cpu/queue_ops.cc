// The ops on queues. Those that may wait are asynchronous.
#include "penstock/kernels/cpu/all.h"
#include "penstock/kernels/cpu/queue.h"

namespace penstock {
namespace {

Queue::Spec MakeSpec(const NodeView& node) {
  std::string kind = node.op().name;
  if (kind.ends_with("V2")) kind.resize(kind.size() - 2);
  return {kind, std::string(node.name()), node.attr<std::vector<DataType>>("component_types"),
          node.attr<std::vector<PartialShape>>("shapes"), node.attr<int64_t>("capacity")};
}

// Makes the queue (or finds the one of that name) when it first runs.
class QueueKernel : public Kernel {
 public:
  explicit QueueKernel(const NodeView& node) : spec_(MakeSpec(node)), resource_(node.output_type(0) == DT_RESOURCE) {}

  void Run(KernelContext& k) override {
    std::lock_guard lock(mutex_);
    if (!queue_) Find(k);
    if (resource_) {
      k.SetOutput(0, handle_);
    } else {
      k.SetRef(0, ref_);
    }
  }

 protected:
  virtual Ref<Queue> Make(const Queue::Spec& spec) const { return MakeRef<FifoQueue>(spec); }
  const Queue::Spec spec_;

 private:
  void Find(KernelContext& k) {
    const auto [container, name] = k.ResourceName();
    Queue::Spec spec = spec_;
    spec.name = name;
    Ref<Queue> queue = k.resources().FindOrMake<Queue>(container, name, [&] { return Make(spec); });
    queue->CheckSharing(spec);
    if (resource_) {
      handle_ = Tensor(DT_RESOURCE, Shape());
      *handle_.mutable_data<ResourceHandle>() = {
          k.device().name(), container, name, "tensorflow::QueueInterface", {}, queue};
    } else {
      ref_ = MakeRef<VariableSlot>();
      ref_->dtype = DT_STRING;
      ref_->name = name;
      ref_->value = Tensor::Vector<TString>({TString(container), TString(name)});
    }
    queue_ = queue;
  }

  const bool resource_;
  std::mutex mutex_;
  Ref<Queue> queue_;
  Tensor handle_;
  Ref<VariableSlot> ref_;
};

Ref<Queue> QueueOf(KernelContext& k) {
  if (!k.is_ref(0)) return k.Lookup<Queue>(0);
  VariableSlot& slot = k.ref(0);
  std::lock_guard lock(slot.mutex);
  k.Require(slot.value.dtype() == DT_STRING && slot.value.num_elements() == 2, "Queue handle must have two elements");
  const TString* names = slot.value.data<TString>();
  Ref<Queue> queue = k.resources().FindAs<Queue>(names[0], names[1]);
  if (!queue) throw NotFound("Resource ", names[0].view(), "/", names[1].view(), " does not exist");
  return queue;
}

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
    k.Require(queue->spec().types == types_, "Type mismatch: the queue holds ", StrJoin(queue->spec().types, ", "),
              " but the outputs are ", StrJoin(types_, ", "));
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
