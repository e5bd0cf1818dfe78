#include "penstock/data/rewrites.h"

#include <map>

#include "penstock/data/fused_function.h"
#include "penstock/data/vectorize.h"

namespace penstock::data {
namespace {

constexpr std::string_view kMaps[] = {"MapDataset"};
constexpr std::string_view kParallelMaps[] = {"ParallelMapDataset", "ParallelMapDatasetV2"};
constexpr std::string_view kShuffles[] = {"ShuffleDataset", "ShuffleDatasetV2", "ShuffleDatasetV3"};

const Dataset* InputOf(const RecipeView& d) { return AsDataset(d.Input("input_dataset")); }

AttrMap WithFunction(AttrMap attrs, const FuncRef& function, const std::vector<Tensor>& captured,
                     std::string_view attr = "f", std::string_view types = "Targuments") {
  std::vector<DataType> captured_types;
  for (const Tensor& t : captured) captured_types.push_back(t.dtype());
  attrs.Set(attr, function);
  attrs.Set(types, std::move(captured_types));
  return attrs;
}

std::vector<Tensor> Joined(std::initializer_list<std::vector<Tensor>> parts) {
  std::vector<Tensor> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// One rewrite: what takes the dataset's place, or null if it does not fit.
using RewriteFn = Ref<const Dataset> (*)(const Remaker&, const Dataset&);

Ref<const Dataset> DropNothing(const Remaker&, const Dataset& dataset) {
  const RecipeView d(dataset);
  const bool nothing =
      (d.Is({"TakeDataset"}) && d.Int("count") < 0) || (d.Is({"SkipDataset"}) && d.Int("count") == 0) ||
      (d.Is({"RepeatDataset"}) && d.Int("count") == 1) || (d.Is({"PrefetchDataset"}) && d.Int("buffer_size") == 0) ||
      (d.Is({"ShardDataset"}) && d.Int("num_shards") == 1 && d.Int("index") == 0);
  return nothing ? DatasetFrom(d.Input("input_dataset")) : Ref<const Dataset>();
}

Ref<const Dataset> FuseMapAndBatch(const Remaker& remaker, const Dataset& dataset) {
  const RecipeView batch(dataset);
  if (!batch.Is({"BatchDataset", "BatchDatasetV2"})) return {};
  const Dataset* input = InputOf(batch);
  if (!input) return {};
  const RecipeView map(*input);
  const bool parallel = map.Is(kParallelMaps);
  if (!parallel && !map.Is(kMaps)) return {};
  const DatasetFunction f = DatasetFunction::Of(map);
  const int64_t calls = parallel ? map.Int("num_parallel_calls") : 1;
  const bool drop_rest = batch.Has("drop_remainder") && batch.Bool("drop_remainder");
  return remaker.Make(
      "MapAndBatchDataset", map.attrs(), dataset.spec(),
      Joined({{map.Input("input_dataset")}, f.captured, {batch.Input("batch_size"), Tensor(calls), Tensor(drop_rest)}}),
      input->recipe().library);
}

Ref<const Dataset> FuseShuffleAndRepeat(const Remaker& remaker, const Dataset& dataset) {
  const RecipeView repeat(dataset);
  if (!repeat.Is({"RepeatDataset"}) || (repeat.Int("count") <= 0 && repeat.Int("count") != -1)) return {};
  const Dataset* input = InputOf(repeat);
  if (!input) return {};
  const RecipeView shuffle(*input);
  if (!shuffle.Is(kShuffles) || shuffle.Is({"ShuffleDatasetV2"})) return {};
  const bool has_generator = shuffle.Has("seed_generator");
  std::vector<Tensor> inputs = {shuffle.Input("input_dataset"), shuffle.Input("buffer_size"), shuffle.Input("seed"),
                                shuffle.Input("seed2"), repeat.Input("count")};
  if (has_generator) inputs.push_back(shuffle.Input("seed_generator"));
  return remaker.Make(has_generator ? "ShuffleAndRepeatDatasetV2" : "ShuffleAndRepeatDataset", shuffle.attrs(),
                      dataset.spec(), std::move(inputs), {});
}

// Both of one kind: one after the other, or parallel in the same number.
bool SameKindOfMap(const RecipeView& a, const RecipeView& b) {
  if (a.Is(kMaps)) return b.Is(kMaps);
  return a.Is(kParallelMaps) && b.Is(kParallelMaps) && a.Int("num_parallel_calls") == b.Int("num_parallel_calls") &&
         a.attr<std::string>("deterministic") == b.attr<std::string>("deterministic") &&
         a.attr<bool>("sloppy") == b.attr<bool>("sloppy");
}

// The library that has the functions of both datasets, which become one; null if there is none. What was joined before
// has a library of its own, with those of its parts.
FunctionLibraryPtr CommonLibrary(const Remaker& remaker, const Dataset& outer, const FuncRef& f, const Dataset& inner,
                                 const FuncRef& g) {
  for (const Dataset* dataset : {&inner, &outer}) {
    FunctionLibraryPtr library = remaker.LibraryOf(*dataset);
    bool has_f, has_g;
    ReachedFunctions(f, library, &has_f);
    ReachedFunctions(g, library, &has_g);
    if (has_f && has_g) return library;
  }
  return nullptr;
}

Ref<const Dataset> FuseMaps(const Remaker& remaker, const Dataset& dataset) {
  const RecipeView outer(dataset);
  if (!outer.Is(kMaps) && !outer.Is(kParallelMaps)) return {};
  const Dataset* input = InputOf(outer);
  if (!input || !SameKindOfMap(outer, RecipeView(*input))) return {};
  const RecipeView inner(*input);
  const auto library = CommonLibrary(remaker, dataset, outer.attr<FuncRef>("f"), *input, inner.attr<FuncRef>("f"));
  if (!library) return {};
  FunctionBuilder builder(library);
  const auto made =
      builder.Call(DatasetFunction::Of(inner), builder.Arguments(AsDataset(inner.Input("input_dataset"))->spec()));
  const FuncRef fused = builder.Finish("fused_maps", builder.Call(DatasetFunction::Of(outer), made));
  AttrMap attrs = WithFunction(outer.attrs(), fused, builder.captured());
  attrs.Set("preserve_cardinality",
            inner.attr<bool>("preserve_cardinality") && outer.attr<bool>("preserve_cardinality"));
  std::vector<Tensor> inputs = Joined({{inner.Input("input_dataset")}, builder.captured()});
  if (outer.Has("num_parallel_calls")) inputs.push_back(outer.Input("num_parallel_calls"));
  return remaker.Make(dataset.recipe().op->name, attrs, dataset.spec(), std::move(inputs), builder.library());
}

// The second predicate is asked only where the first holds.
Ref<const Dataset> FuseFilters(const Remaker& remaker, const Dataset& dataset) {
  const RecipeView outer(dataset);
  if (!outer.Is({"FilterDataset"})) return {};
  const Dataset* input = InputOf(outer);
  if (!input || !RecipeView(*input).Is({"FilterDataset"})) return {};
  const RecipeView inner(*input);
  const auto library =
      CommonLibrary(remaker, dataset, outer.attr<FuncRef>("predicate"), *input, inner.attr<FuncRef>("predicate"));
  if (!library) return {};
  const DatasetFunction second = DatasetFunction::Of(outer, "predicate");
  const ElementSpec& element = dataset.spec();

  // Both branches take the element and what the second predicate captures.
  FunctionBuilder yes(library);
  const FuncRef asks = yes.Finish("second_predicate", yes.Call(second, yes.Arguments(element)));
  FunctionBuilder no(yes.library());
  ElementSpec all = element;
  for (const Tensor& t : second.captured) {
    all.types.push_back(t.dtype());
    all.shapes.push_back(PartialShape(t.shape()));
  }
  no.Arguments(all);
  const FuncRef never = no.Finish("never", {no.Constant(Tensor(false))});

  FunctionBuilder builder(no.library());
  const std::vector<Endpoint> args = builder.Arguments(element);
  const Endpoint first = builder.Call(DatasetFunction::Of(inner, "predicate"), args)[0];
  std::vector<DataType> captured_types(all.types.begin() + static_cast<int64_t>(element.types.size()), all.types.end());
  const Endpoint both = builder.Conditional(first, asks, never, args, second.captured, DT_BOOL);
  const FuncRef fused = builder.Finish("fused_predicates", {both});
  return remaker.Make("FilterDataset", WithFunction(outer.attrs(), fused, builder.captured(), "predicate"),
                      dataset.spec(), Joined({{inner.Input("input_dataset")}, builder.captured()}), builder.library());
}

// The map gives the predicate's answer as a last component, by which is filtered and which is dropped then.
Ref<const Dataset> FuseMapAndFilter(const Remaker& remaker, const Dataset& dataset) {
  const RecipeView filter(dataset);
  if (!filter.Is({"FilterDataset"})) return {};
  const Dataset* input = InputOf(filter);
  if (!input || !RecipeView(*input).Is(kMaps)) return {};
  const RecipeView map(*input);
  const DatasetFunction f = DatasetFunction::Of(map), predicate = DatasetFunction::Of(filter, "predicate");
  if (!f.captured.empty() || !predicate.captured.empty()) return {};
  const auto common = CommonLibrary(remaker, dataset, predicate.function, *input, f.function);
  if (!common) return {};
  ElementSpec with_answer = dataset.spec();
  with_answer.types.push_back(DT_BOOL);
  with_answer.shapes.push_back(PartialShape(Shape()));

  FunctionBuilder both(common);
  std::vector<Endpoint> made = both.Call(f, both.Arguments(AsDataset(map.Input("input_dataset"))->spec()));
  made.push_back(both.Call(predicate, made)[0]);
  const FuncRef map_and_predicate = both.Finish("map_and_predicate", made);
  FunctionBuilder last(both.library());
  const FuncRef answer = last.Finish("answer", {last.Arguments(with_answer).back()});
  FunctionBuilder rest(last.library());
  std::vector<Endpoint> element = rest.Arguments(with_answer);
  element.pop_back();
  const FuncRef without_answer = rest.Finish("without_answer", std::move(element));

  const FunctionLibraryPtr& library = rest.library();
  const Ref<const Dataset> mapped = remaker.Make("MapDataset", WithFunction(map.attrs(), map_and_predicate, {}),
                                                 with_answer, {map.Input("input_dataset")}, library);
  const Ref<const Dataset> filtered =
      remaker.Make("FilterDataset", WithFunction(filter.attrs(), answer, {}, "predicate"), with_answer,
                   {ToVariant(mapped)}, library);
  return remaker.Make("MapDataset", WithFunction(map.attrs(), without_answer, {}), dataset.spec(),
                      {ToVariant(filtered)}, library);
}

Ref<const Dataset> Vectorize(const Remaker& remaker, const Dataset& dataset) {
  return VectorizeMap(remaker, dataset, /*tries_both=*/false);
}
Ref<const Dataset> VectorizeIfFaster(const Remaker& remaker, const Dataset& dataset) {
  return VectorizeMap(remaker, dataset, /*tries_both=*/true);
}

Ref<const Dataset> MakeMapParallel(const Remaker& remaker, const Dataset& dataset) {
  const RecipeView map(dataset);
  if (!map.Is(kMaps) || map.attr<bool>("force_synchronous")) return {};
  if (IsStateful(map.attr<FuncRef>("f"), remaker.LibraryOf(dataset))) return {};
  return remaker.Make("ParallelMapDataset", map.attrs(), dataset.spec(),
                      Joined({dataset.recipe().inputs, {Tensor(static_cast<int32_t>(kAutotune))}}),
                      dataset.recipe().library);
}

Ref<const Dataset> MakeFilterParallel(const Remaker& remaker, const Dataset& dataset) {
  const RecipeView filter(dataset);
  if (!filter.Is({"FilterDataset"}) || IsStateful(filter.attr<FuncRef>("predicate"), remaker.LibraryOf(dataset)))
    return {};
  return remaker.Make("ParallelFilterDataset", filter.attrs(), dataset.spec(),
                      Joined({dataset.recipe().inputs, {Tensor(kAutotune)}}), dataset.recipe().library);
}

Ref<const Dataset> MakeBatchParallel(const Remaker& remaker, const Dataset& dataset) {
  const RecipeView batch(dataset);
  if (!batch.Is({"BatchDatasetV2"})) return {};
  return remaker.Make(
      "ParallelBatchDataset", batch.attrs(), dataset.spec(),
      {batch.Input("input_dataset"), batch.Input("batch_size"), Tensor(kAutotune), batch.Input("drop_remainder")}, {});
}

constexpr std::string_view kAsynchronous[] = {
    "MapAndBatchDataset",          "ParallelMapDataset",          "ParallelMapDatasetV2",       "ParallelBatchDataset",
    "ParallelInterleaveDatasetV2", "ParallelInterleaveDatasetV3", "ParallelInterleaveDatasetV4"};

// The dataset with all inputs wrapped by `wrap`, which gives null for those that shall stay; null if all stay.
Ref<const Dataset> WrapInputs(const Remaker& remaker, const Dataset& dataset, RewriteFn wrap) {
  std::vector<Tensor> inputs = dataset.recipe().inputs;
  bool changed = false;
  for (Tensor& input : inputs) {
    const Dataset* made = AsDataset(input);
    const Ref<const Dataset> wrapped = made ? wrap(remaker, *made) : Ref<const Dataset>();
    if (!wrapped) continue;
    input = ToVariant(wrapped);
    changed = true;
  }
  return changed ? remaker.With(dataset, std::move(inputs)) : Ref<const Dataset>();
}

Tensor AsInput(const Dataset& dataset) { return ToVariant(ShareRef(&dataset)); }

// What runs ahead by itself, with a buffer behind it.
Ref<const Dataset> Prefetched(const Remaker& remaker, const Dataset& dataset) {
  if (!RecipeView(dataset).Is(kAsynchronous)) return {};
  return remaker.Make("PrefetchDataset", {}, dataset.spec(), {AsInput(dataset), Tensor(kAutotune)}, {});
}
Ref<const Dataset> PrefetchInputs(const Remaker& remaker, const Dataset& dataset) {
  if (RecipeView(dataset).Is({"PrefetchDataset"})) return {};
  return WrapInputs(remaker, dataset, Prefetched);
}

// Its latency is counted.
Ref<const Dataset> Measured(const Remaker& remaker, const Dataset& dataset) {
  const RecipeView d(dataset);
  if (!dataset.recipe().op || d.Is({"LatencyStatsDataset"})) return {};
  const Tensor tag{TString(StrCat("record_latency::", dataset.recipe().op->name))};
  return remaker.Make("LatencyStatsDataset", {}, dataset.spec(), {AsInput(dataset), tag}, {});
}
Ref<const Dataset> MeasureInputs(const Remaker& remaker, const Dataset& dataset) {
  if (RecipeView(dataset).Is({"LatencyStatsDataset"})) return {};
  return WrapInputs(remaker, dataset, Measured);
}

struct NamedRewrite {
  std::string_view name;
  RewriteFn rewrite;
};
// In the order in which they are tried on a dataset whose inputs are done.
constexpr NamedRewrite kRewrites[] = {
    {"noop_elimination", DropNothing},
    {"map_fusion", FuseMaps},
    {"filter_fusion", FuseFilters},
    {"map_and_filter_fusion", FuseMapAndFilter},
    {"map_vectorization:use_choose_fastest", VectorizeIfFaster},
    {"map_vectorization", Vectorize},
    {"map_and_batch_fusion", FuseMapAndBatch},
    {"map_parallelization", MakeMapParallel},
    {"filter_parallelization", MakeFilterParallel},
    {"shuffle_and_repeat_fusion", FuseShuffleAndRepeat},
    {"parallel_batch", MakeBatchParallel},
};

class Rewriter {
 public:
  Rewriter(const Remaker& remaker, std::vector<RewriteFn> rewrites)
      : remaker_(remaker), rewrites_(std::move(rewrites)) {}

  Ref<const Dataset> Run(const Dataset& dataset) {
    const auto it = done_.find(&dataset);
    if (it != done_.end()) return it->second;
    if (RecipeView(dataset).Is({"NonSerializableDataset"})) {  // what cannot be written down stays as it is
      return ShareRef(&dataset);
    }
    Ref<const Dataset> now = WithInputsRewritten(dataset);
    for (bool changed = true; changed;) {
      changed = false;
      for (const RewriteFn rewrite : rewrites_) {
        if (Ref<const Dataset> better = now->recipe().op ? rewrite(remaker_, *now) : Ref<const Dataset>()) {
          now = std::move(better);
          changed = true;
        }
      }
    }
    return done_[&dataset] = now;
  }

 private:
  Ref<const Dataset> WithInputsRewritten(const Dataset& dataset) {
    std::vector<Tensor> inputs = dataset.recipe().inputs;
    bool changed = false;
    for (Tensor& input : inputs) {
      const Dataset* before = AsDataset(input);
      if (!before) continue;
      const Ref<const Dataset> after = Run(*before);
      if (after.get() == before) continue;
      input = ToVariant(after);
      changed = true;
    }
    if (changed) return remaker_.With(dataset, std::move(inputs));
    return ShareRef(&dataset);
  }

  const Remaker& remaker_;
  const std::vector<RewriteFn> rewrites_;
  std::map<const Dataset*, Ref<const Dataset>> done_;
};

}  // namespace

Ref<const Dataset> Rewrite(KernelContext& k, Ref<const Dataset> dataset, const std::set<std::string>& names) {
  const Remaker remaker(k);
  std::vector<RewriteFn> rewrites;
  for (const NamedRewrite& each : kRewrites) {
    if (names.contains(std::string(each.name))) rewrites.push_back(each.rewrite);
  }
  // Then what goes between the datasets that are left, the last one included.
  const auto finish = [&](RewriteFn inputs, RewriteFn last) {
    dataset = Rewriter(remaker, {inputs}).Run(*dataset);
    if (Ref<const Dataset> wrapped = last(remaker, *dataset)) dataset = std::move(wrapped);
  };
  if (!rewrites.empty()) dataset = Rewriter(remaker, std::move(rewrites)).Run(*dataset);
  if (names.contains("inject_prefetch")) finish(PrefetchInputs, Prefetched);
  if (names.contains("latency_all_edges")) finish(MeasureInputs, Measured);
  return dataset;
}

}  // namespace penstock::data
