"""Datasets that functions of a SavedModel capture."""
from penstock._src.data.ops import options as options_lib
from penstock._src.function import importer
from penstock._src.graph import ops
from penstock._src.graph import tensor_util
from penstock.proto import graph_pb2
from penstock._src.ops.state import tracking
from penstock._src.base import compat

_READERS = ("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2", "TFRecordDataset", "TFRecordDatasetV2",
            "TextLineDataset")


class _Variant(tracking.CapturableResource):
    """Makes a dataset again, of the same ops: what is captured is its variant. `files`: {node: the files it names}."""

    def __init__(self, dataset, graph_def, files):
        super().__init__(device="CPU")
        self._resource_handle = dataset._variant_tensor
        self._graph_def = graph_def
        self._files = files

    def _create_resource(self):
        return self._made(lambda asset: asset.asset_path)

    def _made(self, path):
        from penstock._src.core_ops import array_ops
        output, = [node for node in self._graph_def.node if node.op == "_Retval"]
        graph_def = graph_pb2.GraphDef()
        graph_def.CopyFrom(self._graph_def)
        del graph_def.node[:]
        graph_def.node.extend(
            node for node in self._graph_def.node if node.op != "_Retval" and node.name not in self._files)
        paths = {f"{name}:0": array_ops.stack([path(asset) for asset in assets])
                 for name, assets in self._files.items()}
        made, = importer.import_graph_def(graph_def, input_map=paths, return_elements=[output.input[0]], name="")
        return made if isinstance(made, ops.Tensor) else made.outputs[0]

    def _create_in_graph(self, tensor_map):
        return self._made(lambda asset: ops.convert_to_tensor(tensor_map[asset.asset_path]))


def _files(graph_def):
    """{name of a node: the files' names} of the constants that are read as names of files."""
    named = {node.input[0] for node in graph_def.node
             if node.op in _READERS or node.op == "TensorSliceDataset" and node.attr["is_files"].b}
    found = {}
    for node in graph_def.node:
        if node.name in named and node.op == "Const":
            value = tensor_util.MakeNdarray(node.attr["value"].tensor)
            if value.ndim == 1 and value.size:
                found[node.name] = [compat.as_str_any(name) for name in value]
    return found


def parts(dataset, serialization_cache):
    """{name: part} of a dataset in a SavedModel. InvalidArgumentError: it has state, which a graph cannot hold.

    A dataset of a graph has none: it is no object of the program's.
    """
    if not dataset._variant_tensor._is_eager:
        return {}
    graph = dataset._as_serialized_graph(external_state_policy=options_lib.ExternalStatePolicy.FAIL)
    graph_def = graph_pb2.GraphDef.FromString(graph.numpy())
    files = {node: [tracking.TrackableAsset(name) for name in names] for node, names in _files(graph_def).items()}
    assets = {f"{node}_{i}": asset for node, found in files.items() for i, asset in enumerate(found)}
    return {**assets, "_variant_tracker": _Variant(dataset, graph_def, files)}
