"""RecordInput: batches of records out of files, for programs with input pipelines of before tf.data."""
from penstock._src.graph import gen, ops
from penstock._src.files import tf_record
from penstock._src.core_ops import array_ops


class RecordInput:
    """Reads TFRecord files that match a pattern (several with commas between), again and again; records come in random
    order.

    batch_size: records of one step. buffer_size: how many records wait, among which they are mixed. parallelism: how
    many files are read in turns. shift_ratio: which part of the files' order is moved to its end. batches: how many
    lists of batch_size records a step gives.
    """

    def __init__(self, file_pattern, batch_size=1, buffer_size=1, parallelism=1, shift_ratio=0, seed=0, name=None,
                 batches=None, compression_type=None):
        self._batch_size = batch_size * (1 if batches is None else batches)
        self._batches = batches
        self._name = name
        kind = tf_record.TFRecordCompressionType.NONE if compression_type is None else compression_type
        self._arguments = dict(
            file_pattern=file_pattern, file_buffer_size=buffer_size, file_parallelism=parallelism,
            file_shuffle_shift_ratio=shift_ratio, file_random_seed=seed,
            compression_type=tf_record.TFRecordOptions.get_compression_type_string(tf_record.TFRecordOptions(kind)))

    def get_yield_op(self):
        """The records of each step: strings of shape [batch_size], or `batches` lists of scalars."""
        records = gen.record_input(batch_size=self._batch_size, name=self._name, **self._arguments)
        if self._batches is None:
            return records
        with ops.name_scope(self._name):
            parts = [array_ops.reshape(part, []) for part in array_ops.split(records, self._batch_size, 0)]
        return [parts[first::self._batches] for first in range(self._batches)]
