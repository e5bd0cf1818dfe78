#include "penstock/data/vectorize.h"

#include <algorithm>

#include "penstock/data/batching.h"
#include "penstock/data/fused_function.h"

namespace penstock::data {
namespace {

constexpr int64_t kBatchesPerTrial = 10;

std::vector<DataType> TypesOf(const std::vector<Tensor>& tensors) {
  std::vector<DataType> types;
  for (const Tensor& t : tensors) types.push_back(t.dtype());
  return types;
}

bool AllDefined(const ElementSpec& spec) {
  return std::ranges::all_of(spec.shapes, [](const PartialShape& shape) { return shape.fully_known(); });
}

// What batch(map(x)) consists of; `map` and `batch` are one dataset if they are fused.
struct MapAndBatch {
  const Dataset& map;
  const Dataset& batch;
  const Dataset& input() const { return *AsDataset(RecipeView(map).Input("input_dataset")); }
  ElementSpec rows() const {
    ElementSpec spec = batch.spec();
    for (PartialShape& shape : spec.shapes) shape = WithoutFirstDim(shape);
    return spec;
  }
};

// The same dataset of another input: in the function that `builder` makes.
Endpoint Again(FunctionBuilder& builder, const Dataset& dataset, Endpoint input) {
  const Recipe& recipe = dataset.recipe();
  const int at = InputRange(*recipe.op, *recipe.attrs, "input_dataset").first;
  std::vector<Endpoint> inputs;
  for (int i = 0; i < static_cast<int>(recipe.inputs.size()); ++i) {
    if (i == at) {
      inputs.push_back(input);
    } else {
      builder.Capture({recipe.inputs[i]}, &inputs);
    }
  }
  return builder.Op(recipe.op->name, std::move(inputs), *recipe.attrs);
}

// A function of a batch: that of the map for each of its rows.
DatasetFunction OfRows(const MapAndBatch& d, const ElementSpec& batches, FunctionBuilder& builder) {
  const DatasetFunction f = DatasetFunction::Of(RecipeView(d.map));
  std::vector<Endpoint> args = builder.Arguments(batches);
  builder.Capture(f.captured, &args);
  const ElementSpec rows = d.rows();
  const std::vector<Endpoint> made = builder.Outputs("MapDefun", std::move(args),
                                                     {{"f", f.function},
                                                      {"Targuments", batches.types},
                                                      {"Tcaptured", TypesOf(f.captured)},
                                                      {"output_types", rows.types},
                                                      {"output_shapes", rows.shapes}});
  return {builder.Finish("vectorized", made), f.captured};
}

ElementSpec Batched(const MapAndBatch& d) {
  ElementSpec spec = d.input().spec();
  for (PartialShape& shape : spec.shapes) {
    PartialShape batched{d.batch.shapes()[0][0]};
    for (const int64_t size : shape.dims()) batched.AddDim(size);
    shape = std::move(batched);
  }
  return spec;
}

AttrMap MapAttrs(const DatasetFunction& f, const ElementSpec& spec) {
  return {{"f", f.function},
          {"Targuments", TypesOf(f.captured)},
          {"output_types", spec.types},
          {"output_shapes", spec.shapes},
          {"preserve_cardinality", true}};
}

Tensor DropRest(const RecipeView& batch) { return Tensor(batch.Has("drop_remainder") && batch.Bool("drop_remainder")); }

Ref<const Dataset> MapOfBatches(const Remaker& remaker, const MapAndBatch& d) {
  const RecipeView batch(d.batch);
  const ElementSpec batches = Batched(d);
  const Ref<const Dataset> batched =
      remaker.Make("BatchDatasetV2", {}, batches,
                   {RecipeView(d.map).Input("input_dataset"), batch.Input("batch_size"), DropRest(batch)}, {});
  FunctionBuilder builder(remaker.LibraryOf(d.map));
  const DatasetFunction f = OfRows(d, batches, builder);
  std::vector<Tensor> inputs = {ToVariant(batched)};
  inputs.insert(inputs.end(), f.captured.begin(), f.captured.end());
  return remaker.Make("MapDataset", MapAttrs(f, d.batch.spec()), d.batch.spec(), std::move(inputs), builder.library());
}

Ref<const Dataset> FasterOfBoth(const Remaker& remaker, const MapAndBatch& d) {
  const RecipeView batch(d.batch);
  const ElementSpec variant{{DT_VARIANT}, {PartialShape(Shape())}};
  const ElementSpec batches = Batched(d);

  FunctionBuilder plain(remaker.LibraryOf(d.map));
  Endpoint made = Again(plain, d.map, plain.Arguments(variant)[0]);
  if (&d.batch != &d.map) made = Again(plain, d.batch, made);
  const FuncRef first = plain.Finish("map_then_batch", {made});

  FunctionBuilder rows(plain.library());
  const DatasetFunction f = OfRows(d, batches, rows);
  FunctionBuilder vectorized(rows.library());
  std::vector<Endpoint> args = vectorized.Arguments(variant);
  vectorized.Capture({batch.Input("batch_size"), DropRest(batch)}, &args);
  std::vector<Endpoint> inputs = {vectorized.Op("BatchDatasetV2", std::move(args),
                                                {{"output_types", batches.types}, {"output_shapes", batches.shapes}})};
  vectorized.Capture(f.captured, &inputs);
  const FuncRef second = vectorized.Finish(
      "batch_then_map", {vectorized.Op("MapDataset", std::move(inputs), MapAttrs(f, d.batch.spec()))});

  const std::vector<Tensor>&a = plain.captured(), &b = vectorized.captured();
  std::vector<Tensor> captured = a;
  captured.insert(captured.end(), b.begin(), b.end());
  const AttrMap attrs = {{"Targuments", TypesOf(captured)},
                         {"num_elements_per_branch", kBatchesPerTrial},
                         {"branches", std::vector<FuncRef>{first, second}},
                         {"other_arguments_lengths",
                          std::vector<int64_t>{static_cast<int64_t>(a.size()), static_cast<int64_t>(b.size())}}};
  std::vector<Tensor> all = {RecipeView(d.map).Input("input_dataset"), batch.Input("batch_size"), Tensor(int64_t{1})};
  all.insert(all.end(), captured.begin(), captured.end());
  return remaker.Make("ChooseFastestBranchDataset", attrs, d.batch.spec(), std::move(all), vectorized.library());
}

}  // namespace

Ref<const Dataset> VectorizeMap(const Remaker& remaker, const Dataset& dataset, bool tries_both) {
  const RecipeView batch(dataset);
  const Dataset* map = &dataset;
  if (batch.Is({"BatchDataset", "BatchDatasetV2"})) {
    map = AsDataset(batch.Input("input_dataset"));
    if (!map || !RecipeView(*map).Is({"MapDataset", "ParallelMapDataset", "ParallelMapDatasetV2"})) return {};
  } else if (!batch.Is({"MapAndBatchDataset"})) {
    return {};
  }
  const MapAndBatch d{*map, dataset};
  const FuncRef f = RecipeView(*map).attr<FuncRef>("f");
  if (dataset.types().empty() || d.input().types().empty() || IsStateful(f, remaker.LibraryOf(*map))) return {};
  if (std::ranges::any_of(dataset.shapes(), [](const PartialShape& shape) { return shape.rank() < 1; })) return {};
  if (!AllDefined(d.input().spec()) || !AllDefined(d.rows())) return {};
  return tries_both ? FasterOfBoth(remaker, d) : MapOfBatches(remaker, d);
}

}  // namespace penstock::data
