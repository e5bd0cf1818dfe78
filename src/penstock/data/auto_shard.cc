// Each worker's part of a dataset: its files where the dataset reads some, else its share of the elements.
#include <set>
#include <string>

#include "penstock/data/rewrites.h"

namespace penstock::data {
namespace {

enum Policy : int64_t { kOff = -1, kAuto = 0, kFile = 1, kData = 2, kHint = 3 };

constexpr std::string_view kReaders[] = {
    "ArrayRecordDataset",         "CSVDataset",      "CSVDatasetV2",    "FixedLengthRecordDataset",
    "FixedLengthRecordDatasetV2", "TextLineDataset", "TFRecordDataset", "TFRecordDatasetV2"};
constexpr std::string_view kWithFunctions[] = {"FlatMapDataset",
                                               "InterleaveDataset",
                                               "LegacyParallelInterleaveDatasetV2",
                                               "ParallelInterleaveDataset",
                                               "ParallelInterleaveDatasetV2",
                                               "ParallelInterleaveDatasetV3",
                                               "ParallelInterleaveDatasetV4"};
constexpr std::string_view kUnshardable[] = {"GeneratorDataset", "RangeDataset", "SparseTensorSliceDataset",
                                             "TensorDataset", "TensorSliceDataset"};

// Whether the datasets that a function makes read files.
bool Reads(const FuncRef& function, const FunctionLibraryPtr& library, std::set<std::string>* seen) {
  if (!seen->insert(function.name).second) return false;
  const FunctionDef* found = library ? library->Find(function.name) : nullptr;
  if (!found) return false;
  for (const NodeDef& node : found->nodes) {
    if (IsOp(node.op, kReaders)) return true;
    if (!IsOp(node.op, kWithFunctions)) continue;
    const AttrValue* f = node.attrs.Find("f");
    if (f && f->If<FuncRef>() && Reads(*f->If<FuncRef>(), library, seen)) return true;
  }
  return false;
}

class Sharder {
 public:
  Sharder(KernelContext& k, int64_t workers, int64_t index) : remaker_(k), workers_(workers), index_(index) {}

  Ref<const Dataset> ByData(const Tensor& dataset) const {
    return remaker_.Make("ShardDataset", {}, AsDataset(dataset)->spec(), {dataset, Tensor(workers_), Tensor(index_)},
                         {});
  }

  Ref<const Dataset> ByFile(const Dataset& dataset) const {
    const RecipeView d(dataset);
    const Recipe& recipe = dataset.recipe();
    if (!recipe.op || d.Is(kUnshardable)) {
      throw NotFound("Found an unshardable source dataset: ", recipe.op ? recipe.op->name : dataset.name());
    }
    std::vector<Tensor> inputs = recipe.inputs;
    if (d.Is(kReaders)) {
      inputs[0] = Mine(d.Input("filenames"));
      if (d.Has("byte_offsets") && d.Input("byte_offsets").num_elements() > 0) {
        inputs[RecipeIndex(recipe, "byte_offsets")] = Mine(d.Input("byte_offsets"));
      }
      return remaker_.With(dataset, std::move(inputs));
    }
    std::set<std::string> seen;
    if (d.Is(kWithFunctions) && Reads(d.attr<FuncRef>("f"), remaker_.LibraryOf(dataset), &seen)) {
      inputs[0] = ToVariant(ByData(inputs[0]));
      return remaker_.With(dataset, std::move(inputs));
    }
    bool any = false;
    for (Tensor& input : inputs) {
      const Dataset* before = AsDataset(input);
      if (!before || (any && !d.Is({"ConcatenateDataset", "ZipDataset"}))) continue;
      input = ToVariant(ByFile(*before));
      any = true;
    }
    if (!any) {
      throw NotFound("Did not find a shardable source, walked to a node which is not a dataset: ", recipe.op->name,
                     ". Consider either turning off auto-sharding or switching the auto_shard_policy to DATA to shard "
                     "this dataset.");
    }
    return remaker_.With(dataset, std::move(inputs));
  }

  // Shards that the program left to be numbered: shard(SHARD_HINT, SHARD_HINT).
  Ref<const Dataset> ByHint(const Dataset& dataset) const {
    const RecipeView d(dataset);
    std::vector<Tensor> inputs = dataset.recipe().inputs;
    if (d.Is({"ShardDataset"}) && d.Int("num_shards") == kShardHint) return ByData(inputs[0]);
    bool changed = false;
    for (Tensor& input : inputs) {
      const Dataset* before = AsDataset(input);
      if (!before) continue;
      const Ref<const Dataset> after = ByHint(*before);
      changed = changed || after.get() != before;
      input = ToVariant(after);
    }
    if (changed) return remaker_.With(dataset, std::move(inputs));
    dataset.AddRef();
    return Ref<const Dataset>(&dataset);
  }

 private:
  static int RecipeIndex(const Recipe& recipe, std::string_view name) {
    return InputRange(*recipe.op, *recipe.attrs, name).first;
  }

  // Every `workers_`-th of a vector.
  Tensor Mine(const Tensor& all) const {
    if (all.rank() == 0) return index_ == 0 ? all : Tensor(all.dtype(), Shape({0}));
    const int64_t n = all.num_elements();
    const int64_t mine = n <= index_ ? 0 : (n - index_ + workers_ - 1) / workers_;
    Tensor part(all.dtype(), Shape({mine}));
    for (int64_t i = 0; i < mine; ++i) {
      if (all.dtype() == DT_STRING) {
        part.mutable_data<TString>()[i] = all.data<TString>()[index_ + i * workers_];
      } else {
        part.mutable_data<int64_t>()[i] = all.data<int64_t>()[index_ + i * workers_];
      }
    }
    return part;
  }

  const Remaker remaker_;
  const int64_t workers_, index_;
};

}  // namespace

Ref<const Dataset> AutoShard(KernelContext& k, Ref<const Dataset> dataset, int64_t workers, int64_t index,
                             int64_t policy) {
  const Sharder sharder(k, workers, index);
  switch (policy) {
    case kOff:
      return dataset;
    case kFile:
      return sharder.ByFile(*dataset);
    case kData:
      return sharder.ByData(ToVariant(dataset));
    case kHint:
      return sharder.ByHint(*dataset);
    case kAuto:
      try {
        return sharder.ByFile(*dataset);
      } catch (const Error& error) {
        if (error.code() != Code::kNotFound) throw;
        return sharder.ByData(ToVariant(dataset));
      }
    default:
      throw InvalidArgument("AutoShardDataset: unknown auto_shard_policy ", policy);
  }
}

}  // namespace penstock::data
