// Iterators: their handles, what they give, their state.
#include <atomic>

#include "penstock/base/fork.h"
#include "penstock/data/dataset_graph.h"
#include "penstock/data/dataset_kernel.h"
#include "penstock/data/iterator_resource.h"
#include "penstock/data/snapshot_files.h"
#include "penstock/data/thread_pool.h"
#include "penstock/data/window.h"
#include "penstock/kernel/anonymous.h"
#include "penstock/kernel/may_block.h"
#include "penstock/kernels/cpu/dataset/iterator_handle.h"
#include "penstock/kernels/cpu/dataset/optional.h"
#include "penstock/kernels/cpu/state/named_resource.h"

namespace penstock {
namespace {

using data::ElementSpec;
using data::IteratorResource;

constexpr char kTypeName[] = "tensorflow::data::IteratorResource";

ElementSpec SpecOf(const NodeView& node) {
  return {node.attr<std::vector<DataType>>("output_types"), node.attr<std::vector<PartialShape>>("output_shapes")};
}

// Iterator, IteratorV2: with a name.
class NamedIterator : public NamedResourceKernel<IteratorResource> {
 public:
  explicit NamedIterator(const NodeView& node) : NamedResourceKernel(node, kTypeName), spec_(SpecOf(node)) {}

 protected:
  Ref<IteratorResource> Make(KernelContext&, const std::string&) const override {
    return MakeRef<IteratorResource>(spec_);
  }
  void CheckSharing(KernelContext&, const IteratorResource& object) const override {
    spec_.RequireCompatible(object.spec());
  }

 private:
  const ElementSpec spec_;
};

// One that begins when its handle is first asked for.
class OneShotIterator : public Kernel, public MayBlock {
 public:
  explicit OneShotIterator(const NodeView& node)
      : spec_(SpecOf(node)), factory_(node.attr<FuncRef>("dataset_factory")) {}

  void Run(KernelContext& k) override {
    std::lock_guard lock(mutex_);
    if (!handle_.initialized()) {
      const auto [container, name] = k.ResourceName();
      const auto make = [&]() -> Ref<IteratorResource> {
        auto iterator = MakeRef<IteratorResource>(spec_);
        iterator->Begin(k, MakeDataset(k));
        return iterator;
      };
      Ref<IteratorResource> iterator =
          IsAnonymous(k.node()) ? make() : k.resources().FindOrMake<IteratorResource>(container, name, make);
      spec_.RequireCompatible(iterator->spec());
      handle_ = Tensor(DT_RESOURCE, Shape());
      *handle_.mutable_data<ResourceHandle>() = {k.device().name(), container, name, kTypeName, {}, iterator};
    }
    k.SetOutput(0, handle_);
  }

 private:
  Ref<const data::Dataset> MakeDataset(KernelContext& k) const {
    std::vector<Tensor> results;
    data::NewScope(k)->Bind(factory_)->Call({}, k.step().cancellation, k.step().interrupts_seen, &results);
    if (results.size() != 1)
      throw InvalidArgument("The `dataset_factory` function must return a single scalar of dtype DT_VARIANT.");
    return data::DatasetFrom(results[0]);
  }

  const ElementSpec spec_;
  const FuncRef factory_;
  ForkMutex mutex_;
  Tensor handle_;
};

// Removes a resource from its manager with the last copy of this variant.
class Deleter final : public VariantValue {
 public:
  Deleter(ResourceManager& resources, std::string name) : resources_(resources), name_(std::move(name)) {}
  ~Deleter() override { resources_.Remove("", name_); }
  std::string_view TypeName() const override { return "tensorflow::data::ResourceDeleter"; }

 private:
  ResourceManager& resources_;
  const std::string name_;
};

// An iterator without a name of its own. The first version can be found by its handle's text until it is destroyed, the
// second one as long as its deleter lives; the third lives as long as its handle.
class AnonymousIterator {
 public:
  explicit AnonymousIterator(const NodeView& node)
      : spec_(SpecOf(node)), named_(node.op().name != "AnonymousIteratorV3"), deleted_(node.num_outputs() == 2) {}

  void operator()(KernelContext& k) const {
    static std::atomic<int64_t> next{0};
    const std::string name = StrCat("AnonymousIterator", next.fetch_add(1));
    auto iterator = MakeRef<IteratorResource>(spec_);
    ResourceHandle& handle = *k.Output(0, Shape()).mutable_data<ResourceHandle>();
    handle = {k.device().name(), "", name, kTypeName, {}, iterator};
    if (named_) k.resources().Put("", name, iterator);
    if (deleted_) *k.Output(1, Shape()).mutable_data<Variant>() = Variant(MakeRef<Deleter>(k.resources(), name));
  }

 private:
  const ElementSpec spec_;
  const bool named_, deleted_;
};

struct DeleteIterator {
  void operator()(KernelContext& k) const { k.resources().Remove(k.handle(0).container, k.handle(0).name); }
};

struct MakeIterator {
  void operator()(KernelContext& k) const { k.Lookup<IteratorResource>(1)->Begin(k, data::DatasetFrom(k.input(0))); }
};

struct GetNext {
  void operator()(KernelContext& k) const {
    data::Element element;
    if (!k.Lookup<IteratorResource>(0)->Next(k.step(), &element)) throw OutOfRange("End of sequence");
    data::SetOutputs(k, std::move(element));
  }
};

struct GetNextAsOptional {
  void operator()(KernelContext& k) const {
    data::Element element;
    const bool there = k.Lookup<IteratorResource>(0)->Next(k.step(), &element);
    k.SetOutput(0, there ? data::ToVariant(std::optional(std::move(element)))
                         : data::ToVariant(std::optional<data::Element>()));
  }
};

struct GetDevice {
  void operator()(KernelContext& k) const { k.SetOutput(0, Tensor(TString(k.handle(0).device))); }
};

class ThreadPoolHandle : public NamedResourceKernel<data::ThreadPoolSize> {
 public:
  explicit ThreadPoolHandle(const NodeView& node)
      : NamedResourceKernel(node, "tensorflow::data::ThreadPoolResource"), threads_(node.attr<int64_t>("num_threads")) {
    if (threads_ <= 0) throw InvalidArgument("`num_threads` must be greater than zero.");
  }

 protected:
  Ref<data::ThreadPoolSize> Make(KernelContext&, const std::string&) const override {
    return MakeRef<data::ThreadPoolSize>(threads_);
  }
  void CheckSharing(KernelContext&, const data::ThreadPoolSize&) const override {}

 private:
  const int64_t threads_;
};

// One variant with the whole state; functions with state of their own may be refused.
class Serialize {
 public:
  explicit Serialize(const NodeView& node) : fails_(node.attr_or<int64_t>("external_state_policy", 0) == kFailPolicy) {}
  void operator()(KernelContext& k) const {
    const Ref<IteratorResource> iterator = k.Lookup<IteratorResource>(0);
    if (fails_) iterator->RequireNoState(data::FunctionsOf(k).library());
    Tensor& out = k.Output(0, Shape({1}));
    *out.mutable_data<Variant>() = Variant(data::WithGraphs(k, iterator->Save(k.step())));
  }

 private:
  static constexpr int64_t kFailPolicy = 2;  // of ExternalStatePolicy: WARN, IGNORE, FAIL
  const bool fails_;
};

struct Deserialize {
  void operator()(KernelContext& k) const {
    k.Require(k.input(1).num_elements() == 1, "The state of an iterator must be one variant, but has shape ",
              k.shape(1));
    const auto* state = k.input(1).data<Variant>()->as<data::SavedState>();
    k.Require(state != nullptr, "The variant does not hold the state of an iterator");
    k.Lookup<IteratorResource>(0)->Restore(k.step(), data::WithDatasets(k, ShareRef(state)));
  }
};

// --- optional values
struct OptionalFromValue {
  void operator()(KernelContext& k) const {
    data::Element element;
    for (int i = 0; i < k.num_inputs(); ++i) element.push_back(k.Take(i));
    k.SetOutput(0, data::ToVariant(std::optional(std::move(element))));
  }
};

struct OptionalNone {
  void operator()(KernelContext& k) const { k.SetOutput(0, data::ToVariant(std::optional<data::Element>())); }
};

struct OptionalHasValue {
  void operator()(KernelContext& k) const {
    k.SetOutput(0, Tensor(data::OptionalFrom(k.input(0)).value().has_value()));
  }
};

struct OptionalGetValue {
  void operator()(KernelContext& k) const {
    const auto& value = data::OptionalFrom(k.input(0)).value();
    k.Require(value.has_value(), "The given optional does not have a value.");
    data::SetOutputs(k, *value);
  }
};

}  // namespace

void RegisterIteratorKernels(KernelRegistry& kernels) {
  SetVariantDecoder("tensorflow::Iterator", &data::SavedState::Decode);
  SetVariantDecoder("tensorflow::data::DatasetVariant", [](std::string_view metadata, std::vector<Tensor> tensors) {
    return (metadata.empty() ? data::DecodeKept : data::DecodeSnapshotShard)(metadata, std::move(tensors));
  });
  SetVariantDecoder("tensorflow::data::Optional", &data::Optional::Decode);
  for (const char* op : {"Iterator", "IteratorV2"}) kernels.Add<NamedIterator>(op);
  for (const char* op : {"AnonymousIterator", "AnonymousIteratorV2", "AnonymousIteratorV3"}) {
    kernels.Add<AnonymousIterator>(op);
  }
  kernels.Add<OneShotIterator>("OneShotIterator");
  kernels.Add<DeleteIterator>("DeleteIterator");
  kernels.Add<BlockingKernel<MakeIterator>>("MakeIterator");
  for (const char* op : {"IteratorGetNext", "IteratorGetNextSync"}) kernels.Add<BlockingKernel<GetNext>>(op);
  kernels.Add<BlockingKernel<GetNextAsOptional>>("IteratorGetNextAsOptional");
  kernels.Add<ToStringHandle<IteratorResource>>("IteratorToStringHandle");
  for (const char* op : {"IteratorFromStringHandle", "IteratorFromStringHandleV2"}) {
    kernels.Add<FromStringHandle<IteratorResource, kTypeName>>(op);
  }
  for (const char* op : {"IteratorGetDevice", "ExperimentalIteratorGetDevice"}) kernels.Add<GetDevice>(op);
  kernels.Add<BlockingKernel<Serialize>>("SerializeIterator");
  kernels.Add<BlockingKernel<Deserialize>>("DeserializeIterator");
  for (const char* op : {"ThreadPoolHandle", "ExperimentalThreadPoolHandle"}) kernels.Add<ThreadPoolHandle>(op);
  kernels.Add<OptionalFromValue>("OptionalFromValue");
  kernels.Add<OptionalNone>("OptionalNone");
  kernels.Add<OptionalHasValue>("OptionalHasValue");
  kernels.Add<OptionalGetValue>("OptionalGetValue");
}

}  // namespace penstock
