// Summaries as tensors, and summaries that go straight to an event file.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

constexpr const char* kReal =
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}";
constexpr const char* kRealDefault =
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64} = DT_FLOAT";
constexpr const char* kRealOrBool =
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, bool} = DT_FLOAT";

OpBuilder Summary(OpRegistry& ops, const char* name) {
  return ops.Add(name).NotDifferentiable().Shape(shapes::Scalar);
}

void RegisterWriterOps(OpRegistry& ops) {
  ops.Add("SummaryWriter")
      .Output("writer: resource").Attr("shared_name: string = ''").Attr("container: string = ''").Stateful()
      .Shape(shapes::Scalar).Doc("A handle of a writer that is still to be created.");
  ops.Add("CreateSummaryFileWriter")
      .Input("writer: resource").Input("logdir: string").Input("max_queue: int32").Input("flush_millis: int32")
      .Input("filename_suffix: string").Stateful().Shape(shapes::None)
      .Doc("Makes the writer, of an event file in `logdir`, unless it exists.");
  ops.Add("FlushSummaryWriter").Input("writer: resource").Stateful().Shape(shapes::None)
      .Doc("Waits until all events are in the file.");
  ops.Add("CloseSummaryWriter").Input("writer: resource").Stateful().Shape(shapes::None)
      .Doc("Flushes and ends the writer.");
  ops.Add("WriteSummary")
      .Input("writer: resource").Input("step: int64").Input("tensor: T").Input("tag: string")
      .Input("summary_metadata: string").Attr("T: type").Stateful().Shape(shapes::None)
      .Doc("Writes any tensor, with a serialized SummaryMetadata.");
  ops.Add("WriteRawProtoSummary")
      .Input("writer: resource").Input("step: int64").Input("tensor: string").Stateful().Shape(shapes::None)
      .Doc("Writes serialized Summary messages as one event.");
  ops.Add("ImportEvent").Input("writer: resource").Input("event: string").Stateful().Shape(shapes::None)
      .Doc("Writes a serialized Event as it is.");
  ops.Add("WriteScalarSummary")
      .Input("writer: resource").Input("step: int64").Input("tag: string").Input("value: T").Attr(kReal).Stateful()
      .Shape(shapes::None).Doc("Writes a number.");
  ops.Add("WriteHistogramSummary")
      .Input("writer: resource").Input("step: int64").Input("tag: string").Input("values: T").Attr(kRealOrBool)
      .Stateful().Shape(shapes::None).Doc("Writes the distribution of numbers.");
  ops.Add("WriteImageSummary")
      .Input("writer: resource").Input("step: int64").Input("tag: string").Input("tensor: T").Input("bad_color: uint8")
      .Attr("max_images: int >= 1 = 3").Attr("T: {uint8, double, float, half} = DT_FLOAT").Stateful()
      .Shape(shapes::None).Doc("Writes images.");
  ops.Add("WriteAudioSummary")
      .Input("writer: resource").Input("step: int64").Input("tag: string").Input("tensor: float")
      .Input("sample_rate: float").Attr("max_outputs: int >= 1 = 3").Stateful().Shape(shapes::None)
      .Doc("Writes sounds.");
  ops.Add("WriteGraphSummary")
      .Input("writer: resource").Input("step: int64").Input("tensor: string").Stateful().Shape(shapes::None)
      .Doc("Writes a serialized GraphDef.");
}

}  // namespace

void RegisterSummaryOps(OpRegistry& ops) {
  Summary(ops, "ScalarSummary")
      .Input("tags: string").Input("values: T").Output("summary: string").Attr(kReal).Doc("A number for each tag.");
  Summary(ops, "HistogramSummary")
      .Input("tag: string").Input("values: T").Output("summary: string").Attr(kRealDefault)
      .Doc("The distribution of numbers, in buckets that grow by a tenth.");
  Summary(ops, "ImageSummary")
      .Input("tag: string").Input("tensor: T").Output("summary: string").Attr("max_images: int >= 1 = 3")
      .Attr("T: {uint8, float, half, double} = DT_FLOAT").Attr("bad_color: tensor = uint8 [255,0,0,255]")
      .Doc("Images [batch, height, width, 1, 3 or 4], scaled to bytes unless they are.");
  Summary(ops, "AudioSummaryV2")
      .Input("tag: string").Input("tensor: float").Input("sample_rate: float").Output("summary: string")
      .Attr("max_outputs: int >= 1 = 3").Doc("Sounds [batch, frames, channels] or [batch, frames] in [-1, 1].");
  Summary(ops, "AudioSummary")
      .Input("tag: string").Input("tensor: float").Output("summary: string").Attr("sample_rate: float")
      .Attr("max_outputs: int >= 1 = 3").Deprecated(15, "Use AudioSummaryV2.").Doc("AudioSummaryV2 at a fixed rate.");
  Summary(ops, "TensorSummary")
      .Input("tensor: T").Output("summary: string").Attr("T: type").Attr("description: string = ''")
      .Attr("labels: list(string) = []").Attr("display_name: string = ''").Doc("Any tensor, under the node's name.");
  Summary(ops, "TensorSummaryV2")
      .Input("tag: string").Input("tensor: T").Input("serialized_summary_metadata: string").Output("summary: string")
      .Attr("T: type").Doc("Any tensor, for a plugin of TensorBoard that the metadata names.");
  Summary(ops, "MergeSummary")
      .Input("inputs: N * string").Output("summary: string").Attr("N: int >= 1")
      .Doc("One summary with the values of several, whose tags must differ.");
  RegisterWriterOps(ops);
}

}  // namespace penstock
