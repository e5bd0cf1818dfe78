"""Parts of graphs as FunctionDefs."""
from penstock import proto
from penstock._src.graph import errors


def graph_to_function_def(graph, operations, inputs, outputs, out_names=None):
    """A FunctionDef named "_" with some operations of a graph as its body; the tensors `inputs` are its arguments.

    out_names: of the results, which are named after their operations otherwise. InvalidArgumentError: another number of
    names than of outputs, inputs that are there twice, or values from outside. ValueError: a name is there twice.
    """
    if out_names is not None and len(out_names) != len(outputs):
        raise errors.InvalidArgumentError(
            None, None, "output names must be either empty or equal in size to outputs. output names size = "
            f"{len(out_names)} outputs size = {len(outputs)}")
    if out_names is not None and len(set(out_names)) != len(out_names):
        raise ValueError(f"Must not have duplicates in out_names: {', '.join(out_names)}")
    given = {tensor.op._node for tensor in inputs}
    nodes = [op._node for op in operations if op._node not in given]
    data = graph._core.to_function("_", nodes, [t._key for t in inputs], [t._key for t in outputs],
                                   list(out_names or ()))
    return proto.message("tensorflow.FunctionDef").FromString(data)
