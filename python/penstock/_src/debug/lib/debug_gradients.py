"""Gradients by what they are gradients of: marks put into a graph, that note what flows back through them."""
import re
import uuid

from penstock._src.debug.lib import debug_data
from penstock._src.debug.lib import debug_graphs
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.ops.state import variables

_TAG = "gradient_debug_"
_debuggers = {}  # by the number in the names of their marks


def _tensor_to_grad_debug_op_name(tensor, grad_debugger_uuid):
    """The name of a tensor's mark."""
    op_name, slot = debug_graphs.parse_node_or_tensor_name(tensor.name)
    return "%s_%d/%s%s" % (op_name, slot, _TAG, grad_debugger_uuid)


def _parse_grad_debug_op_name(op_name):
    """(number of the debugger, name of the tensor) of a mark."""
    tensor, _, mark = op_name.rpartition("/")
    assert tensor and mark.startswith(_TAG)
    name, _, slot = tensor.rpartition("_")
    return mark[len(_TAG):].split("_")[0], "%s:%d" % (name, int(slot))


class GradientsDebugger:
    """Notes the gradients of marked tensors when tf.gradients (or an optimizer) builds them.

    Made without a tensor, or entered by `with`, it notes what is built there; several are told apart by `with`.
    """

    def __init__(self, y_tensor=None):
        self._uuid = uuid.uuid4().hex
        _debuggers[self._uuid] = self
        self._y_tensor, self._graph = y_tensor, y_tensor.graph if y_tensor is not None else None
        self._gradient_tensors, self._is_active_context = {}, False

    y_tensor = property(lambda self: self._y_tensor, doc="What is differentiated, if it was given.")
    graph = property(lambda self: self._graph, doc="The graph of the gradients.")

    def __enter__(self):
        self._is_active_context = True

    def __exit__(self, *exc):
        self._is_active_context = False

    def identify_gradient(self, input_tensor):
        """A mark behind a tensor, to be used in its place. ValueError if there is one already."""
        name = _tensor_to_grad_debug_op_name(input_tensor, self._uuid)
        mark = gen.debug_gradient_ref_identity if input_tensor.dtype._is_ref_dtype else gen.debug_gradient_identity
        marked = mark(input_tensor, name=name)
        if marked.op.name != name:
            raise ValueError("The graph already contains an op named %s" % name)
        return marked

    def watch_gradients_by_tensors(self, graph, tensors):
        """Marks tensors in a graph whose gradients are not built yet."""
        tensors = tensors if isinstance(tensors, list) else [tensors]
        names = [re.escape(tensor.name) + "$" for tensor in tensors]
        return self.watch_gradients_by_tensor_names(graph, "(" + "|".join(names) + ")")

    def watch_gradients_by_tensor_names(self, graph, tensor_name_regex):
        """Marks the tensors whose names match a regular expression; whoever read them reads the marks."""
        pattern = re.compile(tensor_name_regex)
        with graph.as_default():
            for op in graph.get_operations():
                for output in op.outputs:
                    if not pattern.match(output.name):
                        continue
                    readers = list(output.consumers())
                    mark = self.identify_gradient(output)
                    for reader in readers:
                        for i, value in enumerate(reader.inputs):
                            if value is output or value.name == output.name:
                                reader._update_input(i, mark)
        return self

    def register_gradient_tensor(self, x_tensor_name, gradient_tensor):
        """Notes a gradient, if this is the only debugger, or it is entered. ValueError for another graph's."""
        if len(_debuggers) != 1 and not self._is_active_context:
            return
        if self._graph is None:
            self._graph = gradient_tensor.graph
        elif self._graph is not gradient_tensor.graph:
            raise ValueError("The graph of the value (%s) is not the same as the graph %s" %
                             (gradient_tensor.graph, self._graph))
        self._gradient_tensors[x_tensor_name] = gradient_tensor

    def gradient_tensor(self, x_tensor):
        """The gradient of a tensor, a variable, or a name. LookupError if none was noted."""
        if isinstance(x_tensor, (ops.Tensor, variables.Variable)):
            name = x_tensor.name
        elif isinstance(x_tensor, str):
            name = x_tensor
        else:
            raise TypeError("x_tensor must be a str or tf.Tensor or tf.Variable, but instead has type %s" %
                            type(x_tensor))
        if name not in self._gradient_tensors:
            raise LookupError("This GradientsDebugger has not received any gradient tensor for x-tensor %s" % name)
        return self._gradient_tensors[name]

    def gradient_tensors(self):
        """{name of tensor: its gradient}."""
        return self._gradient_tensors


def clear_gradient_debuggers():
    """Forgets all debuggers of the process."""
    _debuggers.clear()


def _note_gradient(op, dy):
    number, tensor = _parse_grad_debug_op_name(op.name)
    _debuggers[number].register_gradient_tensor(tensor, dy)
    return dy


ops.RegisterGradient("DebugGradientIdentity")(_note_gradient)
ops.RegisterGradient("DebugGradientRefIdentity")(_note_gradient)


def gradient_values_from_dump(grad_debugger, x_tensor, dump):
    """The values of a tensor's gradient in a dump; none if it was not dumped. ValueError for another graph's dump."""
    if dump.python_graph and grad_debugger.graph and dump.python_graph != grad_debugger.graph:
        raise ValueError("This GradientsDebugger instance has a graph (%s) that differs from the graph of the "
                         "DebugDumpDir object (%s)." % (grad_debugger.graph, dump.python_graph))
    gradient = grad_debugger.gradient_tensor(x_tensor)
    node, slot = debug_graphs.parse_node_or_tensor_name(gradient.name)
    try:
        return dump.get_tensors(node, slot, "DebugIdentity")
    except debug_data.WatchKeyDoesNotExistInDebugDumpDirError:
        return []
