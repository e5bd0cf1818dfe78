"""An optimizer whose saver swaps the variables with their averages."""
from penstock._src.graph import ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.state import partitioned_variable
from penstock._src.ops.state import variables
from penstock._src.training import moving_averages
from penstock._src.training import optimizer
from penstock._src.checkpoint import saver
from penstock._src.checkpoint import saveable_object_util


class MovingAverageOptimizer(optimizer.Optimizer):
    """Applies another optimizer, then averages what it has changed: behind the update unless it need not be so."""

    def __init__(self, opt, average_decay=0.9999, num_updates=None, sequential_update=True):
        self._optimizer = opt
        self._ema = moving_averages.ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped_names = None
        self._sequential_update = sequential_update

    def compute_gradients(self, *args, **kwargs):
        """The other optimizer's."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Updates the variables and their averages."""
        train_op = self._optimizer.apply_gradients(grads_and_vars, global_step=global_step, name=name)
        updated = [var for grad, var in grads_and_vars if grad is not None]
        with ops.control_dependencies([train_op] if self._sequential_update else []):
            average_op = self._ema.apply(updated)
        self._swapped_names = {}
        for var in updated:
            average = self._ema.average(var)
            self._swapped_names[var.op.name] = average.op.name
            self._swapped_names[average.op.name] = var.op.name
        return control_flow_ops.group(train_op, average_op, name="train_with_avg")

    def _swapped(self, by_name, name, var):
        other = self._swapped_names.get(name)
        if other is None:
            return var
        if other not in by_name:
            raise ValueError("Variable to swap %s is not part of variables to save. This breaks "
                             "MovingAverageOptimizer." % other)
        return by_name[other]

    def swapping_saver(self, var_list=None, name="swapping_saver", **kwargs):
        """A Saver that writes each average under its variable's name, and the variable under the average's.

        RuntimeError before the gradients are applied; ValueError if `var_list` lacks one of a pair.
        """
        if self._swapped_names is None:
            raise RuntimeError("Must call apply_gradients or minimize before creating the swapping_saver")
        var_list = variables.global_variables() if var_list is None else var_list
        if not isinstance(var_list, dict):
            var_list = saveable_object_util.op_list_to_dict(var_list)
        by_name = {}
        for key, var in var_list.items():
            if isinstance(var, (list, partitioned_variable.PartitionedVariable)):
                by_name.update((part.op.name, part) for part in var)
            else:
                by_name[key] = var
        swapped = {key: [self._swapped(by_name, part.op.name, part) for part in var] if isinstance(var, list)
                   else self._swapped(by_name, key, var) for key, var in var_list.items()}
        return saver.Saver(swapped, name=name, **kwargs)
