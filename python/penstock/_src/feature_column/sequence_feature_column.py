"""Columns of sequences, and the layer of them."""
import collections

from penstock._src.feature_column import base
from penstock._src.feature_column import feature_column_v2 as fc
from penstock._src.feature_column import layers
from penstock._src.feature_column import utils
from penstock._src.feature_column.categorical_columns import SequenceCategoricalColumn
from penstock._src.feature_column.configs import Configured, an_object, dtype as dtype_coder
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.ops.lookup import parsing_ops
from penstock._src.ops.sparse import sparse_ops


class SequenceFeatures(layers.BaseFeaturesLayer):
    """Joins columns of sequences: gives [batch, steps, depth] and the lengths."""

    def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
        super().__init__(feature_columns=feature_columns, trainable=trainable, name=name,
                         expected_column_type=base.SequenceDenseColumn, **kwargs)

    @property
    def _is_feature_layer(self):
        return True

    def _target_shape(self, input_shape, total_elements):
        return (input_shape[0], input_shape[1], total_elements)

    def call(self, features):
        """The joined columns and the lengths, which must be equal."""
        layers.require_dict(features)
        cache = base.FeatureTransformationCache(features)
        outputs, lengths = [], []
        for column in self._feature_columns:
            with ops.name_scope(column.name):
                tensor, length = column.get_sequence_dense_tensor(cache, self._state_manager)
                outputs.append(self._process_dense_tensor(column, tensor))
                lengths.append(length)
        base.verify_static_batch_size_equality(lengths, self._feature_columns)
        length = _assert_all_equal_and_return(lengths)
        return self._verify_and_concat_tensors(outputs), length


def concatenate_context_input(context_input, sequence_input):
    """[batch, steps, depth] with [batch, context depth] repeated for each step."""
    checks = [
        check_ops.assert_rank(sequence_input, 3, message="sequence_input must have rank 3",
                              data=[array_ops.shape(sequence_input)]),
        check_ops.assert_type(sequence_input, dtypes.float32,
                              message="sequence_input must have dtype float32; got {}.".format(sequence_input.dtype)),
        check_ops.assert_rank(context_input, 2, message="context_input must have rank 2",
                              data=[array_ops.shape(context_input)]),
        check_ops.assert_type(context_input, dtypes.float32,
                              message="context_input must have dtype float32; got {}.".format(context_input.dtype))]
    with ops.control_dependencies(checks):
        steps = array_ops.shape(sequence_input)[1]
        tiled = gen.tile(array_ops.expand_dims(context_input, 1), array_ops.concat([[1], [steps], [1]], 0))
    return array_ops.concat([sequence_input, tiled], 2)


def sequence_categorical_column_with_identity(key, num_buckets, default_value=None):
    """Sequences of ids."""
    return SequenceCategoricalColumn(fc.categorical_column_with_identity(
        key=key, num_buckets=num_buckets, default_value=default_value))


def sequence_categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=dtypes.string):
    """Sequences of values that are hashed."""
    return SequenceCategoricalColumn(fc.categorical_column_with_hash_bucket(
        key=key, hash_bucket_size=hash_bucket_size, dtype=dtype))


def sequence_categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0,
                                                     default_value=None, dtype=dtypes.string):
    """Sequences of words of a file."""
    return SequenceCategoricalColumn(fc.categorical_column_with_vocabulary_file(
        key=key, vocabulary_file=vocabulary_file, vocabulary_size=vocabulary_size, num_oov_buckets=num_oov_buckets,
        default_value=default_value, dtype=dtype))


def sequence_categorical_column_with_vocabulary_list(key, vocabulary_list, dtype=None, default_value=-1,
                                                     num_oov_buckets=0):
    """Sequences of words of a list."""
    return SequenceCategoricalColumn(fc.categorical_column_with_vocabulary_list(
        key=key, vocabulary_list=vocabulary_list, dtype=dtype, default_value=default_value,
        num_oov_buckets=num_oov_buckets))


def sequence_numeric_column(key, shape=(1,), default_value=0., dtype=dtypes.float32, normalizer_fn=None):
    """Sequences of numbers."""
    shape = utils.check_shape(shape=shape, key=key)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError("dtype must be convertible to float. dtype: {}, key: {}".format(dtype, key))
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError("normalizer_fn must be a callable. Given: {}".format(normalizer_fn))
    return SequenceNumericColumn(key, shape=shape, default_value=default_value, dtype=dtype,
                                 normalizer_fn=normalizer_fn)


def _assert_all_equal_and_return(tensors, name=None):
    with ops.name_scope(name, "assert_all_equal", values=tensors):
        if len(tensors) == 1:
            return tensors[0]
        with ops.control_dependencies([check_ops.assert_equal(tensors[0], t) for t in tensors[1:]]):
            return array_ops.identity(tensors[0])


class SequenceNumericColumn(
        Configured, base.OfFeature, base.SequenceDenseColumn, base.ScopedSequenceDense,
        collections.namedtuple("SequenceNumericColumn", ("key", "shape", "default_value", "dtype", "normalizer_fn"))):
    """Sequences of a feature's values."""

    _coders = {"normalizer_fn": an_object, "dtype": dtype_coder}
    @property
    def parse_example_spec(self):
        return {self.key: parsing_ops.VarLenFeature(self.dtype)}

    @property
    def variable_shape(self):
        """The shape for one step."""
        return tensor_shape.TensorShape(self.shape)

    def transform_feature(self, transformation_cache, state_manager):
        tensor = transformation_cache.get(self.key, state_manager)
        return tensor if self.normalizer_fn is None else self.normalizer_fn(tensor)

    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        sp_tensor = transformation_cache.get(self, state_manager)
        tensor = sparse_ops.sparse_tensor_to_dense(sp_tensor, default_value=self.default_value)
        dense_shape = array_ops.concat([array_ops.shape(tensor)[:1], [-1], self.variable_shape], axis=0)
        tensor = array_ops.reshape(tensor, shape=dense_shape)
        # A matrix has the steps' elements one after the other; with more dimensions the second is that of steps.
        per_step = self.variable_shape.num_elements() if sp_tensor.shape.ndims == 2 else 1
        length = utils.sequence_length_from_sparse_tensor(sp_tensor, num_elements=per_step)
        return base.SequenceDenseColumn.TensorSequenceLengthPair(dense_tensor=tensor, sequence_length=length)
