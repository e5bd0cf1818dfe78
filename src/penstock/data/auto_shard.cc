// Each worker's part of a dataset: its files where the dataset reads some, else its share of the elements.
#include <set>
#include <string>

#include "penstock/data/rewrites.h"

namespace penstock::data {
namespace {

enum Policy : int64_t { kOff = -1, kAuto = 0, kFile = 1, kData = 2, kHint = 3 };

constexpr std::string_view kReaders[] = {"ArrayRecordDataset", "FixedLengthRecordDataset", "FixedLengthRecordDatasetV2",
                                         "TextLineDataset",    "TFRecordDataset",          "TFRecordDatasetV2"};
constexpr std::string_view kWithFunctions[] = {"FlatMapDataset",
                                               "InterleaveDataset",
                                               "LegacyParallelInterleaveDatasetV2",
                                               "ParallelInterleaveDataset",
                                               "ParallelInterleaveDatasetV2",
                                               "ParallelInterleaveDatasetV3",
                                               "ParallelInterleaveDatasetV4"};
constexpr std::string_view kUnshardable[] = {"GeneratorDataset", "RangeDataset", "SparseTensorSliceDataset",
                                             "TensorDataset", "TensorSliceDataset"};
constexpr std::string_view kSeveralInputs[] = {"ConcatenateDataset", "ZipDataset"};
constexpr std::string_view kShuffles[] = {"ShuffleDataset", "ShuffleDatasetV2", "ShuffleDatasetV3"};
// What has as many parts as its first input has.
constexpr std::string_view kPassedThrough[] = {"AssertNextDataset",
                                               "BatchDataset",
                                               "BatchDatasetV2",
                                               "CacheDataset",
                                               "CacheDatasetV2",
                                               "FilterDataset",
                                               "FinalizeDataset",
                                               "MapAndBatchDataset",
                                               "MapDataset",
                                               "MaxIntraOpParallelismDataset",
                                               "ModelDataset",
                                               "OptimizeDataset",
                                               "OptimizeDatasetV2",
                                               "OptionsDataset",
                                               "PaddedBatchDataset",
                                               "PaddedBatchDatasetV2",
                                               "ParallelBatchDataset",
                                               "ParallelFilterDataset",
                                               "ParallelMapDataset",
                                               "ParallelMapDatasetV2",
                                               "ParseExampleDataset",
                                               "ParseExampleDatasetV2",
                                               "PrefetchDataset",
                                               "PrivateThreadPoolDataset",
                                               "RebatchDataset",
                                               "RebatchDatasetV2",
                                               "RepeatDataset",
                                               "ShardDataset",
                                               "ShuffleAndRepeatDataset",
                                               "ShuffleAndRepeatDatasetV2",
                                               "ShuffleDataset",
                                               "ShuffleDatasetV2",
                                               "ShuffleDatasetV3",
                                               "SkipDataset",
                                               "TakeDataset",
                                               "UnbatchDataset",
                                               "WindowDataset"};

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

  // InvalidArgument, when it is read: there are fewer elements than workers.
  Ref<const Dataset> ByData(const Tensor& dataset) const {
    return remaker_.Make("ShardDataset", {{"require_non_empty", true}}, AsDataset(dataset)->spec(),
                         {dataset, Tensor(workers_), Tensor(index_)}, {});
  }

  Ref<const Dataset> ByFile(const Dataset& dataset) const {
    const RecipeView d(dataset);
    const Recipe& recipe = dataset.recipe();
    const std::string& name = recipe.op ? recipe.op->name : dataset.name();
    if (d.Is(kUnshardable)) throw NotFound("Found an unshardable source dataset: ", name);
    if (d.Is(kReaders)) {
      throw NotFound(
          "Unable to shard this input. You may need to wrap the inputs to your reader dataset in a "
          "TensorSliceDataset: ",
          name);
    }
    // What was asserted of the whole does not hold of a part.
    if (d.Is({"AssertCardinalityDataset", "ExperimentalAssertCardinalityDataset"})) return ByFile(dataset.input());
    const bool several = d.Is(kSeveralInputs);
    std::set<std::string> seen;
    std::vector<Tensor> inputs = recipe.inputs;
    if (d.Is(kWithFunctions) && Reads(d.attr<FuncRef>("f"), remaker_.LibraryOf(dataset), &seen)) {
      inputs[0] = ToVariant(ShuffledLater(*AsDataset(inputs[0])));
    } else if (several || d.Is(kPassedThrough)) {
      for (size_t i = 0; i < (several ? inputs.size() : 1); ++i) inputs[i] = ToVariant(ByFile(*AsDataset(inputs[i])));
    } else {
      throw NotFound("Did not find a shardable source, walked to a node which is not a dataset: ", name,
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
    return ShareRef(&dataset);
  }

 private:
  // One worker's part of file names: what shuffles them does so behind the division, which every worker makes alike.
  Ref<const Dataset> ShuffledLater(const Dataset& names) const {
    const Dataset* shuffle = nullptr;
    const Ref<const Dataset> part = ByData(ToVariant(WithoutShuffles(names, &shuffle)));
    if (!shuffle) return part;
    std::vector<Tensor> inputs = shuffle->recipe().inputs;
    inputs[0] = ToVariant(part);
    return remaker_.With(*shuffle, std::move(inputs));
  }

  // The dataset without what shuffles it; the first of those goes to `first`.
  Ref<const Dataset> WithoutShuffles(const Dataset& dataset, const Dataset** first) const {
    std::vector<Tensor> inputs = dataset.recipe().inputs;
    if (RecipeView(dataset).Is(kShuffles)) {
      *first = &dataset;
      return WithoutShuffles(*AsDataset(inputs[0]), first);
    }
    bool changed = false;
    for (Tensor& input : inputs) {
      const Dataset* before = AsDataset(input);
      if (!before) continue;
      const Ref<const Dataset> after = WithoutShuffles(*before, first);
      changed = changed || after.get() != before;
      input = ToVariant(after);
    }
    if (changed) return remaker_.With(dataset, std::move(inputs));
    return ShareRef(&dataset);
  }

  const Remaker remaker_;
  const int64_t workers_, index_;
};

}  // namespace

Ref<const Dataset> AutoShard(KernelContext& k, Ref<const Dataset> dataset, int64_t workers, int64_t index,
                             int64_t policy) {
  if (workers == 1) return dataset;
  const Sharder sharder(k, workers, index);
  switch (policy) {
    case kOff: return dataset;
    case kFile: return sharder.ByFile(*dataset);
    case kData: return sharder.ByData(ToVariant(dataset));
    case kHint: return sharder.ByHint(*dataset);
    case kAuto: try { return sharder.ByFile(*dataset);
      } catch (const Error& error) {
        if (error.code() != Code::kNotFound) throw;
        return sharder.ByData(ToVariant(dataset));
      }
    default: throw InvalidArgument("AutoShardDataset: unknown auto_shard_policy ", policy);
  }
}

}  // namespace penstock::data
