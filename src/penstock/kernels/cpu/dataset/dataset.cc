// What is asked of a dataset as a whole.
#include "penstock/data/access.h"
#include "penstock/data/batching.h"
#include "penstock/data/dataset_graph.h"
#include "penstock/data/fingerprint.h"
#include "penstock/data/function.h"
#include "penstock/data/iterator_resource.h"
#include "penstock/data/remake.h"
#include "penstock/data/snapshot.h"
#include "penstock/io/convert.h"
#include "penstock/io/record_stream.h"
#include "penstock/kernel/may_block.h"
#include "penstock/kernels/cpu/data_flow/lookup_table.h"
#include "penstock/kernels/cpu/dataset/optional.h"

namespace penstock {
namespace {

using data::Element;

struct Cardinality {
  void operator()(KernelContext& k) const { k.SetOutput(0, Tensor(data::DatasetFrom(k.input(0))->Cardinality())); }
};

struct SingleElement {
  void operator()(KernelContext& k) const {
    data::Iteration iteration(data::DatasetFrom(k.input(0)), data::NewScope(k), k);
    Element element, another;
    k.Require(iteration.Next(k.step(), &element), "Dataset was empty.");
    k.Require(!iteration.Next(k.step(), &another), "Dataset had more than one element.");
    data::SetOutputs(k, std::move(element));
  }
};

struct ElementAt {
  void operator()(KernelContext& k) const {
    data::Iteration iteration(data::MakeElementAt(data::DatasetFrom(k.input(0)), k.Int(1)), data::NewScope(k), k);
    Element element;
    iteration.Next(k.step(), &element);
    data::SetOutputs(k, std::move(element));
  }
};

class Reduce {
 public:
  explicit Reduce(const NodeView& node)
      : function_(std::make_shared<const FuncRef>(node.attr<FuncRef>("f"))),
        num_state_(static_cast<int>(node.attr<std::vector<DataType>>("Tstate").size())) {}

  void operator()(KernelContext& k) const {
    data::Iteration iteration(data::DatasetFrom(k.input(0)), data::NewScope(k), k);
    data::CapturedFunction function{function_, {}, "ReduceDataset:", nullptr};
    Element state, element;
    for (int i = 1; i <= num_state_; ++i) state.push_back(k.Take(i));
    for (int i = 1 + num_state_; i < k.num_inputs(); ++i) function.captured.push_back(k.input(i));
    const data::BoundCall call(function, data::Place{iteration.shared_context(), "Iterator::Root"});
    while (iteration.Next(k.step(), &element)) {
      Element args = std::move(state);
      args.insert(args.end(), std::make_move_iterator(element.begin()), std::make_move_iterator(element.end()));
      call(args, &state);
    }
    data::SetOutputs(k, std::move(state));
  }

 private:
  const std::shared_ptr<const FuncRef> function_;
  const int num_state_;
};

// The elements, pairs of scalars, as the table's keys and values.
struct FillTable {
  void operator()(KernelContext& k) const {
    const Ref<LookupTable> table = k.Lookup<LookupTable>(0);
    data::Iteration iteration(data::DatasetFrom(k.input(1)), data::NewScope(k), k);
    data::BatchBuilder all(INT64_MAX);
    Element element;
    while (iteration.Next(k.step(), &element)) {
      data::RequireComponents(element, 2);
      k.Require(element[0].rank() == 0 && element[1].rank() == 0, "Keys and values of a table must be scalars");
      all.Add(std::move(element));
    }
    if (all.size() == 0) throw OutOfRange("The dataset that fills ", table->DebugString(), " has no elements");
    element = all.Finish();
    table->Initialize(element[0], element[1]);
  }
};

// The function of each slice of the arguments; the results are joined again.
class MapDefun {
 public:
  explicit MapDefun(const NodeView& node)
      : function_(node.attr<FuncRef>("f")),
        shapes_(node.attr<std::vector<PartialShape>>("output_shapes")),
        num_args_(static_cast<int>(node.attr<std::vector<DataType>>("Targuments").size())) {}

  void operator()(KernelContext& k) const {
    const int64_t n = k.input(0).rank() > 0 ? k.input(0).dim(0) : 0;
    for (int i = 0; i < num_args_; ++i) {
      k.Require(k.input(i).rank() > 0, "All inputs must have rank at least 1. Input ", i, " has a rank of 0.");
      k.Require(k.input(i).dim(0) == n, "All inputs must have the same dimension 0. Input ", i,
                " has leading dimension ", k.input(i).dim(0), ", while all previous inputs have leading dimension ", n);
    }
    if (n == 0) return Empty(k);
    k.Require(static_cast<int>(shapes_.size()) == k.num_outputs(), "There are ", shapes_.size(), " output_shapes for ",
              k.num_outputs(), " outputs");
    const auto call = data::NewScope(k)->Bind(function_);
    data::BatchBuilder batch(n);
    Element args, results;
    for (int64_t row = 0; row < n; ++row) {
      args.clear();
      for (int i = 0; i < num_args_; ++i) args.push_back(data::Row(k.input(i), row));
      for (int i = num_args_; i < k.num_inputs(); ++i) args.push_back(k.input(i));
      call->Call(args, k.step().cancellation, k.step().interrupts_seen, &results);
      data::RequireComponents(results, shapes_.size());
      for (size_t i = 0; i < results.size(); ++i) {
        k.Require(shapes_[i].IsCompatibleWith(results[i].shape()), "Mismatch in function retval shape, ",
                  results[i].shape(), ", and expected output shape, ", shapes_[i], ".");
      }
      batch.Add(std::move(results));
    }
    data::SetOutputs(k, batch.Finish());
  }

 private:
  void Empty(KernelContext& k) const {
    for (int i = 0; i < k.num_outputs(); ++i) {
      k.Require(shapes_[i].fully_known(), "The shape of output ", i, " is not known without elements");
      Shape shape = shapes_[i].AsShape();
      shape.InsertDim(0, 0);
      k.Output(i, shape);
    }
  }
  const FuncRef function_;
  const std::vector<PartialShape> shapes_;
  const int num_args_;
};

// Writes the elements, scalar strings, to a file of records.
struct ToRecords {
  void operator()(KernelContext& k) const {
    data::Iteration iteration(data::DatasetFrom(k.input(0)), data::NewScope(k), k);
    RecordFile file(k.Scalar<TString>(1).str(), CompressionFromName(k.Scalar<TString>(2).view()));
    Element element;
    while (iteration.Next(k.step(), &element)) {
      k.Require(element.size() == 1 && element[0].dtype() == DT_STRING && element[0].rank() == 0,
                "Elements of the dataset must be scalar strings to be written as records");
      file.Write(element[0].data<TString>()->view());
    }
    file.Close();
  }
};

struct DatasetFingerprint {
  void operator()(KernelContext& k) const {
    k.SetOutput(0, Tensor(data::Fingerprint(*data::DatasetFrom(k.input(0)), data::FunctionsOf(k).library(), "")));
  }
};

class ToGraph {
 public:
  explicit ToGraph(const NodeView& node) {
    constexpr int64_t kFailOnState = 2;  // as TensorFlow numbers its policies
    const bool fails = node.op().FindAttr("external_state_policy")
                           ? node.attr<int64_t>("external_state_policy") == kFailOnState
                           : !node.attr<bool>("allow_stateful");
    policy_ = fails ? data::StatePolicy::kFail : data::StatePolicy::kAllow;
  }
  void operator()(KernelContext& k) const {
    const GraphDef graph = data::GraphOf(*data::DatasetFrom(k.input(0)), data::FunctionsOf(k).library(), policy_);
    k.SetOutput(0, Tensor(TString(SerializeGraphDef(graph))));
  }

 private:
  data::StatePolicy policy_;
};

// Messages are merged by writing them one after the other: what comes later counts.
std::string OptionsOf(const data::Dataset& dataset) {
  std::string options;
  for (const auto& input : dataset.inputs()) options += OptionsOf(*input);
  const data::RecipeView recipe(dataset);
  if (recipe.Is({"OptionsDataset"})) options += recipe.attr<std::string>("serialized_options");
  return options;
}

struct GetOptions {
  void operator()(KernelContext& k) const {
    k.SetOutput(0, Tensor(TString(OptionsOf(*data::DatasetFrom(k.input(0))))));
  }
};

struct FromGraph {
  void operator()(KernelContext& k) const {
    k.SetOutput(0, data::ToVariant(data::DatasetOf(k, ParseGraphDef(k.Scalar<TString>(0).view()))));
  }
};

// All devices hold datasets in the same form.
struct SameDataset {
  void operator()(KernelContext& k) const {
    (void)data::DatasetFrom(k.input(0));
    k.SetOutput(0, k.input(0));
  }
};

// Writes the elements to a directory.
class Save {
 public:
  explicit Save(const NodeView& node)
      : compression_(node.attr<std::string>("compression")),
        shard_(std::make_shared<const FuncRef>(node.attr<FuncRef>("shard_func"))),
        use_shard_(node.attr<bool>("use_shard_func")) {}

  void operator()(KernelContext& k) const {
    std::optional<data::CapturedFunction> shard;
    if (use_shard_) {
      shard = data::CapturedFunction{shard_, {}, "SaveDataset:", data::FunctionsOf(k).own_library()};
      for (int i = 2; i < k.num_inputs(); ++i) shard->captured.push_back(k.input(i));
    }
    data::Iteration iteration(
        data::MakeSave(data::DatasetFrom(k.input(0)), k.Scalar<TString>(1).str(), compression_, std::move(shard)),
        data::NewScope(k), k);
    Element element;
    while (iteration.Next(k.step(), &element)) {
    }
  }

 private:
  const std::string compression_;
  const std::shared_ptr<const FuncRef> shard_;
  const bool use_shard_;
};

}  // namespace

void RegisterDatasetKernels(KernelRegistry& kernels) {
  for (const char* op : {"DatasetToTFRecord", "ExperimentalDatasetToTFRecord"}) {
    kernels.Add<BlockingKernel<ToRecords>>(op);
  }
  for (const char* op : {"DatasetCardinality", "ExperimentalDatasetCardinality"}) kernels.Add<Cardinality>(op);
  kernels.Add<BlockingKernel<SingleElement>>("DatasetToSingleElement");
  kernels.Add<BlockingKernel<ElementAt>>("GetElementAtIndex").HostInput(1);
  kernels.Add<BlockingKernel<Reduce>>("ReduceDataset");
  kernels.Add<BlockingKernel<MapDefun>>("MapDefun");
  kernels.Add<BlockingKernel<FillTable>>("InitializeTableFromDataset");
  kernels.Add<BlockingKernel<Save>>("SaveDataset");
  kernels.Add<GetOptions>("GetOptions");
  for (const char* op : {"DatasetToGraph", "DatasetToGraphV2"}) kernels.Add<ToGraph>(op);
  kernels.Add<DatasetFingerprint>("DatasetFingerprint");
  kernels.Add<BlockingKernel<FromGraph>>("DatasetFromGraph");
  for (const char* op : {"WrapDatasetVariant", "UnwrapDatasetVariant"}) kernels.Add<SameDataset>(op);
}

}  // namespace penstock
