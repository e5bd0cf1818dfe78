// Iterators, optional values, and what is asked of datasets as a whole.
#include "penstock/graph/gradient.h"
#include "penstock/ops/dataset/dataset.h"

namespace penstock {
namespace {

void GetNextShape(ShapeContext& c) {
  c.WithRank(0, 0);
  ElementShape(c);
}

// The function runs for each slice of the arguments.
void MapDefunShape(ShapeContext& c) {
  const auto& stated = c.attr<std::vector<PartialShape>>("output_shapes");
  if (static_cast<int>(stated.size()) != c.num_outputs()) {
    throw InvalidArgument("`output_shapes` must be the same length as `output_types` (", stated.size(), " vs. ",
                          c.num_outputs(), ")");
  }
  const auto [first, count] = c.InputRange("arguments");
  int64_t n = -1;
  for (int i = first; i < first + count; ++i) {
    if (c.in(i).rank() == 0) throw InvalidArgument("Arguments must have rank at least 1. Input ", i, " has rank of 0.");
    const int64_t dim = c.in(i).rank() > 0 ? c.in(i).dim(0) : -1;
    if (n >= 0 && dim >= 0 && dim != n) throw InvalidArgument("Arguments must have the same dimension 0.");
    if (dim >= 0) n = dim;
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.out(i, shapes::Concatenate(PartialShape({n}), stated[i]));
}

OpBuilder AddElementAttrs(OpBuilder op) {
  return op.Attr("output_types: list(type) >= 1").Attr("output_shapes: list(shape) >= 1");
}

void GradientOfFromValue(GradContext& g) {
  std::vector<DataType> types;
  for (int i = 0; i < g.num_inputs(); ++i) types.push_back(g.x(i).type());
  const std::vector<PartialShape> shapes(types.size());
  const Outs dx = g.CallAll("OptionalGetValue", std::vector<Out>{g.dy()},
                            {{"output_types", types}, {"output_shapes", shapes}});
  for (int i = 0; i < g.num_inputs(); ++i) g.Set(i, dx[i]);
}

void GradientOfGetValue(GradContext& g) {
  Outs dy;
  for (int i = 0; i < g.num_outputs(); ++i) dy.push_back(g.dy(i) ? g.dy(i) : ZerosLike(g.y(i)));
  g.Set(0, g.CallAll("OptionalFromValue", dy, {})[0]);
}

// Ops without attributes that give scalars.
struct Plain {
  const char *name, *inputs, *outputs, *doc;
};
constexpr Plain kPlain[] = {
    {"AnonymousMemoryCache", "", "handle: resource; deleter: variant", "A cache in memory without a name."},
    {"AnonymousRandomSeedGenerator", "seed: int64; seed2: int64", "handle: resource; deleter: variant",
     "A source of seeds without a name."},
    {"AnonymousSeedGenerator", "seed: int64; seed2: int64; reshuffle: bool", "handle: resource; deleter: variant",
     "A source of seeds without a name: the same seeds each time unless `reshuffle`."},
    {"DatasetToTFRecord", "input_dataset: variant; filename: string; compression_type: string", "",
     "Writes the elements, strings, to a TFRecord file."},
    {"ExperimentalDatasetToTFRecord", "input_dataset: variant; filename: string; compression_type: string", "",
     "Writes the elements, strings, to a TFRecord file."},
    {"DeleteIterator", "handle: resource; deleter: variant", "", "Ends an anonymous iterator."},
    {"DeleteMemoryCache", "handle: resource; deleter: variant", "", "Ends an anonymous cache."},
    {"DeleteRandomSeedGenerator", "handle: resource; deleter: variant", "", "Ends an anonymous source of seeds."},
    {"DeleteSeedGenerator", "handle: resource; deleter: variant", "", "Ends an anonymous source of seeds."},
    {"DeserializeIterator", "resource_handle: resource; serialized: variant", "",
     "Puts the iterator into the state that SerializeIterator gave."},
    {"DummyMemoryCache", "", "handle: resource", "Stands for a cache where none is needed."},
    {"DummySeedGenerator", "", "handle: resource", "Stands for a source of seeds where none is needed."},
    {"InitializeTableFromDataset", "table_handle: resource; dataset: variant", "",
     "Fills the table with keys and values that the dataset gives."},
    {"IteratorGetDevice", "resource: resource", "device: string", "The device that the iterator is on."},
    {"ExperimentalIteratorGetDevice", "resource: resource", "device: string", "The device that the iterator is on."},
    {"IteratorGetModelProto", "iterator: resource", "model_proto: string",
     "The model that autotuning made, serialized."},
    {"IteratorToStringHandle", "resource_handle: resource", "string_handle: string",
     "A string that names the iterator."},
    {"MakeIterator", "dataset: variant; iterator: resource", "",
     "Lets the iterator begin at the dataset's first element."},
    {"MultiDeviceIteratorInit", "dataset: variant; multi_device_iterator: resource; max_buffer_size: int64",
     "incarnation_id: int64", "Lets the iterator begin at the dataset's first element."},
    {"MultiDeviceIteratorToStringHandle", "multi_device_iterator: resource", "string_handle: string",
     "A string that names the iterator."},
    {"StatsAggregatorSetSummaryWriter", "stats_aggregator: resource; summary: resource", "",
     "Statistics go to this writer too."},
    {"StatsAggregatorSummary", "iterator: resource", "summary: string", "What was measured, as a Summary."},
    {"ExperimentalStatsAggregatorSummary", "iterator: resource", "summary: string", "What was measured, as a Summary."},
};

void AddPlain(OpRegistry& ops, const Plain& row) {
  OpBuilder op = ops.Add(row.name);
  const auto for_each = [](std::string_view list, auto add) {
    if (list.empty()) return;
    for (const std::string_view item : StrSplit(list, ';')) add(StripSpaces(item));
  };
  for_each(row.inputs, [&](std::string_view text) { op.Input(text); });
  for_each(row.outputs, [&](std::string_view text) { op.Output(text); });
  op.Stateful().Heavy().Shape(shapes::Scalar).Doc(row.doc);
}

void AddIterators(OpRegistry& ops) {
  for (const char* name : {"Iterator", "IteratorV2"}) {
    AddElementAttrs(ops.Add(name).Output("handle: resource").Attr("shared_name: string").Attr("container: string"))
        .Stateful().Shape(shapes::Scalar).Doc("An iterator that MakeIterator starts.");
  }
  AddElementAttrs(ops.Add("AnonymousIterator").Output("handle: resource"))
      .Stateful().Shape(shapes::Scalar).Doc("An iterator that lives until it is destroyed.");
  AddElementAttrs(ops.Add("AnonymousIteratorV3").Output("handle: resource"))
      .Stateful().Shape(shapes::Scalar).Doc("An iterator that lives as long as its handle.");
  AddElementAttrs(ops.Add("AnonymousIteratorV2").Output("handle: resource").Output("deleter: variant"))
      .Stateful().Shape(shapes::Scalar).Doc("An iterator that lives until it is deleted.");
  AddElementAttrs(ops.Add("OneShotIterator").Output("handle: resource").Attr("dataset_factory: func"))
      .Attr("container: string = ''").Attr("shared_name: string = ''").Stateful().Shape(shapes::Scalar)
      .Doc("An iterator over the dataset that the function makes; it cannot be started again.");
  for (const char* name : {"IteratorFromStringHandle", "IteratorFromStringHandleV2"}) {
    ops.Add(name).Input("string_handle: string").Output("resource_handle: resource")
        .Attr("output_types: list(type) >= 0 = []").Attr("output_shapes: list(shape) >= 0 = []").Stateful()
        .Shape(shapes::Scalar).Doc("The iterator that the string names.");
  }
  for (const char* name : {"IteratorGetNext", "IteratorGetNextSync"}) {
    AddElementAttrs(ops.Add(name).Input("iterator: resource").Output("components: output_types"))
        .Stateful().Heavy().Shape(GetNextShape).Doc("The next element.");
  }
  AddElementAttrs(ops.Add("IteratorGetNextAsOptional").Input("iterator: resource").Output("optional: variant"))
      .Stateful().Heavy().Shape(shapes::Scalar).Doc("The next element, or no value at the end.");
  ops.Add("SerializeIterator").Input("resource_handle: resource").Output("serialized: variant")
      .Attr("external_state_policy: int = 0").Stateful().Shape(shapes::Unknown)
      .Doc("The iterator's state, from which DeserializeIterator goes on.");
}

void AddMultiDeviceIterators(OpRegistry& ops) {
  AddElementAttrs(ops.Add("MultiDeviceIterator").Output("handle: resource").Attr("devices: list(string) >= 1")
                      .Attr("shared_name: string").Attr("container: string"))
      .Stateful().Shape(shapes::Scalar).Doc("An iterator whose elements go to several devices in turns.");
  AddElementAttrs(ops.Add("AnonymousMultiDeviceIterator").Output("handle: resource").Output("deleter: variant")
                      .Attr("devices: list(string) >= 1"))
      .Stateful().Shape(shapes::Scalar).Doc("A MultiDeviceIterator that lives until it is deleted.");
  AddElementAttrs(ops.Add("AnonymousMultiDeviceIteratorV3").Output("handle: resource")
                      .Attr("devices: list(string) >= 1"))
      .Stateful().Shape(shapes::Scalar).Doc("A MultiDeviceIterator that lives as long as its handle.");
  AddElementAttrs(ops.Add("MultiDeviceIteratorGetNextFromShard").Input("multi_device_iterator: resource")
                      .Input("shard_num: int32").Input("incarnation_id: int64").Output("components: output_types"))
      .Stateful().Heavy().Shape(GetNextShape).Doc("The next element of one device.");
  ops.Add("MultiDeviceIteratorFromStringHandle").Input("string_handle: string")
      .Output("multi_device_iterator: resource")
      .Attr("output_types: list(type) >= 0 = []").Attr("output_shapes: list(shape) >= 0 = []").Stateful()
      .Shape(shapes::Scalar).Doc("The iterator that the string names.");
  ops.Add("DeleteMultiDeviceIterator").Input("multi_device_iterator: resource").Input("iterators: N * resource")
      .Input("deleter: variant").Attr("N: int >= 0").Stateful().Shape(shapes::None)
      .Doc("Ends an anonymous MultiDeviceIterator.");
}

void AddOptionals(OpRegistry& ops) {
  ops.Add("OptionalFromValue").Input("components: Toutput_types").Output("optional: variant")
      .Attr("Toutput_types: list(type) >= 1").Shape(shapes::Scalar).Gradient(GradientOfFromValue)
      .Doc("An optional value that is there.");
  ops.Add("OptionalNone").Output("optional: variant").Shape(shapes::Scalar).Doc("An optional value that is not there.");
  ops.Add("OptionalHasValue").Input("optional: variant").Output("has_value: bool").Shape(shapes::Scalar)
      .Doc("Whether the value is there.");
  AddElementAttrs(ops.Add("OptionalGetValue").Input("optional: variant").Output("components: output_types"))
      .Shape(GetNextShape).Gradient(GradientOfGetValue).Doc("The value; InvalidArgument if it is not there.");
}

void AddWholeDatasetOps(OpRegistry& ops) {
  ops.Add("DatasetCardinality").Input("input_dataset: variant").Output("cardinality: int64")
      .Attr("cardinality_options: string = ''").Shape(shapes::Scalar)
      .Doc("How many elements there are; -1: without end; -2: unknown.");
  ops.Add("ExperimentalDatasetCardinality").Input("input_dataset: variant").Output("cardinality: int64")
      .Shape(shapes::Scalar).Doc("How many elements there are; -1: without end; -2: unknown.");
  ops.Add("DatasetFingerprint").Input("input_dataset: variant").Output("fingerprint: uint64").Shape(shapes::Scalar)
      .Doc("A number that is the same for equal datasets.");
  ops.Add("GetOptions").Input("input_dataset: variant").Output("serialized_options: string").Shape(shapes::Scalar)
      .Doc("The tensorflow.data.Options that were set for the dataset and what it is made of, serialized.");
  ops.Add("DatasetToGraph").Input("input_dataset: variant").Output("graph: string")
      .Attr("stateful_whitelist: list(string) >= 0 = []").Attr("allow_stateful: bool = false")
      .Attr("strip_device_assignment: bool = false").Shape(shapes::Scalar)
      .Doc("The graph that makes the dataset, serialized.");
  ops.Add("DatasetToGraphV2").Input("input_dataset: variant").Output("graph: string")
      .Attr("external_state_policy: int = 0").Attr("strip_device_assignment: bool = false").Shape(shapes::Scalar)
      .Doc("The graph that makes the dataset, serialized.");
  AddElementAttrs(ops.Add("DatasetToSingleElement").Input("dataset: variant").Output("components: output_types"))
      .Attr("metadata: string = ''").Stateful().Heavy().Shape(GetNextShape)
      .Doc("The only element; InvalidArgument if there are more or less.");
  AddElementAttrs(ops.Add("GetElementAtIndex")
                      .Input("dataset: variant")
                      .Input("index: int64")
                      .Output("components: output_types"))
      .Heavy().NotDifferentiable().Shape(GetNextShape).Doc("The element at a place; OutOfRange if there is none.");
  AddElementAttrs(ops.Add("ReduceDataset")
                      .Input("input_dataset: variant")
                      .Input("initial_state: Tstate")
                      .Input("other_arguments: Targuments")
                      .Output("components: output_types")
                      .Attr("f: func")
                      .Attr("Tstate: list(type) >= 1")
                      .Attr("Targuments: list(type) >= 0"))
      .Attr("use_inter_op_parallelism: bool = true")
      .Attr("metadata: string = ''")
      .Stateful()
      .Heavy()
      .NotDifferentiable()
      .Shape(GetNextShape)
      .Doc("What becomes of the state when `f` has been called with it and each element.");
  ops.Add("FilterByLastComponentDataset")
      .Input("input_dataset: variant")
      .Output("output: variant")
      .Attr("output_types: list(type) >= 1")
      .Attr("output_shapes: list(shape) >= 1")
      .Shape(DatasetShape)
      .Doc("The elements whose last component is true, without it.");
  AddElementAttrs(ops.Add("MapDefun").Input("arguments: Targuments").Input("captured_inputs: Tcaptured")
                      .Output("output: output_types").Attr("Targuments: list(type) >= 1")
                      .Attr("Tcaptured: list(type) >= 0 = []"))
      .Attr("f: func").Attr("max_intra_op_parallelism: int = 1").Shape(MapDefunShape)
      .Doc("`f` of each slice of the arguments along their first dimension, joined again.");
  ops.Add("SaveDataset").Input("input_dataset: variant").Input("path: string")
      .Input("shard_func_other_args: Tshard_func_args")
      .Attr("compression: string = ''").Attr("shard_func: func").Attr("use_shard_func: bool = true")
      .Attr("Tshard_func_args: list(type) >= 0").Stateful().Shape(shapes::None).Doc("Writes the elements to files.");
  ops.Add("RegisterDataset").Input("dataset: variant").Input("address: string").Input("protocol: string")
      .Output("dataset_id: int64").Attr("external_state_policy: int").Attr("element_spec: string = ''")
      .Attr("metadata: string = ''").Shape(shapes::Scalar).Doc("Makes the dataset known to a tf.data service.");
  ops.Add("RegisterDatasetV2").Input("dataset: variant").Input("address: string").Input("protocol: string")
      .Output("dataset_id: string").Attr("external_state_policy: int").Attr("element_spec: string = ''")
      .Attr("requested_dataset_id: string = ''").Attr("metadata: string = ''").Shape(shapes::Scalar)
      .Doc("Makes the dataset known to a tf.data service.");
  for (const char* name : {"WrapDatasetVariant", "UnwrapDatasetVariant"}) {
    ops.Add(name).Input("input_handle: variant").Output("output_handle: variant").Shape(shapes::Scalar)
        .Doc("The same dataset in a form that other devices may hold, and back.");
  }
  for (const char* name : {"StatsAggregatorHandle", "StatsAggregatorHandleV2", "ExperimentalStatsAggregatorHandle"}) {
    ops.Add(name).Output("handle: resource").Attr("container: string = ''").Attr("shared_name: string = ''").Stateful()
        .Shape(shapes::Scalar).Doc("Collects the statistics of datasets.");
  }
  for (const char* name : {"ThreadPoolHandle", "ExperimentalThreadPoolHandle"}) {
    ops.Add(name).Output("handle: resource").Attr("num_threads: int").Attr("max_intra_op_parallelism: int = 1")
        .Attr("display_name: string").Attr("container: string = ''").Attr("shared_name: string = ''").Stateful()
        .Shape(shapes::Scalar).Doc("Threads for datasets.");
  }
}

}  // namespace

void RegisterIteratorOps(OpRegistry& ops) {
  AddIterators(ops);
  AddMultiDeviceIterators(ops);
  AddOptionals(ops);
  AddWholeDatasetOps(ops);
  for (const Plain& row : kPlain) AddPlain(ops, row);
}

}  // namespace penstock
