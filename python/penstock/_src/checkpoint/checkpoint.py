"""tf.train.Checkpoint of version 2: with a root, options, and writing beside the program."""
import os
import threading
import weakref

from penstock._src.graph import context
from penstock._src.graph import errors
from penstock._src.graph import ops
from penstock._src.files import file_io
from penstock._src.checkpoint import constants
from penstock._src.checkpoint import checkpoint_management
from penstock._src.ops.state import base
from penstock._src.checkpoint import checkpoint_options
from penstock._src.ops.state import data_structures
from penstock._src.checkpoint import graph_view as graph_view_lib
from penstock._src.checkpoint import util
from penstock._src.checkpoint.util import (  # noqa: F401  (tensorflow.python.checkpoint.checkpoint has them)
    CheckpointLoadStatus, CheckpointV1, InitializationOnlyStatus, NameBasedSaverStatus, TrackableSaver, add_variable,
    capture_dependencies, frozen_saver, gather_initializers, list_objects, object_metadata, saver_with_op_caching,
    streaming_restore)
from penstock._src.base import compat


def _note_as_newest(path):
    checkpoint_management.update_checkpoint_state_internal(
        save_dir=os.path.dirname(path), model_checkpoint_path=path, all_model_checkpoint_paths=[path],
        save_relative_paths=True)


class _Writer:
    """Writes checkpoints beside the program, one at a time."""

    def __init__(self):
        self._thread = None
        self._error = None

    def start(self, write):
        """Runs `write()` in a thread."""
        self.wait()

        def run():
            try:
                with context.eager_mode():
                    write()
            except BaseException as e:
                self._error = e

        # Not a daemon: what was begun is on the disk when the program ends.
        self._thread = threading.Thread(target=run, name="checkpoint")
        self._thread.start()

    def wait(self):
        """Waits for what is being written. Raises what went wrong."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        error, self._error = self._error, None
        if error is not None:
            raise error


class Checkpoint(util.Checkpoint):
    """Groups objects; saves and restores them along their attributes.

        checkpoint = Checkpoint(model, optimizer=optimizer)
        path = checkpoint.save(prefix)
        checkpoint.restore(path).assert_consumed()

    root: the object whose attributes are the checkpoint's; further ones are added to them. Objects that do not exist
    yet are restored when they are made and assigned.
    """

    def __init__(self, root=None, **kwargs):
        attached, objects = [], dict(kwargs)
        target = root() if isinstance(root, weakref.ref) else root
        if root is not None:  # what is held weakly may be gone, which is refused too
            if not isinstance(target, base.Trackable):
                raise ValueError(f"`Checkpoint` was expecting root to be a trackable object (an object derived from "
                                 f"`Trackable`), got {target}. If you believe this object should be trackable (i.e. it "
                                 "is part of the TensorFlow Python API and manages state), please open an issue.")
            target._maybe_initialize_trackable()
            for name, value in sorted(kwargs.items()):
                there = target._lookup_dependency(name)
                if there is not None and there is not value:
                    raise ValueError(f"Cannot create a Checkpoint with keyword argument {name} if root.{name} already "
                                     "exists.")
            objects["root"] = target
        weak = target is not None and isinstance(root, weakref.ref)  # then the root lives as long as the program wants
        if weak:
            del objects["root"]
        super().__init__(**objects)
        if weak:
            self.root = root
            attached.append(base.WeakTrackableReference("root", root))
        self._writer = data_structures.NoDependency(_Writer())
        self._attached = data_structures.NoDependency(attached)
        if target is None:
            return
        self._save_counter = data_structures.NoDependency(target._lookup_dependency("save_counter"))
        for name in sorted(objects):
            if target._lookup_dependency(name) is None:
                attached.append(base.TrackableReference(name, getattr(self, name)))
        cache = None if context.executing_eagerly() else util.object_identity.ObjectIdentityWeakKeyDictionary()
        self._saver = util.TrackableSaver(graph_view_lib.ObjectGraphView(root if weak else target, cache, attached))

    def _maybe_create_save_counter(self):
        had = self._save_counter is not None
        super()._maybe_create_save_counter()
        target = getattr(self, "root", None)
        target = target() if isinstance(target, weakref.ref) else target
        if had or target is None:
            return
        self._attached.append(base.TrackableReference("save_counter", self._save_counter))
        for position in target._deferred_dependencies.pop("save_counter", ())[:1]:
            position.restore(self._save_counter)

    def write(self, file_prefix, options=None, session=None):
        """Writes a checkpoint of this very name; gives the path."""
        options = options or checkpoint_options.CheckpointOptions()
        file_prefix = compat.path_to_str(file_prefix)
        if isinstance(file_prefix, ops.Tensor) and context.executing_eagerly():
            file_prefix = compat.as_str(file_prefix.numpy())
        if options.experimental_enable_async_checkpoint and context.executing_eagerly():
            write = self._saver.snapshot(file_prefix, options.experimental_sharding_callback)

            def finish():
                write()
                options.call_back(file_prefix)

            self._writer.start(finish)
            return file_prefix
        self.sync()
        path = self._write_to(file_prefix, session, options.experimental_sharding_callback)
        options.call_back(path)
        return path

    def sync(self):
        """Waits for a checkpoint that is written beside the program. Raises what went wrong."""
        self._writer.wait()

    def save(self, file_prefix, options=None, session=None):
        """Writes the checkpoint PREFIX-NUMBER and notes it as the newest of its directory; gives the path."""
        options = (options or checkpoint_options.CheckpointOptions()).with_callback(_note_as_newest)
        number = self._next_number(session)
        return self.write("%s-%d" % (compat.path_to_str(file_prefix), number), options, session)

    def read(self, save_path, options=None):
        """Restores what `write` wrote: `restore` without the counter of saves."""
        self.sync()
        return self._saver.restore(
            None if save_path is None else compat.path_to_str(save_path),
            skip_slots=options is not None and options.experimental_skip_slot_variables)

    def restore(self, save_path, options=None):
        """Restores a checkpoint, or the values of a SavedModel; None: nothing. Gives a status, of which
        `assert_consumed()` checks that all matched."""
        given = save_path
        if save_path is not None:
            save_path = compat.path_to_str(save_path)
            if any(file_io.file_exists(os.path.join(save_path, name)) for name in (
                    constants.SAVED_MODEL_FILENAME_PB, constants.SAVED_MODEL_FILENAME_PBTXT)):
                save_path = os.path.join(save_path, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
        try:
            status = self.read(save_path, options)
        except errors.NotFoundError as e:
            raise errors.NotFoundError(
                None, None, f"Error when restoring from checkpoint or SavedModel at {given}: {e.message}\nPlease "
                "double-check that the path is correct. You may be missing the checkpoint suffix (e.g. the '-1' in "
                "'path/to/ckpt-1').") from None
        self._maybe_create_save_counter()
        if isinstance(status, util.NameBasedSaverStatus):
            status.add_to_optionally_restored(self._save_counter)
        return status
