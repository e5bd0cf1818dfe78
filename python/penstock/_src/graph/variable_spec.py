"""VariableSpec: what a function is told of a variable that is its argument."""
from penstock._src.graph import dtypes
from penstock._src.graph import tensor_shape
from penstock._src.base import tf2
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.graph.type_spec import TypeSpec
from penstock._src.base import hooks

_variable_class = hooks.Hook("variable_class")


class VariableSpec(TypeSpec):
    """Shape and type of a variable, whether it is trained, and which arguments are the same variable (`alias_id`)."""

    __slots__ = ("shape", "dtype", "trainable", "alias_id")

    def __init__(self, shape, dtype=dtypes.float32, trainable=True, alias_id=None):
        self.shape = tensor_shape.as_shape(shape)
        self.dtype = dtypes.as_dtype(dtype)
        self.trainable = trainable
        self.alias_id = alias_id

    @classmethod
    def from_value(cls, variable):
        """Of a variable."""
        return cls(variable.shape, variable.dtype, variable.trainable)

    @property
    def value_type(self):
        """The class of variables."""
        return _variable_class.get()

    def is_compatible_with(self, spec_or_value):
        """Whether a variable may have this spec."""
        return all(hasattr(spec_or_value, name) for name in ("shape", "dtype", "trainable")) and \
            self.dtype == spec_or_value.dtype and self.trainable == spec_or_value.trainable and \
            self.shape.is_compatible_with(spec_or_value.shape)

    def __repr__(self):
        if not tf2.enabled():
            return super().__repr__()
        return f"VariableSpec(shape={self.shape}, dtype={self.dtype!r}, trainable={self.trainable}, " \
            f"alias_id={self.alias_id})"

    def _serialize(self):
        return self.shape, self.dtype, self.trainable, self.alias_id

    @property
    def _component_specs(self):
        return [TensorSpec([], dtypes.resource)]

    def _to_components(self, value):
        return [value.handle]

    def _from_components(self, components):
        raise NotImplementedError("A variable cannot be made of its handle alone.")
