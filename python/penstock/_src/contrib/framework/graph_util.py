"""What there is in a graph."""
from penstock._src.graph import ops


def get_placeholders(graph):
    """The outputs of all placeholders, in the order in which they were made. TypeError unless it is a Graph."""
    if not isinstance(graph, ops.Graph):
        raise TypeError("Input graph needs to be a Graph: %s" % graph)
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]
