"""Tensors as TensorInfo messages, and the directories of a SavedModel."""
import os

from penstock._src.graph import context
from penstock._src.graph import composite_tensor
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.graph import sparse_tensor
from penstock._src.graph import tensor_shape
from penstock._src.base import tf2
from penstock._src.files import file_io
from penstock.proto import meta_graph_pb2
from penstock.proto import struct_pb2
from penstock.proto import types_pb2
from penstock._src.checkpoint import constants
from penstock._src.data import nested_structure_coder
from penstock._src.base import compat
from penstock._src.base import nest


def build_tensor_info(tensor):
    """A TensorInfo for a tensor, SparseTensor, RaggedTensor or IndexedSlices. RuntimeError in eager mode."""
    if context.executing_eagerly():
        raise RuntimeError("`build_tensor_info` is not supported in eager execution." if tf2.enabled() else
                           "build_tensor_info is not supported in Eager mode.")
    return build_tensor_info_internal(tensor)


def build_tensor_info_internal(tensor):
    """The same, wherever it is called."""
    if isinstance(tensor, composite_tensor.CompositeTensor) and not isinstance(tensor, sparse_tensor.SparseTensor):
        return _build_composite(tensor)
    info = meta_graph_pb2.TensorInfo(dtype=dtypes.as_dtype(tensor.dtype).as_datatype_enum,
                                     tensor_shape=tensor.get_shape().as_proto())
    if isinstance(tensor, sparse_tensor.SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def _build_composite(tensor):
    """Of a RaggedTensor or IndexedSlices: its type and its parts."""
    info = meta_graph_pb2.TensorInfo()
    info.composite_tensor.type_spec.CopyFrom(
        nested_structure_coder.encode_structure(tensor._type_spec).type_spec_value)
    for part in nest.flatten(tensor, expand_composites=True):
        info.composite_tensor.components.add().CopyFrom(build_tensor_info_internal(part))
    return info


def build_tensor_info_from_op(op):
    """A TensorInfo that names an operation."""
    return meta_graph_pb2.TensorInfo(dtype=types_pb2.DT_INVALID, tensor_shape=tensor_shape.unknown_shape().as_proto(),
                                     name=op.name)


def get_tensor_from_tensor_info(tensor_info, graph=None, import_scope=None):
    """The tensor or SparseTensor that a TensorInfo names. KeyError, ValueError: there is none."""
    graph = graph or ops.get_default_graph()

    def tensor(name):
        return graph.get_tensor_by_name(ops.prepend_name_scope(name, import_scope=import_scope))

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return tensor(tensor_info.name)
    if encoding == "coo_sparse":
        sparse = tensor_info.coo_sparse
        return sparse_tensor.SparseTensor(tensor(sparse.indices_tensor_name), tensor(sparse.values_tensor_name),
                                          tensor(sparse.dense_shape_tensor_name))
    if encoding == "composite_tensor":
        spec = nested_structure_coder.decode_proto(struct_pb2.StructuredValue(
            type_spec_value=tensor_info.composite_tensor.type_spec))
        parts = [get_tensor_from_tensor_info(part, graph, import_scope)
                 for part in tensor_info.composite_tensor.components]
        return nest.pack_sequence_as(spec, parts, expand_composites=True)
    raise ValueError("Invalid TensorInfo.encoding: %s" % encoding)


def get_element_from_tensor_info(tensor_info, graph=None, import_scope=None):
    """The operation or tensor that a TensorInfo names."""
    graph = graph or ops.get_default_graph()
    return graph.as_graph_element(ops.prepend_name_scope(tensor_info.name, import_scope=import_scope))


def _made(directory):
    if not file_io.file_exists(directory):
        file_io.recursive_create_dir(directory)
    return directory


def get_variables_dir(export_dir):
    """Where the variables lie."""
    return os.path.join(compat.as_text(export_dir), constants.VARIABLES_DIRECTORY)


def get_or_create_variables_dir(export_dir):
    """The same, made."""
    return _made(get_variables_dir(export_dir))


def get_variables_path(export_dir):
    """The prefix of the variables' checkpoint."""
    return os.path.join(get_variables_dir(export_dir), constants.VARIABLES_FILENAME)


def get_assets_dir(export_dir):
    """Where the files lie that the model takes with it."""
    return os.path.join(compat.as_text(export_dir), constants.ASSETS_DIRECTORY)


def get_or_create_assets_dir(export_dir):
    """The same, made."""
    return _made(get_assets_dir(export_dir))
