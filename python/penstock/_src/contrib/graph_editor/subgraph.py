"""A view of a part of a graph, with its inputs and outputs in an order that can be changed."""
import copy

from penstock._src.contrib.graph_editor import select
from penstock._src.contrib.graph_editor import util
from penstock._src.graph import ops as framework_ops


def _positions(chosen, ts, repetition):
    found = [item if isinstance(item, int) else ts.index(item) for item in chosen]
    for i in found:
        if not 0 <= i < len(ts):
            raise ValueError("Out of [0, {}[ range: {}".format(len(ts), i))
    if not repetition and len(set(found)) != len(found):
        raise ValueError("Found repetition in mapping: {}".format(found))
    return found


class SubGraphView:
    """Some operations of a graph with what comes in and goes out. Methods that change the view return another one."""

    def __init__(self, inside_ops=(), passthrough_ts=()):
        """passthrough_ts: tensors that are input and output at once, unless an operation of the view has them."""
        self._ops = util.make_list_of_op(inside_ops)
        passthrough_ts = util.make_list_of_t(passthrough_ts)
        self._graph, self._passthrough_ts, self._input_ts, self._output_ts = None, [], [], []
        if self._ops or passthrough_ts:
            self._graph = util.get_unique_graph([*self._ops, *passthrough_ts])
            inputs, outputs, insides = select.compute_boundary_ts(self._ops)
            known = frozenset([*inputs, *outputs, *insides])
            self._passthrough_ts = [tensor for tensor in passthrough_ts if tensor not in known]
            self._input_ts = inputs + self._passthrough_ts
            self._output_ts = outputs + self._passthrough_ts

    def __copy__(self):
        result = type(self).__new__(type(self))
        result._assign_from(self)
        return result

    def _assign_from(self, other):
        if not isinstance(other, SubGraphView):
            raise TypeError("Expected SubGraphView, got: {}".format(type(other)))
        self._graph = other._graph
        self._ops = list(other._ops)
        self._passthrough_ts = list(other._passthrough_ts)
        self._input_ts = list(other._input_ts)
        self._output_ts = list(other._output_ts)

    def copy(self):
        """A view of the same."""
        return copy.copy(self)

    def remap_default(self, remove_input_map=True, remove_output_map=True):
        """A view with inputs and outputs in the order that they have by themselves."""
        result = self.copy()
        inputs, outputs, _ = select.compute_boundary_ts(self._ops)
        if remove_input_map:
            result._input_ts = inputs + self._passthrough_ts
        if remove_output_map:
            result._output_ts = outputs + self._passthrough_ts
        return result

    def remap_inputs(self, new_input_indices):
        """A view of those of the inputs, by index or tensor. ValueError if one is not there or twice."""
        return self.remap(new_input_indices)

    def remap_outputs(self, new_output_indices):
        """A view of those of the outputs, by index or tensor. ValueError if one is not there."""
        return self.remap(None, new_output_indices)

    def remap(self, new_input_indices=None, new_output_indices=None):
        """remap_inputs and remap_outputs at once; None leaves all."""
        result = self.copy()
        if new_input_indices is not None:
            chosen = _positions(new_input_indices, self._input_ts, repetition=False)
            result._input_ts = [self._input_ts[i] for i in chosen]
        if new_output_indices is not None:
            chosen = _positions(new_output_indices, self._output_ts, repetition=True)
            result._output_ts = [self._output_ts[i] for i in chosen]
        return result

    def remap_outputs_make_unique(self):
        """A view whose outputs are there once each."""
        result = self.copy()
        result._output_ts = util.concatenate_unique([], self._output_ts)
        return result

    def remap_outputs_to_consumers(self):
        """A view whose outputs are there once for each operation that uses them."""
        result = self.remap_outputs_make_unique()
        result._output_ts = [tensor for tensor in result._output_ts for _ in tensor.consumers()]
        return result

    def remove_unused_ops(self, control_inputs=True):
        """A view without the operations that neither an input leads to nor an output comes from."""
        result = self.copy()
        used = frozenset(select.get_walks_union_ops(self.connected_inputs, self.connected_outputs,
                                                    within_ops=self._ops, control_inputs=control_inputs))
        result._ops = [op for op in self._ops if op in used]
        return result

    def find_op_by_name(self, op_name):
        """The operation of that name. ValueError if it is not in the view."""
        for op in self._ops:
            if op.name == op_name:
                return op
        raise ValueError("{} not in subgraph.".format(op_name))

    def __str__(self):
        if not self:
            return "SubGraphView: empty"

        def lines(name, items, name_of):
            if not items:
                return ["** {}: empty".format(name)]
            return ["** {}[{}]:".format(name, len(items)), *("  " + name_of(item) for item in items)]

        def tensor_name(tensor):
            return tensor.name + (" *" if tensor in self._passthrough_ts else "")

        return "\n".join(["SubGraphView (graphid={}):".format(id(self.graph)),
                          *lines("ops", self._ops, lambda op: op.name), *lines("inputs", self._input_ts, tensor_name),
                          *lines("outputs", self._output_ts, tensor_name), ""])

    @property
    def graph(self):
        """The graph; None if the view is empty."""
        return self._graph

    @property
    def ops(self):
        """Its operations."""
        return self._ops

    @property
    def inputs(self):
        """What comes in."""
        return util.ListView(self._input_ts)

    @property
    def connected_inputs(self):
        """The inputs that an operation uses."""
        return [tensor for tensor in self._input_ts if tensor not in self._passthrough_ts]

    @property
    def outputs(self):
        """What goes out."""
        return util.ListView(self._output_ts)

    @property
    def connected_outputs(self):
        """The outputs that an operation makes."""
        return [tensor for tensor in self._output_ts if tensor not in self._passthrough_ts]

    @property
    def passthroughs(self):
        """The tensors that are both, and no operation's."""
        return util.ListView(self._passthrough_ts)

    def __bool__(self):
        return self._graph is not None

    def op(self, op_id):
        """The operation of that index."""
        return self._ops[op_id]

    def is_passthrough(self, t):
        """Whether a tensor passes through."""
        return t in self._passthrough_ts

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        pass

    def input_index(self, t):
        """Which input a tensor is. ValueError if none."""
        return self._index(t, self._input_ts, "inputs")

    def output_index(self, t):
        """Which output a tensor is. ValueError if none."""
        return self._index(t, self._output_ts, "outputs")

    @staticmethod
    def _index(tensor, ts, what):
        if tensor not in ts:
            raise ValueError("Can't find {} in {} of subgraph.".format(tensor.name, what))
        return ts.index(tensor)

    def consumers(self):
        """The operations without that use an output."""
        inside = frozenset(self._ops)
        found = [op for tensor in self._output_ts for op in tensor.consumers() if op not in inside]
        return util.concatenate_unique([], found)


def _check_graph(view, graph):
    if graph is None or not view.graph:
        return view
    if not isinstance(graph, framework_ops.Graph):
        raise TypeError("Expected a tf.Graph, got: {}".format(type(graph)))
    if view.graph is not graph:
        raise ValueError("Graph mismatch.")
    return view


def make_view(*args, **kwargs):
    """A SubGraphView of what the arguments of `select_ops_and_ts` name; one that is given is returned as it is.

    ValueError if it is not of the `graph` given.
    """
    graph = kwargs.get("graph")
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return _check_graph(args[0], graph)
    return _check_graph(SubGraphView(*select.select_ops_and_ts(*args, **kwargs)), graph)


def make_view_from_scope(scope, graph):
    """A SubGraphView of the operations in a name scope."""
    return SubGraphView(select.get_name_scope_ops(graph, scope))
