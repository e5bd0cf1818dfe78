"""Adagrad (Duchi et al., 2011): accumulator += gradient^2; var -= learning_rate * gradient / sqrt(accumulator)."""
from penstock._src.graph import gen
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.training import optimizer
from penstock._src.training.optimizer import GRAD


class AdagradOptimizer(optimizer.Optimizer):
    """Steps that shrink with the sum of squared gradients, for each element."""

    _kernel = "adagrad"

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="Adagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError("initial_accumulator_value must be positive: %s" % initial_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._learning_rate_tensor = None

    def _create_slots(self, var_list):
        for v in var_list:
            dtype = v.dtype.base_dtype
            if v.get_shape().is_fully_defined():
                init = init_ops.constant_initializer(self._initial_accumulator_value, dtype=dtype)
            else:
                init = self._init_constant_op(v, dtype)
            self._get_or_make_slot_with_initializer(v, init, v.get_shape(), dtype, "accumulator", self._name)

    def _init_constant_op(self, v, dtype):

        def init():
            return math_ops.cast(gen.fill(array_ops.shape(v), self._initial_accumulator_value), dtype)

        return init

    def _prepare(self):
        self._learning_rate_tensor = self._tensor(self._learning_rate, "learning_rate")

    def _arguments(self, var):
        return self._slots_of(var, "accumulator") + self._cast(var, self._learning_rate_tensor) + [GRAD]
