// Readers: records of the files whose names a queue holds.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

void OldHandleShape(ShapeContext& c) { c.out(0, PartialShape({2})); }

void UpToShape(ShapeContext& c) {
  c.WithRank(2, 0);
  c.out(0, PartialShape({-1}));
  c.out(1, PartialShape({-1}));
}

void RestoreShape(ShapeContext& c) { c.WithRank(1, 0); }

}  // namespace

void RegisterReaderOps(OpRegistry& ops) {
  ops.Add("WholeFileReader").Output("reader_handle: Ref(string)").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Stateful().NotDifferentiable().Shape(OldHandleShape)
      .Doc("Reads files as a whole; the key is the file's name.");
  ops.Add("WholeFileReaderV2").Output("reader_handle: resource").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Stateful().Shape(shapes::Scalar)
      .Doc("Reads files as a whole; the key is the file's name.");
  ops.Add("TextLineReader").Output("reader_handle: Ref(string)").Attr("skip_header_lines: int = 0")
      .Attr("container: string = ''").Attr("shared_name: string = ''").Stateful().NotDifferentiable()
      .Deprecated(26, "Use TextLineReaderV2").Shape(OldHandleShape).Doc("Reads files line by line.");
  ops.Add("TextLineReaderV2").Output("reader_handle: resource").Attr("skip_header_lines: int = 0")
      .Attr("container: string = ''").Attr("shared_name: string = ''").Stateful().Shape(shapes::Scalar)
      .Doc("Reads files line by line.");
  ops.Add("FixedLengthRecordReader").Output("reader_handle: Ref(string)").Attr("header_bytes: int = 0")
      .Attr("record_bytes: int").Attr("footer_bytes: int = 0").Attr("hop_bytes: int = 0")
      .Attr("container: string = ''").Attr("shared_name: string = ''").Stateful().NotDifferentiable()
      .Deprecated(26, "Use FixedLengthRecordReaderV2").Shape(OldHandleShape).Doc("Reads records of one size.");
  ops.Add("FixedLengthRecordReaderV2").Output("reader_handle: resource").Attr("header_bytes: int = 0")
      .Attr("record_bytes: int").Attr("footer_bytes: int = 0").Attr("hop_bytes: int = 0")
      .Attr("container: string = ''").Attr("shared_name: string = ''").Attr("encoding: string = ''").Stateful()
      .Shape(shapes::Scalar).Doc("Reads records of one size.");
  ops.Add("TFRecordReader").Output("reader_handle: Ref(string)").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Attr("compression_type: string = ''").Stateful().NotDifferentiable()
      .Deprecated(26, "Use TFRecordReaderV2").Shape(OldHandleShape).Doc("Reads records of TFRecord files.");
  ops.Add("TFRecordReaderV2").Output("reader_handle: resource").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Attr("compression_type: string = ''").Stateful().Shape(shapes::Scalar)
      .Doc("Reads records of TFRecord files.");
  ops.Add("IdentityReader").Output("reader_handle: Ref(string)").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Stateful().NotDifferentiable().Deprecated(26, "Use IdentityReaderV2")
      .Shape(OldHandleShape).Doc("Gives what the queue holds as key and value.");
  ops.Add("IdentityReaderV2").Output("reader_handle: resource").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Stateful().Shape(shapes::Scalar)
      .Doc("Gives what the queue holds as key and value.");
  ops.Add("RecordInput").Output("records: string").Attr("file_pattern: string").Attr("file_random_seed: int = 301")
      .Attr("file_shuffle_shift_ratio: float = 0").Attr("file_buffer_size: int = 10000")
      .Attr("file_parallelism: int = 16").Attr("batch_size: int = 32").Attr("compression_type: string = ''").Stateful()
      .Shape(shapes::Unknown).Doc("The next records of TFRecord files, in random order; rounds follow one another.");
  ops.Add("ReaderRead").Input("reader_handle: Ref(string)").Input("queue_handle: Ref(string)").Output("key: string")
      .Output("value: string").NotDifferentiable().Shape(shapes::Scalar)
      .Doc("The next record and its key; takes further work from the queue when a file ends.");
  ops.Add("ReaderReadV2").Input("reader_handle: resource").Input("queue_handle: resource").Output("key: string")
      .Output("value: string").Stateful().Shape(shapes::Scalar)
      .Doc("The next record and its key; takes further work from the queue when a file ends.");
  ops.Add("ReaderReadUpTo").Input("reader_handle: Ref(string)").Input("queue_handle: Ref(string)")
      .Input("num_records: int64").Output("keys: string").Output("values: string").NotDifferentiable()
      .Shape(UpToShape).Doc("As ReaderRead, but several records of one file at most.");
  ops.Add("ReaderReadUpToV2").Input("reader_handle: resource").Input("queue_handle: resource")
      .Input("num_records: int64").Output("keys: string").Output("values: string").Stateful().Shape(UpToShape)
      .Doc("As ReaderRead, but several records of one file at most.");
  ops.Add("ReaderNumRecordsProduced").Input("reader_handle: Ref(string)").Output("records_produced: int64")
      .NotDifferentiable().Shape(shapes::Scalar).Doc("How many records were read.");
  ops.Add("ReaderNumRecordsProducedV2").Input("reader_handle: resource").Output("records_produced: int64").Stateful()
      .Shape(shapes::Scalar).Doc("How many records were read.");
  ops.Add("ReaderNumWorkUnitsCompleted").Input("reader_handle: Ref(string)").Output("units_completed: int64")
      .NotDifferentiable().Shape(shapes::Scalar).Doc("How many files were read to their end.");
  ops.Add("ReaderNumWorkUnitsCompletedV2").Input("reader_handle: resource").Output("units_completed: int64")
      .Stateful().Shape(shapes::Scalar).Doc("How many files were read to their end.");
  ops.Add("ReaderSerializeState").Input("reader_handle: Ref(string)").Output("state: string").NotDifferentiable()
      .Shape(shapes::Scalar).Doc("The reader's state as a string.");
  ops.Add("ReaderSerializeStateV2").Input("reader_handle: resource").Output("state: string").Stateful()
      .Shape(shapes::Scalar).Doc("The reader's state as a string.");
  ops.Add("ReaderRestoreState").Input("reader_handle: Ref(string)").Input("state: string").NotDifferentiable()
      .Shape(RestoreShape).Doc("Puts the reader into a state that ReaderSerializeState gave.");
  ops.Add("ReaderRestoreStateV2").Input("reader_handle: resource").Input("state: string").Stateful()
      .Shape(RestoreShape).Doc("Puts the reader into a state that ReaderSerializeState gave.");
  ops.Add("ReaderReset").Input("reader_handle: Ref(string)").NotDifferentiable().Shape(shapes::None)
      .Doc("Puts the reader into the state it began with.");
  ops.Add("ReaderResetV2").Input("reader_handle: resource").Stateful().Shape(shapes::None)
      .Doc("Puts the reader into the state it began with.");
}

}  // namespace penstock
