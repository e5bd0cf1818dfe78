"""Looking into checkpoints, waiting for them, and initializing variables from them."""
import collections.abc
import time

from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.ops.state import resource_variable_ops
from penstock._src.ops.state import variable_scope as vs
from penstock._src.ops.state import variables
from penstock._src.files import gfile
from penstock._src.base import tf_logging as logging
from penstock._src.checkpoint import checkpoint_management
from penstock._src.checkpoint import py_checkpoint_reader
from penstock._src.checkpoint import saveable_object_util

__all__ = ["checkpoints_iterator", "init_from_checkpoint", "list_variables", "load_checkpoint", "load_variable"]


def _get_checkpoint_filename(ckpt_dir_or_file):
    """The newest checkpoint of a directory; a path as it is."""
    if gfile.IsDirectory(ckpt_dir_or_file):
        return checkpoint_management.latest_checkpoint(ckpt_dir_or_file)
    return ckpt_dir_or_file


def load_checkpoint(ckpt_dir_or_file):
    """A CheckpointReader. ValueError if the directory has no checkpoint."""
    path = _get_checkpoint_filename(ckpt_dir_or_file)
    if path is None:
        raise ValueError("Couldn't find 'checkpoint' file or checkpoints in given directory %s" % ckpt_dir_or_file)
    return py_checkpoint_reader.NewCheckpointReader(path)


def load_variable(ckpt_dir_or_file, name):
    """The value of one variable."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name[:-2] if name.endswith(":0") else name)


def list_variables(ckpt_dir_or_file):
    """Pairs of name and shape, by name."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def wait_for_new_checkpoint(checkpoint_dir, last_checkpoint=None, seconds_to_sleep=1, timeout=None):
    """The newest checkpoint, once it is another than `last_checkpoint`; None after the time."""
    logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    deadline = None if timeout is None else time.time() + timeout
    while True:
        path = checkpoint_management.latest_checkpoint(checkpoint_dir)
        if path is not None and path != last_checkpoint:
            logging.info("Found new checkpoint at %s", path)
            return path
        if deadline is not None and time.time() + seconds_to_sleep > deadline:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(checkpoint_dir, min_interval_secs=0, timeout=None, timeout_fn=None):
    """Checkpoints as they are written. After `timeout` seconds without one it ends, if `timeout_fn()` says so."""
    path = None
    while True:
        new_path = wait_for_new_checkpoint(checkpoint_dir, path, timeout=timeout)
        if new_path is None:
            if not timeout_fn:
                logging.info("Timed-out waiting for a checkpoint.")
                return
            if timeout_fn():
                return
            continue
        start = time.time()
        path = new_path
        yield path
        rest = start + min_interval_secs - time.time()
        if rest > 0:
            time.sleep(rest)


def _is_variable(x):
    return isinstance(x, variables.Variable) or resource_variable_ops.is_resource_variable(x)


def _partitions(name, store):
    """The parts of a partitioned variable, or None."""
    parts = []
    while name + "/part_%d" % len(parts) in store:
        parts.append(store[name + "/part_%d" % len(parts)])
    return parts or None


def init_from_checkpoint(ckpt_dir_or_file, assignment_map):
    """Changes the initializers of variables so that they read a checkpoint.

    assignment_map: {name in the checkpoint: variable, its name or its parts}, {"scope/": "other_scope/"}, or
    {"/": "scope/"}; or pairs of these, in a list, where a name in the checkpoint may come twice.
    ValueError: something is not in the checkpoint, or has another shape.
    """
    path = _get_checkpoint_filename(ckpt_dir_or_file)
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    store = vs._get_default_variable_store()._vars
    pairs = assignment_map.items() if isinstance(assignment_map, collections.abc.Mapping) else assignment_map
    for saved_name, current in sorted(pairs, key=lambda item: item[0]):
        if _is_variable(current) or isinstance(current, list) and all(_is_variable(v) for v in current):
            var = current
        else:
            var = store.get(current, None)
            if var is None:
                var = _partitions(current, store)
        if var is None:
            _init_scope(saved_name, current, path, shapes, store, ckpt_dir_or_file)
            continue
        if saved_name not in shapes:
            raise ValueError("Tensor %s is not found in %s checkpoint %s" % (saved_name, ckpt_dir_or_file, shapes))
        if _is_variable(var) and not var.get_shape().is_compatible_with(shapes[saved_name]):
            raise ValueError("Shape of variable %s (%s) doesn't match with shape of tensor %s (%s) from checkpoint "
                             "reader." % (var.name, str(var.get_shape()), saved_name, str(shapes[saved_name])))
        _set_initializers(var, path, saved_name)


def _init_scope(saved_scope, current_scope, path, shapes, store, checkpoint):
    """All variables below a scope."""
    scope = current_scope[:current_scope.rindex("/")] if "/" in current_scope else ""
    if not saved_scope.endswith("/"):
        raise ValueError("Assignment map with scope only name {} should map to scope only {}. Should be 'scope/': "
                         "'other_scope/'.".format(scope, saved_scope))
    names = {name.partition("/part_")[0] for name in store if not scope or name.startswith(scope + "/")}
    for name in sorted(names):
        # With the scope taken off; without one, the name has no slash in front.
        rest = name[len(scope):]
        if current_scope != "/":
            rest = rest[1:]
        full = (rest if saved_scope == "/" else saved_scope + rest).rstrip("/")
        if full not in shapes:
            raise ValueError("Tensor %s (%s in %s) is not found in %s checkpoint" %
                             (full, name[len(scope) + 1:], saved_scope, checkpoint))
        var = store.get(name, None)
        _set_initializers(_partitions(name, store) if var is None else var, path, full)


def _set_initializers(variable_or_list, path, tensor_name):
    if not isinstance(variable_or_list, (list, tuple)):
        _set_checkpoint_initializer(variable_or_list, path, tensor_name, "")
        return
    full_name = None
    for var in variable_or_list:
        info = var._save_slice_info
        if full_name not in (None, info.full_name):
            raise ValueError("Slices must all be from the same tensor: %s != %s" % (full_name, info.full_name))
        full_name = info.full_name
        _set_checkpoint_initializer(var, path, tensor_name, info.spec)


def _set_checkpoint_initializer(variable, ckpt_file, tensor_name, slice_spec, name="checkpoint_initializer"):
    """Makes the variable's initializer read a tensor, or a part of it, from a checkpoint."""
    # On the CPU of the machine that has the variable.
    with ops.device(variable.device), ops.device("/cpu:0"):
        value = gen.restore_v2(ckpt_file, [tensor_name], [slice_spec], [variable.dtype.base_dtype], name=name)[0]
        saveables = [saveable for key, op in saveable_object_util.op_list_to_dict([variable]).items()
                     for saveable in saveable_object_util.saveable_objects_for_op(op, key)]
        assert len(saveables) == 1
    variable._initializer_op = saveables[0].restore([value], None)
    value.set_shape(variable.shape)
    variable._initial_value = value
