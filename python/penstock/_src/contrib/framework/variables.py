"""Variables of models, and ways to pick variables by scope and name."""
import functools
import re

from penstock._src.contrib.framework.arg_scope import add_arg_scope
from penstock._src.graph import device as tf_device
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.state import variable_scope
from penstock._src.ops.state import variables
from penstock._src.checkpoint import training_util

assert_global_step = training_util.assert_global_step
get_global_step = training_util.get_global_step
create_global_step = training_util.create_global_step
get_or_create_global_step = training_util.get_or_create_global_step


def assert_or_get_global_step(graph=None, global_step_tensor=None):
    """The global step given, checked, or else the graph's."""
    if global_step_tensor is None:
        return get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


def local_variable(initial_value, validate_shape=True, name=None, use_resource=None):
    """A variable in LOCAL_VARIABLES."""
    return variable_scope.variable(
        initial_value, trainable=False, collections=[ops.GraphKeys.LOCAL_VARIABLES], validate_shape=validate_shape,
        use_resource=use_resource, name=name)


def global_variable(initial_value, validate_shape=True, name=None, use_resource=None):
    """A variable in GLOBAL_VARIABLES that is not trained."""
    return variable_scope.variable(
        initial_value, trainable=False, collections=[ops.GraphKeys.GLOBAL_VARIABLES], validate_shape=validate_shape,
        use_resource=use_resource, name=name)


@add_arg_scope
def variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=True, collections=None,
             caching_device=None, device=None, partitioner=None, custom_getter=None, use_resource=None,
             synchronization=variables.VariableSynchronization.AUTO, aggregation=variables.VariableAggregation.NONE):
    """As tf.get_variable, with a device."""
    collections = list(set([ops.GraphKeys.GLOBAL_VARIABLES] if collections is None else collections))
    getter = variable_scope.get_variable
    if custom_getter is not None:
        getter = functools.partial(custom_getter, reuse=variable_scope.get_variable_scope().reuse)
    with ops.device(device or ""):
        return getter(name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
                      trainable=trainable, collections=collections, caching_device=caching_device,
                      partitioner=partitioner, use_resource=use_resource, synchronization=synchronization,
                      aggregation=aggregation)


@add_arg_scope
def model_variable(name, shape=None, dtype=dtypes.float32, initializer=None, regularizer=None, trainable=True,
                   collections=None, caching_device=None, device=None, partitioner=None, custom_getter=None,
                   use_resource=None, synchronization=variables.VariableSynchronization.AUTO,
                   aggregation=variables.VariableAggregation.NONE):
    """As `variable`, in MODEL_VARIABLES too."""
    collections = list(collections or []) + [ops.GraphKeys.GLOBAL_VARIABLES, ops.GraphKeys.MODEL_VARIABLES]
    return variable(name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
                    trainable=trainable, collections=collections, caching_device=caching_device, device=device,
                    partitioner=partitioner, custom_getter=custom_getter, use_resource=use_resource,
                    synchronization=synchronization, aggregation=aggregation)


def add_model_variable(var):
    """Adds a variable to MODEL_VARIABLES unless it is there."""
    if var not in ops.get_collection(ops.GraphKeys.MODEL_VARIABLES):
        ops.add_to_collection(ops.GraphKeys.MODEL_VARIABLES, var)


def get_variables(scope=None, suffix=None, collection=ops.GraphKeys.GLOBAL_VARIABLES):
    """The variables of a collection whose names match a scope and end in `suffix`."""
    if isinstance(scope, variable_scope.VariableScope):
        scope = scope.name
    if suffix is not None:
        scope = (scope or "") + ".*" + (suffix if ":" in suffix else suffix + ":")
    return ops.get_collection(collection, scope)


def get_model_variables(scope=None, suffix=None):
    """The model's variables: those of the layers, not of optimizers; by scope and end of the name."""
    return get_variables(scope, suffix, ops.GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope=None, suffix=None):
    """Local variables, by scope and end of the name."""
    return get_variables(scope, suffix, ops.GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope=None, suffix=None):
    """Trainable variables, by scope and end of the name."""
    return get_variables(scope, suffix, ops.GraphKeys.TRAINABLE_VARIABLES)


def get_variables_to_restore(include=None, exclude=None):
    """The variables in the scopes `include` (all if None) that are not in the scopes `exclude`."""
    for what, scopes in (("include", include), ("exclude", exclude)):
        if scopes is not None and not isinstance(scopes, (list, tuple)):
            raise TypeError("%s is provided but is not a list or a tuple." % what)
    chosen = get_variables() if include is None else [v for scope in include for v in get_variables(scope)]
    left_out = set(v for scope in exclude or () for v in get_variables(scope))
    return [v for v in chosen if v not in left_out]


def get_variables_by_suffix(suffix, scope=None):
    """Variables whose name ends so."""
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name, scope=None):
    """The variables whose last name is `given_name`."""
    return get_variables(scope=scope, suffix="/" + given_name + ":|^" + given_name + ":")


def get_unique_variable(var_op_name):
    """The variable of exactly that name; ValueError if there is none."""
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError("Couldn't find variable %s" % var_op_name)
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError("Variable %s does not uniquely identify a variable" % var_op_name)


def filter_variables(var_list, include_patterns=None, exclude_patterns=None, reg_search=True):
    """Those of `var_list` whose names match one of `include_patterns` and none of `exclude_patterns`."""
    matches = re.search if reg_search else re.match
    kept = list(var_list)
    if include_patterns is not None:
        kept = [v for v in kept if any(matches(p, v.name) for p in include_patterns)]
    if exclude_patterns is not None:
        kept = [v for v in kept if not any(matches(p, v.name) for p in exclude_patterns)]
    return kept


def assign_from_values(var_names_to_values):
    """(operation, feeds) that give the variables of those names the values."""
    feeds, assigns = {}, []
    for name, value in var_names_to_values.items():
        var = get_unique_variable(name)
        placeholder = array_ops.placeholder(dtype=var.dtype.base_dtype)
        assigns.append(var.assign(array_ops.reshape(placeholder, var.get_shape())).op)
        feeds[placeholder] = value.reshape(var.get_shape().as_list())
    return control_flow_ops.group(*assigns), feeds


def assign_from_values_fn(var_names_to_values):
    """A function of a session that gives the variables of those names the values."""
    assign, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(assign, feeds)


class VariableDeviceChooser:
    """A device function that deals ops out to the tasks of a job in turn; without tasks, to one device."""

    def __init__(self, num_tasks=0, job_name="ps", device_type="CPU", device_index=0, replica=None):
        self._place = {"replica": replica, "device_type": device_type, "device_index": device_index}
        self._job_name = job_name
        self._num_tasks = num_tasks
        self._next_task = 0

    def __call__(self, op):
        place = dict(self._place)
        if self._num_tasks > 0:
            place.update(job=self._job_name, task=self._next_task)
            self._next_task = (self._next_task + 1) % self._num_tasks
        return tf_device.DeviceSpec(**place).to_string()
