// Batches of serialized Examples as their features: a parallel map of a function that is made here.
#include <map>

#include "penstock/data/fused_function.h"
#include "penstock/data/parallel_map.h"

namespace penstock::data {
namespace {

Tensor StringVector(const std::vector<std::string>& values) {
  Tensor t(DT_STRING, Shape({static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) t.mutable_data<TString>()[i] = TString(values[i]);
  return t;
}

// The function from a vector of serialized Examples to the features' tensors, in the order of their keys: dense ones as
// they are, sparse and ragged ones as variants.
CapturedFunction ParsingFunction(DatasetArgs& args, const ElementSpec& serialized) {
  const auto sparse_keys = args.attr<std::vector<std::string>>("sparse_keys"),
             dense_keys = args.attr<std::vector<std::string>>("dense_keys"),
             ragged_keys = args.attr<std::vector<std::string>>("ragged_keys");
  const auto sparse_types = args.attr<std::vector<DataType>>("sparse_types"),
             ragged_types = args.attr<std::vector<DataType>>("ragged_value_types"),
             split_types = args.attr<std::vector<DataType>>("ragged_split_types");
  args.Require(sparse_keys.size() == sparse_types.size() && ragged_keys.size() == ragged_types.size() &&
                   ragged_keys.size() == split_types.size(),
               "There must be as many keys as types of sparse and ragged features");
  const auto num_sparse = static_cast<int64_t>(sparse_keys.size());

  FunctionBuilder builder(args.functions().library());
  std::vector<Endpoint> inputs = builder.Arguments(serialized);
  for (const Tensor& value :
       {StringVector({}), StringVector(sparse_keys), StringVector(dense_keys), StringVector(ragged_keys)}) {
    inputs.push_back(builder.Constant(value));
  }
  builder.Capture(args.tensors("dense_defaults"), &inputs);
  const std::vector<Endpoint> parsed =
      builder.Outputs("ParseExampleV2", inputs,
                      {{"Tdense", args.attr<std::vector<DataType>>("Tdense")},
                       {"num_sparse", num_sparse},
                       {"sparse_types", sparse_types},
                       {"ragged_value_types", ragged_types},
                       {"ragged_split_types", split_types},
                       {"dense_shapes", args.attr<std::vector<PartialShape>>("dense_shapes")}});

  std::map<std::string, Endpoint> features;
  for (int64_t i = 0; i < num_sparse; ++i) {
    features[sparse_keys[i]] = builder.Op(
        "SerializeSparse", {parsed[i], parsed[num_sparse + i], parsed[2 * num_sparse + i]}, {{"out_type", DT_VARIANT}});
  }
  const size_t dense = 3 * sparse_keys.size(), ragged = dense + dense_keys.size();
  for (size_t i = 0; i < dense_keys.size(); ++i) features[dense_keys[i]] = parsed[dense + i];
  for (size_t i = 0; i < ragged_keys.size(); ++i) {
    features[ragged_keys[i]] =
        builder.Op("RaggedTensorToVariant", {parsed[ragged + ragged_keys.size() + i], parsed[ragged + i]},
                   {{"RAGGED_RANK", 1}, {"batched_input", false}});
  }
  std::vector<Endpoint> results;
  for (const auto& [key, value] : features) results.push_back(value);
  const FuncRef function = builder.Finish("parse_examples", std::move(results));
  return {std::make_shared<const FuncRef>(function), builder.captured(), args.TransformationName(), builder.library()};
}

Ref<Dataset> MakeParseExample(DatasetArgs& args) {
  const Ref<const Dataset> input = args.dataset();
  const int64_t parallelism = args.Int("num_parallel_calls");
  args.Require(parallelism > 0 || parallelism == kAutotune, "num_parallel_calls must be greater than zero.");
  args.Require(input->types() == std::vector<DataType>{DT_STRING},
               "Input dataset should be a dataset of vectors of strings");
  return MakeParallelMap("ParseExample", args.spec(), input, ParsingFunction(args, input->spec()), parallelism,
                         args.Deterministic(), true);
}

}  // namespace

void RegisterParseExampleDatasets(KernelRegistry& kernels) {
  AddDatasetAndTwin<MakeParseExample>(kernels, "ParseExampleDataset");
  AddDataset<MakeParseExample>(kernels, "ParseExampleDatasetV2");
}

}  // namespace penstock::data
