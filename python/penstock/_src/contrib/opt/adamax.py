"""AdaMax (Kingma and Ba, 2014): Adam with the largest gradient of late in place of the mean square."""
from penstock._src.contrib.opt import sparse_rows
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.training.optimizer import GRAD


class AdaMaxOptimizer(sparse_rows.SparseRowsAdam):
    """Steps of the mean gradient over a decaying maximum of the gradient's size."""

    _kernel = "ada_max"
    _accumulators = ("beta1_power",)

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="AdaMax"):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _arguments(self, var):
        power, = self._get_beta_accumulators()
        hyper = self._cast(var, power, self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        return self._slots_of(var, "m", "v") + hyper + [GRAD]

    def _apply_sparse_rows(self, grad, var, indices, scatter_add, scatter_update):
        power, = self._get_beta_accumulators()
        power, lr, beta1, beta2, epsilon = self._cast(var, power, self._lr_t, self._beta1_t, self._beta2_t,
                                                      self._epsilon_t)
        m = self.get_slot(var, "m")
        m_rows = array_ops.gather(m, indices) * beta1 + grad * (1 - beta1)
        with ops.control_dependencies([m_rows]):
            m_t = scatter_update(m, indices, m_rows)
        v = self.get_slot(var, "v")
        v_rows = gen.maximum(array_ops.gather(v, indices) * beta2, math_ops.abs(grad))
        with ops.control_dependencies([v_rows]):
            v_t = scatter_update(v, indices, v_rows)
        delta = -lr / (1 - power) * (m_rows / (v_rows + epsilon))
        with ops.control_dependencies([delta]):
            update = scatter_add(var, indices, delta)
        return control_flow_ops.group(update, m_t, v_t)
