"""Adam (Kingma and Ba, 2014)."""
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.state import state_ops
from penstock._src.training import optimizer
from penstock._src.training.optimizer import GRAD


class AdamOptimizer(optimizer.Optimizer):
    """Steps of the mean gradient over the root of the mean squared gradient, both corrected for their start at zero.

    A sparse gradient moves the means of all rows, not only of those it names, as TensorFlow does.
    """

    _kernel = "adam"
    _accumulators = ("beta1_power", "beta2_power")

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="Adam"):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon
        self._lr_t = None
        self._beta1_t = None
        self._beta2_t = None
        self._epsilon_t = None

    def _get_beta_accumulators(self):
        with ops.init_scope():
            graph = ops.get_default_graph()
        return tuple(self._get_non_slot_variable(name, graph=graph) for name in self._accumulators)

    def _create_slots(self, var_list):
        # The powers live with the first variable by name, so that they do not move from run to run.
        first = min(var_list, key=lambda v: v.name)
        for name, beta in zip(self._accumulators, (self._beta1, self._beta2)):
            self._create_non_slot_variable(initial_value=beta, name=name, colocate_with=first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self):
        lr, beta1, beta2, epsilon = (self._call_if_callable(p)
                                     for p in (self._lr, self._beta1, self._beta2, self._epsilon))
        self._lr_t = ops.convert_to_tensor(lr, name="learning_rate")
        self._beta1_t = ops.convert_to_tensor(beta1, name="beta1")
        self._beta2_t = ops.convert_to_tensor(beta2, name="beta2")
        self._epsilon_t = ops.convert_to_tensor(epsilon, name="epsilon")

    def _arguments(self, var):
        hyper = self._cast(var, *self._get_beta_accumulators(), self._lr_t, self._beta1_t, self._beta2_t,
                           self._epsilon_t)
        return self._slots_of(var, "m", "v") + hyper + [GRAD]

    def _apply_sparse_shared(self, grad, var, indices, scatter_add):
        beta1_power, beta2_power, lr_t, beta1_t, beta2_t, epsilon_t = self._cast(
            var, *self._get_beta_accumulators(), self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        lr = lr_t * math_ops.sqrt(1 - beta2_power) / (1 - beta1_power)
        m_t = self._decayed_and_added("m", var, beta1_t, lambda: grad * (1 - beta1_t), indices, scatter_add)
        v_t = self._decayed_and_added("v", var, beta2_t, lambda: grad * grad * (1 - beta2_t), indices, scatter_add)
        v_sqrt = math_ops.sqrt(v_t)
        update = state_ops.assign_sub(var, lr * m_t / (v_sqrt + epsilon_t), use_locking=self._use_locking)
        return control_flow_ops.group(update, m_t, v_t)

    def _decayed_and_added(self, slot_name, var, decay, rows, indices, scatter_add):
        slot = self.get_slot(var, slot_name)
        rows = rows()
        decayed = state_ops.assign(slot, slot * decay, use_locking=self._use_locking)
        with ops.control_dependencies([decayed]):
            return scatter_add(slot, indices, rows)

    def _ref_scatter_add(self, x, i, v):
        return state_ops.scatter_add(x, i, v, use_locking=self._use_locking)

    def _resource_scatter_add(self, x, i, v):
        with ops.control_dependencies([gen.resource_scatter_add(x.handle, i, v)]):
            return x.value()

    def _apply_sparse(self, grad, var):
        return self._apply_sparse_shared(grad.values, var, grad.indices, self._ref_scatter_add)

    def _resource_apply_sparse(self, grad, var, indices):
        return self._apply_sparse_shared(grad, var, indices, self._resource_scatter_add)

    def _finish(self, update_ops, name_scope):
        # The powers change after all updates have read them.
        with ops.control_dependencies(update_ops):
            powers = self._get_beta_accumulators()
            with ops.colocate_with(powers[0]):
                advanced = [power.assign(power * beta, use_locking=self._use_locking)
                            for power, beta in zip(powers, (self._beta1_t, self._beta2_t))]
        return control_flow_ops.group(*(update_ops + advanced), name=name_scope)
