// Iterators whose elements go to several devices in turns: the i-th to shard i modulo their number.
#include <atomic>
#include <deque>

#include "penstock/data/iterator_resource.h"
#include "penstock/kernel/may_block.h"
#include "penstock/kernels/cpu/dataset/iterator_handle.h"
#include "penstock/kernels/cpu/dataset/optional.h"
#include "penstock/kernels/cpu/state/named_resource.h"

namespace penstock {
namespace {

using data::Element;
using data::ElementSpec;

constexpr char kTypeName[] = "tensorflow::data::MultiDeviceIterator";

class MultiDeviceIterator final : public Resource {
 public:
  MultiDeviceIterator(ElementSpec spec, size_t shards) : spec_(std::move(spec)), shards_(shards) {}
  const ElementSpec& spec() const { return spec_; }
  size_t shards() const { return shards_; }
  std::string DebugString() const override { return "MultiDeviceIterator resource"; }

  // Begins at the dataset's first element; later calls must give the number that this returns.
  int64_t Begin(const KernelContext& k, Ref<const data::Dataset> dataset) {
    spec_.RequireCompatible(dataset->spec());
    auto fresh = std::make_shared<Pass>(std::move(dataset), k, shards_);
    std::lock_guard lock(mutex_);
    pass_.swap(fresh);
    return ++incarnation_;
  }

  // Elements of other shards that come before wait for those who ask for them.
  bool Next(StepServices& step, int64_t shard, int64_t incarnation, Element* element) {
    if (shard < 0 || shard >= static_cast<int64_t>(shards_)) {
      throw InvalidArgument("Invalid shard_num provided. Provided: ", shard, "; there are ", shards_, " devices");
    }
    const std::shared_ptr<Pass> pass = Current(incarnation);
    std::lock_guard turn(pass->turn);
    while (pass->waiting[shard].empty()) {
      Element made;
      if (pass->ended || !pass->iteration.Next(step, &made)) {
        pass->ended = true;
        return false;
      }
      pass->waiting[pass->next].push_back(std::move(made));
      pass->next = (pass->next + 1) % shards_;
    }
    *element = std::move(pass->waiting[shard].front());
    pass->waiting[shard].pop_front();
    return true;
  }

 private:
  // One pass over a dataset.
  struct Pass {
    Pass(Ref<const data::Dataset> dataset, const KernelContext& k, size_t shards)
        : iteration(std::move(dataset), data::NewScope(k), k), waiting(shards) {}
    std::mutex turn;  // of who asks for an element
    data::Iteration iteration;
    std::vector<std::deque<Element>> waiting;
    size_t next = 0;
    bool ended = false;
  };
  std::shared_ptr<Pass> Current(int64_t incarnation) {
    std::lock_guard lock(mutex_);
    if (!pass_) throw FailedPrecondition("The MultiDeviceIterator has not been initialized.");
    if (incarnation != incarnation_) {
      throw InvalidArgument("Invalid incarnation id provided. Provided: ", incarnation, "; Expected: ", incarnation_);
    }
    return pass_;
  }

  const ElementSpec spec_;
  const size_t shards_;
  std::mutex mutex_;
  std::shared_ptr<Pass> pass_;
  int64_t incarnation_ = 0;
};

ElementSpec SpecOf(const NodeView& node) {
  return {node.attr<std::vector<DataType>>("output_types"), node.attr<std::vector<PartialShape>>("output_shapes")};
}

class Named : public NamedResourceKernel<MultiDeviceIterator> {
 public:
  explicit Named(const NodeView& node)
      : NamedResourceKernel(node, kTypeName),
        spec_(SpecOf(node)),
        shards_(node.attr<std::vector<std::string>>("devices").size()) {}

 protected:
  Ref<MultiDeviceIterator> Make(KernelContext&, const std::string&) const override {
    return MakeRef<MultiDeviceIterator>(spec_, shards_);
  }
  void CheckSharing(KernelContext&, const MultiDeviceIterator& object) const override {
    spec_.RequireCompatible(object.spec());
    if (object.shards() != shards_) throw InvalidArgument("MultiDeviceIterator has ", object.shards(), " devices");
  }

 private:
  const ElementSpec spec_;
  const size_t shards_;
};

// The handle keeps the object; the second version's deleter has nothing to do.
class Anonymous {
 public:
  explicit Anonymous(const NodeView& node)
      : spec_(SpecOf(node)), shards_(node.attr<std::vector<std::string>>("devices").size()) {}
  void operator()(KernelContext& k) const {
    static std::atomic<int64_t> next{0};
    *k.Output(0, Shape()).mutable_data<ResourceHandle>() = {
        k.device().name(), "", StrCat("AnonymousMultiDeviceIterator", next.fetch_add(1)),
        kTypeName,         {}, MakeRef<MultiDeviceIterator>(spec_, shards_)};
    if (k.num_outputs() == 2) k.Output(1, Shape());
  }

 private:
  const ElementSpec spec_;
  const size_t shards_;
};

struct Delete {
  void operator()(KernelContext&) const {}
};

struct Begin {
  void operator()(KernelContext& k) const {
    k.Require(k.Int(2) > 0, "max_buffer_size must be greater than 0, but is ", k.Int(2));
    k.SetOutput(0, Tensor(k.Lookup<MultiDeviceIterator>(1)->Begin(k, data::DatasetFrom(k.input(0)))));
  }
};

struct GetNextFromShard {
  void operator()(KernelContext& k) const {
    Element element;
    if (!k.Lookup<MultiDeviceIterator>(0)->Next(k.step(), k.Int(1), k.Int(2), &element))
      throw OutOfRange("End of sequence");
    data::SetOutputs(k, std::move(element));
  }
};

}  // namespace

void RegisterMultiDeviceIteratorKernels(KernelRegistry& kernels) {
  kernels.Add<Named>("MultiDeviceIterator");
  kernels.Add<Anonymous>("AnonymousMultiDeviceIterator");
  kernels.Add<Anonymous>("AnonymousMultiDeviceIteratorV3");
  kernels.Add<Delete>("DeleteMultiDeviceIterator");
  kernels.Add<ToStringHandle<MultiDeviceIterator>>("MultiDeviceIteratorToStringHandle");
  kernels.Add<FromStringHandle<MultiDeviceIterator, kTypeName>>("MultiDeviceIteratorFromStringHandle");
  kernels.Add<BlockingKernel<Begin>>("MultiDeviceIteratorInit");
  kernels.Add<BlockingKernel<GetNextFromShard>>("MultiDeviceIteratorGetNextFromShard");
}

}  // namespace penstock
