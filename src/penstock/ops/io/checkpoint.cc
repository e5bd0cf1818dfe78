// Checkpoints and whole files.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

void CheckNames(ShapeContext& c, int64_t count) {
  for (int i = 1; i < 3; ++i) {
    const PartialShape names = c.WithRank(i, 1);
    if (names.known_rank()) ShapeContext::MergeDim(names[0], count);
  }
}

void SaveShape(ShapeContext& c) {
  c.WithRank(0, 0);
  CheckNames(c, c.num_inputs() - 3);
}

void SaveOneShape(ShapeContext& c, int first) {
  c.WithRank(0, 0);
  const PartialShape names = c.WithRank(1, 1);
  if (names.known_rank()) ShapeContext::MergeDim(names[0], c.num_inputs() - first);
  if (first > 2) c.WithRank(2, 1);
}

// The shape of a part is in its specification.
PartialShape ShapeOfPart(std::string_view spec) {
  const auto parts = StrSplit(spec, ' ');
  if (parts.size() < 2) return PartialShape();
  std::vector<int64_t> dims(parts.size() - 1, -1);
  const auto extents = StrSplit(parts.back(), ':');
  if (extents.size() != dims.size()) throw InvalidArgument("bad shape_and_slice: ", spec);
  for (size_t d = 0; d < dims.size(); ++d) {
    const auto range = StrSplit(extents[d], ',');
    if (!ParseInt64(range.size() == 2 ? range[1] : parts[d], &dims[d])) dims[d] = -1;
  }
  return PartialShape(dims);
}

void RestoreShape(ShapeContext& c) {
  c.WithRank(0, 0);
  CheckNames(c, c.num_outputs());
  const Tensor* specs = c.in_value(2);
  if (!specs || specs->num_elements() != c.num_outputs()) return;
  for (int i = 0; i < c.num_outputs(); ++i) c.out(i, ShapeOfPart(specs->data<TString>()[i].view()));
}

void ScalarInputs(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) c.WithRank(i, 0);
  for (int i = 0; i < c.num_outputs(); ++i) c.out(i, PartialShape({}));
}

}  // namespace

void RegisterCheckpointOps(OpRegistry& ops) {
  ops.Add("SaveV2")
      .Input("prefix: string").Input("tensor_names: string").Input("shape_and_slices: string")
      .Input("tensors: dtypes").Attr("dtypes: list(type) >= 1").Stateful().Shape(SaveShape)
      .Doc("Writes tensors, or parts of them, as a checkpoint of version 2.");
  ops.Add("RestoreV2")
      .Input("prefix: string").Input("tensor_names: string").Input("shape_and_slices: string")
      .Output("tensors: dtypes").Attr("dtypes: list(type) >= 1").Stateful().Shape(RestoreShape)
      .Doc("Reads tensors, or parts of them, from a checkpoint of version 2.");
  ops.Add("Save")
      .Input("filename: string").Input("tensor_names: string").Input("data: T").Attr("T: list(type) >= 1").Stateful()
      .Shape([](ShapeContext& c) { SaveOneShape(c, 2); }).Doc("Writes tensors as a checkpoint of version 1.");
  ops.Add("SaveSlices")
      .Input("filename: string").Input("tensor_names: string").Input("shapes_and_slices: string").Input("data: T")
      .Attr("T: list(type) >= 1").Stateful().Shape([](ShapeContext& c) { SaveOneShape(c, 3); })
      .Doc("Writes tensors, or parts of them, as a checkpoint of version 1.");
  ops.Add("Restore")
      .Input("file_pattern: string").Input("tensor_name: string").Output("tensor: dt").Attr("dt: type")
      .Attr("preferred_shard: int = -1").Stateful()
      .Shape([](ShapeContext& c) {
        for (int i = 0; i < 2; ++i) c.WithRank(i, 0);
      })
      .Doc("Reads a tensor from a checkpoint of either version.");
  ops.Add("RestoreSlice")
      .Input("file_pattern: string").Input("tensor_name: string").Input("shape_and_slice: string").Output("tensor: dt")
      .Attr("dt: type").Attr("preferred_shard: int = -1").Stateful()
      .Shape([](ShapeContext& c) {
        for (int i = 0; i < 3; ++i) c.WithRank(i, 0);
        const Tensor* spec = c.in_value(2);
        if (spec) c.out(0, ShapeOfPart(spec->data<TString>()[0].view()));
      })
      .Doc("Reads a part of a tensor from a checkpoint of either version.");
  ops.Add("MergeV2Checkpoints")
      .Input("checkpoint_prefixes: string").Input("destination_prefix: string").Attr("delete_old_dirs: bool = true")
      .Attr("allow_missing_files: bool = false").Stateful()
      .Shape([](ShapeContext& c) {
        c.WithRank(0, 1);
        c.WithRank(1, 0);
      })
      .Doc("Makes one checkpoint of several, without copying their data.");
  ops.Add("ShardedFilename")
      .Input("basename: string").Input("shard: int32").Input("num_shards: int32").Output("filename: string")
      .Shape(ScalarInputs).Doc("The name of one file of several: basename-00001-of-00003.");
  ops.Add("ShardedFilespec")
      .Input("basename: string").Input("num_shards: int32").Output("filename: string").Shape(ScalarInputs)
      .Doc("A pattern for all files of several: basename, five question marks, -of-00003.");
  ops.Add("ReadFile")
      .Input("filename: string").Output("contents: string").Shape(ScalarInputs).Doc("The contents of a file.");
  ops.Add("WriteFile")
      .Input("filename: string").Input("contents: string").Stateful().Shape(ScalarInputs)
      .Doc("Writes a file, and makes its directory.");
  ops.Add("MatchingFiles")
      .Input("pattern: string").Output("filenames: string")
      .Shape([](ShapeContext& c) {
        c.WithRankAtMost(0, 1);
        c.out(0, PartialShape({-1}));
      })
      .Doc("The files that match one of the patterns, sorted.");
}

}  // namespace penstock
