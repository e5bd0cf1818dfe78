"""penstock saved-model show|run|scan: what a SavedModel holds, what it answers. As TensorFlow's saved_model_cli."""
import argparse
import ast
import os
import pickle
import re
import sys
import warnings

import numpy as np

from penstock._src.session import session
from penstock._src.debug.wrappers import local_cli_wrapper
from penstock._src.tf_function import def_function
from penstock._src.tf_function import function as function_lib
from penstock._src.graph import errors
from penstock._src.checkpoint import meta_graph as meta_graph_lib
from penstock._src.graph import ops
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.files import file_io
from penstock.proto import example_pb2
from penstock.proto import types_pb2
from penstock._src.saved_model import load
from penstock._src.saved_model import load_options
from penstock._src.saved_model import loader_impl
from penstock._src.tools import saved_model_utils

# Ops through which a model reads and writes files.
_OP_DENYLIST = frozenset(("ReadFile", "WriteFile", "PrintV2"))


# show


def _show_tag_sets(directory):
    print("The given SavedModel contains the following tag-sets:")
    for tags in sorted(map(sorted, saved_model_utils.get_saved_model_tag_sets(directory))):
        print(repr(", ".join(tags)))


def get_signature_def_map(saved_model_dir, tag_set):
    """{key: SignatureDef} of the graph with these tags, given as "tag1,tag2"."""
    return saved_model_utils.get_meta_graph_def(saved_model_dir, tag_set).signature_def


def _show_signature_keys(directory, tag_set):
    print("The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:")
    for key in sorted(get_signature_def_map(directory, tag_set)):
        print('SignatureDef key: "%s"' % key)


def _print_tensor_info(info, indent=0):
    shape = "unknown_rank" if info.tensor_shape.unknown_rank else "(%s)" % ", ".join(
        str(dim.size) for dim in info.tensor_shape.dim)
    for text in ("dtype: " + types_pb2.DataType.Name(info.dtype), "shape: " + shape, "name: " + info.name):
        print("  " * indent + "    " + text)


def _show_signature(meta_graph, key, indent=0):
    signature, margin = meta_graph.signature_def[key], "  " * indent
    for kind, infos in (("input", signature.inputs), ("output", signature.outputs)):
        print(f"{margin}The given SavedModel SignatureDef contains the following {kind}(s):")
        for name in sorted(infos):
            print(f"{margin}  {kind}s['{name}'] tensor_info:")
            _print_tensor_info(infos[name], indent + 1)
    print(f"{margin}Method name is: {signature.method_name}")


def _print_arguments(arguments, kind, indent):
    margin = "  " * indent
    for i, element in enumerate(arguments, 1):
        if indent == 4:
            print(f"{margin}{kind} #{i}")
        if isinstance(element, str):
            print(f"{margin}  {element}")
        elif isinstance(element, TensorSpec):
            print(f"{margin}  {element.name}: {element!r}")
        elif isinstance(element, dict):
            print(f"{margin}  DType: {type(element).__name__}")
            print(f"{margin}  Value: {{{', '.join(f'{key!r}: {value!r}' for key, value in element.items())}}}")
        elif isinstance(element, (list, tuple)):
            print(f"{margin}  DType: {type(element).__name__}")
            print(f"{margin}  Value: [{', '.join(map(repr, element))}]")
        else:
            print(f"{margin}  DType: {type(element).__name__}")
            print(f"{margin}  Value: {element}")


def _show_functions(directory, graphs):
    if not any(graph.HasField("object_graph_def") for graph in graphs):
        return
    print("\nConcrete Functions:", end="")
    with ops.Graph().as_default():
        root = load.load(directory, options=load_options.LoadOptions(experimental_skip_checkpoint=True))
    for name, child in sorted(root._list_functions_for_serialization(None).items()):
        traces = [child] if isinstance(child, function_lib.ConcreteFunction) else []
        if isinstance(child, def_function.Function):
            traces = child._list_all_concrete_functions_for_serialization()
        print(f"\n  Function Name: '{name}'")
        for i, trace in enumerate(sorted(traces, key=lambda f: f.name), 1):
            args, kwargs = trace.structured_input_signature
            if args:
                print(f"    Option #{i}\n      Callable with:")
                _print_arguments(args, "Argument", 4)
            if kwargs:
                _print_arguments(kwargs, "Named Argument", 4)  # their names


def _show_all(directory):
    graphs = saved_model_utils.read_saved_model(directory).meta_graphs
    for graph in sorted(graphs, key=lambda g: list(g.meta_info_def.tags)):
        print("\nMetaGraphDef with tag-set: '%s' contains the following SignatureDefs:" %
              ", ".join(graph.meta_info_def.tags))
        for key in sorted(graph.signature_def):
            print("\nsignature_def['" + key + "']:")
            _show_signature(graph, key, indent=1)
        names = sorted(meta_graph_lib.ops_used_by_graph_def(graph.graph_def))
        print(f"The MetaGraph with tag set {list(graph.meta_info_def.tags)} contains the following ops: "
              f"{{{', '.join(map(repr, names))}}}")
    _show_functions(directory, graphs)


def show(args):
    """Prints tags; or the signatures' keys of a graph; or a signature; or all."""
    if args.all:
        _show_all(args.dir)
    elif args.tag_set is None:
        _show_tag_sets(args.dir)
    elif args.signature_def is None:
        _show_signature_keys(args.dir, args.tag_set)
    else:
        graph = saved_model_utils.get_meta_graph_def(args.dir, args.tag_set)
        if args.signature_def not in graph.signature_def:
            raise ValueError(f"The SavedModel has no signature '{args.signature_def}'. It has: "
                             f"{sorted(graph.signature_def)}")
        _show_signature(graph, args.signature_def)


# run


def preprocess_inputs_arg_string(inputs_str):
    """{input: (file, name of the array in it or None)} of "x=file;y=file[name]"."""
    found = {}
    for text in filter(bool, inputs_str.split(";")):
        match = re.match(r"([^=]+)=([^\[\]]+)(?:\[([^\[\]]+)\])?$", text)
        if not match:
            raise RuntimeError(f'--inputs "{text}" format is incorrect. Please follow"<input_key>=<filename>", or'
                               '"<input_key>=<filename>[<variable_name>]"')
        found[match.group(1)] = match.group(2), match.group(3)
    return found


def _expressions(text, evaluate):
    found = {}
    for part in filter(bool, text.split(";")):
        if "=" not in part:
            raise RuntimeError(f'--input_exprs "{text}" format is incorrect. Please follow'
                               '"<input_key>=<python expression>"')
        name, expression = part.split("=", 1)
        found[name] = evaluate(expression)
    return found


def _literal(expression):
    try:
        return ast.literal_eval(expression)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise RuntimeError(f'Expression "{expression}" is not a valid python literal.') from None


def _evaluated(expression):
    try:
        return eval(expression, {"np": np})
    except Exception as e:
        raise RuntimeError(f'Expression "{expression}" cannot be evaluated: {type(e).__name__}: {e}') from e


def preprocess_input_exprs_arg_string(input_exprs_str, safe=True):
    """{input: value} of "x=[1, 2];y=np.ones(3)". `safe`: literals only; RuntimeError for others."""
    return _expressions(input_exprs_str, _literal if safe else _evaluated)


def preprocess_input_examples_arg_string(input_examples_str):
    """{input: serialized Examples} of 'x=[{"feature": [1.0]}]'."""
    found = _expressions(input_examples_str, _literal)
    for name, examples in found.items():
        if not isinstance(examples, list):
            raise ValueError(f'tf.Example input must be a list of dictionaries, but "{examples}" is {type(examples)}')
        found[name] = [_example(example) for example in examples]
    return found


def _example(features):
    made = example_pb2.Example()
    for name, values in features.items():
        if not isinstance(values, list):
            raise ValueError(f'feature value must be a list, but {name}: "{values}" is {type(values)}')
        feature = made.features.feature[name]
        first = values[0] if values else 0
        if isinstance(first, float):
            feature.float_list.value.extend(values)
        elif isinstance(first, (str, bytes)):
            feature.bytes_list.value.extend(v.encode() if isinstance(v, str) else v for v in values)
        elif isinstance(first, int):
            feature.int64_list.value.extend(values)
        else:
            raise ValueError(f"Type {type(first)} for value {first} is not supported for tf.train.Feature.")
    return made.SerializeToString()


def _array(filename, name):
    with file_io.FileIO(filename, "rb") as f:
        try:
            data = np.load(f, allow_pickle=True)  # as TensorFlow does: name no file that others wrote
        except (pickle.UnpicklingError, EOFError):
            raise ValueError(f"Input file {filename} is none of NumPy's (.npy, .npz or a pickle).") from None
        if isinstance(data, np.ndarray):
            if name:
                warnings.warn(f'Input file {filename} contains a single ndarray. Name key "{name}" ignored.')
            return data
        if name is None:
            if not isinstance(data, np.lib.npyio.NpzFile):
                return data
            if len(data.files) != 1:
                raise RuntimeError(f"Input file {filename} contains more than one ndarrays. Please specify the name of "
                                   "ndarray to use.")
            return data[data.files[0]]
        if name not in data:
            raise RuntimeError(f'Input file {filename} does not contain variable with name "{name}".')
        return data[name]


def load_inputs_from_input_arg_string(inputs_str, input_exprs_str, input_examples_str):
    """{input: value} of the three options; the later ones win."""
    found = {}
    for option, values in (
            ("--inputs", {key: _array(*where) for key, where in preprocess_inputs_arg_string(inputs_str).items()}),
            ("--input_exprs", preprocess_input_exprs_arg_string(input_exprs_str, safe=False)),
            ("--input_examples", preprocess_input_examples_arg_string(input_examples_str))):
        for key, value in values.items():
            if key in found:
                warnings.warn(f"input_key {key} has been specified with more than one option. Value in {option} will "
                              "be used.")
            found[key] = value
    return found


def run_saved_model_with_feed_dict(saved_model_dir, tag_set, signature_def_key, input_tensor_key_feed_dict, outdir,
                                   overwrite_flag, worker=None, init_tpu=False, tf_debug=False):
    """Runs a signature; prints its outputs, and saves them as NAME.npy in `outdir` if that is given. With `tf_debug`
    the debugger asks at a prompt what to show of the run. `worker`: the session's target; `init_tpu` does nothing."""
    del init_tpu
    signatures = get_signature_def_map(saved_model_dir, tag_set)
    if signature_def_key not in signatures:
        raise ValueError(f"The SavedModel has no signature '{signature_def_key}'. It has: {sorted(signatures)}")
    signature = signatures[signature_def_key]
    for key in input_tensor_key_feed_dict:
        if key not in signature.inputs:
            raise ValueError(f'"{key}" is not a valid input key. Please choose from "{", ".join(signature.inputs)}", '
                             "or use --show option.")
    with ops.Graph().as_default(), session.Session(worker or "") as sess:
        loader_impl.load(sess, tag_set.split(","), saved_model_dir)
        if tf_debug:
            sess = local_cli_wrapper.LocalCLIDebugWrapperSession(sess)
        outputs = sess.run({key: signature.outputs[key].name for key in sorted(signature.outputs)},
                           {signature.inputs[key].name: value for key, value in input_tensor_key_feed_dict.items()})
    for key, value in outputs.items():
        print(f"Result for output key {key}:\n{value}")
        if outdir:
            os.makedirs(outdir, exist_ok=True)
            path = os.path.join(outdir, os.path.basename(key) + ".npy")
            if not overwrite_flag and os.path.exists(path):
                raise RuntimeError(f'Output file {path} already exists. Add "--overwrite" to overwrite the existing '
                                   "output files.")
            np.save(path, value)
            print(f"Output {key} is saved to {path}")


def run(args):
    """Runs a signature with the inputs of the command line."""
    if not args.inputs and not args.input_exprs and not args.input_examples:
        raise AttributeError("At least one of --inputs, --input_exprs or --input_examples must be required")
    run_saved_model_with_feed_dict(
        args.dir, args.tag_set, args.signature_def,
        load_inputs_from_input_arg_string(args.inputs, args.input_exprs, args.input_examples), args.outdir,
        args.overwrite, tf_debug=args.tf_debug)


# scan


def scan_meta_graph_def(meta_graph_def, op_denylist=_OP_DENYLIST):
    """Prints which of the ops on a list a graph has."""
    found = set(op_denylist) & set(meta_graph_lib.ops_used_by_graph_def(meta_graph_def.graph_def))
    tags = list(meta_graph_def.meta_info_def.tags)
    if found:
        print("MetaGraph with tag set %s contains the following denylisted ops:" % tags, found)
    else:
        print("MetaGraph with tag set %s does not contain the default denylisted ops:" % tags, set(op_denylist))


def scan(args):
    """Prints which graphs have ops that read and write files, or others on a list."""
    denied = _OP_DENYLIST if args.op_denylist is None else {op.strip() for op in args.op_denylist.split(",")}
    graphs = [saved_model_utils.get_meta_graph_def(args.dir, args.tag_set)] if args.tag_set else \
        saved_model_utils.read_saved_model(args.dir).meta_graphs
    for graph in graphs:
        scan_meta_graph_def(graph, denied)


def create_parser(program="penstock saved-model"):
    """The parser of the command line."""
    parser = argparse.ArgumentParser(prog=program, description=__doc__)
    commands = parser.add_subparsers(title="commands", required=True)

    def command(name, function, text):
        made = commands.add_parser(name, description=text, help=text)
        made.add_argument("--dir", type=str, required=True, help="directory of the SavedModel")
        made.add_argument("--tag_set", type=str, default=None, help="tags of the graph, as tag1,tag2")
        made.set_defaults(func=function)
        return made

    shows = command("show", show, "print tags, signatures, inputs and outputs")
    shows.add_argument("--all", action="store_true", help="print everything")
    shows.add_argument("--signature_def", type=str, default=None, metavar="KEY", help="key of the signature")
    runs = command("run", run, "run a signature and print its outputs")
    runs.add_argument("--signature_def", type=str, required=True, metavar="KEY", help="key of the signature")
    runs.add_argument("--inputs", type=str, default="", help="arrays: x=FILE.npy;y=FILE.npz[NAME]")
    runs.add_argument("--input_exprs", type=str, default="", help="Python expressions: x=[1, 2];y=np.ones(3)")
    runs.add_argument("--input_examples", type=str, default="", help='Examples: x=[{"feature": [1.0]}]')
    runs.add_argument("--outdir", type=str, default=None, help="where outputs are saved as NAME.npy")
    runs.add_argument("--overwrite", action="store_true", help="replace existing files of outputs")
    runs.add_argument("--tf_debug", action="store_true", help="show the run in the debugger")
    scans = command("scan", scan, "find ops that read or write files")
    scans.add_argument("--op_denylist", type=str, default=None, help="ops to look for, as op1,op2")
    return parser


def main(arguments=None):
    """Runs the command line; the exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    # The directory may stand without an option.
    if len(arguments) > 1 and not arguments[1].startswith("-"):
        arguments.insert(1, "--dir")
    args = create_parser().parse_args(arguments)
    try:
        args.func(args)
    except (errors.OpError, ValueError, RuntimeError, AttributeError, KeyError, TypeError, OSError) as e:
        print(f"penstock saved-model: {e}", file=sys.stderr)
        return 1
    return 0
