"""Saver: writes the variables of a session to checkpoints and reads them back."""
import difflib
import os.path
import re
import time

import numpy as np

from penstock._src.graph import context
from penstock._src.graph import errors
from penstock._src.graph import ops
from penstock._src.ops.state import variables
from penstock._src.files import gfile
from penstock._src.base import tf_logging as logging
from penstock.proto import meta_graph_pb2
from penstock.proto import saver_pb2
from penstock.proto import trackable_object_graph_pb2
from penstock._src.checkpoint import checkpoint_management
from penstock._src.checkpoint import py_checkpoint_reader
from penstock._src.checkpoint import training_util
from penstock._src.checkpoint.saver_builder import BaseSaverBuilder, BulkSaverBuilder
from penstock._src.checkpoint import functional_saver
from penstock._src.checkpoint import saveable_object_util
from penstock._src.ops.state import base as trackable
from penstock._src.base import compat

checkpoint_exists = checkpoint_management.checkpoint_exists
get_checkpoint_mtimes = checkpoint_management.get_checkpoint_mtimes
get_checkpoint_state = checkpoint_management.get_checkpoint_state
latest_checkpoint = checkpoint_management.latest_checkpoint
update_checkpoint_state = checkpoint_management.update_checkpoint_state
generate_checkpoint_state_proto = checkpoint_management.generate_checkpoint_state_proto


def _get_saver_or_default():
    """The saver of the collection SAVERS, or a new sharded one that is put there."""
    savers = ops.get_collection(ops.GraphKeys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError("More than one item in collection {}. Please indicate which one to use by passing it to the "
                           "constructor.".format(ops.GraphKeys.SAVERS))
    if savers:
        return savers[0]
    saver = Saver(sharded=True, allow_empty=True)
    ops.add_to_collection(ops.GraphKeys.SAVERS, saver)
    return saver


class Saver(object):
    """Saves and restores variables.

    Args:
      var_list: A list of variables, or {name in the checkpoint: variable}; None: all global variables.
      reshape: Restore values of other shapes but the same number of elements.
      sharded: One file for each device.
      max_to_keep: Older checkpoints are deleted; 0 or None keeps all.
      keep_checkpoint_every_n_hours: One checkpoint of each such period is not deleted.
      saver_def: Describes nodes that exist already.
      defer_build: Add the nodes when `build()` is called.
      pad_step_number: Steps in file names have eight digits.
      save_relative_paths: The file `checkpoint` holds relative paths, so that the directory can be moved.
    """

    def __init__(self, var_list=None, reshape=False, sharded=False, max_to_keep=5,
                 keep_checkpoint_every_n_hours=10000.0, name=None, restore_sequentially=False, saver_def=None,
                 builder=None, defer_build=False, allow_empty=False, write_version=saver_pb2.SaverDef.V2,
                 pad_step_number=False, save_relative_paths=False, filename=None):
        if defer_build and var_list:
            raise ValueError("If `var_list` is provided then build cannot be deferred. Either set defer_build=False or "
                             "var_list=None.")
        if context.executing_eagerly():
            logging.warning("Saver is deprecated, please switch to tf.train.Checkpoint or tf.keras.Model.save_weights "
                            "for training checkpoints. When executing eagerly variables do not necessarily have unique "
                            "names, and so the variable.name-based lookups Saver performs are error-prone.")
            if var_list is None:
                raise RuntimeError("When eager execution is enabled, `var_list` must specify a list or dict of "
                                   "variables to save")
        self._var_list = var_list
        self._reshape = reshape
        self._sharded = sharded
        self._max_to_keep = max_to_keep
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._name = name
        self._restore_sequentially = restore_sequentially
        self.saver_def = saver_def
        self._builder = builder
        self._is_built = False
        self._allow_empty = allow_empty
        self._is_empty = None
        self._write_version = write_version
        self._pad_step_number = pad_step_number
        self._save_relative_paths = save_relative_paths
        self._filename = filename
        self._last_checkpoints = []           # (path, time), oldest first
        self._checkpoints_to_be_deleted = []
        self._object_restore_saver = None     # for checkpoints of tf.train.Checkpoint
        if context.executing_eagerly():
            self._next_checkpoint_time = time.time() + keep_checkpoint_every_n_hours * 3600
        elif not defer_build:
            self.build()
        if self.saver_def:
            self._check_saver_def()
            self._write_version = self.saver_def.version

    def build(self):
        """Adds the nodes, once."""
        if context.executing_eagerly():
            raise RuntimeError("Use save/restore instead of build in eager mode.")
        if self._is_built:
            return
        self._is_built = True
        if not self.saver_def:
            if self._builder is None:
                self._builder = BulkSaverBuilder(self._write_version)
            if self._var_list is None:
                self._var_list = variables._all_saveable_objects()
            if not self._var_list:
                if not self._allow_empty:
                    raise ValueError("No variables to save")
                self._is_empty = True
                return
            self._is_empty = False
            self.saver_def = self._builder._build_internal(
                self._var_list, reshape=self._reshape, sharded=self._sharded, max_to_keep=self._max_to_keep,
                keep_checkpoint_every_n_hours=self._keep_checkpoint_every_n_hours, name=self._name,
                restore_sequentially=self._restore_sequentially, filename=self._filename)
        elif self._name:
            # The nodes were imported into this scope.
            for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
                setattr(self.saver_def, field, ops.prepend_name_scope(getattr(self.saver_def, field), self._name))
        self._check_saver_def()
        self._next_checkpoint_time = time.time() + self.saver_def.keep_checkpoint_every_n_hours * 3600

    def _eager_saver(self):
        """What saves and restores when there is no graph."""
        saveables = saveable_object_util.validate_and_slice_inputs(self._var_list)
        if not saveables and not self._allow_empty:
            raise ValueError("No variables to save")
        self._is_empty = not saveables
        self.saver_def = saver_pb2.SaverDef(
            max_to_keep=self._max_to_keep or 0, sharded=self._sharded, version=self._write_version,
            keep_checkpoint_every_n_hours=self._keep_checkpoint_every_n_hours)
        return functional_saver.MultiDeviceSaver(saveables)

    def _write(self, sess, checkpoint_file):
        """Writes the values under that name; gives the path."""
        if context.executing_eagerly():
            self._eager_saver().save(checkpoint_file)
            return checkpoint_file
        return compat.as_str(sess.run(self.saver_def.save_tensor_name,
                                      {self.saver_def.filename_tensor_name: checkpoint_file}))

    def _check_saver_def(self):
        if not isinstance(self.saver_def, saver_pb2.SaverDef):
            raise ValueError("saver_def must be a saver_pb2.SaverDef: %s" % self.saver_def)
        for field in ("save_tensor_name", "restore_op_name"):
            if not getattr(self.saver_def, field):
                raise ValueError("saver_def must specify the %s: %s" % (field, str(self.saver_def)))

    # Which checkpoints there are

    @property
    def last_checkpoints(self):
        """Paths of the checkpoints that have not been deleted, oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints):
        """Makes these paths the known checkpoints; they will be deleted last. Older form of the next method."""
        assert isinstance(last_checkpoints, list)
        self._last_checkpoints = [(path, np.inf) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time):
        """Makes these pairs of path and time the known checkpoints."""
        assert isinstance(last_checkpoints_with_time, list)
        self._last_checkpoints = last_checkpoints_with_time

    def recover_last_checkpoints(self, checkpoint_paths):
        """Makes those of the paths that exist the known checkpoints, as after a restart."""
        found = []
        for path in checkpoint_paths:
            times = checkpoint_management.get_checkpoint_mtimes([path])
            if times:
                found.append((path, times[0]))
        self.set_last_checkpoints_with_time(found)

    def _record(self, path):
        if not self.saver_def.max_to_keep:
            return
        self._last_checkpoints = [known for known in self._last_checkpoints if known[0] != path]
        self._last_checkpoints.append((path, time.time()))
        if len(self._last_checkpoints) > self.saver_def.max_to_keep:
            self._checkpoints_to_be_deleted.append(self._last_checkpoints.pop(0))

    def _delete_old(self, meta_graph_suffix):
        if not self._checkpoints_to_be_deleted:
            return
        path, written = self._checkpoints_to_be_deleted.pop(0)
        if written > self._next_checkpoint_time:
            self._next_checkpoint_time += self.saver_def.keep_checkpoint_every_n_hours * 3600
            return
        try:
            checkpoint_management.remove_checkpoint(path, self.saver_def.version, meta_graph_suffix)
        except Exception as e:  # a file that cannot be deleted must not end the training
            logging.warning("Ignoring: %s", str(e))

    # To and from protocol buffers

    def as_saver_def(self):
        """The SaverDef that describes it."""
        return self.saver_def

    def to_proto(self, export_scope=None):
        """The SaverDef, or None if the nodes are outside `export_scope`."""
        if export_scope is None:
            return self.saver_def
        fields = ("filename_tensor_name", "save_tensor_name", "restore_op_name")
        if not all(getattr(self.saver_def, field).startswith(export_scope) for field in fields):
            return None
        saver_def = saver_pb2.SaverDef()
        saver_def.CopyFrom(self.saver_def)
        for field in fields:
            setattr(saver_def, field, ops.strip_name_scope(getattr(saver_def, field), export_scope))
        return saver_def

    @staticmethod
    def from_proto(saver_def, import_scope=None):
        """The Saver that a SaverDef describes, for the scope `import_scope`."""
        return Saver(saver_def=saver_def, name=import_scope)

    # Saving and restoring

    def _checkpoint_file(self, sess, save_path, global_step, latest_filename):
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        if global_step is None:
            if os.path.basename(save_path) == latest_filename and not self._sharded:
                # Else the state file would overwrite the checkpoint.
                raise ValueError("'latest_filename' collides with 'save_path': '%s' and '%s'" %
                                 (latest_filename, save_path))
            return save_path
        if not isinstance(global_step, compat.integral_types):
            global_step = training_util.global_step(sess, global_step)
        return "%s-%s" % (save_path, "{:08d}".format(global_step) if self._pad_step_number else "%d" % global_step)

    def save(self, sess, save_path, global_step=None, latest_filename=None, meta_graph_suffix="meta",
             write_meta_graph=True, write_state=True, strip_default_attrs=False, save_debug_info=False):
        """Writes a checkpoint and returns its path, which `restore` takes; None for a saver without variables.

        Args:
          save_path: The path's beginning; "-STEP" is added if `global_step` (a number, tensor or variable) is given.
          latest_filename: Name of the file that lists the checkpoints, "checkpoint" by default.
        """
        if not self._is_built and not context.executing_eagerly():
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        latest_filename = latest_filename or "checkpoint"
        checkpoint_file = self._checkpoint_file(sess, save_path, global_step, latest_filename)
        if not context.executing_eagerly() and not (hasattr(sess, "run") and hasattr(sess, "graph")):
            raise TypeError("'sess' must be a Session; %s" % sess)
        directory = os.path.dirname(save_path)
        path = None
        if not self._is_empty:
            # Writing makes a directory, but not the one above it.
            if not any(map(gfile.IsDirectory, (directory or ".", os.path.dirname(directory) or "."))):
                raise ValueError("Parent directory of {} doesn't exist, can't save.".format(save_path))
            try:
                path = self._write(sess, checkpoint_file)
                if write_state:
                    self._record(path)
                    checkpoint_management.update_checkpoint_state_internal(
                        save_dir=directory, model_checkpoint_path=path,
                        all_model_checkpoint_paths=self.last_checkpoints, latest_filename=latest_filename,
                        save_relative_paths=self._save_relative_paths)
                    self._delete_old(meta_graph_suffix)
            except (errors.FailedPreconditionError, errors.NotFoundError) as e:
                if not gfile.IsDirectory(directory or "."):
                    raise ValueError("Parent directory of {} doesn't exist, can't save.".format(save_path)) from e
                raise
        if write_meta_graph and not context.executing_eagerly():
            meta_file = checkpoint_management.meta_graph_filename(checkpoint_file,
                                                                  meta_graph_suffix=meta_graph_suffix)
            with sess.graph.as_default():
                self.export_meta_graph(meta_file, strip_default_attrs=strip_default_attrs,
                                       save_debug_info=save_debug_info)
        return path

    def export_meta_graph(self, filename=None, collection_list=None, as_text=False, export_scope=None,
                          clear_devices=False, clear_extraneous_savers=False, strip_default_attrs=False,
                          save_debug_info=False):
        """The default graph with its collections and this saver as a MetaGraphDef, written to `filename` if given."""
        return export_meta_graph(
            filename=filename, graph_def=ops.get_default_graph().as_graph_def(add_shapes=True),
            saver_def=self.saver_def, collection_list=collection_list, as_text=as_text, export_scope=export_scope,
            clear_devices=clear_devices, clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs, save_debug_info=save_debug_info)

    def restore(self, sess, save_path):
        """Reads the checkpoint at `save_path` into the variables, which need not have been initialized."""
        if self._is_empty and not context.executing_eagerly():
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        prefix = compat.as_text(save_path)
        if not checkpoint_management.checkpoint_exists_internal(prefix):
            raise ValueError("The passed save_path is not a valid checkpoint: " + prefix)
        logging.info("Restoring parameters from %s", prefix)
        try:
            if context.executing_eagerly():
                self._eager_saver().restore(prefix)
            else:
                sess.run(self.saver_def.restore_op_name, {self.saver_def.filename_tensor_name: save_path})
        except errors.NotFoundError as e:
            self._restore_by_objects(sess, prefix, e)
        except errors.InvalidArgumentError as e:
            raise _wrap_restore_error_with_msg(e, "a mismatch between the current graph and the graph") from e

    def _restore_by_objects(self, sess, prefix, error):
        """From a checkpoint of a tf.train.Checkpoint: its values know the names that a Saver would give them."""
        try:
            names_to_keys = object_graph_key_mapping(prefix)
        except errors.NotFoundError:
            names_to_keys = None
        if names_to_keys is None:
            wrapped = _wrap_restore_error_with_msg(error, "a Variable name or other graph key that is missing",
                                                   _nearest_keys(error.message, prefix))
            raise wrapped from error
        logging.warning("Restoring an object-based checkpoint using a name-based saver. This may be somewhat fragile, "
                        "and will re-build the Saver. Instead, consider loading object-based checkpoints using "
                        "tf.train.Checkpoint().")
        if self._object_restore_saver is None:
            self._object_restore_saver = saver_from_object_based_checkpoint(prefix, self._var_list, self._builder,
                                                                            names_to_keys)
        self._object_restore_saver.restore(sess=sess, save_path=prefix)

    @staticmethod
    def _add_collection_def(meta_graph_def, key, export_scope=None):
        from penstock._src.checkpoint import meta_graph
        meta_graph.add_collection_def(meta_graph_def, key, export_scope=export_scope)


def _nearest_keys(message, prefix):
    """A sentence about the checkpoint's keys that resemble the one that a message says is missing, with shapes."""
    missing = re.search(r"Key (\S+) not found in checkpoint", message)
    if missing is None:
        return ""
    try:
        reader = py_checkpoint_reader.NewCheckpointReader(prefix)
    except errors.OpError:
        return ""
    shapes = reader.get_variable_to_shape_map()
    last = missing[1].rpartition("/")[2]
    near = [key for key in sorted(shapes) if key.endswith("/" + last) or missing[1].endswith("/" + key)]
    near = list(dict.fromkeys([*difflib.get_close_matches(missing[1], shapes, 5, 0.6), *near])) or sorted(shapes)
    return f"\n\nThe checkpoint has {len(shapes)} keys, the nearest are: " + ", ".join(
        f"{key} {shapes[key]}" for key in near[:5])


def _wrap_restore_error_with_msg(err, extra_verbiage, more=""):
    message = ("Restoring from checkpoint failed. This is most likely due to {} from the checkpoint. Please ensure "
               "that you have not altered the graph expected based on the checkpoint. Original error:\n\n{}{}").format(
                   extra_verbiage, err.message, more)
    return err.__class__(err.node_def, err.op, message)


def import_meta_graph(meta_graph_or_file, clear_devices=False, import_scope=None, **kwargs):
    """Adds the graph of a MetaGraphDef (or its file) and its collections to the default graph.

    Returns the saver it holds, a new one if it holds none but there are variables, else None.
    """
    return _import_meta_graph_with_return_elements(meta_graph_or_file, clear_devices, import_scope, **kwargs)[0]


def _import_meta_graph_with_return_elements(meta_graph_or_file, clear_devices=False, import_scope=None,
                                            return_elements=None, **kwargs):
    from penstock._src.checkpoint import meta_graph
    if isinstance(meta_graph_or_file, meta_graph_pb2.MetaGraphDef):
        meta_graph_def = meta_graph_or_file
    else:
        meta_graph_def = meta_graph.read_meta_graph_file(meta_graph_or_file)
    imported, elements = meta_graph.import_scoped_meta_graph_with_return_elements(
        meta_graph_def, clear_devices=clear_devices, import_scope=import_scope, return_elements=return_elements,
        **kwargs)
    return _create_saver_from_imported_meta_graph(meta_graph_def, import_scope, imported), elements


def _create_saver_from_imported_meta_graph(meta_graph_def, import_scope, imported_vars):
    if meta_graph_def.HasField("saver_def"):
        # The scope may have been made unique; a variable's new name tells.
        scope = import_scope
        for old_name, var in imported_vars.items():
            scope = var.name[:-len(old_name)]
            break
        return Saver(saver_def=meta_graph_def.saver_def, name=scope)
    if variables._all_saveable_objects(scope=import_scope):
        return Saver()
    logging.info("Saver not created because there are no variables in the graph to restore")
    return None


def export_meta_graph(filename=None, meta_info_def=None, graph_def=None, saver_def=None, collection_list=None,
                      as_text=False, graph=None, export_scope=None, clear_devices=False,
                      clear_extraneous_savers=False, strip_default_attrs=False, save_debug_info=False, **kwargs):
    """The graph (the default one if None) with its collections as a MetaGraphDef, written to `filename` if given."""
    from penstock._src.checkpoint import meta_graph
    return meta_graph.export_scoped_meta_graph(
        filename=filename, meta_info_def=meta_info_def, graph_def=graph_def, saver_def=saver_def,
        collection_list=collection_list, as_text=as_text, graph=graph, export_scope=export_scope,
        clear_devices=clear_devices, clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs, save_debug_info=save_debug_info, **kwargs)[0]


def _register():
    ops.register_proto_function(ops.GraphKeys.SAVERS, proto_type=saver_pb2.SaverDef, to_proto=Saver.to_proto,
                                from_proto=Saver.from_proto)


_register()


def object_graph_key_mapping(checkpoint_path):
    """{name that a Saver gives: key} of a checkpoint of tf.train.Checkpoint. NotFoundError if it is none."""
    reader = py_checkpoint_reader.NewCheckpointReader(checkpoint_path)
    serialized = reader.get_tensor(trackable.OBJECT_GRAPH_PROTO_KEY)
    graph = trackable_object_graph_pb2.TrackableObjectGraph.FromString(serialized)
    return {attribute.full_name: attribute.checkpoint_key for node in graph.nodes for attribute in node.attributes}


def saver_from_object_based_checkpoint(checkpoint_path, var_list=None, builder=None, names_to_keys=None,
                                       cached_saver=None):
    """A Saver that reads a checkpoint of tf.train.Checkpoint. ValueError if the names do not match."""
    if names_to_keys is None:
        try:
            names_to_keys = object_graph_key_mapping(checkpoint_path)
        except errors.NotFoundError:
            raise ValueError("Checkpoint in %s not an object-based checkpoint." % checkpoint_path) from None
    if var_list is None:
        var_list = variables._all_saveable_objects()
    saveables = saveable_object_util.validate_and_slice_inputs(var_list)
    current = {spec.name for saveable in saveables for spec in saveable.specs}
    known = set(names_to_keys)
    missing = current - known
    if missing:
        extra = known - current
        # Shortened: a network has thousands.
        raise errors.NotFoundError(
            None, None, message="Existing variables not in the checkpoint: %s\n\nVariables names when this checkpoint "
            "was written which don't exist now: %s\n\n(%d variable name(s) did match)\n\nCould not find some variables "
            "in the checkpoint (see names above). Saver was attempting to load an object-based checkpoint (saved using "
            "tf.train.Checkpoint or tf.keras.Model.save_weights) using variable names. If the checkpoint was written "
            "with eager execution enabled, it's possible that variable names have changed (for example missing a '_1' "
            "suffix). It's also possible that there are new variables which did not exist when the checkpoint was "
            "written. You can construct a Saver(var_list=...) with only the variables which previously existed, and if "
            "variable names have changed you may need to make this a dictionary with the old names as keys." %
            (", ".join(sorted(missing)), ", ".join(sorted(extra)), len(current & known)))
    for saveable in saveables:
        for spec in saveable.specs:
            spec.name = names_to_keys[spec.name]
    return cached_saver or Saver(saveables, builder=builder)
