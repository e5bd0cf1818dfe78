// Barriers: tuples whose components come one by one under a key, and leave together when they are complete.
#include <limits>
#include <map>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/data_flow/queue.h"
#include "penstock/kernels/cpu/state/named_resource.h"

namespace penstock {
namespace {

class Barrier : public Resource {
 public:
  Barrier(std::string name, std::vector<DataType> types, std::vector<PartialShape> shapes)
      : name_(std::move(name)), types_(std::move(types)), shapes_(std::move(shapes)) {
    // What is ready waits in the order in which its keys came: (number, key, components...).
    Queue::Spec spec{"PriorityQueue", name_ + "_queue", types_, shapes_, -1};
    spec.types.insert(spec.types.begin(), {DT_INT64, DT_STRING});
    spec.shapes.insert(spec.shapes.begin(), 2, PartialShape({}));
    ready_ = MakeRef<PriorityQueue>(spec);
  }
  const std::vector<DataType>& types() const { return types_; }
  const std::vector<PartialShape>& shapes() const { return shapes_; }
  std::string DebugString() const override { return "barrier '" + name_ + "'"; }
  int64_t ReadySize() const { return ready_->Size(); }
  int64_t IncompleteSize() const {
    std::lock_guard lock(mutex_);
    return static_cast<int64_t>(incomplete_.size());
  }

  void Insert(const Tensor& keys, size_t component, const Tensor& values) {
    if (keys.rank() != 1) throw InvalidArgument("keys must be a vector, but have shape ", keys.shape());
    const int64_t n = keys.num_elements();
    if (n > 0 && values.num_elements() == 0) {
      throw InvalidArgument("Tensors with no elements are not supported ", name_, ": received shape ", values.shape());
    }
    if (values.rank() < 1 || values.dim(0) != n) {
      throw InvalidArgument("values must have a row for each of ", n, " keys, but have shape ", values.shape());
    }
    std::vector<Queue::Tuple> complete;
    bool close;
    {
      std::lock_guard lock(mutex_);
      if (closed_ && (cancelled_ || (n > 0 && incomplete_.empty()))) {
        throw Cancelled("Barrier ", name_, " is closed.  Pending enqueues cancelled: ", cancelled_,
                        ".  Number of new insertions: ", n, ".  Number of incomplete keys: ", incomplete_.size(), ".");
      }
      bool added = false;
      for (int64_t i = 0; i < n; ++i) InsertOne(keys.data<TString>()[i].str(), component, values, i, &added, &complete);
      if (added) ++number_;
      close = closed_ && incomplete_.empty();
    }
    for (Queue::Tuple& tuple : complete) ready_->Enqueue(std::move(tuple), nullptr, ThrowIfError);
    if (close) ready_->Close(false, ThrowIfError);
  }

  void Take(int64_t n, bool allow_fewer, const Ref<CancellationManager>& cancellation, Queue::DoneTuple done) {
    {
      std::lock_guard lock(mutex_);
      if (closed_) {
        int64_t available = ready_->Size();
        if (allow_fewer) {
          n = std::min(n, available);
        } else {
          available += static_cast<int64_t>(incomplete_.size());
        }
        if (available < std::max<int64_t>(n, 1)) {
          throw OutOfRange("Barrier '", name_, "' is closed and has insufficient elements (requested ", n,
                           ", total size ", available, ")");
        }
      }
    }
    ready_->DequeueMany(n, allow_fewer, cancellation, std::move(done));
  }

  void Close(bool cancel, Queue::Done done) {
    {
      std::lock_guard lock(mutex_);
      if (closed_ && (cancelled_ || !cancel)) throw Cancelled("Barrier '", name_, "' is already closed.");
      closed_ = true;
      cancelled_ = cancel;
      if (cancel) incomplete_.clear();
      if (!incomplete_.empty()) return done(Status());  // the last one that is completed closes the queue
    }
    ready_->Close(cancel, std::move(done));
  }

 private:
  struct Incomplete {
    int64_t number;
    Queue::Tuple components;  // those that are there
  };

  void InsertOne(const std::string& key, size_t component, const Tensor& values, int64_t row, bool* added,
                 std::vector<Queue::Tuple>* complete) {
    auto found = incomplete_.find(key);
    if (found == incomplete_.end()) {
      if (closed_) {
        throw Cancelled("Barrier ", name_, " is closed, but attempted to insert a brand new key: ", key,
                        ".  Pending enqueues cancelled: ", cancelled_, ".  Insertion index: ", row,
                        ".  Number of incomplete keys: ", incomplete_.size(), ".");
      }
      *added = true;
      found = incomplete_.emplace(key, Incomplete{number_, Queue::Tuple(types_.size())}).first;
    }
    Tensor& place = found->second.components[component];
    if (place.initialized()) {
      throw InvalidArgument("Key ", key, " already has a value for component ", component, " in barrier ", name_);
    }
    const Tensor value = CopyRow(values, row);
    Shape shape = value.shape();
    shape.RemoveDim(0);
    if (!shapes_[component].IsCompatibleWith(shape)) {
      throw InvalidArgument("Shape mismatch in tuple component ", component + 2, ". Expected ", shapes_[component],
                            ", got ", shape);
    }
    place = value.Reshaped(shape);
    for (const Tensor& other : found->second.components) {
      if (!other.initialized()) return;
    }
    Queue::Tuple tuple = {Tensor(found->second.number), Tensor(TString(key))};
    tuple.insert(tuple.end(), found->second.components.begin(), found->second.components.end());
    complete->push_back(std::move(tuple));
    incomplete_.erase(found);
  }

  const std::string name_;
  const std::vector<DataType> types_;
  const std::vector<PartialShape> shapes_;
  mutable std::mutex mutex_;
  bool closed_ = false, cancelled_ = false;
  int64_t number_ = std::numeric_limits<int64_t>::min();  // of the next insertion that brings new keys
  std::map<std::string, Incomplete> incomplete_;
  Ref<PriorityQueue> ready_;
};

class BarrierKernel : public NamedResourceKernel<Barrier> {
 public:
  explicit BarrierKernel(const NodeView& node)
      : NamedResourceKernel(node, "tensorflow::barrier::Barrier"),
        types_(node.attr<std::vector<DataType>>("component_types")),
        shapes_(node.attr<std::vector<PartialShape>>("shapes")) {
    if (shapes_.size() != types_.size()) throw InvalidArgument("All of the component shapes must be specified");
    if (node.attr<int64_t>("capacity") != -1) {
      throw InvalidArgument(
          "Barrier only accepts capacity=-1.  Feed the inputs to your Barrier through a queue to enforce a limited "
          "capacity.");
    }
  }

 protected:
  Ref<Barrier> Make(KernelContext&, const std::string& name) const override {
    return MakeRef<Barrier>(name, types_, shapes_);
  }
  void CheckSharing(KernelContext& k, const Barrier& barrier) const override {
    k.Require(barrier.types() == types_, "Shared barrier '", k.ResourceName().second, "' has component types ",
              StrJoin(barrier.types(), ", "), " but requested component types were ", StrJoin(types_, ", "));
    k.Require(barrier.shapes() == shapes_, "Shared barrier '", k.ResourceName().second, "' has component shapes ",
              StrJoin(barrier.shapes(), ", "), " but requested component shapes were ", StrJoin(shapes_, ", "));
  }

 private:
  const std::vector<DataType> types_;
  const std::vector<PartialShape> shapes_;
};

Ref<Barrier> BarrierOf(KernelContext& k) { return NamedResource<Barrier>(k, 0); }

struct InsertMany {
  int64_t component;
  explicit InsertMany(const NodeView& node) : component(node.attr<int64_t>("component_index")) {}
  void operator()(KernelContext& k) const {
    const Ref<Barrier> barrier = BarrierOf(k);
    const auto count = static_cast<int64_t>(barrier->types().size());
    k.Require(component >= 0 && component < count, "The component ID is out of range ", component,
              " > num_components (= ", count, ")");
    const DataType type = barrier->types()[component];
    k.Require(k.input(2).dtype() == type, "Signature mismatch: component ", component, " of the barrier has type ",
              type, ", not ", k.input(2).dtype());
    barrier->Insert(k.input(1), component, k.input(2));
  }
};

class TakeMany : public AsyncKernel {
 public:
  explicit TakeMany(const NodeView& node) : allow_fewer_(node.attr<bool>("allow_small_batch")) {
    if (node.attr<int64_t>("timeout_ms") != -1) throw InvalidArgument("Timeout not supported yet.");
  }
  void RunAsync(KernelContext& k, Done done) override {
    const Ref<Barrier> barrier = BarrierOf(k);
    k.Require(k.shape(1).rank() == 0, "num_elements must be a scalar.");
    const int64_t n = k.Int(1);
    k.Require(n >= 0, "num_elements must not be negative, but is ", n);
    k.Require(static_cast<int>(barrier->types().size()) + 2 == k.num_outputs(), "Signature mismatch: the barrier has ",
              barrier->types().size(), " components");
    for (int i = 2; i < k.num_outputs(); ++i) {
      k.Require(barrier->types()[i - 2] == k.node().output_type(i), "Signature mismatch: component ", i - 2,
                " of the barrier has type ", barrier->types()[i - 2], ", not ", k.node().output_type(i));
    }
    barrier->Take(n, allow_fewer_, k.step().cancellation,
                  [&k, done = std::move(done)](Status status, Queue::Tuple tuple) {
                    if (status.ok()) {
                      for (size_t i = 0; i < tuple.size(); ++i) k.SetOutput(static_cast<int>(i), std::move(tuple[i]));
                    }
                    done(std::move(status));
                  });
  }

 private:
  const bool allow_fewer_;
};

class Close : public AsyncKernel {
 public:
  explicit Close(const NodeView& node) : cancel_(node.attr<bool>("cancel_pending_enqueues")) {}
  void RunAsync(KernelContext& k, Done done) override { BarrierOf(k)->Close(cancel_, std::move(done)); }

 private:
  const bool cancel_;
};

struct ReadySize {
  void operator()(KernelContext& k) const { k.SetOutput(0, Tensor(static_cast<int32_t>(BarrierOf(k)->ReadySize()))); }
};
struct IncompleteSize {
  void operator()(KernelContext& k) const {
    k.SetOutput(0, Tensor(static_cast<int32_t>(BarrierOf(k)->IncompleteSize())));
  }
};

}  // namespace

void RegisterBarrierKernels(KernelRegistry& kernels) {
  kernels.Add<BarrierKernel>("Barrier");
  kernels.Add<InsertMany>("BarrierInsertMany");
  kernels.Add<TakeMany>("BarrierTakeMany").HostInput(1);
  kernels.Add<Close>("BarrierClose");
  kernels.Add<ReadySize>("BarrierReadySize").HostOutput(0);
  kernels.Add<IncompleteSize>("BarrierIncompleteSize").HostOutput(0);
}

}  // namespace penstock
