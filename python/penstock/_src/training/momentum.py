"""Momentum: accumulation = momentum * accumulation + gradient; var -= learning_rate * accumulation."""
from penstock._src.training import optimizer
from penstock._src.training.optimizer import GRAD


class MomentumOptimizer(optimizer.Optimizer):
    """Gradient descent along a decaying sum of gradients, or Nesterov's variant with `use_nesterov`."""

    _kernel = "momentum"

    def __init__(self, learning_rate, momentum, use_locking=False, name="Momentum", use_nesterov=False):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self):
        self._learning_rate_tensor = self._tensor(self._learning_rate, "learning_rate")
        self._momentum_tensor = self._tensor(self._momentum, "momentum")

    def _kernel_options(self):
        return {"use_nesterov": self._use_nesterov}

    def _arguments(self, var):
        learning_rate, momentum = self._cast(var, self._learning_rate_tensor, self._momentum_tensor)
        return self._slots_of(var, "momentum") + [learning_rate, GRAD, momentum]
