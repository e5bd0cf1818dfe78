"""Adam that leaves the means of rows alone that a sparse gradient does not name."""
from penstock._src.contrib.opt import sparse_rows
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops


class LazyAdamOptimizer(sparse_rows.SparseRowsAdam):
    """AdamOptimizer, faster on sparse gradients, and with other results there."""

    def _apply_sparse_rows(self, grad, var, indices, scatter_add, scatter_update):
        beta1_power, beta2_power, lr, beta1, beta2, epsilon = self._cast(
            var, *self._get_beta_accumulators(), self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        rate = lr * math_ops.sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = self._slots_of(var, "m", "v")
        m_rows = beta1 * array_ops.gather(m, indices) + (1 - beta1) * grad
        v_rows = beta2 * array_ops.gather(v, indices) + (1 - beta2) * math_ops.square(grad)
        delta = -rate * m_rows / (math_ops.sqrt(v_rows) + epsilon)
        with ops.control_dependencies([m_rows, v_rows, delta]):
            return control_flow_ops.group(scatter_add(var, indices, delta), scatter_update(m, indices, m_rows),
                                          scatter_update(v, indices, v_rows))
