"""Loss scales: a factor by which a loss is multiplied, so that small gradients are not lost in half precision."""
import abc

from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.state import variable_scope
from penstock._src.ops.state import base as trackable
from penstock._src.base import nest


class LossScale(trackable.Trackable, abc.ABC):
    """To be subclassed: called without arguments, it gives the scale, a float32 scalar."""

    def __init__(self):
        self._weights = {}

    @abc.abstractmethod
    def __call__(self):
        """The scale now."""

    @abc.abstractmethod
    def update(self, grads):
        """Changes the scale by what the gradients are. Returns (what does it when it is run, whether the gradients are
        to be applied)."""

    @abc.abstractmethod
    def get_config(self):
        """The arguments that make the same scale, as a dict."""

    @classmethod
    def from_config(cls, config):
        """A scale of what `get_config` gave."""
        return cls(**config)

    def _add_weight(self, name, initial_value, dtype=None):
        """A variable of the scale, which checkpoints hold. RuntimeError if there is one of this name."""
        if name in self._weights:
            raise RuntimeError(f"Duplicate variables detected. {name}")
        variable = variable_scope.variable(initial_value=initial_value, name=name, dtype=dtype, trainable=False,
                                           use_resource=True)
        self._weights[name] = variable
        self._track_trackable(variable, name)
        return variable


class FixedLossScale(LossScale):
    """Always the same scale."""

    def __init__(self, loss_scale_value):
        """ValueError unless it is a Python number, at least 1."""
        super().__init__()
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError("loss_scale_value must be a Python int or float.")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self):
        return ops.convert_to_tensor(self._loss_scale_value)

    def update(self, grads):
        """Changes nothing; gradients are always applied."""
        del grads
        return control_flow_ops.no_op(), True

    def get_config(self):
        """The arguments that make the same scale."""
        return {"loss_scale_value": self._loss_scale_value}

    def __repr__(self):
        return f"FixedLossScale({self._loss_scale_value})"


class DynamicLossScale(LossScale):
    """A scale that grows by `multiplier` after `increment_period` steps with finite gradients on end, and shrinks by it
    (to 1 at least) when they are not finite, which are then not applied."""

    def __init__(self, initial_loss_scale=2**15, increment_period=2000, multiplier=2.0):
        super().__init__()
        self._initial_loss_scale = float(initial_loss_scale)
        self._increment_period = int(increment_period)
        self._multiplier = float(multiplier)
        self._current_loss_scale = self._add_weight("current_loss_scale", self._initial_loss_scale, "float32")
        self._num_good_steps = self._add_weight("good_steps", 0, "int64")

    initial_loss_scale = property(lambda self: self._initial_loss_scale, doc="What it begins with.")
    increment_period = property(lambda self: self._increment_period, doc="After how many steps it grows.")
    multiplier = property(lambda self: self._multiplier, doc="By what it grows and shrinks.")

    def __call__(self):
        return ops.convert_to_tensor(self._current_loss_scale)

    def update(self, grads):
        """Grows or shrinks the scale; whether all gradients are finite. In graphs the first is a tensor, the same truth
        value once the scale has changed."""
        values = [g.values if isinstance(g, ops.IndexedSlices) else g for g in nest.flatten(grads) if g is not None]
        finite = math_ops.reduce_all([math_ops.reduce_all(gen.is_finite(g)) for g in values] or [True])
        scale, good = self._current_loss_scale.read_value(), self._num_good_steps.read_value()
        grown, is_due = scale * self._multiplier, good + 1 >= self._increment_period
        grown = _if(gen.logical_and(is_due, gen.is_finite(grown)), grown, scale)
        shrunk = gen.maximum(scale / self._multiplier, 1.0)
        new_good = _if(gen.logical_and(finite, gen.logical_not(is_due)), good + 1, good * 0)
        with ops.control_dependencies([new_good]):
            update = control_flow_ops.group(self._current_loss_scale.assign(_if(finite, grown, shrunk)),
                                            self._num_good_steps.assign(new_good))
        if update is not None:
            with ops.control_dependencies([update]):
                update = array_ops.identity(finite)
        return update, finite

    def get_config(self):
        """The arguments that make the same scale."""
        return {"initial_loss_scale": self._initial_loss_scale, "increment_period": self._increment_period,
                "multiplier": self._multiplier}

    def __repr__(self):
        state = {}
        if ops.executing_eagerly():
            state = {"current_loss_scale": self._current_loss_scale.numpy(),
                     "num_good_steps": self._num_good_steps.numpy()}
        shown = ", ".join(f"{name}={value}" for name, value in {**state, **self.get_config()}.items())
        return f"DynamicLossScale({shown})"


def _if(condition, yes, no):
    return array_ops.where(condition, yes, no)


def get(identifier):
    """A LossScale: itself, "dynamic", a number for a fixed one, or None for None. ValueError for anything else."""
    if identifier is None or isinstance(identifier, LossScale):
        return identifier
    if identifier == "dynamic":
        return DynamicLossScale()
    if isinstance(identifier, (int, float)):
        return FixedLossScale(identifier)
    raise ValueError(f"Could not interpret loss scale identifier: {identifier}")
