"""Loads a SavedModel into a session."""
import os

from penstock._src.graph import ops
from penstock._src.files import file_io
from penstock._src.ops.state import variables
from penstock._src.base import tf_logging
from penstock.proto import meta_graph_pb2
from penstock.proto import saved_model_pb2
from penstock._src.checkpoint import constants
from penstock._src.saved_model import signature_def_utils_impl as signature_def_utils
from penstock._src.saved_model import utils_impl as saved_model_utils
from penstock._src.checkpoint import saver as tf_saver
from penstock._src.base import compat


def parse_saved_model(export_dir):
    """The SavedModel message of a directory. IOError if there is none or it is damaged."""
    from google.protobuf import message
    from google.protobuf import text_format
    directory = compat.as_bytes(export_dir)
    binary = os.path.join(directory, compat.as_bytes(constants.SAVED_MODEL_FILENAME_PB))
    text = os.path.join(directory, compat.as_bytes(constants.SAVED_MODEL_FILENAME_PBTXT))
    saved_model = saved_model_pb2.SavedModel()
    if file_io.file_exists(binary):
        try:
            saved_model.ParseFromString(file_io.read_file_to_string(binary, binary_mode=True))
        except message.DecodeError as e:
            raise IOError("Cannot parse file %s: %s." % (binary, str(e))) from None
        return saved_model
    if file_io.file_exists(text):
        try:
            text_format.Merge(file_io.read_file_to_string(text, binary_mode=True).decode("utf-8"), saved_model)
        except (text_format.ParseError, UnicodeDecodeError) as e:
            raise IOError("Cannot parse file %s: %s." % (text, str(e))) from None
        return saved_model
    raise IOError("SavedModel file does not exist at: %s/{%s|%s}" %
                  (export_dir, constants.SAVED_MODEL_FILENAME_PBTXT, constants.SAVED_MODEL_FILENAME_PB))


_parse_saved_model = parse_saved_model


def checked_asset_name(name):
    """The name of a file of a SavedModel. ValueError if it leads out of the directory of its files."""
    if os.path.basename(name) != name or name in ("", ".", ".."):
        raise ValueError("The SavedModel names a file outside of its assets: %r" % name)
    return name


def get_asset_tensors(export_dir, meta_graph_def_to_load, import_scope=None):
    """{tensor name: path} of the files that a graph takes with it. ValueError for a name that leaves the directory."""
    assets = list(meta_graph_def_to_load.asset_file_def)
    if not assets and constants.ASSETS_KEY in meta_graph_def_to_load.collection_def:
        for wrapped in meta_graph_def_to_load.collection_def[constants.ASSETS_KEY].any_list.value:
            asset = meta_graph_pb2.AssetFileDef()
            wrapped.Unpack(asset)
            assets.append(asset)
    directory = saved_model_utils.get_assets_dir(export_dir)
    found = {}
    for asset in assets:
        name = asset.tensor_info.name
        found["%s/%s" % (import_scope, name) if import_scope else name] = os.path.join(
            compat.as_bytes(directory), compat.as_bytes(checked_asset_name(asset.filename)))
    return found


def _get_op_from_collection(meta_graph_def, op_key):
    """The only operation of a collection, or None."""
    if op_key not in meta_graph_def.collection_def:
        return None
    names = meta_graph_def.collection_def[op_key].node_list.value
    if len(names) != 1:
        raise RuntimeError("Expected exactly one SavedModel init op. Found: {}".format(names))
    return ops.get_collection(op_key)[0]


_get_main_op_tensor = _get_op_from_collection


def _get_op_from_signature_def(meta_graph_def, op_signature_key, import_scope):
    if op_signature_key not in meta_graph_def.signature_def:
        return None
    return signature_def_utils.load_op_from_signature_def(meta_graph_def.signature_def[op_signature_key],
                                                          op_signature_key, import_scope)


def get_init_op(meta_graph_def, import_scope=None):
    """The operation that the model is initialized by, or None."""
    found = _get_op_from_signature_def(meta_graph_def, constants.INIT_OP_SIGNATURE_KEY, import_scope)
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        if found is None:
            found = _get_op_from_collection(meta_graph_def, key)
    return found


def get_train_op(meta_graph_def, import_scope=None):
    """The operation that trains the model, or None."""
    found = _get_op_from_signature_def(meta_graph_def, constants.TRAIN_OP_SIGNATURE_KEY, import_scope)
    return _get_op_from_collection(meta_graph_def, constants.TRAIN_OP_KEY) if found is None else found


def maybe_saved_model_directory(export_dir):
    """Whether there is a SavedModel in a directory."""
    return any(file_io.file_exists(os.path.join(export_dir, name))
               for name in (constants.SAVED_MODEL_FILENAME_PBTXT, constants.SAVED_MODEL_FILENAME_PB))


contains_saved_model = maybe_saved_model_directory


def load(sess, tags, export_dir, import_scope=None, **saver_kwargs):
    """Loads the graph with these tags, its variables and tables into a session; gives the MetaGraphDef."""
    return SavedModelLoader(export_dir).load(sess, tags, import_scope, **saver_kwargs)


class SavedModelLoader:
    """Loads a SavedModel step by step."""

    def __init__(self, export_dir):
        self._export_dir = export_dir
        self._variables_path = saved_model_utils.get_variables_path(export_dir)
        self._saved_model = parse_saved_model(export_dir)

    @property
    def export_dir(self):
        """The directory."""
        return self._export_dir

    @property
    def variables_path(self):
        """The prefix of the variables' checkpoint."""
        return self._variables_path

    @property
    def saved_model(self):
        """The SavedModel message."""
        return self._saved_model

    def get_meta_graph_def_from_tags(self, tags):
        """The graph that has these tags and no others. RuntimeError if there is none."""
        available = []
        for meta_graph_def in self._saved_model.meta_graphs:
            available.append(set(meta_graph_def.meta_info_def.tags))
            if available[-1] == set(tags):
                return meta_graph_def
        raise RuntimeError("MetaGraphDef associated with tags " + str(tags).strip("[]") +
                           " could not be found in SavedModel. To inspect available tag-sets in the SavedModel, please "
                           "use the SavedModel CLI: `saved_model_cli`\navailable_tags: " + str(available))

    def load_graph(self, graph, tags, import_scope=None, **saver_kwargs):
        """Adds it to a graph; gives its saver and what `return_elements` asks for."""
        with graph.as_default():
            return tf_saver._import_meta_graph_with_return_elements(
                self.get_meta_graph_def_from_tags(tags), import_scope=import_scope, **saver_kwargs)

    def restore_variables(self, sess, saver, import_scope=None):
        """Reads the variables."""
        with sess.graph.as_default():
            if saver is None and not variables._all_saveable_objects(scope=import_scope):
                tf_logging.info("The specified SavedModel has no variables; no checkpoints were restored.")
            elif isinstance(saver, tf_saver.Saver):
                saver.restore(sess, self._variables_path)
            else:
                raise ValueError("No tf.train.Saver object was passed to the function "
                                 "SavedModelLoader.restore_variables. Since there are variables in the graph, a saver "
                                 "is required.")

    def run_init_ops(self, sess, tags, import_scope=None):
        """Runs the operation that initializes the model, with the paths of its files."""
        meta_graph_def = self.get_meta_graph_def_from_tags(tags)
        with sess.graph.as_default():
            assets = get_asset_tensors(self._export_dir, meta_graph_def, import_scope=import_scope)
            init_op = get_init_op(meta_graph_def, import_scope)
            if init_op is not None:
                sess.run(fetches=[init_op], feed_dict=assets)

    def load(self, sess, tags, import_scope=None, **saver_kwargs):
        """All of this; gives the MetaGraphDef."""
        with sess.graph.as_default():
            saver, _ = self.load_graph(sess.graph, tags, import_scope, **saver_kwargs)
            self.restore_variables(sess, saver, import_scope)
            self.run_init_ops(sess, tags, import_scope)
        return self.get_meta_graph_def_from_tags(tags)
