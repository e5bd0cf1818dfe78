"""What features of Example messages look like, and what the ops want to know of them."""
import collections
import re

from penstock._src.graph import constant_op, dtypes, ops, tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.ops.lookup import parsing_ragged
from penstock._src.ops.lookup.parsing_ragged import RaggedFeature

__all__ = ["FixedLenFeature", "FixedLenSequenceFeature", "RaggedFeature", "SparseFeature", "VarLenFeature"]


class VarLenFeature(collections.namedtuple("VarLenFeature", ["dtype"])):
    """Any number of values, as a sparse tensor."""


class SparseFeature(collections.namedtuple("SparseFeature",
                                           ["index_key", "value_key", "dtype", "size", "already_sorted"])):
    """A sparse tensor whose indices and values are features of their own."""

    def __new__(cls, index_key, value_key, dtype, size, already_sorted=False):
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)


class FixedLenFeature(collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """Values of a known shape."""

    def __new__(cls, shape, dtype, default_value=None):
        return super().__new__(cls, shape, dtype, default_value)


class FixedLenSequenceFeature(collections.namedtuple("FixedLenSequenceFeature",
                                                     ["shape", "dtype", "allow_missing", "default_value"])):
    """Any number of values of a known shape, filled up to the longest."""

    def __new__(cls, shape, dtype, allow_missing=False, default_value=None):
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


def name_of(key):
    """A key as a part of a name of an operation."""
    return re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)


class RawFeatures:
    """Keys, types, shapes and defaults as lists."""

    def __init__(self, sparse_keys=None, sparse_types=None, dense_keys=None, dense_types=None, dense_defaults=None,
                 dense_shapes=None):
        self.sparse_keys = list(sparse_keys or [])
        self.sparse_types = list(sparse_types or [])
        self.dense_keys = list(dense_keys or [])
        self.dense_types = list(dense_types or [])
        self.dense_defaults = {} if dense_defaults is None else dense_defaults
        self.dense_shapes = [[]] * len(self.dense_keys) if dense_shapes is None else list(dense_shapes)
        self.ragged_keys, self.ragged_types, self.ragged_split_types = [], [], []

    @staticmethod
    def of(features, kinds):
        """From a dictionary of features, which must be of these kinds."""
        raw = RawFeatures()
        for key in sorted(features or {}):
            feature = features[key]
            kind = next((k for k in _ADD if isinstance(feature, k)), None)
            if kind is None:
                raise ValueError(f"Invalid feature {key}:{feature}.")
            if kind not in kinds:
                raise ValueError(f"Unsupported {kind.__name__} {feature}.")
            if kind is not SparseFeature and not feature.dtype:
                raise ValueError(f"Missing type for feature {key}.")
            _ADD[kind](raw, key, feature)
        return raw

    def check(self, prefix=""):
        """ValueError unless the lists fit together."""
        counts = (("dense_shapes", self.dense_shapes, "dense_keys", self.dense_keys),
                  ("dense_types", self.dense_types, "dense_keys", self.dense_keys),
                  ("sparse_types", self.sparse_types, "sparse_keys", self.sparse_keys))
        for name, values, key_name, keys in counts:
            if len(values) != len(keys):
                raise ValueError(f"len({prefix}{name}) != len({prefix}{key_name}): {len(values)} vs. {len(keys)}")
        for kind, keys in (("Dense", self.dense_keys), ("Sparse", self.sparse_keys)):
            if set(keys) & set(self.ragged_keys):
                raise ValueError(f"{kind} and ragged keys must not intersect; intersection: "
                                 f"{set(keys) & set(self.ragged_keys)}")
        both = set(self.dense_keys) & set(self.sparse_keys)
        if both and prefix:
            raise ValueError(f"{prefix}dense and {prefix}sparse keys must not intersect; intersection: {both}")
        if both:
            raise ValueError(f"Dense and sparse keys must not intersect; intersection: {both}")

    def __len__(self):
        return len(self.sparse_keys) + len(self.dense_keys) + len(self.ragged_keys)

    def defaults(self, reshape=True):
        """The dense defaults as tensors: empty for required features, one padding value for variable ones."""
        made = []
        for key, dtype, shape in zip(self.dense_keys, self.dense_types, self.dense_shapes):
            value = self.dense_defaults.get(key)
            shape = tensor_shape.as_shape(shape)
            if shape.ndims and tensor_shape.dimension_value(shape[0]) is None:
                if value is None:
                    value = ops.convert_to_tensor("" if dtype == dtypes.string else 0, dtype=dtype)
                else:
                    value = ops.convert_to_tensor(value, dtype=dtype, name="padding_" + name_of(key))
                    value = array_ops.reshape(value, [])
            elif value is None:
                value = constant_op.constant([], dtype=dtype)
            elif not isinstance(value, ops.Tensor):
                value = ops.convert_to_tensor(value, dtype=dtype, name="key_" + name_of(key))
                if reshape:
                    value = array_ops.reshape(value, shape)
            made.append(value)
        return made

    def shapes(self):
        """The dense shapes as such."""
        return [tensor_shape.as_shape(shape) for shape in self.dense_shapes]


def _add_variable(raw, key, feature):
    raw.sparse_keys.append(key)
    raw.sparse_types.append(feature.dtype)


def _add_sparse(raw, key, feature):
    for name in ("index_key", "value_key"):
        if not getattr(feature, name):
            raise ValueError(f"Missing {name} for SparseFeature {feature}.")
    if not feature.dtype:
        raise ValueError(f"Missing type for feature {key}.")
    index_keys = [feature.index_key] if isinstance(feature.index_key, str) else feature.index_key
    for part, dtype in [(name, dtypes.int64) for name in sorted(index_keys)] + [(feature.value_key, feature.dtype)]:
        if part not in raw.sparse_keys:
            raw.sparse_keys.append(part)
            raw.sparse_types.append(dtype)
            continue
        known = raw.sparse_types[raw.sparse_keys.index(part)]
        if known != dtype:
            wanted = "int64" if part in index_keys else dtype
            raise ValueError(f"Conflicting type {known} vs {wanted} for feature {part}.")


def _add_dense(raw, key, feature):
    if feature.shape is None:
        raise ValueError(f"Missing shape for feature {key}.")
    raw.dense_keys.append(key)
    raw.dense_shapes.append(feature.shape)
    raw.dense_types.append(feature.dtype)
    if feature.default_value is not None:
        raw.dense_defaults[key] = feature.default_value


def _add_fixed(raw, key, feature):
    if feature.shape is None:
        raise ValueError(f"Missing shape for feature {key}.")
    shape = tensor_shape.as_shape(feature.shape)
    if feature.shape and shape.ndims and tensor_shape.dimension_value(shape[0]) is None:
        raise ValueError(f"First dimension of shape for feature {key} unknown. "
                         "Consider using FixedLenSequenceFeature.")
    if not shape.is_fully_defined():
        raise ValueError(f"All dimensions of shape for feature {key} need to be known but received {feature.shape}.")
    _add_dense(raw, key, feature)


def _add_sequence(raw, key, feature):
    if feature.allow_missing:
        raw.dense_defaults[key] = None
    _add_dense(raw, key, feature)


def _add_ragged(raw, key, feature):
    for part, dtype, split_type in parsing_ragged.parts(key, feature):
        if part not in raw.ragged_keys:
            raw.ragged_keys.append(part)
            raw.ragged_types.append(dtype)
            raw.ragged_split_types.append(split_type)
            continue
        at = raw.ragged_keys.index(part)
        for known, wanted in ((raw.ragged_types[at], dtype), (raw.ragged_split_types[at], split_type)):
            if known != wanted:
                raise ValueError(f"Conflicting type {known} vs {wanted} for feature {part}.")


_ADD = {RaggedFeature: _add_ragged, VarLenFeature: _add_variable, SparseFeature: _add_sparse,
        FixedLenFeature: _add_fixed, FixedLenSequenceFeature: _add_sequence}


def with_unknown_length(features):
    """The features with sequences' shapes as an Example has them: any number of values in front."""
    changed = dict(features)
    for key, feature in features.items():
        if isinstance(feature, FixedLenSequenceFeature):
            if not feature.allow_missing:
                raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
            changed[key] = feature._replace(shape=[None] + list(feature.shape))
    return changed
