"""RMSProp (Tieleman and Hinton, 2012): steps over the root of a decaying mean of squared gradients."""
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.training import optimizer
from penstock._src.training.optimizer import GRAD


class RMSPropOptimizer(optimizer.Optimizer):
    """With momentum; `centered` subtracts the squared mean gradient, so that the root is a standard deviation."""

    def __init__(self, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False,
                 name="RMSProp"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._decay = decay
        self._momentum = momentum
        self._epsilon = epsilon
        self._centered = centered
        self._learning_rate_tensor = None
        self._decay_tensor = None
        self._momentum_tensor = None
        self._epsilon_tensor = None

    @property
    def _kernel(self):
        return "centered_rms_prop" if self._centered else "rms_prop"

    def _create_slots(self, var_list):
        for v in var_list:
            if v.get_shape().is_fully_defined():
                ones = init_ops.ones_initializer(dtype=v.dtype.base_dtype)
            else:
                ones = array_ops.ones_like(v)
            self._get_or_make_slot_with_initializer(v, ones, v.get_shape(), v.dtype.base_dtype, "rms", self._name)
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self):
        lr, decay, momentum, epsilon = (self._call_if_callable(p) for p in (
            self._learning_rate, self._decay, self._momentum, self._epsilon))
        self._learning_rate_tensor = self._tensor(lr, "learning_rate")
        self._decay_tensor = self._tensor(decay, "decay")
        self._momentum_tensor = self._tensor(momentum, "momentum")
        self._epsilon_tensor = self._tensor(epsilon, "epsilon")

    def _arguments(self, var):
        slots = self._slots_of(var, *(("mg", "rms", "momentum") if self._centered else ("rms", "momentum")))
        return slots + self._cast(var, self._learning_rate_tensor, self._decay_tensor, self._momentum_tensor,
                                  self._epsilon_tensor) + [GRAD]
