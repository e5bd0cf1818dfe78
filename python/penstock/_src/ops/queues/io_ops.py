"""Readers: records of the files whose names a queue holds. Reading and writing whole files is made from definitions."""
from penstock._src.graph import gen, ops
from penstock._src.graph.conversion import executing_eagerly
from penstock._src.files import tf_record



def _given(**attrs):
    """Attributes without those that are None."""
    return {name: value for name, value in attrs.items() if value is not None}


class ReaderBase:
    """What all readers have."""

    def __init__(self, reader_ref, supports_serialize=False):
        if executing_eagerly():
            raise RuntimeError("Readers are not supported when eager execution is enabled. Instead, please use tf.data "
                               "to get data into your model.")
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self):
        """The tensor that stands for the reader."""
        return self._reader_ref

    @property
    def supports_serialize(self):
        """Whether its state can be a string."""
        return self._supports_serialize

    def read(self, queue, name=None):
        """The next key and record; takes work from the queue when a file ends."""
        return gen.reader_read_v2(self._reader_ref, _queue_ref(queue), name=name)

    def read_up_to(self, queue, num_records, name=None):
        """Several keys and records of one file at most."""
        return gen.reader_read_up_to_v2(self._reader_ref, _queue_ref(queue), num_records, name=name)

    def num_records_produced(self, name=None):
        """How many records were read."""
        return gen.reader_num_records_produced_v2(self._reader_ref, name=name)

    def num_work_units_completed(self, name=None):
        """How many files were read to their end."""
        return gen.reader_num_work_units_completed_v2(self._reader_ref, name=name)

    def serialize_state(self, name=None):
        """The state as a string."""
        return gen.reader_serialize_state_v2(self._reader_ref, name=name)

    def restore_state(self, state, name=None):
        """An operation that puts the reader into a state."""
        return gen.reader_restore_state_v2(self._reader_ref, state, name=name)

    def reset(self, name=None):
        """An operation that puts the reader into the state it began with."""
        return gen.reader_reset_v2(self._reader_ref, name=name)


def _queue_ref(queue):
    return queue if isinstance(queue, ops.Tensor) else queue.queue_ref


class WholeFileReader(ReaderBase):
    """Files as a whole."""

    def __init__(self, name=None):
        super().__init__(gen.whole_file_reader_v2(name=name), supports_serialize=True)


class TextLineReader(ReaderBase):
    """Lines."""

    def __init__(self, skip_header_lines=None, name=None):
        super().__init__(gen.text_line_reader_v2(name=name, **_given(skip_header_lines=skip_header_lines)))


class FixedLengthRecordReader(ReaderBase):
    """Records of one size."""

    def __init__(self, record_bytes, header_bytes=None, footer_bytes=None, hop_bytes=None, name=None, encoding=None):
        super().__init__(gen.fixed_length_record_reader_v2(
            record_bytes=record_bytes, name=name,
            **_given(header_bytes=header_bytes, footer_bytes=footer_bytes, hop_bytes=hop_bytes, encoding=encoding)))


class TFRecordReader(ReaderBase):
    """Records of TFRecord files."""

    def __init__(self, name=None, options=None):
        compression = tf_record.TFRecordOptions.get_compression_type_string(options)
        super().__init__(gen.tf_record_reader_v2(name=name, compression_type=compression))


class IdentityReader(ReaderBase):
    """What the queue holds."""

    def __init__(self, name=None):
        super().__init__(gen.identity_reader_v2(name=name), supports_serialize=True)
