"""SparseTensor: the elements of a tensor that are not zero."""
import collections

import numpy as np

from penstock._src.graph import conversion
from penstock._src.graph import dtypes
from penstock._src.graph import tensor_like
from penstock._src.graph import tensor_shape
from penstock._src.base import tf2
from penstock._src.graph.composite_tensor import CompositeTensor
from penstock._src.base.foreign_names import known_as
from penstock._src.base import hooks

SparseTensorValue = collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])


@known_as("tensorflow.python.framework.sparse_tensor.SparseTensor")
class SparseTensor(tensor_like._TensorLike, CompositeTensor):
    """Element `indices[i]` (a row of an int64 matrix) is `values[i]`; all others are 0."""

    is_tensor_like = True

    @classmethod
    def from_value(cls, sparse_tensor_value):
        """Of a SparseTensorValue. TypeError if it is none."""
        if not is_sparse(sparse_tensor_value):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        made = cls(indices=sparse_tensor_value.indices, values=sparse_tensor_value.values,
                   dense_shape=sparse_tensor_value.dense_shape)
        made._stated_shape = getattr(sparse_tensor_value, "_stated_shape", None)
        return made

    def __init__(self, indices, values, dense_shape):
        with _name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            indices = conversion.convert_to_tensor(indices, name="indices", dtype=dtypes.int64)
            values = conversion.internal_convert_to_tensor(values, name="values")
            dense_shape = conversion.convert_to_tensor(dense_shape, name="dense_shape", dtype=dtypes.int64)
        self._indices = indices
        self._values = values
        self._dense_shape = dense_shape
        self._stated_shape = None
        rows = indices.shape.with_rank(2)
        sizes = dense_shape.shape.with_rank(1)
        rows.dims[0].assert_is_compatible_with(values.shape.with_rank(1).dims[0])
        rows.dims[1].assert_is_compatible_with(sizes.dims[0])
        if dense_shape._is_eager:
            self.get_shape()  # refuses negative sizes

    def get_shape(self):
        """The static shape of the whole tensor."""
        from penstock._src.graph import tensor_util
        shape = tensor_util.constant_value_as_shape(self._dense_shape)
        return shape if self._stated_shape is None else shape.merge_with(self._stated_shape)

    def set_shape(self, shape):
        """States what is known of the shape of the whole tensor. ValueError: it is known to be another one."""
        self._stated_shape = self.get_shape().merge_with(shape)

    def with_values(self, new_values):
        """The same places with other values, as many as there are."""
        return SparseTensor(self._indices, new_values, self._dense_shape)

    @property
    def indices(self):
        """The places of the elements, one in each row."""
        return self._indices

    @property
    def values(self):
        """The elements."""
        return self._values

    @property
    def dense_shape(self):
        """The shape of the whole tensor, as a tensor."""
        return self._dense_shape

    @property
    def shape(self):
        """The static shape of the whole tensor."""
        return self.get_shape()

    @property
    def op(self):
        """The operation that makes `values`."""
        return self._values.op

    @property
    def dtype(self):
        """The type of the elements."""
        return self._values.dtype

    @property
    def graph(self):
        """The graph of its tensors."""
        return self._indices.graph

    def eval(self, feed_dict=None, session=None):
        """Its SparseTensorValue in `session`, or the default session."""
        indices, values, shape = self.graph._session_for(self._values, session, "eval").run(
            [self._indices, self._values, self._dense_shape], feed_dict)
        return SparseTensorValue(indices, values, shape)

    def _numpy(self):
        """The whole tensor as an array. ValueError if it is not eager."""
        if not all(tensor._is_eager for tensor in (self._indices, self._values, self._dense_shape)):
            raise ValueError("SparseTensor.numpy() is only supported in eager mode.")
        array = np.zeros(self._dense_shape.numpy(), self.dtype.as_numpy_dtype)
        array[tuple(self._indices.numpy().T)] = self._values.numpy()
        return array

    def consumers(self):
        """The operations that take one of its tensors."""
        return self._consumers()

    @property
    def _type_spec(self):
        from penstock._src.graph import type_spec
        return type_spec.type_spec_from_value(self)

    def _shape_invariant_to_type_spec(self, shape):
        """What a loop's shape invariant says: `shape` is that of `dense_shape`. ValueError: it is no vector's."""
        from penstock._src.graph import composite_spec
        if shape.ndims is not None and shape.ndims != 1:
            raise ValueError("Expected a shape with 1 dimension")
        rank = tensor_shape.dimension_value(shape[0]) if shape.ndims is not None else None
        return composite_spec.SparseTensorSpec(tensor_shape.unknown_shape(rank), self.dtype)

    def __str__(self):
        return f"SparseTensor(indices={self._indices!s}, values={self._values!s}, dense_shape={self._dense_shape!s})"

    def __repr__(self):
        return str(self) if tf2.enabled() else super().__repr__()

    @staticmethod
    def _override_operator(operator, func):
        """Makes `func` the operator."""
        setattr(SparseTensor, operator, func)


_name_scope, _operators = hooks.Hook("name_scope"), hooks.Hook("operators")


def _late(operator):
    def first_use(self, *args):
        _operators.get()
        found = getattr(SparseTensor, operator)
        if found is first_use:
            raise NotImplementedError(f"no op stands for {operator} of a SparseTensor")
        return found(self, *args)
    return first_use


for _operator in ("__div__", "__truediv__", "__mul__"):
    setattr(SparseTensor, _operator, _late(_operator))


def is_sparse(x):
    """Whether it is a SparseTensor or a SparseTensorValue."""
    return isinstance(x, (SparseTensor, SparseTensorValue))


def convert_to_tensor_or_sparse_tensor(value, dtype=None, name=None):
    """`value` as a tensor, unless it is sparse. RuntimeError if it is sparse and of another type."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, SparseTensor):
        if dtype is not None and not dtype.is_compatible_with(value.dtype):
            raise RuntimeError(f"Sparse dtype: requested = {dtype.name}, actual = {value.dtype.name}")
        return value
    return conversion.convert_to_tensor(value, dtype=dtype, name=name)


def sparse_shape(value):
    """The static shape of a sparse tensor or value."""
    if isinstance(value, SparseTensor):
        return value.shape
    return tensor_shape.TensorShape([int(d) for d in value.dense_shape])
