"""FTRL (McMahan et al., 2013): follow the regularized leader, with online L2 and with shrinkage-type L2."""
from penstock._src.graph import constant_op
from penstock._src.graph import ops
from penstock._src.training import optimizer
from penstock._src.training.optimizer import GRAD


class FtrlOptimizer(optimizer.Optimizer):
    """For sparse linear models. Shrinkage adds the penalty to the gradient only, so that it does not change
    sparsity."""

    def __init__(self, learning_rate, learning_rate_power=-0.5, initial_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False, name="Ftrl",
                 accum_name=None, linear_name=None, l2_shrinkage_regularization_strength=0.0, beta=None):
        super().__init__(use_locking, name)
        for value, what in ((initial_accumulator_value, "initial_accumulator_value"),
                            (-learning_rate_power, None),
                            (l1_regularization_strength, "l1_regularization_strength"),
                            (l2_regularization_strength, "l2_regularization_strength"),
                            (l2_shrinkage_regularization_strength, "l2_shrinkage_regularization_strength")):
            if value < 0.0 and what is None:
                raise ValueError("learning_rate_power %f needs to be negative or zero" % learning_rate_power)
            if value < 0.0:
                raise ValueError("%s %f needs to be positive or zero" % (what, value))
        self._learning_rate = learning_rate
        self._learning_rate_power = learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        # Paper: beta is added to the root of the accumulator, which is L2 of beta / (2 * learning rate).
        self._l2_regularization_strength = l2_regularization_strength + (
            beta / (2.0 * learning_rate) if beta is not None else 0.0)
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self._learning_rate_tensor = None
        self._learning_rate_power_tensor = None
        self._l1_regularization_strength_tensor = None
        self._l2_regularization_strength_tensor = None
        self._l2_shrinkage_regularization_strength_tensor = None
        self._accum_name = accum_name
        self._linear_name = linear_name

    @property
    def _shrinks(self):
        return self._l2_shrinkage_regularization_strength > 0.0

    @property
    def _kernel(self):
        return "ftrl_v2" if self._shrinks else "ftrl"

    def _create_slots(self, var_list):
        for v in var_list:
            with ops.colocate_with(v):
                start = constant_op.constant(self._initial_accumulator_value, dtype=v.dtype, shape=v.get_shape())
                self._get_or_make_slot(v, start, "accum", self._accum_name or self._name)
                self._zeros_slot(v, "linear", self._linear_name or self._name)

    def _prepare(self):
        for what in ("learning_rate", "l1_regularization_strength", "l2_regularization_strength",
                     "l2_shrinkage_regularization_strength", "learning_rate_power"):
            tensor = ops.convert_to_tensor(getattr(self, "_" + what), name=what)
            setattr(self, "_%s_tensor" % what, tensor)

    def _arguments(self, var):
        hyper = [self._learning_rate_tensor, self._l1_regularization_strength_tensor,
                 self._l2_regularization_strength_tensor]
        if self._shrinks:
            hyper.append(self._l2_shrinkage_regularization_strength_tensor)
        hyper.append(self._learning_rate_power_tensor)
        return self._slots_of(var, "accum", "linear") + [GRAD] + self._cast(var, *hyper)
