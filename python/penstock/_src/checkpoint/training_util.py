"""The global step: the variable that counts training steps."""
from penstock._src.graph import context
from penstock._src.graph import dtypes
from penstock._src.checkpoint import graph_io
from penstock._src.graph import ops
from penstock._src.ops.state import init_ops
from penstock._src.ops.state import resource_variable_ops
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variable_scope
from penstock._src.ops.state import variables
from penstock._src.base import tf_logging as logging

GLOBAL_STEP_READ_KEY = "global_step_read_op_cache"
write_graph = graph_io.write_graph


def global_step(sess, global_step_tensor):
    """The value of the global step in `sess`, as an int."""
    if context.executing_eagerly():
        return int(global_step_tensor.numpy())
    return int(sess.run(global_step_tensor).item())


def get_global_step(graph=None):
    """The global step of the graph: of its collection, else the tensor `global_step:0`; None if there is none."""
    graph = graph or ops.get_default_graph()
    found = graph.get_collection(ops.GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        logging.error("Multiple tensors in global_step collection.")
        return None
    if found:
        step = found[0]
    else:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(step)
    return step


def create_global_step(graph=None):
    """Makes the global step; ValueError if there is one."""
    graph = graph or ops.get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default() as g, g.name_scope(None):
        return variable_scope.get_variable(
            ops.GraphKeys.GLOBAL_STEP, shape=[], dtype=dtypes.int64, initializer=init_ops.zeros_initializer(),
            trainable=False, aggregation=variables.VariableAggregation.ONLY_FIRST_REPLICA,
            collections=[ops.GraphKeys.GLOBAL_VARIABLES, ops.GraphKeys.GLOBAL_STEP])


def get_or_create_global_step(graph=None):
    """The global step of the graph, made if there is none."""
    graph = graph or ops.get_default_graph()
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def assert_global_step(global_step_tensor):
    """TypeError unless it is a scalar integer variable or tensor."""
    if not (isinstance(global_step_tensor, (variables.Variable, ops.Tensor)) or
            resource_variable_ops.is_resource_variable(global_step_tensor)):
        raise TypeError('Existing "global_step" must be a Variable or Tensor: %s.' % global_step_tensor)
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError('Existing "global_step" does not have integer type: %s' % global_step_tensor.dtype)
    shape = global_step_tensor.get_shape()
    if shape.ndims != 0 and shape.is_fully_defined():
        raise TypeError('Existing "global_step" is not scalar: %s' % shape)


def _get_global_step_read(graph=None):
    found = (graph or ops.get_default_graph()).get_collection(GLOBAL_STEP_READ_KEY)
    if len(found) > 1:
        raise RuntimeError("There are multiple items in collection {}. There should be only one.".format(
            GLOBAL_STEP_READ_KEY))
    return found[0] if found else None


def _get_or_create_global_step_read(graph=None):
    """The value of the global step before the step's update, read once."""
    graph = graph or ops.get_default_graph()
    read = _get_global_step_read(graph)
    if read is not None:
        return read
    step = get_global_step(graph)
    if step is None:
        return None
    with graph.as_default() as g, g.name_scope(None), g.name_scope(step.op.name + "/"):
        value = step.initialized_value() if isinstance(step, variables.Variable) else step
        ops.add_to_collection(GLOBAL_STEP_READ_KEY, value + 0)
    return _get_global_step_read(graph)


def _increment_global_step(increment, graph=None):
    graph = graph or ops.get_default_graph()
    step = get_global_step(graph)
    if step is None:
        raise ValueError("Global step tensor should be created by tf.train.get_or_create_global_step before calling "
                         "increment.")
    read = _get_or_create_global_step_read(graph)
    with graph.as_default() as g, g.name_scope(None), g.name_scope(step.op.name + "/"):
        with ops.control_dependencies([read]):
            return state_ops.assign_add(step, increment)
