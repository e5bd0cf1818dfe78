"""Where iterators stand, in checkpoints of version 1."""
from penstock._src.data.ops import iterator_ops
from penstock._src.graph import gen, ops
from penstock._src.training import basic_session_run_hooks, session_run_hook
from penstock._src.checkpoint import checkpoint_management, saver
from penstock._src.ops.state import saveable_object


def make_saveable_from_iterator(iterator, external_state_policy=None):
    """What a Saver saves of an iterator, for the collection SAVEABLE_OBJECTS."""
    return _Saveable(iterator._iterator_resource, external_state_policy)


class _Saveable(saveable_object.SaveableObject):
    def __init__(self, iterator_resource, external_state_policy=None):
        state = iterator_ops.serialized(iterator_resource, external_state_policy)
        super().__init__(iterator_resource, [saveable_object.SaveSpec(state, "", iterator_resource.name + "-state")],
                         iterator_resource.name)

    def restore(self, restored_tensors, restored_shapes):
        """The operation that puts the iterator there again."""
        with ops.colocate_with(self.op):
            return gen.deserialize_iterator(self.op, restored_tensors[0])


class CheckpointInputPipelineHook(session_run_hook.SessionRunHook):
    """Saves all iterators of the graph whenever the estimator saves its model, in files of their own beside it.

    If both save by steps, training that was killed at any moment goes on as if it had not been.
    """

    def __init__(self, estimator, external_state_policy=None):
        config = estimator._config
        prefix = "input"
        if config.num_worker_replicas > 1:
            prefix += f"_{config.task_type}_{config.task_id}"
        self._checkpoint_saver_hook = basic_session_run_hooks.CheckpointSaverHook(
            estimator.model_dir, save_secs=config.save_checkpoints_secs, save_steps=config.save_checkpoints_steps,
            checkpoint_basename=prefix + ".ckpt")
        self._latest_filename = "checkpoint_" + prefix
        self._external_state_policy = external_state_policy
        self._first_run = True

    def begin(self):
        """Makes the saver."""
        hook = self._checkpoint_saver_hook
        if hook._saver is None and hook._scaffold is None:
            saveables = [_Saveable(i, self._external_state_policy)
                         for i in ops.get_collection(iterator_ops.GLOBAL_ITERATORS)]
            hook._saver = _CustomSaver(saveables, self._latest_filename)
        hook.begin()

    def after_create_session(self, session, coord):
        """The iterators' initializers have yet to run."""
        self._first_run = True

    def before_run(self, run_context):
        """Restores the iterators before the first step, or saves them if there is nothing to restore."""
        if self._first_run:
            self._restore_or_save(run_context.session)
            self._first_run = False
        return self._checkpoint_saver_hook.before_run(run_context)

    def _restore_or_save(self, session):
        hook = self._checkpoint_saver_hook
        latest = checkpoint_management.latest_checkpoint(hook._checkpoint_dir, latest_filename=self._latest_filename)
        step = session.run(hook._global_step_tensor)
        if latest:
            # What was saved last is ahead of the model if the program was killed between the two.
            of_step = f"{hook._save_path}-{step}"
            hook._get_saver().restore(
                session, of_step if checkpoint_management.checkpoint_exists(of_step) else latest)
        else:
            hook._save(session, step)
        hook._timer.update_last_triggered_step(step)

    def after_run(self, run_context, run_values):
        """Saves when it is time."""
        self._checkpoint_saver_hook.after_run(run_context, run_values)

    def end(self, session):
        """Saves once more."""
        self._checkpoint_saver_hook.end(session)


class _CustomSaver(saver.Saver):
    """A saver that keeps its list of checkpoints in a file of its own."""

    def __init__(self, var_list, latest_filename):
        super().__init__(var_list)
        self._latest_filename = latest_filename

    def save(self, sess, save_path, global_step=None, latest_filename=None, meta_graph_suffix="meta",
             write_meta_graph=True, write_state=True, strip_default_attrs=False, save_debug_info=False):
        """As Saver.save."""
        return super().save(sess, save_path, global_step, latest_filename or self._latest_filename, meta_graph_suffix,
                            write_meta_graph, write_state, strip_default_attrs)
