"""The part of a graph between given inputs and outputs."""
import copy

from penstock._src.function import graph_util
from penstock._src.files import gfile
from penstock.proto import graph_pb2
from penstock._src.tools import graph_files


def strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum):
    """What the outputs depend on, with placeholders in the place of the inputs, of one type or a list of types."""
    for name in input_node_names:
        if ":" in name:
            raise ValueError("Name '%s' appears to refer to a Tensor, not a Operation." % name)
    missing = set(input_node_names)
    replaced = graph_pb2.GraphDef()
    for node in input_graph_def.node:
        if node.name not in missing and node.name not in input_node_names:
            replaced.node.append(copy.deepcopy(node))
            continue
        missing.discard(node.name)
        placeholder = replaced.node.add(op="Placeholder", name=node.name)
        is_list = isinstance(placeholder_type_enum, list)
        placeholder.attr["dtype"].type = (placeholder_type_enum[input_node_names.index(node.name)] if is_list else
                                          placeholder_type_enum)
        for attribute in ("_output_shapes", "shape"):
            if attribute in node.attr:
                placeholder.attr[attribute].CopyFrom(node.attr[attribute])
    if missing:
        raise KeyError("The following input nodes were not found: %s" % missing)
    return graph_util.extract_sub_graph(replaced, output_node_names)


def strip_unused_from_files(input_graph, input_binary, output_graph, output_binary, input_node_names,
                            output_node_names, placeholder_type_enum):
    """The same from file to file; names with commas between them."""
    if not gfile.Exists(input_graph):
        print("Input graph file '" + input_graph + "' does not exist!")
        return -1
    if not output_node_names:
        print("You need to supply the name of a node to --output_node_names.")
        return -1
    graph = graph_files.read_message(graph_pb2.GraphDef(), input_graph, input_binary, "Input graph file")
    stripped = strip_unused(graph, input_node_names.split(","), output_node_names.split(","), placeholder_type_enum)
    graph_files.write_message(stripped, output_graph, output_binary)
    print("%d ops in the final graph." % len(stripped.node))
    return None
