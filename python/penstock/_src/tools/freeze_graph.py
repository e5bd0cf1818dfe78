"""Makes one GraphDef of a graph and a checkpoint: variables become constants."""
import argparse
import re
import sys

from penstock._src.session import session
from penstock._src.function import graph_util
from penstock._src.function import importer
from penstock._src.files import gfile
from penstock.proto import graph_pb2
from penstock.proto import meta_graph_pb2
from penstock.proto import saver_pb2
from penstock._src.saved_model import loader_impl as loader
from penstock._src.saved_model import tag_constants
from penstock._src.tools import graph_files
from penstock._src.tools import saved_model_utils
from penstock._src.checkpoint import checkpoint_management
from penstock._src.checkpoint import py_checkpoint_reader
from penstock._src.checkpoint import saver as saver_lib


def _names(text):
    return text.replace(" ", "").split(",") if text else None


def _has_no_variables(sess):
    return not any(op.type.startswith("Variable") or op.type.endswith("VariableOp")
                   for op in sess.graph.get_operations())


def _restore_by_names(sess, input_checkpoint, checkpoint_version):
    """Restores those tensors of the checkpoint that the graph has under the same names."""
    partitions = [tensor.name.split(":")[0] for op in sess.graph.get_operations() for tensor in op.outputs
                  if re.search(r"/part_\d+/", tensor.name)]
    var_list, partitioned = {}, False
    for name in py_checkpoint_reader.NewCheckpointReader(input_checkpoint).get_variable_to_shape_map():
        try:
            var_list[name] = sess.graph.get_tensor_by_name(name + ":0")
        except KeyError:
            continue  # of an optimizer, for example
        partitioned = partitioned or any(name in part for part in partitions)
    try:
        saver = saver_lib.Saver(var_list=var_list, write_version=checkpoint_version)
    except TypeError:
        # These tensors are no variables.
        if partitioned:
            raise ValueError("Models containing partition variables cannot be converted from checkpoint files. Please "
                             "pass in a SavedModel using the flag --input_saved_model_dir.") from None
        if _has_no_variables(sess):
            raise ValueError("No variables were found in this model. It is likely the model was frozen previously. You "
                             "cannot freeze a graph twice.") from None
        raise
    saver.restore(sess, input_checkpoint)


def freeze_graph_with_def_protos(input_graph_def, input_saver_def, input_checkpoint, output_node_names,
                                 restore_op_name, filename_tensor_name, output_graph, clear_devices, initializer_nodes,
                                 variable_names_whitelist="", variable_names_blacklist="", input_meta_graph_def=None,
                                 input_saved_model_dir=None, saved_model_tags=None,
                                 checkpoint_version=saver_pb2.SaverDef.V2):
    """The frozen GraphDef, also written to `output_graph` if that is not empty.

    `restore_op_name` and `filename_tensor_name` are not used.
    """
    if not input_saved_model_dir and not checkpoint_management.checkpoint_exists(input_checkpoint):
        raise ValueError("Input checkpoint '" + input_checkpoint + "' doesn't exist!")
    if not output_node_names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    if clear_devices:
        graph_def = input_meta_graph_def.graph_def if input_meta_graph_def else input_graph_def
        for node in graph_def.node if graph_def else ():
            node.device = ""
    if input_graph_def:
        importer.import_graph_def(input_graph_def, name="")
    with session.Session() as sess:
        if input_saver_def:
            saver_lib.Saver(saver_def=input_saver_def, write_version=checkpoint_version).restore(sess, input_checkpoint)
        elif input_meta_graph_def:
            saver_lib.import_meta_graph(input_meta_graph_def, clear_devices=True).restore(sess, input_checkpoint)
        elif input_saved_model_dir:
            loader.load(sess, saved_model_tags or [], input_saved_model_dir)
        else:
            _restore_by_names(sess, input_checkpoint, checkpoint_version)
        if initializer_nodes and not input_saver_def and not input_saved_model_dir:
            sess.run(_names(initializer_nodes))
        frozen = graph_util.convert_variables_to_constants(
            sess, input_meta_graph_def.graph_def if input_meta_graph_def else input_graph_def,
            _names(output_node_names), variable_names_whitelist=_names(variable_names_whitelist),
            variable_names_blacklist=_names(variable_names_blacklist))
    if output_graph:
        with gfile.GFile(output_graph, "wb") as f:
            f.write(frozen.SerializeToString())
    return frozen


def freeze_graph(input_graph, input_saver, input_binary, input_checkpoint, output_node_names, restore_op_name,
                 filename_tensor_name, output_graph, clear_devices, initializer_nodes, variable_names_whitelist="",
                 variable_names_blacklist="", input_meta_graph=None, input_saved_model_dir=None,
                 saved_model_tags=tag_constants.SERVING, checkpoint_version=saver_pb2.SaverDef.V2):
    """The same from files: a GraphDef, a MetaGraphDef or a SavedModel."""
    graph_def = meta_graph_def = saver_def = None
    if input_saved_model_dir:
        graph_def = saved_model_utils.get_meta_graph_def(input_saved_model_dir, saved_model_tags).graph_def
    elif input_graph:
        graph_def = graph_files.read_message(graph_pb2.GraphDef(), input_graph, input_binary, "Input graph file")
    if input_meta_graph:
        meta_graph_def = graph_files.read_message(meta_graph_pb2.MetaGraphDef(), input_meta_graph, input_binary,
                                                  "Input meta graph file")
    if input_saver:
        saver_def = graph_files.read_message(saver_pb2.SaverDef(), input_saver, input_binary, "Input saver file")
    return freeze_graph_with_def_protos(
        graph_def, saver_def, input_checkpoint, output_node_names, restore_op_name, filename_tensor_name, output_graph,
        clear_devices, initializer_nodes, variable_names_whitelist, variable_names_blacklist, meta_graph_def,
        input_saved_model_dir, _names(saved_model_tags), checkpoint_version=checkpoint_version)


def _bool(text):
    return text.lower() in ("true", "1", "yes")


def main(unused_args, flags):
    """Freezes what the flags say."""
    versions = {1: saver_pb2.SaverDef.V1, 2: saver_pb2.SaverDef.V2}
    if flags.checkpoint_version not in versions:
        raise ValueError("Invalid checkpoint version (must be '1' or '2'): %d" % flags.checkpoint_version)
    freeze_graph(flags.input_graph, flags.input_saver, flags.input_binary, flags.input_checkpoint,
                 flags.output_node_names, flags.restore_op_name, flags.filename_tensor_name, flags.output_graph,
                 flags.clear_devices, flags.initializer_nodes, flags.variable_names_whitelist,
                 flags.variable_names_blacklist, flags.input_meta_graph, flags.input_saved_model_dir,
                 flags.saved_model_tags, versions[flags.checkpoint_version])


def run_main():
    """The command line: python -m penstock._src.tools.freeze_graph."""
    parser = argparse.ArgumentParser(description="Makes variables of a graph constants.")
    for name, default, text in (
            ("input_graph", "", "GraphDef file to load"), ("input_saver", "", "SaverDef file"),
            ("input_checkpoint", "", "checkpoint to read the variables from"),
            ("output_graph", "", "file to write"), ("output_node_names", "", "names of outputs, with commas"),
            ("restore_op_name", "save/restore_all", "not used"), ("filename_tensor_name", "save/Const:0", "not used"),
            ("initializer_nodes", "", "operations to run before freezing, with commas"),
            ("variable_names_whitelist", "", "variables to convert, with commas; all if empty"),
            ("variable_names_blacklist", "", "variables not to convert, with commas"),
            ("input_meta_graph", "", "MetaGraphDef file to load"),
            ("input_saved_model_dir", "", "SavedModel to load"),
            ("saved_model_tags", tag_constants.SERVING, "tags of the SavedModel's graph, with commas")):
        parser.add_argument("--" + name, default=default, help=text)
    parser.add_argument("--checkpoint_version", type=int, default=2, help="1 or 2")
    parser.add_argument("--input_binary", type=_bool, nargs="?", const=True, default=False,
                        help="whether the input files are binary")
    parser.add_argument("--clear_devices", type=_bool, nargs="?", const=True, default=True,
                        help="whether devices are removed")
    flags, rest = parser.parse_known_args()
    main([sys.argv[0]] + rest, flags)


if __name__ == "__main__":
    run_main()
