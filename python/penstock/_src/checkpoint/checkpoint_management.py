"""Which checkpoints there are: the file `checkpoint`, a CheckpointState in text form, and the files it names."""
import collections
import os.path
import re
import time

from google.protobuf import text_format

from penstock._src.graph import context
from penstock._src.graph import errors
from penstock._src.graph import ops
from penstock._src.ops.state import variable_scope
from penstock._src.files import gfile
from penstock._src.base import tf_logging as logging
from penstock.proto import checkpoint_state_pb2
from penstock.proto import saver_pb2
from penstock._src.checkpoint import training_util
from penstock._src.base import compat

CheckpointState = checkpoint_state_pb2.CheckpointState


def _GetCheckpointFilename(save_dir, latest_filename):
    return os.path.join(save_dir, "checkpoint" if latest_filename is None else latest_filename)


def generate_checkpoint_state_proto(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None,
                                    all_model_checkpoint_timestamps=None, last_preserved_timestamp=None):
    """A CheckpointState. In a relative directory, paths become relative to it."""
    if all_model_checkpoint_paths is None:
        all_model_checkpoint_paths = []
    if not all_model_checkpoint_paths or all_model_checkpoint_paths[-1] != model_checkpoint_path:
        logging.info("%s is not in all_model_checkpoint_paths. Manually adding it.", model_checkpoint_path)
        all_model_checkpoint_paths.append(model_checkpoint_path)
    if all_model_checkpoint_timestamps and len(all_model_checkpoint_timestamps) != len(all_model_checkpoint_paths):
        raise ValueError("Checkpoint timestamps, if provided, must match checkpoint paths (got paths %s and timestamps "
                         "%s)" % (all_model_checkpoint_paths, all_model_checkpoint_timestamps))
    if not os.path.isabs(save_dir):
        model_checkpoint_path = _relative(model_checkpoint_path, save_dir)
        for i, path in enumerate(all_model_checkpoint_paths):
            all_model_checkpoint_paths[i] = _relative(path, save_dir)
    return CheckpointState(
        model_checkpoint_path=model_checkpoint_path, all_model_checkpoint_paths=all_model_checkpoint_paths,
        all_model_checkpoint_timestamps=all_model_checkpoint_timestamps,
        last_preserved_timestamp=last_preserved_timestamp)


def _relative(path, directory):
    return path if os.path.isabs(path) else os.path.relpath(path, directory or ".")


def update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, latest_filename=None,
                            all_model_checkpoint_timestamps=None, last_preserved_timestamp=None,
                            save_relative_paths=False):
    """Writes the file `checkpoint` (or `latest_filename`) of a directory; see update_checkpoint_state_internal."""
    update_checkpoint_state_internal(
        save_dir=save_dir, model_checkpoint_path=model_checkpoint_path,
        all_model_checkpoint_paths=all_model_checkpoint_paths, latest_filename=latest_filename,
        save_relative_paths=save_relative_paths, all_model_checkpoint_timestamps=all_model_checkpoint_timestamps,
        last_preserved_timestamp=last_preserved_timestamp)


def update_checkpoint_state_internal(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None,
                                     latest_filename=None, save_relative_paths=False,
                                     all_model_checkpoint_timestamps=None, last_preserved_timestamp=None):
    """As update_checkpoint_state; `save_relative_paths` makes absolute paths relative to the directory."""
    state_file = _GetCheckpointFilename(save_dir, latest_filename)
    shown = model_checkpoint_path
    if save_relative_paths:

        def relative(path):
            return os.path.relpath(path, save_dir) if os.path.isabs(path) else path

        shown = relative(model_checkpoint_path)
        all_model_checkpoint_paths = [relative(path) for path in all_model_checkpoint_paths]
    state = generate_checkpoint_state_proto(
        save_dir, shown, all_model_checkpoint_paths=all_model_checkpoint_paths,
        all_model_checkpoint_timestamps=all_model_checkpoint_timestamps,
        last_preserved_timestamp=last_preserved_timestamp)
    if state_file == state.model_checkpoint_path:
        raise RuntimeError("Save path '%s' conflicts with path used for checkpoint state.  Please use a different save "
                           "path." % model_checkpoint_path)
    gfile.write_atomically(state_file, text_format.MessageToString(state))


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """The CheckpointState of a directory with paths that can be opened from here; None if there is none."""
    state_file = _GetCheckpointFilename(compat.path_to_str(checkpoint_dir), latest_filename)
    if not gfile.Exists(state_file):
        return None
    state = CheckpointState()
    try:
        with gfile.GFile(state_file) as f:
            text_format.Merge(f.read(), state)
    except (errors.OpError, UnicodeDecodeError, text_format.ParseError) as e:
        logging.warning("%s: %s", type(e).__name__, e)
        logging.warning("%s: Checkpoint ignored", state_file)
        return None
    if not state.model_checkpoint_path:
        raise ValueError("Invalid checkpoint state loaded from " + checkpoint_dir)
    # Paths in the file are relative to the directory it is in.
    state.model_checkpoint_path = os.path.join(checkpoint_dir, state.model_checkpoint_path)
    for i, path in enumerate(state.all_model_checkpoint_paths):
        state.all_model_checkpoint_paths[i] = os.path.join(checkpoint_dir, path)
    return state


def _prefix_to_checkpoint_path(prefix, format_version):
    return prefix + ".index" if format_version == saver_pb2.SaverDef.V2 else prefix


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    """The path of the newest checkpoint that the directory's state names, if its files exist; else None."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state and state.model_checkpoint_path:
        if checkpoint_exists_internal(state.model_checkpoint_path):
            return state.model_checkpoint_path
        logging.error("Couldn't match files for checkpoint %s", state.model_checkpoint_path)
    return None


def checkpoint_exists_internal(checkpoint_prefix):
    """Whether a checkpoint of that prefix exists, of either version."""
    return bool(gfile.Glob(_prefix_to_checkpoint_path(checkpoint_prefix, saver_pb2.SaverDef.V2)) or
                gfile.Glob(checkpoint_prefix))


def checkpoint_exists(checkpoint_prefix):
    """Whether there is a checkpoint of either version at that path."""
    return checkpoint_exists_internal(checkpoint_prefix)


def get_checkpoint_mtimes(checkpoint_prefixes):
    """Times of last modification in seconds, of those of the checkpoints that exist."""
    times = []
    for prefix in checkpoint_prefixes:
        for pattern in (_prefix_to_checkpoint_path(prefix, saver_pb2.SaverDef.V2), prefix):
            files = gfile.Glob(pattern)
            if files:
                times.append(gfile.Stat(files[0]).mtime_nsec / 1e9)
                break
    return times


def remove_checkpoint(checkpoint_prefix, checkpoint_format_version=saver_pb2.SaverDef.V2, meta_graph_suffix="meta"):
    """Deletes the files of a checkpoint."""
    _delete_file_if_exists(meta_graph_filename(checkpoint_prefix, meta_graph_suffix))
    if checkpoint_format_version == saver_pb2.SaverDef.V2:
        # The index first: without it the rest is no checkpoint.
        _delete_file_if_exists(checkpoint_prefix + ".index")
        _delete_file_if_exists(checkpoint_prefix + ".data-?????-of-?????")
    else:
        _delete_file_if_exists(checkpoint_prefix)


def _delete_file_if_exists(filespec):
    for path in gfile.Glob(filespec):
        gfile.Remove(path)


def meta_graph_filename(checkpoint_filename, meta_graph_suffix="meta"):
    """The MetaGraphDef's file of a checkpoint; the mark of a shard is left out."""
    return re.sub(r"-[\d\?]+-of-\d+$", "", checkpoint_filename) + "." + meta_graph_suffix


class CheckpointManager(object):
    """Keeps the newest checkpoints of a tf.train.Checkpoint, and some of the older ones, and deletes the rest."""

    def __init__(self, checkpoint, directory, max_to_keep, keep_checkpoint_every_n_hours=None, checkpoint_name="ckpt",
                 step_counter=None, checkpoint_interval=None, init_fn=None, last_checkpoint_step=None):
        """checkpoint_interval: `save` does something only so many steps of `step_counter` after the last checkpoint.
        init_fn: what `restore_or_initialize` calls if there is no checkpoint."""
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError("Expected a positive integer or `None` for `max_to_max_to_keep`, got %d." % (max_to_keep,))
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is not None.")
        directory = compat.path_to_str(directory)
        self._checkpoint = checkpoint
        self._checkpoint_interval = checkpoint_interval
        self._step_counter, self._last_checkpoint_step = step_counter, last_checkpoint_step
        self._init_fn = init_fn
        self._save_counter_assign = None
        self._max_to_keep = max_to_keep
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._directory = directory
        self._checkpoint_prefix = os.path.join(directory, checkpoint_name)
        self._maybe_delete = collections.OrderedDict()  # path -> time, oldest first
        now = time.time()
        state = get_checkpoint_state(directory)
        if state is None:
            self._latest_checkpoint = None
            # Just before now, so that the first checkpoint can be kept.
            self._last_preserved_timestamp = now - 1.
            return
        self._latest_checkpoint = state.model_checkpoint_path
        self._last_preserved_timestamp = state.last_preserved_timestamp
        if now < self._last_preserved_timestamp:
            logging.warning("time.time() returned a value %f seconds behind the last preserved checkpoint timestamp.",
                            self._last_preserved_timestamp - now)
            self._last_preserved_timestamp = now
        paths = state.all_model_checkpoint_paths
        times = state.all_model_checkpoint_timestamps or [self._last_preserved_timestamp] * len(paths)
        for path, written in zip(paths, times):
            written = min(written, now)
            if written > self._last_preserved_timestamp:
                self._maybe_delete[path] = written

    @property
    def latest_checkpoint(self):
        return self._latest_checkpoint

    @property
    def checkpoints(self):
        """Paths of the checkpoints that may still be deleted, oldest first."""
        return list(self._maybe_delete)

    @property
    def directory(self):
        """Where the checkpoints are."""
        return self._directory

    @property
    def checkpoint_interval(self):
        """How many steps lie between checkpoints, or None."""
        return self._checkpoint_interval

    @property
    def checkpoint(self):
        """What is saved."""
        return self._checkpoint

    @property
    def _prefix(self):
        return self._checkpoint_prefix

    def _sweep(self):
        while self._max_to_keep and len(self._maybe_delete) > self._max_to_keep:
            path, written = self._maybe_delete.popitem(last=False)
            period = (self._keep_checkpoint_every_n_hours or 0) * 3600.
            if period and written - period >= self._last_preserved_timestamp:
                self._last_preserved_timestamp = written
                continue
            _delete_file_if_exists(path + ".index")
            _delete_file_if_exists(path + ".data-?????-of-?????")

    def _record_state(self):
        update_checkpoint_state_internal(
            self._directory, model_checkpoint_path=self.latest_checkpoint,
            all_model_checkpoint_paths=list(self._maybe_delete),
            all_model_checkpoint_timestamps=list(self._maybe_delete.values()),
            last_preserved_timestamp=self._last_preserved_timestamp, save_relative_paths=True)

    def _incremented_save_counter(self):
        """The checkpoint's counter, one more than before."""
        if context.executing_eagerly():
            save_counter = self._checkpoint.save_counter
            save_counter.assign_add(1)
            return save_counter
        session = ops.get_default_session()

        def initialized(next_creator, **kwargs):
            v = next_creator(**kwargs)
            session.run(v.initializer)
            return v

        with variable_scope.variable_creator_scope(initialized):
            save_counter = self._checkpoint.save_counter
        if self._save_counter_assign is None:
            self._save_counter_assign = save_counter.assign_add(1, read_value=False)
        session.run(self._save_counter_assign)
        return save_counter

    def _step(self):
        return training_util.global_step(sess=ops.get_default_session(), global_step_tensor=self._step_counter)

    def _is_due(self, check_interval):
        if self._checkpoint_interval is None:
            return True
        step, last = self._step(), self._last_checkpoint_step
        if last is not None and (step == last or check_interval and step < last + self._checkpoint_interval):
            return False
        self._last_checkpoint_step = step
        return True

    def save(self, checkpoint_number=None, check_interval=True, options=None):
        """Writes a checkpoint, deletes what is too old, and returns the path; None if the next one is not due yet.

        check_interval: false asks for one at any step but that of the last one.
        """
        if not self._is_due(check_interval):
            return None
        save_counter = self._incremented_save_counter()
        if checkpoint_number is None:
            checkpoint_number = save_counter
        if not isinstance(checkpoint_number, compat.integral_types):
            checkpoint_number = training_util.global_step(sess=ops.get_default_session(),
                                                          global_step_tensor=checkpoint_number)
        prefix = "%s-%d" % (self._prefix, checkpoint_number)
        if options is None:
            path = self._checkpoint.write(prefix)
            self._written(path)
            return path
        return self._checkpoint.write(prefix, options=options.with_callback(self._written))

    def _written(self, path):
        self._maybe_delete.pop(path, None)
        self._maybe_delete[path] = time.time()
        self._latest_checkpoint = path
        # Recorded before and after deletion: a crash in between leaves a state that names existing files.
        self._record_state()
        self._sweep()
        self._record_state()

    def restore_or_initialize(self):
        """Restores the newest checkpoint and returns its path; if there is none, calls `init_fn` and returns None."""
        if self._latest_checkpoint is not None:
            self._checkpoint.restore(self._latest_checkpoint)
            if self._checkpoint_interval is not None:
                self._last_checkpoint_step = self._step()
            return self._latest_checkpoint
        if self._init_fn is not None:
            self._init_fn()
            logging.info("Customized initialization is done through the passed `init_fn`.")
        return None

    def sync(self):
        """Waits for a checkpoint that is written beside the program."""
        self._checkpoint.sync()
