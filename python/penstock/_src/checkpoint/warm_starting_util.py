"""Warm starts: variables that begin with the values of another model's checkpoint."""
import collections

from penstock._src.graph import errors
from penstock._src.graph import ops
from penstock._src.ops.state import partitioned_variable
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variable_scope
from penstock._src.base import tf_logging as logging
from penstock._src.checkpoint import checkpoint_ops
from penstock._src.checkpoint import checkpoint_utils
from penstock._src.checkpoint import saver as saver_lib
from penstock._src.checkpoint import saveable_object_util


class VocabInfo(
        collections.namedtuple("VocabInfo", ["new_vocab", "new_vocab_size", "num_oov_buckets", "old_vocab",
                                             "old_vocab_size", "backup_initializer", "axis"])):
    """How the vocabulary of a variable changed.

    new_vocab, old_vocab: Files with a word a line. old_vocab_size: -1: all lines.
    num_oov_buckets: Rows behind the words. backup_initializer: For what the checkpoint lacks; zeros if None.
    axis: Words are rows (0) or columns (1).
    """

    def __new__(cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size=-1, backup_initializer=None,
                axis=0):
        if axis not in (0, 1):
            raise ValueError("The only supported values for the axis argument are 0 and 1.  Provided axis: {}".format(
                axis))
        return super().__new__(cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size,
                               backup_initializer, axis)


def _infer_var_name(var):
    """The name of the only variable, or of the parts of one, in a list."""
    names = saveable_object_util.op_list_to_dict(var)
    if len(names) > 1:
        raise TypeError("`var` = %s passed as arg violates the constraints.  name_to_var_dict = %s" % (var, names))
    return next(iter(names))


def _as_list(var):
    """The variable, or its parts, in a list."""
    if checkpoint_utils._is_variable(var):
        return [var]
    if isinstance(var, partitioned_variable.PartitionedVariable):
        return list(var)
    if isinstance(var, list) and all(checkpoint_utils._is_variable(v) for v in var):
        return var
    raise TypeError("var MUST be one of the following: a Variable, list of Variable or PartitionedVariable, but is "
                    "{}".format(type(var)))


def _get_var_info(var, prev_tensor_name=None):
    """The name in the checkpoint, and what `init_from_checkpoint` takes."""
    parts = _as_list(var)
    return prev_tensor_name or _infer_var_name(parts), var if checkpoint_utils._is_variable(var) else parts


def _warm_start_var_with_vocab(var, current_vocab_path, current_vocab_size, prev_ckpt, prev_vocab_path,
                               previous_vocab_size=-1, current_oov_buckets=0, prev_tensor_name=None, initializer=None,
                               axis=0):
    """Lets the initializer of a variable take rows or columns of a checkpoint's variable by their words."""
    if not (current_vocab_path and current_vocab_size and prev_ckpt and prev_vocab_path):
        raise ValueError("Invalid args: Must provide all of [current_vocab_path, current_vocab_size, prev_ckpt, "
                         "prev_vocab_path}.")
    if axis not in (0, 1):
        raise ValueError("The only supported values for the axis argument are 0 and 1.  Provided axis: {}".format(axis))
    parts = _as_list(var)
    name = prev_tensor_name or _infer_var_name(parts)
    rows = sum(v.get_shape().as_list()[0] for v in parts)
    for v in parts:
        shape = v.get_shape().as_list()
        info = v._get_save_slice_info()
        partition_info = info and variable_scope._PartitionInfo(full_shape=info.full_shape, var_offset=info.var_offset)
        if axis == 0:
            vocabulary = dict(new_row_vocab_size=current_vocab_size, new_col_vocab_size=shape[1],
                              old_row_vocab_size=previous_vocab_size, old_row_vocab_file=prev_vocab_path,
                              new_row_vocab_file=current_vocab_path, num_row_oov_buckets=current_oov_buckets)
        else:
            vocabulary = dict(new_row_vocab_size=rows, new_col_vocab_size=current_vocab_size,
                              old_col_vocab_file=prev_vocab_path, new_col_vocab_file=current_vocab_path,
                              num_col_oov_buckets=current_oov_buckets)
        make = checkpoint_ops._load_and_remap_matrix_initializer(
            ckpt_path=checkpoint_utils._get_checkpoint_filename(prev_ckpt), old_tensor_name=name,
            initializer=initializer, **vocabulary)
        v._initializer_op = state_ops.assign(v, ops.convert_to_tensor(make(shape=shape, partition_info=partition_info)))


def _get_grouped_variables(vars_to_warm_start):
    """Names to lists of variables: more than one for the parts of one."""
    if vars_to_warm_start is None or isinstance(vars_to_warm_start, str):
        logging.info("Warm-starting variables only in TRAINABLE_VARIABLES.")
        found = ops.get_collection(ops.GraphKeys.TRAINABLE_VARIABLES, scope=vars_to_warm_start)
    elif not isinstance(vars_to_warm_start, list):
        raise ValueError("`vars_to_warm_start must be a `list` or `str`.  Given type is {}".format(
            type(vars_to_warm_start)))
    elif all(isinstance(v, str) for v in vars_to_warm_start):
        found = [v for name in vars_to_warm_start
                 for v in ops.get_collection(ops.GraphKeys.GLOBAL_VARIABLES, scope=name)]
    elif all(checkpoint_utils._is_variable(v) for v in vars_to_warm_start):
        found = vars_to_warm_start
    else:
        raise ValueError("If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types are "
                         "{}".format([type(v) for v in vars_to_warm_start]))
    grouped = {}
    for v in found:
        grouped.setdefault(_infer_var_name(v if isinstance(v, list) else [v]), []).append(v)
    return grouped


def _object_checkpoint_names(path, names):
    """Where an object-based checkpoint has the variables; {} for another checkpoint."""
    try:
        keys = saver_lib.object_graph_key_mapping(checkpoint_utils._get_checkpoint_filename(path))
    except errors.NotFoundError:
        return {}
    missing = set(names) - set(keys)
    if missing:
        raise ValueError("Attempting to warm-start from an object-based checkpoint, but found that the checkpoint did "
                         "not contain values for all variables. The following variables were missing: {}".format(
                             missing))
    return {name: keys[name] for name in names}


def _require_used(given, used, argument, grouped):
    unused = set(given) - used
    if unused:
        raise ValueError("You provided the following variables in {} that were not used: {}.  Perhaps you misspelled "
                         "them?  Here is the list of viable variable names: {}".format(argument, unused,
                                                                                      grouped.keys()))


def warm_start(ckpt_to_initialize_from, vars_to_warm_start=".*", var_name_to_vocab_info=None,
               var_name_to_prev_var_name=None):
    """Changes initializers so that variables begin with values of a checkpoint.

    vars_to_warm_start: A pattern for names of trainable variables, a list of patterns for those of any, a list of
      variables, or None: only those with a VocabInfo.
    var_name_to_vocab_info: {name: VocabInfo} of variables whose vocabulary changed.
    var_name_to_prev_var_name: {name: name in the checkpoint}.
    """
    logging.info("Warm-starting from: %s", ckpt_to_initialize_from)
    grouped = _get_grouped_variables(vars_to_warm_start)
    vocabularies = var_name_to_vocab_info or {}
    old_names = var_name_to_prev_var_name or _object_checkpoint_names(ckpt_to_initialize_from, grouped)
    plain, count = [], 0
    for name, parts in grouped.items():
        old_name, vocabulary = old_names.get(name), vocabularies.get(name)
        if vocabulary:
            _warm_start_var_with_vocab(
                parts, current_vocab_path=vocabulary.new_vocab, current_vocab_size=vocabulary.new_vocab_size,
                prev_ckpt=ckpt_to_initialize_from, prev_vocab_path=vocabulary.old_vocab,
                previous_vocab_size=vocabulary.old_vocab_size, current_oov_buckets=vocabulary.num_oov_buckets,
                prev_tensor_name=old_name, initializer=vocabulary.backup_initializer, axis=vocabulary.axis)
            count += 1
        elif vars_to_warm_start:
            tensor_name, var = _get_var_info(parts[0] if len(parts) == 1 else parts, old_name)
            plain.append((tensor_name, var))
            count += 1
    checkpoint_utils.init_from_checkpoint(ckpt_to_initialize_from, plain)
    logging.info("Warm-started %d variables.", count)
    _require_used(old_names, set(grouped), "var_name_to_prev_var_name", grouped)
    _require_used(vocabularies, set(grouped), "var_name_to_vocab_info", grouped)
