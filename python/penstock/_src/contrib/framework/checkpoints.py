"""Variables assigned from checkpoints."""
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.base import tf_logging as logging
from penstock._src.checkpoint import py_checkpoint_reader
from penstock._src.checkpoint import saver as tf_saver


def get_variable_full_name(var):
    """The name of a variable, or of the whole of which it is a part."""
    return var._save_slice_info.full_name if var._save_slice_info else var.op.name


def assign_from_checkpoint(model_path, var_list, ignore_missing_vars=False):
    """(op, feed_dict) that assign a checkpoint's values to variables, a list or {name in the checkpoint: variable(s)}.

    ValueError for names that the checkpoint lacks, unless they are ignored, and for other shapes.
    """
    if isinstance(var_list, (tuple, list)):
        wanted = {}
        for var in var_list:
            wanted.setdefault(get_variable_full_name(var), []).append(var)
    else:
        wanted = {name: value if isinstance(value, (tuple, list)) else [value] for name, value in var_list.items()}
    reader = py_checkpoint_reader.NewCheckpointReader(model_path)
    feed_dict, assignments = {}, []
    for name, group in wanted.items():
        if not reader.has_tensor(name):
            message = "Checkpoint is missing variable [%s]" % name
            if not ignore_missing_vars:
                raise ValueError(message)
            logging.warning(message)
            continue
        whole = reader.get_tensor(name)
        for var in group:
            value, part = whole, var._save_slice_info
            if part:
                value = whole[tuple(slice(start, start + size)
                                    for start, size in zip(part.var_offset, part.var_shape))]
            elif not var.shape.is_compatible_with(tensor_shape.TensorShape(value.shape)):
                raise ValueError("Total size of new array must be unchanged for %s lh_shape: [%s], rh_shape: [%s]" %
                                 (name, value.shape, var.shape))
            holder = array_ops.placeholder(dtype=var.dtype.base_dtype, shape=var.shape,
                                           name="placeholder/" + var.op.name)
            assignments.append(var.assign(holder))
            feed_dict[holder] = value
    return control_flow_ops.group(*assignments), feed_dict


def assign_from_checkpoint_fn(model_path, var_list, ignore_missing_vars=False, reshape_variables=False):
    """A function of a session that restores variables, a list or {name in the checkpoint: variable}.

    None if `ignore_missing_vars` leaves nothing to restore; ValueError if there is nothing to begin with.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        reader = py_checkpoint_reader.NewCheckpointReader(model_path)
        given = var_list if isinstance(var_list, dict) else {var.op.name: var for var in var_list}
        var_list = {name: var for name, var in given.items() if reader.has_tensor(name)}
        for name in given.keys() - var_list.keys():
            logging.warning("Variable %s missing in checkpoint %s", name, model_path)
        if not var_list:
            logging.warning("No Variables to restore")
            return None
    saver = tf_saver.Saver(var_list, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)
