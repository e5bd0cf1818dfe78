"""CrossShardOptimizer: another optimizer with gradients of all shards, of which there is one."""
from penstock._src.graph import ops
from penstock._src.ops.metrics import losses_impl
from penstock._src.distribute.tpu import tpu_ops
from penstock._src.training import optimizer


class CrossShardOptimizer(optimizer.Optimizer):
    """Adds up the gradients of all shards (`reduction`: SUM or MEAN) before another optimizer applies them."""

    def __init__(self, opt, reduction=losses_impl.Reduction.MEAN, name="CrossShardOptimizer", group_assignment=None):
        if reduction not in (losses_impl.Reduction.SUM, losses_impl.Reduction.MEAN):
            raise ValueError("Unsupported reduction: %s." % reduction)
        super().__init__(False, name)
        self._opt = opt
        self._reduction = reduction
        self._group_assignment = group_assignment

    def compute_gradients(self, loss, var_list=None, **kwargs):
        """The gradients of this shard."""
        tpu_ops.check_groups(self._group_assignment)
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Applies the gradients of all shards."""
        summed = []
        for grad, var in grads_and_vars:
            if grad is not None:
                with ops.colocate_with(grad):
                    grad = tpu_ops.cross_replica_sum(grad, self._group_assignment)
            summed.append((grad, var))
        return self._opt.apply_gradients(summed, global_step, name)

    def get_slot(self, *args, **kwargs):
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self):
        return self._opt.variables()
