"""Where batch norms are, other inputs for operations, and the counter of steps that delays quantization."""
import re

from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variable_scope

SKIPPED_PREFIXES = ("gradients/", "RMSProp/", "Adagrad/", "Const_", "HistogramSummary", "ScalarSummary")
_STEP = "fake_quantization_step"
_NORM = re.compile(r"^(.*)BatchNorm/batchnorm")


def BatchNormGroups(graph):  # noqa: N802
    """The prefixes of names of a graph's batch norms, those in training left out."""
    found = [match.group(1) for match in (_NORM.search(op.name) for op in graph.get_operations()) if match]
    return [group for group in dict.fromkeys(found) if not group.startswith(SKIPPED_PREFIXES)]


def RerouteTensor(new, old, can_modify=None):  # noqa: N802
    """Those that use `old` (or those of them in `can_modify`) use `new`; returns how many inputs that changed."""
    places = [(op, i) for op in old.consumers() if can_modify is None or op in can_modify
              for i, x in enumerate(op.inputs) if x is old]
    for op, i in places:
        op._update_input(i, new)
    return len(places)


def CreateOrGetQuantizationStep():  # noqa: N802
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
