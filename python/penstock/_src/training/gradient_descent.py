"""Gradient descent: var -= learning_rate * gradient."""
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.training import optimizer
from penstock._src.training.optimizer import GRAD


class GradientDescentOptimizer(optimizer.Optimizer):
    """Subtracts the gradient times `learning_rate` (a number, a tensor or a function of nothing)."""

    _kernel = "gradient_descent"

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor = None

    def _prepare(self):
        self._learning_rate_tensor = self._tensor(self._learning_rate, "learning_rate")

    def _arguments(self, var):
        return self._cast(var, self._learning_rate_tensor) + [GRAD]

    # Scattering adds up repeated indices by itself.

    def _apply_sparse_duplicate_indices(self, grad, var):
        delta = ops.IndexedSlices(grad.values * self._cast(var, self._learning_rate_tensor)[0], grad.indices,
                                  grad.dense_shape)
        return var.scatter_sub(delta, use_locking=self._use_locking)

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        return gen.resource_scatter_add(handle.handle, indices, -grad * self._learning_rate)
