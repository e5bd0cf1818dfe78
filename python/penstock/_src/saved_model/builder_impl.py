"""SavedModelBuilder: writes graphs, variables, files and signatures into a directory."""
import filecmp
import os

from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.files import file_io
from penstock._src.ops.state import variables
from penstock._src.base import tf_logging
from penstock.proto import meta_graph_pb2
from penstock.proto import saved_model_pb2
from penstock.proto import saver_pb2
from penstock.proto import types_pb2
from penstock._src.checkpoint import constants
from penstock._src.saved_model import signature_def_utils_impl as signature_def_utils
from penstock._src.saved_model import utils_impl as saved_model_utils
from penstock._src.checkpoint import saver as tf_saver
from penstock._src.base import compat


class _SavedModelBuilder:
    """Writes a SavedModel: first a graph with the variables, then other graphs that use the same.

    The operations that initialize and train are signatures of the graph, and files are fields of it.
    """

    def __init__(self, export_dir):
        self._saved_model = saved_model_pb2.SavedModel()
        self._saved_model.saved_model_schema_version = constants.SAVED_MODEL_SCHEMA_VERSION
        self._export_dir = export_dir
        if file_io.file_exists(export_dir):
            if file_io.list_directory(export_dir):
                raise AssertionError("Export directory already exists, and isn't empty. Please choose a different "
                                     "export directory, or delete all the contents of the specified directory: %s" %
                                     export_dir)
        else:
            file_io.recursive_create_dir(self._export_dir)
        self._has_saved_variables = False

    def _save_and_write_assets(self, meta_graph_def, assets_list=None):

        def note(filename, tensor):
            asset = meta_graph_def.asset_file_def.add()
            asset.filename = filename
            asset.tensor_info.name = tensor.name

        self._write_assets(note, assets_list)

    def _write_assets(self, note, assets):
        files = _maybe_save_assets(note, assets)
        if files:
            copy_assets_to_destination_dir(files, self._export_dir)
        else:
            tf_logging.info("No assets to write.")

    def _tag_and_add_meta_graph(self, meta_graph_def, tags, signature_def_map):
        meta_graph_def.meta_info_def.tags.extend(tags)
        for key in signature_def_map or ():
            meta_graph_def.signature_def[key].CopyFrom(signature_def_map[key])
        self._saved_model.meta_graphs.add().CopyFrom(meta_graph_def)

    def _validate_tensor_info(self, tensor_info):
        if tensor_info is None:
            raise AssertionError("All TensorInfo protos used in the SignatureDefs must have the name and dtype fields "
                                 "set.")
        encoding = tensor_info.WhichOneof("encoding")
        if encoding is None:
            raise AssertionError("All TensorInfo protos used in the SignatureDefs must have one of the 'encoding' "
                                 "fields (e.g., name or coo_sparse) set: %s" % tensor_info)
        if encoding == "composite_tensor":
            for component in tensor_info.composite_tensor.components:
                self._validate_tensor_info(component)
        elif tensor_info.dtype == types_pb2.DT_INVALID:
            raise AssertionError("All TensorInfo protos used in the SignatureDefs must have the dtype field set: %s" %
                                 tensor_info)

    def _validate_signature_def_map(self, signature_def_map):
        for signature in signature_def_map.values():
            for infos in (signature.inputs, signature.outputs):
                for name in infos:
                    self._validate_tensor_info(infos[name])
        for key, purpose in ((constants.INIT_OP_SIGNATURE_KEY, "initialization"),
                             (constants.TRAIN_OP_SIGNATURE_KEY, "the train op")):
            if key in signature_def_map:
                raise KeyError("SignatureDef map key \"{}\" is reserved for {}. Please use a different key.".format(
                    key, purpose))

    def _maybe_create_saver(self, saver=None):
        return saver or tf_saver.Saver(variables._all_saveable_objects(), sharded=True,
                                       write_version=saver_pb2.SaverDef.V2, allow_empty=True)

    def _require_variables(self, saved):
        if saved and not self._has_saved_variables:
            raise AssertionError("Graph state including variables and assets has not been saved yet. Please invoke "
                                 "`add_meta_graph_and_variables()` first.")
        if not saved and self._has_saved_variables:
            raise AssertionError("Graph state including variables and assets has already been saved. Please invoke "
                                 "`add_meta_graph()` instead.")

    def _write_variables(self, sess, saver):
        saved_model_utils.get_or_create_variables_dir(self._export_dir)
        saver = self._maybe_create_saver(saver)
        saver.save(sess, saved_model_utils.get_variables_path(self._export_dir), write_meta_graph=False,
                   write_state=False)
        return saver

    def _signatures(self, signature_def_map, init_op, train_op):
        signature_def_map = signature_def_map or {}
        self._validate_signature_def_map(signature_def_map)
        for op, key in ((init_op, constants.INIT_OP_SIGNATURE_KEY), (train_op, constants.TRAIN_OP_SIGNATURE_KEY)):
            if op is not None:
                signature_def_map[key] = signature_def_utils.op_signature_def(op, key)
        return signature_def_map

    def add_meta_graph(self, tags, signature_def_map=None, assets_list=None, clear_devices=False, init_op=None,
                       train_op=None, saver=None):
        """Adds the default graph, which uses the variables that were saved before."""
        self._require_variables(saved=True)
        signature_def_map = self._signatures(signature_def_map, init_op, train_op)
        saver = self._maybe_create_saver(saver)
        meta_graph_def = saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=True)
        self._save_and_write_assets(meta_graph_def, assets_list)
        self._tag_and_add_meta_graph(meta_graph_def, tags, signature_def_map)

    def add_meta_graph_and_variables(self, sess, tags, signature_def_map=None, assets_list=None, clear_devices=False,
                                     init_op=None, train_op=None, strip_default_attrs=False, saver=None):
        """Saves the variables of a session, and adds the default graph."""
        self._require_variables(saved=False)
        signature_def_map = self._signatures(signature_def_map, init_op, train_op)
        saver = self._write_variables(sess, saver)
        meta_graph_def = saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=strip_default_attrs)
        self._save_and_write_assets(meta_graph_def, assets_list)
        self._tag_and_add_meta_graph(meta_graph_def, tags, signature_def_map)
        self._has_saved_variables = True

    def save(self, as_text=False, experimental_image_format=False, experimental_image_writer_options=None):
        """Writes saved_model.pb (or .pbtxt), whole or not at all; gives its path. The other arguments are ignored."""
        if not file_io.file_exists(self._export_dir):
            file_io.recursive_create_dir(self._export_dir)
        name = constants.SAVED_MODEL_FILENAME_PBTXT if as_text else constants.SAVED_MODEL_FILENAME_PB
        path = os.path.join(compat.as_bytes(self._export_dir), compat.as_bytes(name))
        file_io.atomic_write_string_to_file(
            path, str(self._saved_model) if as_text else self._saved_model.SerializeToString())
        tf_logging.info("SavedModel written to: %s", compat.as_text(path))
        return path


class SavedModelBuilder(_SavedModelBuilder):
    """The same with the operations and files in collections of the graph.

        builder = SavedModelBuilder(export_dir)
        builder.add_meta_graph_and_variables(sess, ["serve"], signature_def_map={...}, assets_collection=...)
        builder.save()
    """

    def _add_collections(self, assets_collection, main_op, train_op):
        # All must be in the graph before it is exported.
        self._save_and_write_assets(assets_collection)
        self._maybe_add_main_op(main_op)
        self._add_train_op(train_op)

    def _save_and_write_assets(self, assets_collection_to_add=None):
        self._write_assets(_add_asset_to_collection, assets_collection_to_add)

    def _maybe_add_main_op(self, main_op):
        if main_op is None:
            return
        if not isinstance(main_op, ops.Operation):
            raise TypeError("main_op needs to be an Operation: %r" % main_op)
        for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
            if ops.get_collection(key):
                raise ValueError("Graph already contains one or more main ops under the collection {}.".format(key))
        ops.add_to_collection(constants.MAIN_OP_KEY, main_op)

    def _add_train_op(self, train_op):
        if train_op is None:
            return
        if not isinstance(train_op, (ops.Tensor, ops.Operation)):
            raise TypeError("train_op needs to be a Tensor or Op: %r" % train_op)
        ops.add_to_collection(constants.TRAIN_OP_KEY, train_op)

    def add_meta_graph(self, tags, signature_def_map=None, assets_collection=None, legacy_init_op=None,
                       clear_devices=False, main_op=None, strip_default_attrs=False, saver=None):
        """Adds the default graph, which uses the variables that were saved before."""
        self._require_variables(saved=True)
        signature_def_map = self._signatures(signature_def_map, None, None)
        self._add_collections(assets_collection, main_op or legacy_init_op, None)
        saver = self._maybe_create_saver(saver)
        meta_graph_def = saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=strip_default_attrs)
        self._tag_and_add_meta_graph(meta_graph_def, tags, signature_def_map)

    def add_meta_graph_and_variables(self, sess, tags, signature_def_map=None, assets_collection=None,
                                     legacy_init_op=None, clear_devices=False, main_op=None, strip_default_attrs=False,
                                     saver=None):
        """Saves the variables of a session, and adds the default graph."""
        self._require_variables(saved=False)
        signature_def_map = self._signatures(signature_def_map, None, None)
        self._add_collections(assets_collection, main_op or legacy_init_op, None)
        saver = self._write_variables(sess, saver)
        meta_graph_def = saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=strip_default_attrs)
        self._tag_and_add_meta_graph(meta_graph_def, tags, signature_def_map)
        self._has_saved_variables = True


def _maybe_save_assets(write_fn, assets_to_add=None):
    """Calls write_fn(name, tensor) for each file; gives {name: path}."""
    files = {}
    if assets_to_add is None:
        tf_logging.info("No assets to save.")
        return files
    for tensor in assets_to_add:
        path = _asset_path_from_tensor(tensor)
        if not path:
            raise ValueError("Invalid asset filepath tensor %s" % tensor)
        name = get_asset_filename_to_add(path, files)
        write_fn(name, tensor)
        files[name] = path
    tf_logging.info("Assets added to graph.")
    return files


def get_asset_filename_to_add(asset_filepath, asset_filename_map):
    """The name of a file in the SavedModel: its own, with a number if another file has it."""
    name = os.path.basename(asset_filepath)
    other = asset_filename_map.get(name)
    if other is None or other == asset_filepath or filecmp.cmp(asset_filepath, other, shallow=False):
        return name
    return _get_unique_asset_filename(name, asset_filename_map)


def _get_unique_asset_filename(asset_filename, asset_filename_map):
    number, unique = 0, asset_filename
    while unique in asset_filename_map:
        number += 1
        unique = compat.as_bytes(asset_filename) + b"_" + compat.as_bytes(str(number))
    return unique


def _asset_path_from_tensor(path_tensor):
    """The path that a constant holds."""
    if not isinstance(path_tensor, ops.Tensor):
        raise TypeError("Asset path tensor must be a Tensor.")
    if path_tensor.op.type != "Const":
        raise TypeError("Asset path tensor must be of type constant.")
    if path_tensor.dtype != dtypes.string:
        raise TypeError("Asset path tensor must be of dtype string.")
    values = path_tensor.op.get_attr("value").string_val
    if len(values) != 1:
        raise TypeError("Asset path tensor must be a scalar.")
    return values[0]


def copy_assets_to_destination_dir(asset_filename_map, destination_dir, overwrite=False):
    """Copies {name: path} below a SavedModel. What is there already stays, unless `overwrite`."""
    directory = saved_model_utils.get_or_create_assets_dir(destination_dir)
    for name, path in asset_filename_map.items():
        target = os.path.join(compat.as_bytes(directory), compat.as_bytes(name))
        # Another graph may use the same file.
        if not file_io.file_exists(target) or overwrite and compat.as_bytes(path) != target:
            file_io.copy(path, target, overwrite=overwrite)
    tf_logging.info("Assets written to: %s", compat.as_text(directory))


def _add_asset_to_collection(asset_filename, asset_tensor):
    from google.protobuf.any_pb2 import Any
    asset = meta_graph_pb2.AssetFileDef()
    asset.filename = asset_filename
    asset.tensor_info.name = asset_tensor.name
    wrapped = Any()
    wrapped.Pack(asset)
    ops.add_to_collection(constants.ASSETS_KEY, wrapped)
