"""A model in a session, whatever file it comes from: a SavedModel, a MetaGraph with its checkpoint, or a GraphDef."""
import collections

import numpy as np

from penstock._src.checkpoint import saver
from penstock._src.files import gfile
from penstock._src.function import importer
from penstock._src.graph import dtypes, ops, tensor_shape
from penstock._src.saved_model import loader_impl
from penstock._src.session import session
from penstock._src.tools import graph_files

_INPUTS = ("Placeholder", "PlaceholderV2")
# Nodes of a graph besides the computation: to save and load variables, to initialize them, to write summaries.
_ASIDE = frozenset("""
    Save SaveV2 SaveSlices Restore RestoreV2 RestoreSlice ShardedFilename MergeV2Checkpoints ScalarSummary
    HistogramSummary ImageSummary AudioSummary AudioSummaryV2 TensorSummary TensorSummaryV2 MergeSummary
    WriteSummary WriteScalarSummary
    IsVariableInitialized VarIsInitializedOp""".split())

Model = collections.namedtuple("Model", "session inputs outputs")  # {name: tensor} each


def aside(graph_def):
    """The names of nodes that only save, load, initialize or summarize."""
    users = collections.defaultdict(set)
    for node in graph_def.node:
        for text in node.input:
            users[text.lstrip("^").partition(":")[0]].add(node.name)
    nodes = {node.name: node for node in graph_def.node}
    scopes = tuple({node.name.rpartition("/")[0] + "/" for node in graph_def.node
                    if node.op in ("SaveV2", "RestoreV2", "Save") and "/" in node.name}) or ("\0",)
    found = {node.name for node in graph_def.node if node.op in _ASIDE or node.name.startswith(scopes) or
             "/Initializer/" in node.name or
             (node.op == "NoOp" and users[node.name] <= {"init"}) or
             (node.op in ("Assign", "AssignVariableOp") and not users[node.name] - {
                 name for name in users[node.name] if nodes[name].op == "NoOp"})}
    return found | {name for name, node in nodes.items() if node.op == "Const" and users[name] and users[name] <= found}


def ends(graph_def):
    """The names of the nodes that nothing reads, but for those of `aside`."""
    leave, used = aside(graph_def), set()
    for node in graph_def.node:
        if node.name not in leave:
            used.update(text.lstrip("^").partition(":")[0] for text in node.input)
    return [node.name for node in graph_def.node
            if node.name not in used and node.name not in leave and node.op not in ("NoOp", "Const", *_INPUTS)]


def load(path, outputs=(), signature="serving_default", tags=None):
    """The Model of a file or directory. `outputs`: names of nodes or tensors, for graphs without signatures; else the
    graph's ends. ValueError: there is no model, or no such signature."""
    graph = ops.Graph()
    with graph.as_default():
        sess = session.Session(graph=graph)
        if gfile.IsDirectory(path):
            return _saved_model(sess, path, outputs, signature, tags)
        meta = path if path.endswith(".meta") else path + ".meta"
        if gfile.Exists(meta):
            saver.import_meta_graph(meta, clear_devices=True).restore(sess, meta[:-len(".meta")])
        else:
            importer.import_graph_def(graph_files.load_graph(path), name="")
    graph_def = graph.as_graph_def()
    inputs = {node.name: graph.get_tensor_by_name(node.name + ":0") for node in graph_def.node if node.op in _INPUTS}
    return Model(sess, inputs, _outputs(graph, outputs or ends(graph_def)))


def _saved_model(sess, path, outputs, signature, tags):
    graphs = loader_impl.parse_saved_model(path).meta_graphs
    chosen = tags.split(",") if tags else list(graphs[0].meta_info_def.tags)
    signatures = loader_impl.load(sess, chosen, path).signature_def
    if signature not in signatures:
        if signature != "serving_default" or not signatures:
            known = ", ".join(sorted(signatures)) or "none"
            raise ValueError(f"{path} has no signature {signature!r}; it has: {known}")
        signature = min(signatures, key=lambda key: (key.startswith("__"), key))
    found, get = signatures[signature], sess.graph.get_tensor_by_name
    results = {key: get(info.name) for key, info in found.outputs.items() if info.name}
    return Model(sess, {key: get(info.name) for key, info in found.inputs.items()},
                 _outputs(sess.graph, outputs) or results)


def _outputs(graph, names):
    found = {}
    for name in names:
        if ":" in name:
            found[name] = graph.get_tensor_by_name(name)
        else:
            op = graph.get_operation_by_name(name)
            found[name] = op.outputs[0] if op.outputs else op
    return found


def sample(tensor, batch=1, seed=0):
    """An array of random numbers for an input; unknown dimensions are `batch`."""
    shape = tensor_shape.as_shape(tensor.shape)
    dims = [batch if dim is None else dim for dim in shape.as_list()] if shape.ndims is not None else [batch]
    dtype, random = tensor.dtype.base_dtype, np.random.default_rng(seed)
    if dtype == dtypes.string:
        return np.full(dims, b"", object)
    if dtype.is_floating or dtype.is_complex:
        return random.random(dims).astype(dtype.as_numpy_dtype)
    return random.integers(0, 2, dims).astype(dtype.as_numpy_dtype)
