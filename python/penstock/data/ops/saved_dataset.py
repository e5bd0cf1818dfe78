"""Datasets that functions of a SavedModel capture."""
from penstock.data.ops import options as options_lib
from penstock.framework import importer
from penstock.framework import ops
from penstock.proto import graph_pb2
from penstock.training.tracking import tracking


class _Variant(tracking.CapturableResource):
    """Makes a dataset again, of the same ops: what is captured is its variant."""

    def __init__(self, dataset):
        super().__init__(device="CPU")
        self._resource_handle = dataset._variant_tensor
        graph = dataset._as_serialized_graph(external_state_policy=options_lib.ExternalStatePolicy.FAIL)
        self._graph_def = graph_pb2.GraphDef.FromString(graph.numpy())

    def _create_resource(self):
        output, = [node for node in self._graph_def.node if node.op == "_Retval"]
        graph_def = graph_pb2.GraphDef()
        graph_def.CopyFrom(self._graph_def)
        del graph_def.node[:]
        graph_def.node.extend(node for node in self._graph_def.node if node.op != "_Retval")
        made, = importer.import_graph_def(graph_def, return_elements=[output.input[0]], name="")
        return made if isinstance(made, ops.Tensor) else made.outputs[0]


def parts(dataset, serialization_cache):
    """{name: part} of a dataset in a SavedModel. InvalidArgumentError: it has state, which a graph cannot hold.

    A dataset of a graph has none: it is no object of the program's.
    """
    return {"_variant_tracker": _Variant(dataset)} if dataset._variant_tensor._is_eager else {}
