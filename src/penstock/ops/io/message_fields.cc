// Fields of messages as tensors.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {

void RegisterMessageFieldsOps(OpRegistry& ops) {
  ops.Add("DecodeProtoV2")
      .Input("bytes: string").Output("sizes: int32").Output("values: output_types").Attr("message_type: string")
      .Attr("field_names: list(string)").Attr("output_types: list(type) >= 0")
      .Attr("descriptor_source: string = 'local://'").Attr("message_format: string = 'binary'")
      .Attr("sanitize: bool = false").NotDifferentiable()
      .Shape([](ShapeContext& c) {
        const auto& names = c.attr<std::vector<std::string>>("field_names");
        c.out(0, shapes::Concatenate(c.in(0), PartialShape({static_cast<int64_t>(names.size())})));
        for (int i = 1; i < c.num_outputs(); ++i) c.out(i, shapes::Concatenate(c.in(0), PartialShape({-1})));
      })
      .Doc("Of each message the values of some fields, padded with defaults to one length, and how many it has.");
  ops.Add("EncodeProto")
      .Input("sizes: int32").Input("values: Tinput_types").Output("bytes: string").Attr("field_names: list(string)")
      .Attr("message_type: string").Attr("descriptor_source: string = 'local://'")
      .Attr("Tinput_types: list(type) >= 1").NotDifferentiable()
      .Shape([](ShapeContext& c) {
        const PartialShape sizes = c.WithRankAtLeast(0, 1);
        for (int i = 1; i < c.num_inputs(); ++i) c.WithRankAtLeast(i, 1);
        c.out(0, sizes.known_rank() ? shapes::Subshape(sizes, 0, -1) : PartialShape());
      })
      .Doc("Messages with these fields, of which each gets the first sizes[..., i] of values[i][...].");
}

}  // namespace penstock
