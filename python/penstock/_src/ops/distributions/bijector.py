"""Bijector: a differentiable map with an inverse, and what it does to densities. Subclasses write `_forward` etc."""
import contextlib
import re

from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.distributions import util

__all__ = ["Bijector"]


class _Pair:
    """A point, its image, and the logarithms of the inverse's Jacobian there, by the number of event axes."""

    def __init__(self):
        self.x = self.y = self.kwargs = None
        self.ildj = {}


class Bijector:
    """An invertible map of the last `forward_min_event_ndims` axes of x to the last `inverse_min_event_ndims` of y.

    What was computed once for a tensor of a graph is given again, so that `inverse(forward(x))` is x.
    ValueError for numbers of axes that are missing or negative, and graph parents that are no tensors.
    """

    def __init__(self, graph_parents=None, is_constant_jacobian=False, validate_args=False, dtype=None,
                 forward_min_event_ndims=None, inverse_min_event_ndims=None, name=None):
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise ValueError("Must specify at least one of `forward_min_event_ndims` and `inverse_min_event_ndims`.")
        if inverse_min_event_ndims is None:
            inverse_min_event_ndims = forward_min_event_ndims
        elif forward_min_event_ndims is None:
            forward_min_event_ndims = inverse_min_event_ndims
        for what, ndims in (("forward", forward_min_event_ndims), ("inverse", inverse_min_event_ndims)):
            if not isinstance(ndims, int):
                raise TypeError("Expected %s_min_event_ndims to be of type int, got %s" % (what, type(ndims).__name__))
            if ndims < 0:
                raise ValueError("%s_min_event_ndims must be a non-negative integer." % what)
        for i, parent in enumerate(graph_parents or ()):
            if parent is None or not tensor_util.is_tensor(parent):
                raise ValueError("Graph parent item %d is not a Tensor; %s." % (i, parent))
        self._graph_parents = graph_parents or []
        self._forward_min_event_ndims = forward_min_event_ndims
        self._inverse_min_event_ndims = inverse_min_event_ndims
        self._is_constant_jacobian = is_constant_jacobian
        self._validate_args = validate_args
        self._dtype = dtype
        self._name = name or re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", type(self).__name__.lstrip("_")).lower()
        self._pairs = {}
        self._constant_ildj = {}

    @property
    def graph_parents(self):
        """The tensors that it depends on."""
        return self._graph_parents

    @property
    def forward_min_event_ndims(self):
        """How many axes of x are mapped together."""
        return self._forward_min_event_ndims

    @property
    def inverse_min_event_ndims(self):
        """How many axes of y are mapped together."""
        return self._inverse_min_event_ndims

    @property
    def is_constant_jacobian(self):
        """Whether the Jacobian is the same everywhere."""
        return self._is_constant_jacobian

    @property
    def _is_injective(self):
        """Whether no two points have the same image. If not, `inverse` gives a tuple of points."""
        return True

    @property
    def validate_args(self):
        """Whether arguments are checked as the graph runs."""
        return self._validate_args

    @property
    def dtype(self):
        """The type of what is mapped; None is any."""
        return self._dtype

    @property
    def name(self):
        """The name scope of its ops."""
        return self._name

    # Shapes of events.

    def _forward_event_shape_tensor(self, input_shape):
        return input_shape

    def _forward_event_shape(self, input_shape):
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape):
        return output_shape

    def _inverse_event_shape(self, output_shape):
        return output_shape

    def forward_event_shape_tensor(self, input_shape, name="forward_event_shape_tensor"):
        """The shape of an event's image as an int32 vector."""
        with self._name_scope(name, [input_shape]):
            return self._forward_event_shape_tensor(
                ops.convert_to_tensor(input_shape, dtype=dtypes.int32, name="input_shape"))

    def forward_event_shape(self, input_shape):
        """The shape of an event's image as far as it is known."""
        return tensor_shape.as_shape(self._forward_event_shape(tensor_shape.TensorShape(input_shape)))

    def inverse_event_shape_tensor(self, output_shape, name="inverse_event_shape_tensor"):
        """The shape of the event that has an image of this shape, as an int32 vector."""
        with self._name_scope(name, [output_shape]):
            return self._inverse_event_shape_tensor(
                ops.convert_to_tensor(output_shape, dtype=dtypes.int32, name="output_shape"))

    def inverse_event_shape(self, output_shape):
        """The shape of the event that has an image of this shape, as far as it is known."""
        return tensor_shape.as_shape(self._inverse_event_shape(tensor_shape.TensorShape(output_shape)))

    # The map.

    def _forward(self, x):
        raise NotImplementedError("forward not implemented.")

    def _inverse(self, y):
        raise NotImplementedError("inverse not implemented")

    def _forward_log_det_jacobian(self, x):
        raise NotImplementedError("forward_log_det_jacobian not implemented.")

    def _inverse_log_det_jacobian(self, y):
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    def forward(self, x, name="forward"):
        """The image of x. TypeError for another type than `dtype`."""
        return self._call_forward(x, name)

    def _call_forward(self, x, name, **kwargs):
        with self._name_scope(name, [x]):
            x = self._tensor(x, "x")
            if not self._is_injective:
                return self._forward(x, **kwargs)
            return self._image(self._pair("x", x, kwargs))

    def inverse(self, y, name="inverse"):
        """The point whose image is y; a tuple of all of them if there are several."""
        return self._call_inverse(y, name)

    def _call_inverse(self, y, name, **kwargs):
        with self._name_scope(name, [y]):
            y = self._tensor(y, "y")
            if not self._is_injective:
                return self._inverse(y, **kwargs)
            return self._point(self._pair("y", y, kwargs))

    def forward_log_det_jacobian(self, x, event_ndims, name="forward_log_det_jacobian"):
        """log |det J| of the map at x, summed over the last `event_ndims` axes.

        ValueError if these are fewer than what is mapped together.
        """
        return self._call_forward_log_det_jacobian(x, event_ndims, name)

    def _call_forward_log_det_jacobian(self, x, event_ndims, name, **kwargs):
        if not self._is_injective:
            raise NotImplementedError("forward_log_det_jacobian cannot be implemented for non-injective transforms.")
        with self._name_scope(name, [x]):
            checks, known = self._check_event_ndims(self.forward_min_event_ndims, event_ndims)
            with ops.control_dependencies(checks):
                if known in self._constant_ildj:
                    return -self._constant_ildj[known]
                pair = self._pair("x", self._tensor(x, "x"), kwargs)
                return -self._ildj(pair, event_ndims, known, ("x", "y"))

    def inverse_log_det_jacobian(self, y, event_ndims, name="inverse_log_det_jacobian"):
        """log |det J| of the inverse at y, summed over the last `event_ndims` axes; a tuple if y has several points.

        ValueError if these are fewer than what is mapped together.
        """
        return self._call_inverse_log_det_jacobian(y, event_ndims, name)

    def _call_inverse_log_det_jacobian(self, y, event_ndims, name, **kwargs):
        with self._name_scope(name, [y]):
            checks, known = self._check_event_ndims(self.inverse_min_event_ndims, event_ndims)
            with ops.control_dependencies(checks):
                if known in self._constant_ildj:
                    return self._constant_ildj[known]
                y = self._tensor(y, "y")
                if not self._is_injective:
                    return tuple(self._sum_over_event(y, ildj, self.inverse_min_event_ndims, event_ndims)
                                 for ildj in self._inverse_log_det_jacobian(y, **kwargs))
                return self._ildj(self._pair("y", y, kwargs), event_ndims, known, ("y", "x"))

    # What is known of a point.

    def _pair(self, side, tensor, kwargs):
        """The pair that holds this tensor as its "x" or its "y". Values that were computed at once are not kept."""
        pair = _Pair()
        if not ops.executing_eagerly():
            key = (side, id(tensor)) + tuple(sorted((k, id(v)) for k, v in kwargs.items()))
            pair = self._pairs.setdefault(key, pair)
        pair.kwargs = kwargs
        setattr(pair, side, tensor)
        return pair

    def _image(self, pair):
        if pair.y is None:
            pair.y = self._forward(pair.x, **pair.kwargs)
            self._keep("y", pair)
        return pair.y

    def _point(self, pair):
        if pair.x is None:
            pair.x = self._inverse(pair.y, **pair.kwargs)
            self._keep("x", pair)
        return pair.x

    def _keep(self, side, pair):
        tensor = getattr(pair, side)
        if not ops.executing_eagerly():
            key = (side, id(tensor)) + tuple(sorted((k, id(v)) for k, v in pair.kwargs.items()))
            self._pairs[key] = pair

    def _ildj(self, pair, event_ndims, known, sides):
        """The inverse's log |det J|, computed on the first of the two sides for which the subclass can."""
        if known is not None and known in pair.ildj:
            return pair.ildj[known]
        absent = None
        for side in sides:
            try:
                if side == "x":
                    at = self._point(pair)
                    ildj = -self._forward_log_det_jacobian(at, **pair.kwargs)
                    least = self.forward_min_event_ndims
                else:
                    at = self._image(pair)
                    ildj = self._inverse_log_det_jacobian(at, **pair.kwargs)
                    least = self.inverse_min_event_ndims
                break
            except NotImplementedError as error:
                absent = absent or error
        else:
            raise absent
        ildj = self._sum_over_event(at, ildj, least, event_ndims)
        if known is not None:
            pair.ildj[known] = ildj
            if self.is_constant_jacobian and not ops.executing_eagerly():
                self._constant_ildj[known] = ildj
        return ildj

    @staticmethod
    def _sum_over_event(at, ildj, least, event_ndims):
        """The sum over the axes of an event that are mapped one by one, where `ildj` may be the same for all."""
        known = util.maybe_get_static_value(event_ndims)
        if known is not None and int(known) == least:
            return array_ops.identity(ildj)
        rank = array_ops.rank(at)
        ones = array_ops.ones(array_ops.shape(at)[rank - event_ndims:rank - least], ildj.dtype)
        total = math_ops.reduce_sum(ones * ildj, axis=(
            math_ops.range(least - event_ndims, 0) if known is None else list(range(least - int(known), 0))))
        if known is not None and at.shape.ndims is not None and ildj.shape.ndims is not None:
            event = at.shape[at.shape.ndims - int(known):at.shape.ndims - least]
            shape = array_ops.broadcast_static_shape(ildj.shape, event)
            total.set_shape(shape[:shape.ndims - (int(known) - least)])
        return total

    # Arguments.

    @contextlib.contextmanager
    def _name_scope(self, name=None, values=None):
        with ops.name_scope(self.name), ops.name_scope(name, values=(values or []) + self.graph_parents) as scope:
            yield scope

    def _tensor(self, value, name):
        value = ops.convert_to_tensor(value, name=name)
        if self.dtype is not None and self.dtype.base_dtype != value.dtype.base_dtype:
            raise TypeError("Input had dtype %s but expected %s." % (self.dtype, value.dtype))
        return value

    def _check_event_ndims(self, least, event_ndims):
        """(assertions, the number if it is known)."""
        tensor = ops.convert_to_tensor(event_ndims, name="event_ndims")
        if not tensor.dtype.is_integer:
            raise ValueError("Expected integer dtype, got dtype %s" % tensor.dtype)
        if tensor.shape.ndims not in (None, 0):
            raise ValueError("Expected scalar event_ndims, got shape %s" % tensor.shape)
        known = tensor_util.constant_value(tensor)
        if known is None:
            return ([check_ops.assert_greater_equal(tensor, least)] if self.validate_args else []), None
        if known < least:
            raise ValueError("event_ndims (%s) must be larger than min_event_ndims (%s)" % (known, least))
        return [], int(known)
