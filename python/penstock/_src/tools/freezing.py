"""penstock freeze and penstock optimize: from a model to a graph of one file, and from a graph to a quicker one."""
import argparse
import sys

from penstock._src.files import gfile
from penstock._src.graph import errors
from penstock._src.tools import convert_to_constants, graph_files, graph_transforms, models

_TRANSFORMS = ("strip_unused_nodes remove_nodes(op=Identity,op=CheckNumerics) fold_constants(ignore_errors=true) "
               "fold_batch_norms fold_old_batch_norms")


def _names(text):
    return [name for name in text.split(",") if name]


def _run(program, action, options):
    try:
        print(action(options))
    except (errors.OpError, ValueError, OSError, KeyError) as error:
        print("%s: %s" % (program, getattr(error, "message", None) or error), file=sys.stderr)
        return 1
    return 0


def _write(graph_def, path):
    text = path.endswith((".pbtxt", ".txt"))
    graph_files.write_message(graph_def, path, not text)
    return "%s: %d nodes, %d bytes" % (path, len(graph_def.node), gfile.Stat(path).length)


def main(arguments):
    """The command line of `penstock freeze`; the exit status."""
    parser = argparse.ArgumentParser(prog="penstock freeze", description="Writes a model as one GraphDef whose "
                                     "variables are constants.")
    parser.add_argument("model", metavar="MODEL", help="a SavedModel, or a checkpoint with its .meta file")
    parser.add_argument("-o", "--output", required=True, help="the file to write; text if it ends in .pbtxt")
    parser.add_argument("--outputs", default="", help="names of nodes, with commas; by default the signature's")
    parser.add_argument("--signature", default="serving_default", help="the signature of a SavedModel")
    parser.add_argument("--tags", help="the tags of a SavedModel, as tag1,tag2")
    return _run("penstock freeze", freeze, parser.parse_args(arguments))


def freeze(options):
    """The line that tells the result."""
    model = models.load(options.model, _names(options.outputs), options.signature, options.tags)
    nodes = [getattr(value, "op", value).name for value in model.outputs.values()]
    if not nodes:
        raise ValueError("the model has no outputs: --outputs names them")
    frozen = convert_to_constants.convert_variables_to_constants_from_session_graph(
        model.session, model.session.graph.as_graph_def(), nodes)
    return "%s\ninputs  %s\noutputs %s" % (
        _write(frozen, options.output), ", ".join(tensor.name for tensor in model.inputs.values()),
        ", ".join(value.name for value in model.outputs.values()))


def main_optimize(arguments):
    """The command line of `penstock optimize`; the exit status."""
    parser = argparse.ArgumentParser(prog="penstock optimize", description="Rewrites a frozen graph for inference, by "
                                     "the transformations of TensorFlow's Graph Transform Tool.")
    parser.add_argument("graph", metavar="GRAPH", help="a GraphDef; `penstock freeze` makes one")
    parser.add_argument("-o", "--output", required=True, help="the file to write; text if it ends in .pbtxt")
    parser.add_argument("--inputs", default="", help="names with commas; by default the placeholders")
    parser.add_argument("--outputs", default="", help="names with commas; by default the nodes that nothing reads")
    parser.add_argument("--transforms", default=_TRANSFORMS, help="default: %(default)s")
    return _run("penstock optimize", optimize, parser.parse_args(arguments))


def optimize(options):
    """The line that tells the result."""
    graph_def = graph_files.load_graph(options.graph)
    inputs = _names(options.inputs) or [node.name for node in graph_def.node if node.op.startswith("Placeholder")]
    outputs = _names(options.outputs) or models.ends(graph_def)
    done = graph_transforms.TransformGraph(graph_def, inputs, outputs, options.transforms.split())
    return "%s (%d nodes before)" % (_write(done, options.output), len(graph_def.node))
