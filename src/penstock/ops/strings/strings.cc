// Text: joined, split, cut, measured, as numbers and hashes.
#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

void JoinShape(ShapeContext& c) {
  bool scalars = true;
  PartialShape out;
  for (int i = 0; i < c.num_inputs(); ++i) {
    scalars = scalars && c.in(i).rank() == 0;
    if (c.in(i).rank() > 0) out = shapes::Merge(out, c.in(i));
  }
  c.out(0, scalars ? PartialShape({}) : out);
}

void SplitShape(ShapeContext& c) {
  c.WithRank(0, 1);
  c.WithRank(1, 0);
  c.out(0, {-1, 2});
  c.out(1, PartialShape({-1}));
  c.out(2, PartialShape({2}));
}

void SubstrShape(ShapeContext& c) {
  const PartialShape &pos = c.in(1), &len = c.in(2);
  if (pos.known_rank() && len.known_rank() && pos.rank() != len.rank()) {
    throw InvalidArgument("pos and len must have same rank");
  }
  shapes::Merge(pos, len);
  shapes::Broadcast(c);
}

void FormatShape(ShapeContext& c) {
  const std::string_view text = c.attr<std::string>("template"), placeholder = c.attr<std::string>("placeholder");
  int places = 0;
  for (size_t at = text.find(placeholder); !placeholder.empty() && at != text.npos;
       at = text.find(placeholder, at + placeholder.size())) {
    ++places;
  }
  if (places != c.num_inputs()) {
    throw InvalidArgument("num placeholders in template and num inputs must match: ", places, " vs. ", c.num_inputs());
  }
  c.out(0, PartialShape({}));
}

void NGramsShape(ShapeContext& c) {
  c.WithRank(0, 1);
  c.out(0, PartialShape({-1}));
  c.out(1, c.WithRank(1, 1));
}

void DecodeRawShape(ShapeContext& c) { c.out(0, shapes::Concatenate(c.in(0), PartialShape({-1}))); }

void DecodePaddedRawShape(ShapeContext& c) {
  const int64_t bytes = shapes::DimFromInput(c, 1);
  const int64_t size = static_cast<int64_t>(DataTypeSize(c.out_type(0)));
  c.out(0, shapes::Concatenate(c.in(0), PartialShape({shapes::DivideDims(bytes, size)})));
}

}  // namespace

void RegisterStringOps(OpRegistry& ops) {
  ops.Add("StringJoin").Input("inputs: N * string").Output("output: string").Attr("N: int >= 0")
      .Attr("separator: string = ''").NotDifferentiable().Shape(JoinShape)
      .Doc("The strings at the same place of all inputs, one behind the other; scalars go with every place.");
  ops.Add("StringSplit").Input("input: string").Input("delimiter: string").Output("indices: int64")
      .Output("values: string").Output("shape: int64").Attr("skip_empty: bool = true").NotDifferentiable()
      .Shape(SplitShape)
      .Doc("The parts of each string between any of the delimiter's bytes (each byte for none), as a sparse tensor.");
  ops.Add("StringSplitV2").Input("input: string").Input("sep: string").Output("indices: int64")
      .Output("values: string").Output("shape: int64").Attr("maxsplit: int = -1").Shape(SplitShape)
      .Doc("The parts of each string between separators, or between runs of white space for none, as a sparse tensor.");
  ops.Add("Substr").Input("input: string").Input("pos: T").Input("len: T").Output("output: string")
      .Attr("T: {int32, int64}").Attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'").Shape(SubstrShape)
      .Doc("The part of each string from `pos` on that is `len` long.");
  ops.Add("StringLength").Input("input: string").Output("output: int32").Attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
      .Shape(shapes::SameAsInput0).Doc("The number of bytes or of characters.");
  ops.Add("StringLower").Input("input: string").Output("output: string").Attr("encoding: string = ''")
      .Shape(shapes::SameAsInput0).Doc("In lower case: ASCII letters only unless the encoding is 'utf-8'.");
  ops.Add("StringUpper").Input("input: string").Output("output: string").Attr("encoding: string = ''")
      .Shape(shapes::SameAsInput0).Doc("In upper case: ASCII letters only unless the encoding is 'utf-8'.");
  ops.Add("StringStrip").Input("input: string").Output("output: string").Shape(shapes::SameAsInput0)
      .Doc("Without white space at both ends.");
  ops.Add("StringToNumber").Input("string_tensor: string").Output("output: out_type")
      .Attr("out_type: {float, double, int32, int64, uint32, uint64} = DT_FLOAT").NotDifferentiable()
      .Shape(shapes::SameAsInput0).Doc("The number that a text spells.");
  ops.Add("StringToHashBucket").Input("string_tensor: string").Output("output: int64").Attr("num_buckets: int >= 1")
      .NotDifferentiable().Shape(shapes::SameAsInput0).Doc("A hash of each string modulo `num_buckets`.");
  ops.Add("StringToHashBucketFast").Input("input: string").Output("output: int64").Attr("num_buckets: int >= 1")
      .NotDifferentiable().Shape(shapes::SameAsInput0)
      .Doc("FarmHash's fingerprint of each string modulo `num_buckets`.");
  ops.Add("StringToHashBucketStrong").Input("input: string").Output("output: int64").Attr("num_buckets: int >= 1")
      .Attr("key: list(int)").NotDifferentiable().Shape(shapes::SameAsInput0)
      .Doc("SipHash of each string, with a key, modulo `num_buckets`.");
  ops.Add("Fingerprint").Input("data: T").Input("method: string").Output("fingerprint: uint8").Attr("T: type")
      .Shape([](ShapeContext& c) {
        const PartialShape data = c.WithRankAtLeast(0, 1);
        c.WithRank(1, 0);
        const Tensor* method = c.in_value(1);
        if (method && method->dtype() == DT_STRING && method->data<TString>()[0].view() != "farmhash64") {
          throw InvalidArgument("Unsupported fingerprint method: ", method->data<TString>()[0].view());
        }
        c.out(0, {data.known_rank() ? data.dim(0) : -1, 8});
      }).Doc("FarmHash's fingerprint of each row; of a row of strings, of their fingerprints.");
  ops.Add("AsString").Input("input: T").Output("output: string")
      .Attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
            "uint64, complex64, complex128, bool, variant, string}")
      .Attr("precision: int = -1").Attr("scientific: bool = false").Attr("shortest: bool = false")
      .Attr("width: int = -1").Attr("fill: string = ''").NotDifferentiable().Shape(shapes::SameAsInput0)
      .Doc("Each number as text.");
  ops.Add("ReduceJoin").Input("inputs: string").Input("reduction_indices: int32").Output("output: string")
      .Attr("keep_dims: bool = false").Attr("separator: string = ''").NotDifferentiable().Shape(shapes::Reduction)
      .Doc("Strings joined along axes, in the order in which the axes are given.");
  ops.Add("UnsortedSegmentJoin").Input("inputs: string").Input("segment_ids: Tindices")
      .Input("num_segments: Tnumsegments").Output("output: string").Attr("separator: string = ''")
      .Attr("Tindices: {int32, int64}").Attr("Tnumsegments: {int32, int64} = DT_INT32").Shape(shapes::UnsortedSegment)
      .Doc("Strings that have the same segment id, joined.");
  ops.Add("StringFormat").Input("inputs: T").Output("output: string").Attr("T: list(type) >= 0")
      .Attr("template: string = '%s'").Attr("placeholder: string = '%s'").Attr("summarize: int = 3")
      .Shape(FormatShape).Doc("A template with a summary of a tensor at each placeholder.");
  ops.Add("EncodeBase64").Input("input: string").Output("output: string").Attr("pad: bool = false")
      .NotDifferentiable().Shape(shapes::SameAsInput0).Doc("Web-safe base64.");
  ops.Add("DecodeBase64").Input("input: string").Output("output: string").NotDifferentiable()
      .Shape(shapes::SameAsInput0).Doc("The bytes that web-safe base64 stands for.");
  ops.Add("StringNGrams").Input("data: string").Input("data_splits: Tsplits").Output("ngrams: string")
      .Output("ngrams_splits: Tsplits").Attr("separator: string").Attr("ngram_widths: list(int) >= 0")
      .Attr("left_pad: string").Attr("right_pad: string").Attr("pad_width: int")
      .Attr("preserve_short_sequences: bool").Attr("Tsplits: {int32, int64} = DT_INT64").Shape(NGramsShape)
      .Doc("Neighbouring strings of each row of a ragged tensor, joined.");
  ops.Add("DecodeRaw").Input("bytes: string").Output("output: out_type")
      .Attr("out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, complex64, "
            "complex128, bool, bfloat16}")
      .Attr("little_endian: bool = true").NotDifferentiable().Shape(DecodeRawShape)
      .Doc("The bytes of each string as numbers.");
  ops.Add("DecodePaddedRaw").Input("input_bytes: string").Input("fixed_length: int32").Output("output: out_type")
      .Attr("out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, bfloat16}")
      .Attr("little_endian: bool = true").NotDifferentiable().Shape(DecodePaddedRawShape)
      .Doc("The bytes of each string as numbers, cut or filled up with zeros to `fixed_length` bytes.");
}

}  // namespace penstock
