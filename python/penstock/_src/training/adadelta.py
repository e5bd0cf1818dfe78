"""Adadelta (Zeiler, 2012)."""
from penstock._src.training import optimizer
from penstock._src.training.optimizer import GRAD


class AdadeltaOptimizer(optimizer.Optimizer):
    """Steps scaled by the ratio of decaying means: of squared updates and of squared gradients."""

    _kernel = "adadelta"

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-8, use_locking=False, name="Adadelta"):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._rho = rho
        self._epsilon = epsilon
        self._lr_t = None
        self._rho_t = None
        self._epsilon_t = None

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "accum", self._name)
            self._zeros_slot(v, "accum_update", self._name)

    def _prepare(self):
        self._lr_t = self._tensor(self._lr, "lr")
        self._rho_t = self._tensor(self._rho, "rho")
        self._epsilon_t = self._tensor(self._epsilon, "epsilon")

    def _arguments(self, var):
        return (self._slots_of(var, "accum", "accum_update") +
                self._cast(var, self._lr_t, self._rho_t, self._epsilon_t) + [GRAD])
