"""An optimizer around another one: gradients of the scaled loss, applied where they are finite."""
from penstock._src.graph import ops
from penstock._src.control_flow import smart_cond
from penstock._src.control_flow import control_flow_ops
from penstock._src.training import optimizer
from penstock._src.training.experimental import loss_scale as loss_scale_module


class MixedPrecisionLossScaleOptimizer(optimizer.Optimizer):
    """Multiplies the loss by a scale and its gradients by the inverse. With a dynamic scale, a step whose gradients are
    not finite changes no variable, nor the global step."""

    def __init__(self, opt, loss_scale):
        """opt: a tf.train.Optimizer (ValueError for anything else). loss_scale: a LossScale, a number, or "dynamic"."""
        if not isinstance(opt, optimizer.Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        self._optimizer = opt
        super().__init__(opt._use_locking, opt.get_name())
        self._loss_scale = loss_scale_module.get(loss_scale)
        if self._loss_scale is None:
            raise ValueError("loss_scale cannot be None")
        self._track_trackable(self._optimizer, "base_optimizer")
        self._track_trackable(self._loss_scale, "loss_scale")

    def compute_gradients(self, loss, var_list=None, gate_gradients=optimizer.Optimizer.GATE_OP,
                          aggregation_method=None, colocate_gradients_with_ops=False, grad_loss=None):
        """As Optimizer.compute_gradients."""
        scale = self._loss_scale()
        scaled = (lambda: loss() * scale) if callable(loss) else loss * scale
        pairs = self._optimizer.compute_gradients(
            scaled, var_list=var_list, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)
        inverse = 1 / self._loss_scale()
        return [(_scaled(grad, inverse), variable) for grad, variable in pairs]

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """As Optimizer.apply_gradients."""
        if not isinstance(self._loss_scale, loss_scale_module.DynamicLossScale):
            return self._optimizer.apply_gradients(grads_and_vars, global_step, name)
        pairs, name = list(grads_and_vars), name if name is not None else self.get_name()
        update, is_finite = self._loss_scale.update([grad for grad, _ in pairs])

        def apply():
            return control_flow_ops.group(self._optimizer.apply_gradients(pairs, global_step, name + "-wrapped"))

        applied = smart_cond.smart_cond(is_finite, apply, control_flow_ops.no_op)
        return control_flow_ops.group(applied, update, name=name)

    def get_slot(self, var, name):
        """A slot of the optimizer inside."""
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self):
        """Names of the slots of the optimizer inside."""
        return self._optimizer.get_slot_names()

    def variables(self):
        """The variables of the optimizer inside and of the scale."""
        return self._optimizer.variables() + list(self._loss_scale._weights.values())


def _scaled(grad, factor):
    if grad is None:
        return None
    if isinstance(grad, ops.IndexedSlices):
        return ops.IndexedSlices(grad.values * factor, grad.indices, grad.dense_shape)
    return grad * factor
