// Choosing among boxes, and boxes drawn at random.
#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

int64_t DimOf(const PartialShape& shape, int i) { return shape.known_rank() ? shape[i] : -1; }

// Boxes, scores and then scalars; the output's length is known only if it is padded.
void SuppressionShape(ShapeContext& c) {
  const PartialShape boxes = c.WithRank(0, 2), scores = c.WithRank(1, 1);
  for (int i = 2; i < c.num_inputs(); ++i) c.WithRank(i, 0);
  ShapeContext::MergeDim(DimOf(boxes, 0), DimOf(scores, 0));
  if (boxes.known_rank() && c.op().name != "NonMaxSuppressionWithOverlaps") shapes::RequireDim(boxes[1], 4);
  const AttrValue* pad = c.FindAttr("pad_to_max_output_size");
  const int64_t size = pad && *pad->If<bool>() ? shapes::DimFromInput(c, 2) : -1;
  for (int i = 0; i < std::max(1, c.num_outputs() - 1); ++i) c.out(i, PartialShape({size}));
  if (c.num_outputs() > 1) c.out(c.num_outputs() - 1, PartialShape(std::vector<int64_t>{}));
}

void CombinedShape(ShapeContext& c) {
  const PartialShape boxes = c.WithRank(0, 4), scores = c.WithRank(1, 3);
  for (int i = 2; i < 6; ++i) c.WithRank(i, 0);
  const int64_t batch = ShapeContext::MergeDim(DimOf(boxes, 0), DimOf(scores, 0));
  ShapeContext::MergeDim(DimOf(boxes, 1), DimOf(scores, 1));
  const int64_t shared = DimOf(boxes, 2), kinds = DimOf(scores, 2);
  if (boxes.known_rank()) shapes::RequireDim(boxes[3], 4);
  if (shared >= 0 && kinds >= 0 && shared != 1 && shared != kinds) {
    throw InvalidArgument("third dimension of boxes must be either 1 or equal to the third dimension of scores");
  }
  const int64_t total = shapes::DimFromInput(c, 3), per_class = shapes::DimFromInput(c, 2);
  if (total == 0) throw InvalidArgument("max_total_size should be > 0 ");
  int64_t size = total;
  if (c.attr<bool>("pad_per_class")) {
    const int64_t all = shapes::MultiplyDims(per_class, kinds);
    size = total < 0 || all < 0 ? -1 : std::min(total, all);
  }
  c.out(0, PartialShape({batch, size, 4}));
  c.out(1, PartialShape({batch, size}));
  c.out(2, PartialShape({batch, size}));
  c.out(3, PartialShape({batch}));
}

void MatchingShape(ShapeContext& c) {
  const PartialShape distances = c.WithRank(0, 2);
  c.out(0, PartialShape({DimOf(distances, 0)}));
  c.out(1, PartialShape({DimOf(distances, 1)}));
}

void DistortedShape(ShapeContext& c) {
  const PartialShape size = c.WithRank(0, 1), boxes = c.WithRank(1, 3);
  if (size.known_rank()) shapes::RequireDim(size[0], 3);
  if (boxes.known_rank()) shapes::RequireDim(boxes[2], 4);
  if (c.num_inputs() > 2) c.WithRank(2, 0);
  c.out(0, PartialShape({3}));
  c.out(1, PartialShape({3}));
  c.out(2, PartialShape({1, 1, 4}));
}

}  // namespace

void RegisterBoxesOps(OpRegistry& ops) {
  ops.Add("BipartiteMatch")
      .Input("distance_mat: float")
      .Input("num_valid_rows: float")
      .Output("row_to_col_match_indices: int32")
      .Output("col_to_row_match_indices: int32")
      .Attr("top_k: int = -1")
      .Stateful()
      .Shape(MatchingShape)
      .NotDifferentiable()
      .Doc("Pairs of a row and a column: again and again the nearest of which neither is taken. -1 is no partner.");
  constexpr char kDoc[] = "The best boxes of which none overlaps another too much.";
  ops.Add("NonMaxSuppression")
      .Input("boxes: float")
      .Input("scores: float")
      .Input("max_output_size: int32")
      .Output("selected_indices: int32")
      .Attr("iou_threshold: float = 0.5")
      .Shape(SuppressionShape)
      .NotDifferentiable()
      .Doc(kDoc);
  for (int version = 2; version <= 4; ++version) {
    OpBuilder op = ops.Add(StrCat("NonMaxSuppressionV", version))
                       .Input("boxes: T")
                       .Input("scores: T")
                       .Input("max_output_size: int32")
                       .Input("iou_threshold: T_threshold");
    if (version > 2) op.Input("score_threshold: T_threshold");
    op.Output("selected_indices: int32");
    if (version > 3) op.Output("valid_outputs: int32");
    op.Attr("T: {half, float} = DT_FLOAT").Attr("T_threshold: {half, float} = DT_FLOAT");
    if (version > 3) op.Attr("pad_to_max_output_size: bool = false");
    op.Shape(SuppressionShape).NotDifferentiable().Doc(kDoc);
  }
  ops.Add("NonMaxSuppressionV5")
      .Input("boxes: T")
      .Input("scores: T")
      .Input("max_output_size: int32")
      .Input("iou_threshold: T")
      .Input("score_threshold: T")
      .Input("soft_nms_sigma: T")
      .Output("selected_indices: int32")
      .Output("selected_scores: T")
      .Output("valid_outputs: int32")
      .Attr("T: {half, float} = DT_FLOAT")
      .Attr("pad_to_max_output_size: bool = false")
      .Shape(SuppressionShape)
      .NotDifferentiable()
      .Doc("The best boxes; with a sigma, overlap lowers a box's score instead of excluding it.");
  ops.Add("NonMaxSuppressionWithOverlaps")
      .Input("overlaps: float")
      .Input("scores: float")
      .Input("max_output_size: int32")
      .Input("overlap_threshold: float")
      .Input("score_threshold: float")
      .Output("selected_indices: int32")
      .Shape(SuppressionShape)
      .NotDifferentiable()
      .Doc("The best boxes of which none overlaps another too much; overlaps are given.");
  ops.Add("CombinedNonMaxSuppression")
      .Input("boxes: float")
      .Input("scores: float")
      .Input("max_output_size_per_class: int32")
      .Input("max_total_size: int32")
      .Input("iou_threshold: float")
      .Input("score_threshold: float")
      .Output("nmsed_boxes: float")
      .Output("nmsed_scores: float")
      .Output("nmsed_classes: float")
      .Output("valid_detections: int32")
      .Attr("pad_per_class: bool = false")
      .Attr("clip_boxes: bool = true")
      .Shape(CombinedShape)
      .NotDifferentiable()
      .Doc("The best boxes of all classes together, chosen class by class.");
  for (const bool v2 : {false, true}) {
    OpBuilder op = ops.Add(v2 ? "SampleDistortedBoundingBoxV2" : "SampleDistortedBoundingBox")
                       .Input("image_size: T")
                       .Input("bounding_boxes: float");
    if (v2) op.Input("min_object_covered: float");
    op.Output("begin: T")
        .Output("size: T")
        .Output("bboxes: float")
        .Attr("T: {uint8, int8, int16, int32, int64}")
        .Attr("seed: int = 0")
        .Attr("seed2: int = 0");
    if (!v2) op.Attr("min_object_covered: float = 0.1");
    op.Attr("aspect_ratio_range: list(float) = [0.75, 1.33]")
        .Attr("area_range: list(float) = [0.05, 1]")
        .Attr("max_attempts: int = 100")
        .Attr("use_image_if_no_bounding_boxes: bool = false")
        .Stateful()
        .NotDifferentiable()
        .Shape(DistortedShape)
        .Doc("A random box that covers enough of one of the given boxes.");
  }
  ops.Add("StatelessSampleDistortedBoundingBox")
      .Input("image_size: T")
      .Input("bounding_boxes: float")
      .Input("min_object_covered: float")
      .Input("seed: Tseed")
      .Output("begin: T")
      .Output("size: T")
      .Output("bboxes: float")
      .Attr("T: {uint8, int8, int16, int32, int64}")
      .Attr("Tseed: {int32, int64}")
      .Attr("aspect_ratio_range: list(float) = [0.75, 1.33]")
      .Attr("area_range: list(float) = [0.05, 1]")
      .Attr("max_attempts: int = 100")
      .Attr("use_image_if_no_bounding_boxes: bool = false")
      .NotDifferentiable()
      .Shape([](ShapeContext& c) {
        DistortedShape(c);
        const PartialShape seed = c.WithRank(3, 1);
        if (seed.known_rank()) shapes::RequireDim(seed[0], 2);
      })
      .Doc("A random box that covers enough of one of the given boxes, the same one for the same seed.");
}

}  // namespace penstock
