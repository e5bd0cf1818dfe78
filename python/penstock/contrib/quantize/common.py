"""Who uses which tensor, and the counter of steps that delays quantization."""
from penstock.framework import dtypes
from penstock.framework import ops
from penstock.ops import array_ops
from penstock.ops import init_ops
from penstock.ops import state_ops
from penstock.ops import variable_scope

SKIPPED_PREFIXES = ("gradients/", "RMSProp/", "Adagrad/", "Const_", "HistogramSummary", "ScalarSummary")
_STEP = "fake_quantization_step"


class InputToOps:
    """Which operations used which tensor when it was made, training and summaries left out."""

    def __init__(self, graph):
        self._users = {}
        for op in graph.get_operations():
            if not op.name.startswith(SKIPPED_PREFIXES):
                for x in op.inputs:
                    self._users.setdefault(x, {})[op] = None

    def users(self, op):
        """The operations that use an output of `op`."""
        return list(dict.fromkeys(user for y in op.outputs for user in self._users.get(y, ())))


def reroute(new, old, can_modify=None):
    """Those that use `old` (or those of them in `can_modify`) use `new`; returns how many inputs that changed."""
    places = [(op, i) for op in old.consumers() if can_modify is None or op in can_modify
              for i, x in enumerate(op.inputs) if x is old]
    for op, i in places:
        op._update_input(i, new)
    return len(places)


def quantization_step():
    """The number of the training step as quantization counts it, one more in each; made once for a graph."""
    graph = ops.get_default_graph()
    try:
        return graph.get_tensor_by_name(_STEP + "/Identity:0")
    except KeyError:
        pass
    with graph.name_scope(None):
        step = variable_scope.get_variable(
            _STEP, shape=[], dtype=dtypes.int64, initializer=init_ops.zeros_initializer(), trainable=False,
            collections=[ops.GraphKeys.GLOBAL_VARIABLES],
            aggregation=variable_scope.VariableAggregation.ONLY_FIRST_REPLICA)
        with graph.name_scope(step.op.name + "/"):
            return array_ops.identity(state_ops.assign_add(step, 1))
