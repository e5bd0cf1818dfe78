"""FunctionDefs as graphs of their own, with placeholders for the arguments."""
from penstock import proto
from penstock._src.function import func_graph as func_graph_module
from penstock._src.function import importer
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.graph import versions


def function_def_to_graph(fdef, input_shapes=None, copy_functions=True):
    """The FuncGraph of a FunctionDef, whose functions the default graph must know (they are copied into it).

    input_shapes: one for each argument, None where nothing is known. ValueError: another number of them.
    """
    func_graph = func_graph_module.FuncGraph(fdef.signature.name)
    graph_def, names = function_def_to_graph_def(fdef, input_shapes, copy_functions)
    with func_graph.as_default():
        importer.import_graph_def_for_function(graph_def, name="")
        func_graph.inputs = [func_graph.get_tensor_by_name(arg.name + ":0") for arg in fdef.signature.input_arg]
        func_graph.outputs = [func_graph.get_tensor_by_name(names[fdef.ret[arg.name]])
                              for arg in fdef.signature.output_arg]
        func_graph.control_outputs = [func_graph.get_operation_by_name(fdef.control_ret[name])
                                      for name in fdef.signature.control_output]
    return func_graph


def function_def_to_graph_def(fdef, input_shapes=None, copy_functions=True):
    """(GraphDef of a FunctionDef, {name of a value there: name of the tensor}), as "dot:product:0" and "dot:0"."""
    arguments = fdef.signature.input_arg
    if input_shapes and len(input_shapes) != len(arguments):
        raise ValueError(f"Length of `input_shapes` must match the number of `input_arg`s in `fdef`: got "
                         f"{len(input_shapes)} shapes for {len(arguments)} arguments")
    graph_def = proto.message("tensorflow.GraphDef")()
    graph_def.versions.CopyFrom(proto.message("tensorflow.VersionDef")(
        producer=versions.GRAPH_DEF_VERSION, min_consumer=versions.GRAPH_DEF_VERSION_MIN_CONSUMER))
    graph = ops.get_default_graph()
    if copy_functions:
        graph_def.library.CopyFrom(graph.as_graph_def().library)
    names = {}
    for i, arg in enumerate(arguments):
        node = graph_def.node.add(name=arg.name, op="Placeholder")
        node.attr["dtype"].type = arg.type
        shape = input_shapes[i] if input_shapes else None
        node.attr["shape"].shape.CopyFrom(tensor_shape.as_shape(shape).as_proto())
        for key, value in fdef.arg_attr[i].attr.items():
            if key != "_output_shapes" or input_shapes is None:
                node.attr[key].CopyFrom(value)
        names[arg.name] = f"{arg.name}:0"
    own = {f.signature.name: f.signature for f in graph_def.library.function}
    for node in fdef.node_def:
        signature = own.get(node.op)
        first = 0
        for arg in (signature if signature is not None else graph._get_op_def(node.op)).output_arg:
            count = _count(node, arg)
            names.update((f"{node.name}:{arg.name}:{i}", f"{node.name}:{first + i}") for i in range(count))
            first += count
        graph_def.node.add().CopyFrom(node)
    for node in graph_def.node:
        node.input[:] = [name if name.startswith("^") else names[name] for name in node.input]
    return graph_def, names


def _count(node, arg):
    """How many tensors an output of a node is."""
    if arg.number_attr:
        return node.attr[arg.number_attr].i
    return len(node.attr[arg.type_list_attr].list.type) if arg.type_list_attr else 1
