"""Who uses which tensor."""
from penstock._src.contrib.quantize import common


class InputToOps:
    """Which operations used which tensor when it was made, training and summaries left out."""

    def __init__(self, graph):
        self._users = {}
        for op in graph.get_operations():
            if not op.name.startswith(common.SKIPPED_PREFIXES):
                for x in op.inputs:
                    self._users.setdefault(x, {})[op] = None

    def ConsumerOperations(self, producer_op):  # noqa: N802
        """The set of operations that use an output of `producer_op`."""
        return {user for y in producer_op.outputs for user in self._users.get(y, ())}
