"""Exponentially decaying averages of variables and tensors."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variable_scope
from penstock._src.ops.state import variables
from penstock._src.training import slot_creator


def assign_moving_average(variable, value, decay, zero_debias=True, name=None):
    """variable -= (1 - decay) * (variable - value); the result holds the new value.

    With `zero_debias` the variable is corrected for a start at zero: two more variables below it hold the plain average
    and the number of updates.
    """
    with ops.name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        decay = ops.convert_to_tensor(1.0 - decay, name="decay")
        if decay.dtype != variable.dtype.base_dtype:
            decay = math_ops.cast(decay, variable.dtype.base_dtype)
        if zero_debias:
            return _zero_debias(variable, value, decay)
        return state_ops.assign_sub(variable, (variable - value) * decay, name=scope)


def _unused_name(name):
    """`name`, made unique among the scope's variables unless the scope reuses them."""
    scope = variable_scope.get_variable_scope()
    if scope.reuse:
        return name
    taken = set(v.op.name for v in scope.global_variables())
    full_name = scope.name + "/" + name
    if full_name not in taken:
        return name
    index = 1
    while "%s_%d" % (full_name, index) in taken:
        index += 1
    return "%s_%d" % (name, index)


def _zero_debias(unbiased_var, value, decay):
    with variable_scope.variable_scope(unbiased_var.name[:-len(":0")], values=[unbiased_var, value, decay]):
        with ops.colocate_with(unbiased_var):
            biased = variable_scope.get_variable(
                _unused_name("biased"), initializer=init_ops.zeros_initializer(), shape=unbiased_var.get_shape(),
                dtype=unbiased_var.dtype, trainable=False)
            local_step = variable_scope.get_variable(
                _unused_name("local_step"), shape=[], dtype=unbiased_var.dtype,
                initializer=init_ops.zeros_initializer(), trainable=False)
    update_biased = state_ops.assign_sub(biased, (biased - value) * decay)
    update_step = local_step.assign_add(1)
    bias_factor = 1 - math_ops.pow(1.0 - decay, update_step)
    return state_ops.assign(unbiased_var, update_biased / bias_factor, name=ops.get_name_scope() + "/")


def weighted_moving_average(value, decay, weight, truediv=True, collections=None, name=None):
    """The average of value * weight over the average of weight, both decaying."""
    if collections is None:
        collections = [ops.GraphKeys.GLOBAL_VARIABLES]
    with variable_scope.variable_scope(name, "WeightedMovingAvg", [value, weight, decay]) as scope:

        def average(name, of):
            return variable_scope.get_variable(name, shape=of.get_shape(), dtype=of.dtype, trainable=False,
                                               initializer=init_ops.zeros_initializer(), collections=collections)

        value_x_weight = average("value_x_weight", value)
        weights = average("weight", weight)
        numerator = assign_moving_average(value_x_weight, value * weight, decay, zero_debias=False)
        denominator = assign_moving_average(weights, weight, decay, zero_debias=False)
        divide = math_ops.truediv if truediv else math_ops.div
        return divide(numerator, denominator, name=scope.name)


def _node_name(value):
    """The name of its operation, which an eager variable has had none of."""
    return value.name.rpartition(":")[0]


class ExponentialMovingAverage(object):
    """Keeps shadow variables that follow variables or tensors: shadow -= (1 - decay) * (shadow - variable).

    Args:
      decay: Close to 1.
      num_updates: If given, the decay is at most (1 + num_updates) / (10 + num_updates).
      zero_debias: Correct the averages of tensors, which start at zero.
    """

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages = {}

    @property
    def name(self):
        return self._name

    def apply(self, var_list=None):
        """Makes the shadows of `var_list` (the trainable variables if None); an operation that updates them all."""
        if var_list is None:
            var_list = variables.trainable_variables()
        debiased = set()
        for var in var_list:
            if var.dtype.base_dtype not in (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64):
                raise TypeError("The variables must be half, float, or double: %s" % var.name)
            if var.experimental_ref() not in self._averages:
                average = self._shadow(var)
                self._averages[var.experimental_ref()] = average
                if self._zero_debias and not isinstance(var, variables.Variable):
                    debiased.add(average.experimental_ref())
        with ops.name_scope(self.name) as scope:
            decay = ops.convert_to_tensor(self._decay, name="decay")
            if self._num_updates is not None:
                num_updates = math_ops.cast(self._num_updates, dtypes.float32, name="num_updates")
                decay = gen.minimum(decay, (1.0 + num_updates) / (10.0 + num_updates))
            updates = []
            for var in var_list:
                average = self._averages[var.experimental_ref()]
                updates.append(assign_moving_average(average, var, decay, average.experimental_ref() in debiased))
            return control_flow_ops.group(*updates, name=scope)

    def _shadow(self, var):
        with ops.init_scope():
            if isinstance(var, variables.Variable):
                shadow = slot_creator.create_slot(var, var.initialized_value(), self.name, colocate_with_primary=True)
                # What is averaged is saved under the average's name by variables_to_restore.
                ops.add_to_collection(ops.GraphKeys.MOVING_AVERAGE_VARIABLES, var)
                return shadow
            return slot_creator.create_zeros_slot(
                var, self.name, colocate_with_primary=var.op.type in ("Variable", "VariableV2", "VarHandleOp"))

    def average(self, var):
        """The shadow of `var`, or None."""
        return self._averages.get(var.experimental_ref())

    def average_name(self, var):
        """The name of the shadow of `var`, whether it exists or would be made now."""
        if var.experimental_ref() in self._averages:
            return _node_name(self._averages[var.experimental_ref()])
        return ops.get_default_graph().unique_name(_node_name(var) + "/" + self.name, mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables=None):
        """{name in a checkpoint: variable} that loads the averages into the variables; others by their own names."""
        if moving_avg_variables is None:
            moving_avg_variables = variables.trainable_variables() + variables.moving_average_variables()
        names = {self.average_name(v): v for v in moving_avg_variables}
        averaged_names = set(v.name for v in moving_avg_variables)
        for v in variables.global_variables():
            if v.name not in averaged_names and _node_name(v) not in names:
                names[_node_name(v)] = v
        return names
