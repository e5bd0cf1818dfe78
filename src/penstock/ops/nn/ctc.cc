// Connectionist temporal classification: the likelihood of label sequences, and decoders.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"

namespace penstock {
namespace {

int64_t DimOf(const PartialShape& shape, int i) { return shape.known_rank() ? shape[i] : -1; }

void LossShape(ShapeContext& c) {
  const PartialShape inputs = c.WithRank(0, 3), indices = c.WithRank(1, 2), values = c.WithRank(2, 1),
                     length = c.WithRank(3, 1);
  ShapeContext::MergeDim(DimOf(indices, 0), DimOf(values, 0));
  const int64_t batch = ShapeContext::MergeDim(DimOf(inputs, 1), DimOf(length, 0));
  c.out(0, PartialShape({batch}));
  c.out(1, PartialShape({DimOf(inputs, 0), batch, DimOf(inputs, 2)}));
}

// `paths` sparse tensors of rank 2, and a score for each.
void DecodedShape(ShapeContext& c, int paths) {
  const PartialShape inputs = c.WithRank(0, 3), length = c.WithRank(1, 1);
  const int64_t batch = ShapeContext::MergeDim(DimOf(inputs, 1), DimOf(length, 0));
  for (int i = 0; i < paths; ++i) {
    c.out(i, PartialShape({-1, 2}));
    c.out(paths + i, PartialShape({-1}));
    c.out(2 * paths + i, PartialShape({2}));
  }
  c.out(3 * paths, PartialShape({batch, paths}));
}

}  // namespace

void RegisterCtcOps(OpRegistry& ops) {
  ops.Add("CTCLoss").Input("inputs: T").Input("labels_indices: int64").Input("labels_values: int32")
      .Input("sequence_length: int32").Output("loss: T").Output("gradient: T")
      .Attr("preprocess_collapse_repeated: bool = false").Attr("ctc_merge_repeated: bool = true")
      .Attr("ignore_longer_outputs_than_inputs: bool = false").Attr("T: {float, double} = DT_FLOAT").Heavy()
      .Shape(LossShape)
      .Doc("The negative log likelihood of label sequences, and its gradient; the last class is the blank.")
      .Gradient([](GradContext& g) {
        const Out gradient = g.Call("PreventGradient", {g.y(1)},
                                    {{"message", std::string("Currently there is no way to take the second derivative "
                                                             "of ctc_loss due to the fused implementation's "
                                                             "interaction with tf.gradients()")}});
        g.Set(0, g.Call("ExpandDims", {g.dy(0), g.scope().Scalar<int32_t>(-1)}) * gradient);
      });
  ops.Add("CTCGreedyDecoder").Input("inputs: T").Input("sequence_length: int32").Output("decoded_indices: int64")
      .Output("decoded_values: int64").Output("decoded_shape: int64").Output("log_probability: T")
      .Attr("merge_repeated: bool = false").Attr("blank_index: int = -1").Attr("T: {float, double} = DT_FLOAT")
      .Shape([](ShapeContext& c) { DecodedShape(c, 1); }).NotDifferentiable()
      .Doc("The best class at each time, without blanks.");
  ops.Add("CTCBeamSearchDecoder").Input("inputs: T").Input("sequence_length: int32")
      .Output("decoded_indices: top_paths * int64").Output("decoded_values: top_paths * int64")
      .Output("decoded_shape: top_paths * int64").Output("log_probability: T").Attr("beam_width: int >= 1")
      .Attr("top_paths: int >= 1").Attr("merge_repeated: bool = true").Attr("T: {float, double} = DT_FLOAT").Heavy()
      .Shape([](ShapeContext& c) { DecodedShape(c, static_cast<int>(c.attr<int64_t>("top_paths"))); })
      .NotDifferentiable().Doc("The most likely label sequences that a search with a beam finds.");
}

}  // namespace penstock
