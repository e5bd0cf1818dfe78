"""Optimizers with weight decay apart from the gradient (Loshchilov and Hutter, 2017)."""
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.state import state_ops
from penstock._src.training import adam
from penstock._src.training import momentum as momentum_opt
from penstock._src.training import optimizer


class DecoupledWeightDecayExtension:
    """To be inherited before an optimizer: before each update, variables lose `weight_decay` times themselves.

    `apply_gradients` takes `decay_var_list`, the variables that do; all if it is empty.
    """

    def __init__(self, weight_decay, **kwargs):
        self._decay_var_list = None
        self._weight_decay = weight_decay
        self._weight_decay_tensor = None
        super().__init__(**kwargs)

    def minimize(self, loss, global_step=None, var_list=None, gate_gradients=optimizer.Optimizer.GATE_OP,
                 aggregation_method=None, colocate_gradients_with_ops=False, name=None, grad_loss=None,
                 decay_var_list=None):
        """Optimizer.minimize; all variables decay, for `decay_var_list` has no effect here, as in TensorFlow."""
        return super().minimize(
            loss, global_step=global_step, var_list=var_list, gate_gradients=gate_gradients,
            aggregation_method=aggregation_method, colocate_gradients_with_ops=colocate_gradients_with_ops, name=name,
            grad_loss=grad_loss)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None, decay_var_list=None):
        """Optimizer.apply_gradients, with the variables that decay."""
        self._decay_var_list = set(decay_var_list or ())
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _prepare(self):
        decay = self._weight_decay
        self._weight_decay_tensor = ops.convert_to_tensor(decay() if callable(decay) else decay, name="weight_decay")
        super()._prepare()

    def _decays(self, var):
        return not self._decay_var_list or var in self._decay_var_list

    def _decayed(self, var):
        if not self._decays(var):
            return control_flow_ops.no_op()
        return var.assign_sub(self._weight_decay * var, self._use_locking)

    def _decayed_rows(self, var, indices, scatter_add):
        if not self._decays(var):
            return control_flow_ops.no_op()
        return scatter_add(var, indices, -self._weight_decay * array_ops.gather(var, indices))

    def _apply_dense(self, grad, var):
        with ops.control_dependencies([self._decayed(var)]):
            return super()._apply_dense(grad, var)

    def _resource_apply_dense(self, grad, var):
        with ops.control_dependencies([self._decayed(var)]):
            return super()._resource_apply_dense(grad, var)

    def _apply_sparse(self, grad, var):
        def add(x, i, v):
            return state_ops.scatter_add(x, i, v, use_locking=self._use_locking)

        with ops.control_dependencies([self._decayed_rows(var, grad.indices, add)]):
            return super()._apply_sparse(grad, var)

    def _resource_apply_sparse(self, grad, var, indices):
        def add(x, i, v):
            return gen.resource_scatter_add(x.handle, i, v)

        with ops.control_dependencies([self._decayed_rows(var, indices, add)]):
            return super()._resource_apply_sparse(grad, var, indices)


def extend_with_decoupled_weight_decay(base_optimizer):
    """The class of `base_optimizer` with weight decay, which becomes its first argument."""

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):
        """The optimizer with weight decay."""

        def __init__(self, weight_decay, *args, **kwargs):
            self._decay_var_list = None
            self._weight_decay = weight_decay
            self._weight_decay_tensor = None
            base_optimizer.__init__(self, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, momentum_opt.MomentumOptimizer):
    """MomentumOptimizer with weight decay."""

    def __init__(self, weight_decay, learning_rate, momentum, use_locking=False, name="MomentumW",
                 use_nesterov=False):
        super().__init__(weight_decay, learning_rate=learning_rate, momentum=momentum, use_locking=use_locking,
                         name=name, use_nesterov=use_nesterov)


class AdamWOptimizer(DecoupledWeightDecayExtension, adam.AdamOptimizer):
    """AdamOptimizer with weight decay."""

    def __init__(self, weight_decay, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False,
                 name="AdamW"):
        super().__init__(weight_decay, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon,
                         use_locking=use_locking, name=name)
