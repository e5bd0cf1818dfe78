"""An optimizer that keeps the norms of variables small."""
import contextlib

from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import clip_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.base import tf_logging as logging
from penstock._src.training import optimizer


class VariableClippingOptimizer(optimizer.Optimizer):
    """Applies another optimizer, then clips variables to `max_norm` over the dimensions `vars_to_clip_dims` names.

    Of a sparse gradient only the rows it names are clipped.
    """

    def __init__(self, opt, vars_to_clip_dims, max_norm, use_locking=False, colocate_clip_ops_with_vars=False,
                 name="VariableClipping"):
        super().__init__(use_locking, name)
        self._opt = opt
        self._vars_to_clip_dims = {var: dims[:] for var, dims in vars_to_clip_dims.items()}
        self._max_norm = max_norm
        self._colocate_clip_ops_with_vars = colocate_clip_ops_with_vars

    def compute_gradients(self, *args, **kwargs):
        """The other optimizer's."""
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args, **kwargs):
        """The other optimizer's."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        """The other optimizer's."""
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Updates the variables, then clips them."""
        with ops.name_scope(name, self._name) as name:
            update = self._opt.apply_gradients(grads_and_vars, global_step=global_step)
            clipped = []
            with ops.control_dependencies([update]):
                for grad, var in grads_and_vars:
                    if grad is None or var not in self._vars_to_clip_dims:
                        continue
                    with ops.name_scope("clip_" + var.op.name):
                        clipped.append(self._clip_dense(var) if isinstance(grad, ops.Tensor) else
                                       self._clip_sparse(grad, var))
            return control_flow_ops.group(update, *clipped, name=name)

    def _clip_dense(self, var):
        with self._maybe_colocate_with(var):
            value = var.read_value()
            excess = value - clip_ops.clip_by_norm(value, self._max_norm, self._vars_to_clip_dims[var])
        with ops.colocate_with(var):
            return var.assign_sub(excess, use_locking=self._use_locking)

    def _clip_sparse(self, grad, var):
        dims = self._vars_to_clip_dims[var]
        if 0 in dims:
            logging.warning("Clipping norm across dims %s for %s is inefficient when including sparse dimension 0.",
                            dims, var.op.name)
            return self._clip_dense(var)
        with ops.colocate_with(var):
            rows = array_ops.gather(var, grad.indices)
        with self._maybe_colocate_with(var):
            excess = ops.IndexedSlices(rows - clip_ops.clip_by_norm(rows, self._max_norm, dims), grad.indices,
                                       grad.dense_shape)
        with ops.colocate_with(var):
            return var.scatter_sub(excess, use_locking=self._use_locking)

    def _maybe_colocate_with(self, var):
        return ops.colocate_with(var) if self._colocate_clip_ops_with_vars else contextlib.nullcontext()
