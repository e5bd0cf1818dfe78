// Example messages, CSV, compressed and serialized values.
#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

using TypeList = std::vector<DataType>;
using ShapeList = std::vector<PartialShape>;

int64_t Count(ShapeContext& c, const char* types) { return static_cast<int64_t>(c.attr<TypeList>(types).size()); }

// Sets the outputs one after the other.
class Outputs {
 public:
  explicit Outputs(ShapeContext& c) : c_(c) {}
  void Put(int64_t n, const PartialShape& shape) {
    for (int64_t i = 0; i < n; ++i) {
      if (next_ == c_.num_outputs()) throw InvalidArgument("the numbers of keys and types do not fit together");
      c_.out(next_++, shape);
    }
  }
  void Sparse(int64_t n, int64_t rank) {
    Put(n, {-1, rank});
    Put(n, PartialShape({-1}));
    Put(n, PartialShape({rank}));
  }
  // Each of the shapes behind these dimensions.
  void Dense(const PartialShape& before, const ShapeList& shapes) {
    for (const PartialShape& shape : shapes) {
      // The first dimension of variable values may be unknown.
      Put(1, before.known_rank() ? shapes::Concatenate(before, shape) : PartialShape());
    }
  }

 private:
  ShapeContext& c_;
  int next_ = 0;
};

void ExampleShape(ShapeContext& c) {
  const PartialShape in = c.WithRank(0, 1);
  c.WithRank(1, 1);
  Outputs out(c);
  out.Sparse(Count(c, "sparse_types"), 2);
  out.Dense(in, c.attr<ShapeList>("dense_shapes"));
}

// What a batch of one or of several messages has in front, and rows of splits for ragged values.
int64_t SplitsOf(const PartialShape& in) { return in.rank() == 1 && in[0] >= 0 ? in[0] + 1 : in.rank() == 0 ? 0 : -1; }
int64_t SparseRankOf(const PartialShape& in, int64_t plain) { return in.known_rank() ? plain + in.rank() : -1; }

void ExampleV2Shape(ShapeContext& c) {
  const PartialShape in = c.WithRankAtMost(0, 1);
  c.WithRankAtMost(1, 1);
  Outputs out(c);
  out.Sparse(Count(c, "sparse_types"), SparseRankOf(in, 1));
  out.Dense(in, c.attr<ShapeList>("dense_shapes"));
  out.Put(Count(c, "ragged_value_types"), PartialShape({-1}));
  out.Put(Count(c, "ragged_split_types"), PartialShape({SplitsOf(in)}));
}

void SingleExampleShape(ShapeContext& c) {
  c.WithRank(0, 0);
  Outputs out(c);
  out.Sparse(c.attr<int64_t>("num_sparse"), 1);
  out.Dense(PartialShape({}), c.attr<ShapeList>("dense_shapes"));
}

// Lists of all kinds: `batch` is the shape of the batch.
void ListShapes(ShapeContext& c, const PartialShape& batch, Outputs* out) {
  out->Sparse(Count(c, "feature_list_sparse_types"), SparseRankOf(batch, 2));
  PartialShape before = batch;
  if (before.known_rank()) before.AddDim(-1);
  out->Dense(before, c.attr<ShapeList>("feature_list_dense_shapes"));
}

void SequenceShape(ShapeContext& c) {
  const PartialShape in = c.WithRank(0, 1);
  Outputs out(c);
  out.Sparse(Count(c, "context_sparse_types"), 2);
  out.Dense(in, c.attr<ShapeList>("context_dense_shapes"));
  ListShapes(c, in, &out);
  out.Put(Count(c, "feature_list_dense_types"), in);
}

void SequenceV2Shape(ShapeContext& c) {
  const PartialShape in = c.WithRankAtMost(0, 1);
  Outputs out(c);
  out.Sparse(Count(c, "context_sparse_types"), SparseRankOf(in, 1));
  out.Dense(in, c.attr<ShapeList>("context_dense_shapes"));
  out.Put(Count(c, "context_ragged_value_types"), PartialShape({-1}));
  out.Put(Count(c, "context_ragged_split_types"), PartialShape({SplitsOf(in)}));
  ListShapes(c, in, &out);
  out.Put(Count(c, "feature_list_dense_types"), in);
  out.Put(Count(c, "feature_list_ragged_value_types"), PartialShape({-1}));
  out.Put(Count(c, "feature_list_ragged_split_types"), PartialShape({SplitsOf(in)}));
  out.Put(Count(c, "feature_list_ragged_split_types"), PartialShape({-1}));
}

void SingleSequenceShape(ShapeContext& c) {
  c.WithRank(0, 0);
  c.WithRank(1, 1);
  Outputs out(c);
  out.Sparse(Count(c, "context_sparse_types"), 1);
  out.Dense(PartialShape({}), c.attr<ShapeList>("context_dense_shapes"));
  ListShapes(c, PartialShape({}), &out);
}

void CsvShape(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) {
    const PartialShape fallback = c.WithRankAtMost(i, 1);
    if (fallback.rank() == 1 && fallback[0] > 1) {
      throw InvalidArgument("Shape of a default must be a length-0 or length-1 vector, or a scalar.");
    }
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.out(i, c.in(0));
}

// What parsers of SequenceExamples share.
OpBuilder ContextOutputs(OpBuilder op) {
  return op.Output("context_sparse_indices: Ncontext_sparse * int64")
      .Output("context_sparse_values: context_sparse_types")
      .Output("context_sparse_shapes: Ncontext_sparse * int64")
      .Output("context_dense_values: Tcontext_dense");
}
OpBuilder FeatureListOutputs(OpBuilder op) {
  return op.Output("feature_list_sparse_indices: Nfeature_list_sparse * int64")
      .Output("feature_list_sparse_values: feature_list_sparse_types")
      .Output("feature_list_sparse_shapes: Nfeature_list_sparse * int64")
      .Output("feature_list_dense_values: feature_list_dense_types");
}
OpBuilder SequenceAttributes(OpBuilder op) {
  return op.Attr("Ncontext_sparse: int >= 0 = 0")
      .Attr("Ncontext_dense: int >= 0 = 0")
      .Attr("Nfeature_list_sparse: int >= 0 = 0")
      .Attr("Nfeature_list_dense: int >= 0 = 0")
      .Attr("context_sparse_types: list({float, int64, string}) >= 0 = []")
      .Attr("Tcontext_dense: list({float, int64, string}) >= 0 = []")
      .Attr("feature_list_dense_types: list({float, int64, string}) >= 0 = []")
      .Attr("context_dense_shapes: list(shape) >= 0 = []")
      .Attr("feature_list_sparse_types: list({float, int64, string}) >= 0 = []")
      .Attr("feature_list_dense_shapes: list(shape) >= 0 = []");
}

}  // namespace

void RegisterParsingOps(OpRegistry& ops) {
  ops.Add("ParseExample").Input("serialized: string").Input("names: string").Input("sparse_keys: Nsparse * string")
      .Input("dense_keys: Ndense * string").Input("dense_defaults: Tdense").Output("sparse_indices: Nsparse * int64")
      .Output("sparse_values: sparse_types").Output("sparse_shapes: Nsparse * int64").Output("dense_values: Tdense")
      .Attr("Nsparse: int >= 0").Attr("Ndense: int >= 0").Attr("sparse_types: list({float, int64, string}) >= 0")
      .Attr("Tdense: list({float, int64, string}) >= 0").Attr("dense_shapes: list(shape) >= 0").Shape(ExampleShape)
      .Doc("Features of Example messages.");
  ops.Add("ParseExampleV2").Input("serialized: string").Input("names: string").Input("sparse_keys: string")
      .Input("dense_keys: string").Input("ragged_keys: string").Input("dense_defaults: Tdense")
      .Output("sparse_indices: num_sparse * int64").Output("sparse_values: sparse_types")
      .Output("sparse_shapes: num_sparse * int64").Output("dense_values: Tdense")
      .Output("ragged_values: ragged_value_types").Output("ragged_row_splits: ragged_split_types")
      .Attr("Tdense: list({float, int64, string}) >= 0").Attr("num_sparse: int >= 0")
      .Attr("sparse_types: list({float, int64, string}) >= 0")
      .Attr("ragged_value_types: list({float, int64, string}) >= 0")
      .Attr("ragged_split_types: list({int32, int64}) >= 0").Attr("dense_shapes: list(shape) >= 0")
      .Shape(ExampleV2Shape).Doc("Features of Example messages; keys are tensors, and values may be ragged.");
  ops.Add("ParseSingleExample").Input("serialized: string").Input("dense_defaults: Tdense")
      .Output("sparse_indices: num_sparse * int64").Output("sparse_values: sparse_types")
      .Output("sparse_shapes: num_sparse * int64").Output("dense_values: Tdense").Attr("num_sparse: int >= 0")
      .Attr("sparse_keys: list(string) >= 0").Attr("dense_keys: list(string) >= 0")
      .Attr("sparse_types: list({float, int64, string}) >= 0").Attr("Tdense: list({float, int64, string}) >= 0")
      .Attr("dense_shapes: list(shape) >= 0").Shape(SingleExampleShape).Doc("Features of one Example message.");
  SequenceAttributes(FeatureListOutputs(ContextOutputs(ops.Add("ParseSequenceExample")
                                                           .Input("serialized: string")
                                                           .Input("debug_name: string")
                                                           .Input("context_dense_defaults: Tcontext_dense")))
                         .Output("feature_list_dense_lengths: Nfeature_list_dense * int64")
                         .Attr("feature_list_dense_missing_assumed_empty: list(string) >= 0")
                         .Attr("context_sparse_keys: list(string) >= 0")
                         .Attr("context_dense_keys: list(string) >= 0")
                         .Attr("feature_list_sparse_keys: list(string) >= 0")
                         .Attr("feature_list_dense_keys: list(string) >= 0"))
      .Shape(SequenceShape)
      .Doc("Features and feature lists of SequenceExample messages.");
  FeatureListOutputs(ContextOutputs(ops.Add("ParseSequenceExampleV2")
                                        .Input("serialized: string")
                                        .Input("debug_name: string")
                                        .Input("context_sparse_keys: string")
                                        .Input("context_dense_keys: string")
                                        .Input("context_ragged_keys: string")
                                        .Input("feature_list_sparse_keys: string")
                                        .Input("feature_list_dense_keys: string")
                                        .Input("feature_list_ragged_keys: string")
                                        .Input("feature_list_dense_missing_assumed_empty: bool")
                                        .Input("context_dense_defaults: Tcontext_dense"))
                         .Output("context_ragged_values: context_ragged_value_types")
                         .Output("context_ragged_row_splits: context_ragged_split_types"))
      .Output("feature_list_dense_lengths: Nfeature_list_dense * int64")
      .Output("feature_list_ragged_values: feature_list_ragged_value_types")
      .Output("feature_list_ragged_outer_splits: feature_list_ragged_split_types")
      .Output("feature_list_ragged_inner_splits: feature_list_ragged_split_types")
      .Attr("Ncontext_sparse: int >= 0 = 0")
      .Attr("Tcontext_dense: list({float, int64, string}) >= 0 = []")
      .Attr("context_sparse_types: list({float, int64, string}) >= 0 = []")
      .Attr("context_ragged_value_types: list({float, int64, string}) >= 0 = []")
      .Attr("context_ragged_split_types: list({int32, int64}) >= 0 = []")
      .Attr("context_dense_shapes: list(shape) >= 0 = []")
      .Attr("Nfeature_list_sparse: int >= 0 = 0")
      .Attr("Nfeature_list_dense: int >= 0 = 0")
      .Attr("feature_list_dense_types: list({float, int64, string}) >= 0 = []")
      .Attr("feature_list_sparse_types: list({float, int64, string}) >= 0 = []")
      .Attr("feature_list_ragged_value_types: list({float, int64, string}) >= 0 = []")
      .Attr("feature_list_ragged_split_types: list({int32, int64}) >= 0 = []")
      .Attr("feature_list_dense_shapes: list(shape) >= 0 = []")
      .Shape(SequenceV2Shape)
      .Doc("Features and feature lists of SequenceExample messages; keys are tensors, and values may be ragged.");
  SequenceAttributes(
      FeatureListOutputs(ContextOutputs(ops.Add("ParseSingleSequenceExample")
                                            .Input("serialized: string")
                                            .Input("feature_list_dense_missing_assumed_empty: string")
                                            .Input("context_sparse_keys: Ncontext_sparse * string")
                                            .Input("context_dense_keys: Ncontext_dense * string")
                                            .Input("feature_list_sparse_keys: Nfeature_list_sparse * string")
                                            .Input("feature_list_dense_keys: Nfeature_list_dense * string")
                                            .Input("context_dense_defaults: Tcontext_dense")
                                            .Input("debug_name: string"))))
      .Shape(SingleSequenceShape)
      .Doc("Features and feature lists of one SequenceExample message.");
  ops.Add("DecodeCSV").Input("records: string").Input("record_defaults: OUT_TYPE").Output("output: OUT_TYPE")
      .Attr("OUT_TYPE: list({float, double, int32, int64, string}) >= 1").Attr("field_delim: string = ','")
      .Attr("use_quote_delim: bool = true").Attr("na_value: string = ''").Attr("select_cols: list(int) = []")
      .Shape(CsvShape).Doc("The fields of lines of comma-separated values.");
  ops.Add("DecodeJSONExample").Input("json_examples: string").Output("binary_examples: string")
      .Shape(shapes::SameAsInput0).Doc("Example messages written as JSON, as bytes.");
  ops.Add("DecodeCompressed").Input("bytes: string").Output("output: string").Attr("compression_type: string = ''")
      .Shape(shapes::SameAsInput0).Doc("What zlib or gzip compressed.");
  ops.Add("ParseTensor").Input("serialized: string").Output("output: out_type").Attr("out_type: type")
      .NotDifferentiable().Doc("The tensor that a TensorProto message holds.");
  ops.Add("SerializeTensor").Input("tensor: T").Output("serialized: string").Attr("T: type").NotDifferentiable()
      .Shape(shapes::Scalar).Doc("A tensor as a TensorProto message.");
}

}  // namespace penstock
