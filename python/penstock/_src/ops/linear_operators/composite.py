"""Linear operators as composite tensors: what they are made of goes in and out of functions, loops and datasets."""
import numpy as np

from penstock._src.graph import dtypes, gen, ops, tensor_shape, tensor_util, type_spec, type_spec_registry
from penstock._src.gradient.composite_tensor_gradient import CompositeTensorGradient
from penstock._src.core_ops import array_ops
from penstock._src.base import nest

_HINTS = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")


class LinearOperatorSpec(type_spec.BatchableTypeSpec):
    """The kind of an operator: specs of the arguments that are tensors, values of the others."""

    __slots__ = ("_param_specs", "_non_tensor_params", "_prefer_static_fields")

    def __init__(self, param_specs, non_tensor_params, prefer_static_fields):
        self._param_specs = param_specs
        self._non_tensor_params = non_tensor_params
        self._prefer_static_fields = prefer_static_fields

    @classmethod
    def from_operator(cls, operator):
        """Of an operator. ValueError if an argument is not to be found, or consists of tensors and other values."""
        specs, others = {}, {}
        fields = operator._composite_tensor_fields
        for name, value in _arguments(operator, dict.fromkeys([*fields, *_HINTS])).items():
            found = nest.map_structure(_spec_or_value, value)
            kinds = [isinstance(x, type_spec.TypeSpec) for x in nest.flatten(found)]
            if kinds and all(kinds):
                specs[name] = _plain(found)
            elif not any(kinds):
                others[name] = value
            else:
                raise NotImplementedError(f"Found {name} with a mix of `Tensor` and non-`Tensor` values: {value}.")
        return cls(specs, others, operator._composite_tensor_prefer_static_fields)

    def _serialize(self):
        return self._param_specs, self._non_tensor_params, self._prefer_static_fields

    @property
    def _component_specs(self):
        return self._param_specs

    def _to_components(self, value):
        return _arguments(value, self._param_specs)

    def _from_components(self, components):
        return self.value_type(**self._non_tensor_params, **components)

    def _with_specs(self, change):
        return type(self)(nest.map_structure(change, self._param_specs), self._non_tensor_params,
                          self._prefer_static_fields)

    def _batch(self, batch_size):
        return self._with_specs(lambda spec: spec._batch(batch_size))

    def _unbatch(self):
        return self._with_specs(lambda spec: spec._unbatch())


def _plain(value):
    """Lists and tuples as they are without what tracks the variables in them."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return (list if isinstance(value, list) else tuple)(map(_plain, value))
    return value


def _arguments(operator, names):
    """{name: the value of that argument} of an operator, as it keeps them."""
    missing = object()
    found = {}
    for name in names:
        value = getattr(operator, name, missing)
        if value is missing:
            value = getattr(operator, "_" + name, missing)
        if value is missing:
            value = operator.parameters.get(name, missing)
        if value is missing:
            raise ValueError(f"Could not determine an appropriate value for field `{name}` in object `{operator}`: it "
                             f"is neither `{name}` nor `_{name}` nor one of the parameters.")
        if name in operator._composite_tensor_prefer_static_fields and tensor_util.is_tensor(value):
            known = tensor_util.constant_value(value)
            value = value if known is None else known
        found[name] = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    return found


def _spec_or_value(value):
    if value is None or isinstance(value, (bool, int, str, dtypes.DType, tensor_shape.TensorShape)):
        return value
    try:
        return type_spec.type_spec_from_value(value)
    except TypeError:
        return value


class LinearOperatorGradient(CompositeTensorGradient):
    """The derivative by an operator is an operator of the derivatives by its tensors; None if all of them are."""

    def get_gradient_components(self, value):
        """The arguments that are tensors."""
        return value._type_spec._to_components(value)

    def replace_gradient_components(self, value, component_grads):
        """An operator made from them; zeros stand for those that are None if others are not."""
        if all(x is None for x in nest.flatten(component_grads)):
            return None
        component_grads = nest.map_structure(
            lambda part, grad: nest.map_structure(array_ops.zeros_like, part, expand_composites=True)
            if grad is None else grad, self.get_gradient_components(value), component_grads)
        return value._type_spec._from_components(component_grads)


def sliced(operator, slices, batch_shape):
    """The operator of those matrices of the batch that `slices`, a tuple, pick; `batch_shape`: a tensor, the shape to
    which the batch of each argument is stretched first."""
    def part(argument, ndims):
        if hasattr(argument, "batch_shape_tensor"):
            return sliced(argument, slices, batch_shape)
        argument = ops.convert_to_tensor(argument)
        inner = array_ops.shape(argument)
        inner = inner[array_ops.size(inner) - ndims:]
        argument = gen.broadcast_to(argument, array_ops.concat([batch_shape, inner], 0))
        dots = () if any(s is Ellipsis for s in slices) else (Ellipsis,)
        return argument[slices + dots + (slice(None),) * ndims]

    changed = {}
    if operator.parameters.get("batch_shape") is not None:  # which it has instead of arguments with batches
        changed["batch_shape"] = array_ops.shape(array_ops.zeros(batch_shape, dtypes.bool)[slices])
    for name, ndims in operator._experimental_parameter_ndims_to_matrix_ndims.items():
        argument = getattr(operator, name)
        if argument is not None:
            changed[name] = nest.map_structure(part, argument, ndims) if isinstance(ndims, (list, tuple)) \
                else part(argument, ndims)
    return type(operator)(**{**operator.parameters, **changed})


def make_composite_tensor(cls, module_name="tf.linalg"):
    """Class decorator: operators of the class have a spec, saved as MODULE_NAME.CLASSSpec, and go where tensors go.

    The class lists the arguments of its `__init__` other than hints and name in `_composite_tensor_fields`.
    """
    spec = type(f"{cls.__name__}Spec", (LinearOperatorSpec,),
                {"__slots__": (), "__module__": cls.__module__, "value_type": property(lambda self: cls)})
    type_spec_registry.register(f"{module_name}.{spec.__name__}")(spec)
    cls._type_spec = property(spec.from_operator)
    return cls
