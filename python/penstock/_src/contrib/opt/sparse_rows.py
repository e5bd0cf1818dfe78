"""Updates of those rows only that a sparse gradient names."""
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.ops.state import state_ops
from penstock._src.training import adam


class SparseRowsAdam(adam.AdamOptimizer):
    """An AdamOptimizer whose sparse update `_apply_sparse_rows` is written once for references and for resources."""

    def _apply_sparse_rows(self, grad, var, indices, scatter_add, scatter_update):
        raise NotImplementedError

    def _ref_scatter_update(self, x, i, v):
        return state_ops.scatter_update(x, i, v, use_locking=self._use_locking)

    def _resource_scatter_update(self, x, i, v):
        with ops.control_dependencies([gen.resource_scatter_update(x.handle, i, v)]):
            return x.value()

    def _apply_sparse(self, grad, var):
        return self._apply_sparse_rows(grad.values, var, grad.indices, self._ref_scatter_add, self._ref_scatter_update)

    def _resource_apply_sparse(self, grad, var, indices):
        return self._apply_sparse_rows(grad, var, indices, self._resource_scatter_add, self._resource_scatter_update)
