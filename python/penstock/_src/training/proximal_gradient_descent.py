"""Gradient descent followed by the proximal step of L1 and L2 penalties (Duchi and Singer, 2009)."""
from penstock._src.graph import ops
from penstock._src.training import optimizer
from penstock._src.training.optimizer import GRAD


class ProximalGradientDescentOptimizer(optimizer.Optimizer):
    """Gradient descent that shrinks towards zero and sets small elements to it."""

    _kernel = "proximal_gradient_descent"

    def __init__(self, learning_rate, l1_regularization_strength=0.0, l2_regularization_strength=0.0,
                 use_locking=False, name="ProximalGradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._l1_regularization_strength_tensor = None
        self._l2_regularization_strength_tensor = None

    def _prepare(self):
        self._learning_rate_tensor = ops.convert_to_tensor(self._learning_rate, name="learning_rate")
        self._l1_regularization_strength_tensor = ops.convert_to_tensor(
            self._l1_regularization_strength, name="l1_regularization_strength")
        self._l2_regularization_strength_tensor = ops.convert_to_tensor(
            self._l2_regularization_strength, name="l2_regularization_strength")

    def _arguments(self, var):
        return self._cast(var, self._learning_rate_tensor, self._l1_regularization_strength_tensor,
                          self._l2_regularization_strength_tensor) + [GRAD]
