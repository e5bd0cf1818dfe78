"""Nadam (Dozat, 2015): Adam with Nesterov's momentum."""
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.training import adam


class NadamOptimizer(adam.AdamOptimizer):
    """AdamOptimizer whose step looks ahead along the mean gradient."""

    def _kernel_options(self):
        return {"use_nesterov": True}

    def _apply_sparse_shared(self, grad, var, indices, scatter_add):
        beta1_power, beta2_power, lr_t, beta1_t, beta2_t, epsilon_t = self._cast(
            var, *self._get_beta_accumulators(), self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        rate = lr_t * math_ops.sqrt(1 - beta2_power) / (1 - beta1_power)
        m_t = self._decayed_and_added("m", var, beta1_t, lambda: grad * (1 - beta1_t), indices, scatter_add)
        v_t = self._decayed_and_added("v", var, beta2_t, lambda: grad * grad * (1 - beta2_t), indices, scatter_add)
        with ops.control_dependencies([m_t]):
            ahead = grad * (1 - beta1_t) + beta1_t * array_ops.gather(m_t, indices)
        root = math_ops.sqrt(array_ops.gather(v_t, indices))
        update = scatter_add(var, indices, -rate * ahead / (root + epsilon_t))
        return control_flow_ops.group(update, ahead, v_t)
