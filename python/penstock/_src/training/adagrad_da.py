"""Adagrad with dual averaging (Duchi et al., 2011): for large sparse linear models."""
from penstock._src.graph import constant_op
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.training import optimizer
from penstock._src.training.optimizer import GRAD


class AdagradDAOptimizer(optimizer.Optimizer):
    """Solves for the variable anew in each step from the sums of gradients and of squared gradients."""

    _kernel = "adagrad_da"

    def __init__(self, learning_rate, global_step, initial_gradient_squared_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False, name="AdagradDA"):
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError("initial_gradient_squared_accumulator_value must be positive: %s" %
                             initial_gradient_squared_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_gradient_squared_accumulator_value = initial_gradient_squared_accumulator_value
        self._learning_rate_tensor = None
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._global_step = global_step
        self._global_step_on_worker = None

    def _create_slots(self, var_list):
        for v in var_list:
            with ops.colocate_with(v):
                gradients = constant_op.constant(0.0, shape=v.get_shape(), dtype=v.dtype.base_dtype)
                squares = constant_op.constant(self._initial_gradient_squared_accumulator_value, shape=v.get_shape(),
                                               dtype=v.dtype.base_dtype)
            self._get_or_make_slot(v, gradients, "gradient_accumulator", self._name)
            self._get_or_make_slot(v, squares, "gradient_squared_accumulator", self._name)

    def _prepare(self):
        self._learning_rate_tensor = ops.convert_to_tensor(self._learning_rate, name="learning_rate")
        # One copy a worker instead of one for each variable.
        with ops.colocate_with(self._learning_rate_tensor):
            self._global_step_on_worker = array_ops.identity(self._global_step) + 1

    def _arguments(self, var):
        with ops.device(var.device):
            global_step = array_ops.identity(self._global_step_on_worker)
        return (self._slots_of(var, "gradient_accumulator", "gradient_squared_accumulator") + [GRAD] +
                self._cast(var, self._learning_rate_tensor, self._l1_regularization_strength,
                           self._l2_regularization_strength) + [global_step])
