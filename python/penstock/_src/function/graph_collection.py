"""The graphs of functions that are called while they are being collected, for tf.summary.trace_on."""

from typing import Any, Optional

_graphs: Optional[dict[str, Any]] = None  # name -> FuncGraph


def active():
    """Whether graphs are being collected."""
    return _graphs is not None


def start():
    """Collects from now on. Functions whose calls the runtime knows already are left out, as in TensorFlow."""
    global _graphs
    _graphs = {}


def stop():
    """Ends it: a RunMetadata with the graphs."""
    global _graphs
    from penstock.proto import RunMetadata
    metadata = RunMetadata()
    for graph in (_graphs or {}).values():
        collected = metadata.function_graphs.add()
        _fill(collected.pre_optimization_graph, graph)
        collected.post_optimization_graph.CopyFrom(collected.pre_optimization_graph)
        collected.partition_graphs.add().CopyFrom(collected.pre_optimization_graph)
        metadata.partition_graphs.add().CopyFrom(collected.pre_optimization_graph)
    _graphs = None
    return metadata


def note(function):
    """Tells of a call of a ConcreteFunction."""
    assert _graphs is not None
    _graphs.setdefault(function.name, function.graph)


def _fill(graph_def, graph):
    """The body as the runtime sees it: arguments are `_Arg` nodes, results go into `_Retval` nodes."""
    graph_def.CopyFrom(graph.as_graph_def(add_shapes=True))
    places = {tensor.op.name: i for i, tensor in enumerate(graph.inputs)}
    for node in graph_def.node:
        if node.name in places:
            dtype = node.attr["dtype"].type
            del node.attr["dtype"]
            node.op = "_Arg"
            node.attr["T"].type = dtype
            node.attr["index"].i = places[node.name]
    for i, tensor in enumerate(graph.outputs):
        result = graph_def.node.add(name=f"{tensor.op.name}_RetVal" + (f"_{i}" if i else ""), op="_Retval")
        result.input.append(tensor.op.name if tensor.value_index == 0 else tensor.name)
        result.attr["T"].type = tensor.dtype.base_dtype.as_datatype_enum
        result.attr["index"].i = i
