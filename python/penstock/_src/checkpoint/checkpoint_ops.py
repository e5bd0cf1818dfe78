"""Initializers that take rows and columns of a saved matrix by the words they stand for."""
import math

from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops


def _require_both(old, new, what):
    if bool(old) != bool(new):
        raise ValueError("old_{0}_vocab_file and new_{0}_vocab_file must both be specified or left unspecified. "
                         "old_{0}_vocab_file='{1}', new_{0}_vocab_file='{2}'".format(what, old, new))
    return bool(new)


def _load_and_remap_matrix(ckpt_path, old_tensor_name, new_row_vocab_offset, num_rows_to_load, new_col_vocab_size,
                           initializer, old_row_vocab_size=-1, old_row_vocab_file=None, new_row_vocab_file=None,
                           old_col_vocab_file=None, new_col_vocab_file=None, num_row_oov_buckets=0,
                           num_col_oov_buckets=0, max_rows_in_memory=-1):
    """A part of a saved matrix in a new order; what it lacks, and rows and columns behind, come from `initializer`."""
    for name, value in (("num_row_oov_buckets", num_row_oov_buckets), ("num_col_oov_buckets", num_col_oov_buckets)):
        if value < 0:
            raise ValueError("%s must be >= 0, but received %d" % (name, value))
    by_row = _require_both(old_row_vocab_file, new_row_vocab_file, "row")
    by_column = _require_both(old_col_vocab_file, new_col_vocab_file, "col")
    if not (by_row or by_column):
        raise ValueError("Must provide either row or column vocab files. If no remapping is necessary, consider using "
                         "`tf.contrib.framework.init_from_checkpoint` instead.")
    if by_row:
        rows, rows_present = gen.generate_vocab_remapping(
            new_vocab_file=new_row_vocab_file, old_vocab_file=old_row_vocab_file,
            new_vocab_offset=new_row_vocab_offset, num_new_vocab=num_rows_to_load, old_vocab_size=old_row_vocab_size)
    else:
        rows = math_ops.range(new_row_vocab_offset, new_row_vocab_offset + num_rows_to_load, dtype=dtypes.int64)
        rows_present = num_rows_to_load
    columns, columns_present = [], new_col_vocab_size
    if by_column:
        columns, columns_present = gen.generate_vocab_remapping(
            new_vocab_file=new_col_vocab_file, old_vocab_file=old_col_vocab_file, new_vocab_offset=0,
            num_new_vocab=new_col_vocab_size)
    missing = initializer([num_rows_to_load * new_col_vocab_size - rows_present * columns_present, 1])
    matrix = gen.load_and_remap_matrix(
        ckpt_path=ckpt_path, old_tensor_name=old_tensor_name, row_remapping=rows, col_remapping=columns,
        initializing_values=missing, num_rows=num_rows_to_load, num_cols=new_col_vocab_size,
        max_rows_in_memory=max_rows_in_memory)
    if num_row_oov_buckets > 0:
        more = ops.convert_to_tensor(initializer([num_row_oov_buckets, new_col_vocab_size]))
        matrix = array_ops.concat([matrix, more], 0)
    if num_col_oov_buckets > 0:
        more = ops.convert_to_tensor(initializer([num_rows_to_load + num_row_oov_buckets, num_col_oov_buckets]))
        matrix = array_ops.concat([matrix, more], 1)
    return matrix


def _load_and_remap_matrix_initializer(ckpt_path, old_tensor_name, new_row_vocab_size, new_col_vocab_size,
                                       old_row_vocab_size=-1, old_row_vocab_file=None, new_row_vocab_file=None,
                                       old_col_vocab_file=None, new_col_vocab_file=None, num_row_oov_buckets=0,
                                       num_col_oov_buckets=0, initializer=None, max_rows_in_memory=-1):
    """An initializer of a matrix, or of a part of it, whose rows or columns are words and then buckets for others."""
    initializer = init_ops.zeros_initializer() if initializer is None else initializer
    if not callable(initializer):
        raise TypeError("initializer must be callable, instead of being {} of type {}.".format(
            initializer, type(initializer)))

    def _initializer(shape, dtype=dtypes.float32, partition_info=None):
        if dtype != dtypes.float32:
            raise TypeError("Currently, only float32 is supported. Received dtype: {}".format(dtype))
        if len(shape) != 2:
            raise ValueError("Expected 2-dim shape, but received: {}".format(shape))
        if shape[0] <= 0:
            raise ValueError("Expected 1st dim of shape to be > 0, but received shape: {}".format(shape))
        if shape[1] != new_col_vocab_size + num_col_oov_buckets:
            raise ValueError(
                "Expected 2nd dim of shape to be new_col_vocab_size ({}) + num_col_oov_buckets ({}) = {}, but received "
                "shape: {}".format(new_col_vocab_size, num_col_oov_buckets, new_col_vocab_size + num_col_oov_buckets,
                                   shape))
        offset = 0 if partition_info is None else partition_info.single_offset(shape)
        if offset + shape[0] > new_row_vocab_size + num_row_oov_buckets:
            raise ValueError(
                "Trying to initialize {} additional rows after {} rows have already been initialized, which would "
                "exceed expected total row count of new_row_vocab_size ({}) + num_row_oov_buckets ({}) = {}.".format(
                    shape[0], offset, new_row_vocab_size, num_row_oov_buckets,
                    new_row_vocab_size + num_row_oov_buckets))
        oov_rows = min(shape[0], max(0, offset + shape[0] - new_row_vocab_size))
        if offset > new_row_vocab_size:
            # A part that is behind all words.
            return initializer(shape)
        return _load_and_remap_matrix(
            ckpt_path=ckpt_path, old_tensor_name=old_tensor_name, new_row_vocab_offset=offset,
            num_rows_to_load=shape[0] - oov_rows, new_col_vocab_size=new_col_vocab_size, initializer=initializer,
            old_row_vocab_size=old_row_vocab_size, old_row_vocab_file=old_row_vocab_file,
            new_row_vocab_file=new_row_vocab_file, old_col_vocab_file=old_col_vocab_file,
            new_col_vocab_file=new_col_vocab_file, num_row_oov_buckets=oov_rows,
            num_col_oov_buckets=num_col_oov_buckets, max_rows_in_memory=max_rows_in_memory)

    return _initializer


def _load_embedding_initializer(ckpt_path, embedding_tensor_name, new_vocab_size, embedding_dim, old_vocab_file,
                                new_vocab_file, old_vocab_size=-1, num_oov_buckets=0, initializer=None,
                                max_rows_in_memory=-1):
    """An initializer of embeddings whose vocabulary changed."""
    if initializer is None:
        initializer = init_ops.truncated_normal_initializer(stddev=1.0 / math.sqrt(embedding_dim))
    return _load_and_remap_matrix_initializer(
        ckpt_path=ckpt_path, old_tensor_name=embedding_tensor_name, new_row_vocab_size=new_vocab_size,
        new_col_vocab_size=embedding_dim, old_row_vocab_size=old_vocab_size, old_row_vocab_file=old_vocab_file,
        new_row_vocab_file=new_vocab_file, num_row_oov_buckets=num_oov_buckets, initializer=initializer,
        max_rows_in_memory=max_rows_in_memory)
