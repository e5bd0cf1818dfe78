// Regular expressions and Unicode.
#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

void PatternShape(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) c.WithRank(i, 0);
  c.out(0, c.in(0));
}

void EncodeShape(ShapeContext& c) {
  c.WithRank(0, 1);
  const PartialShape splits = c.WithRank(1, 1);
  c.out(0, PartialShape({splits.known_rank() ? shapes::SubtractDims(splits[0], 1) : -1}));
}

void DecodeShape(ShapeContext& c) {
  const int64_t strings = c.in(0).num_elements();
  c.out(0, PartialShape({strings < 0 ? -1 : strings + 1}));
  for (int i = 1; i < c.num_outputs(); ++i) c.out(i, PartialShape({-1}));
}

}  // namespace

void RegisterTextOps(OpRegistry& ops) {
  ops.Add("RegexReplace").Input("input: string").Input("pattern: string").Input("rewrite: string")
      .Output("output: string").Attr("replace_global: bool = true").NotDifferentiable().Shape(PatternShape)
      .Doc("Replaces what an expression matches.");
  ops.Add("StaticRegexReplace").Input("input: string").Output("output: string").Attr("pattern: string")
      .Attr("rewrite: string").Attr("replace_global: bool = true").Shape(shapes::SameAsInput0)
      .Doc("Replaces what an expression matches.");
  ops.Add("RegexFullMatch").Input("input: string").Input("pattern: string").Output("output: bool")
      .Shape(PatternShape).Doc("Whether an expression matches the whole of each string.");
  ops.Add("StaticRegexFullMatch").Input("input: string").Output("output: bool").Attr("pattern: string")
      .Shape(shapes::SameAsInput0).Doc("Whether an expression matches the whole of each string.");
  ops.Add("UnicodeScript").Input("input: int32").Output("output: int32").Shape(shapes::SameAsInput0)
      .Doc("The script that each code point belongs to, as ICU numbers them; -1 for none.");
  ops.Add("UnicodeEncode").Input("input_values: int32").Input("input_splits: Tsplits").Output("output: string")
      .Attr("errors: {'ignore', 'replace', 'strict'} = 'replace'")
      .Attr("output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}").Attr("replacement_char: int = 65533")
      .Attr("Tsplits: {int32, int64} = DT_INT64").Shape(EncodeShape)
      .Doc("Each row of code points of a ragged tensor as a string.");
  ops.Add("UnicodeDecode").Input("input: string").Output("row_splits: Tsplits").Output("char_values: int32")
      .Attr("input_encoding: string").Attr("errors: {'strict', 'replace', 'ignore'} = 'replace'")
      .Attr("replacement_char: int = 65533").Attr("replace_control_characters: bool = false")
      .Attr("Tsplits: {int32, int64} = DT_INT64").Shape(DecodeShape)
      .Doc("The code points of each string, as a ragged tensor.");
  ops.Add("UnicodeDecodeWithOffsets").Input("input: string").Output("row_splits: Tsplits")
      .Output("char_values: int32").Output("char_to_byte_starts: int64").Attr("input_encoding: string")
      .Attr("errors: {'strict', 'replace', 'ignore'} = 'replace'").Attr("replacement_char: int = 65533")
      .Attr("replace_control_characters: bool = false").Attr("Tsplits: {int32, int64} = DT_INT64").Shape(DecodeShape)
      .Doc("The code points of each string, as a ragged tensor, with the byte at which each begins.");
  ops.Add("UnicodeTranscode").Input("input: string").Output("output: string").Attr("input_encoding: string")
      .Attr("output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}")
      .Attr("errors: {'strict', 'replace', 'ignore'} = 'replace'").Attr("replacement_char: int = 65533")
      .Attr("replace_control_characters: bool = false").Shape(shapes::SameAsInput0)
      .Doc("Text of one encoding in another.");
}

}  // namespace penstock
