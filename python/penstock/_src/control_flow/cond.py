"""tf.cond and tf.case out of Switch and Merge."""
import collections
import functools

from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import cond_v2
from penstock._src.control_flow import control_flow_ops
from penstock._src.graph import control_flow_util
from penstock._src.core_ops import math_ops
from penstock._src.control_flow import tensor_array_ops
from penstock._src.control_flow.cond_context import CondContext
from penstock._src.base import tf_logging as logging
from penstock._src.base import nest


def _unpacked(result):
    return result[0] if isinstance(result, (list, tuple)) and len(result) == 1 else result


def _one_of(first, second, names):
    if second is not None:
        if first is not None:
            raise TypeError("cond(): %s and %s may not be set simultaneously." % names)
        return second
    if first is None:
        raise TypeError("cond(): %s argument required" % names[0])
    return first


def _same_index_types(a, b):
    """IndexedSlices of both branches get indices of one type."""
    if isinstance(a, ops.IndexedSlices) and isinstance(b, ops.IndexedSlices) and a.indices.dtype != b.indices.dtype:
        a._indices = math_ops.cast(a.indices, dtypes.int64)
        b._indices = math_ops.cast(b.indices, dtypes.int64)


def _check_structures(returned_t, returned_f, result_t, result_f):
    try:
        nest.assert_same_structure(returned_t, returned_f)
    except (TypeError, ValueError):
        pass  # told below
    else:
        nest.map_structure(_same_index_types, returned_t, returned_f)
        nest.map_structure(_same_index_types, result_t, result_f)
    try:
        nest.assert_same_structure(returned_t, returned_f, expand_composites=True)
    except TypeError as e:
        raise TypeError("Incompatible return types of true_fn and false_fn: {}".format(e))
    except ValueError as e:
        raise ValueError("Incompatible return values of true_fn and false_fn: {}".format(e))


def cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None):
    """What `true_fn()` or `false_fn()` returns, as `pred` decides when run; both must return the same structure.

    Only what is built inside the functions is left out with its branch. A list of one is returned as its element,
    unless
    `strict`.
    """
    true_fn = _one_of(true_fn, fn1, ("true_fn", "fn1"))
    false_fn = _one_of(false_fn, fn2, ("false_fn", "fn2"))
    if not callable(true_fn):
        raise TypeError("true_fn must be callable.")
    if not callable(false_fn):
        raise TypeError("false_fn must be callable.")
    if pred is None:
        raise ValueError("The predicate of tf.cond is None: it must be a boolean scalar.")
    if ops.executing_eagerly():
        result = true_fn() if pred else false_fn()
        return result if strict else _unpacked(result)
    if control_flow_util.EnableControlFlowV2(ops.get_default_graph()):
        return cond_v2.cond_v2(pred, true_fn, false_fn, name)
    with ops.name_scope(name, "cond", [pred]):
        if isinstance(pred, bool):
            raise TypeError("pred must not be a Python bool")
        p_false, p_true = control_flow_ops.switch(pred, pred)
        pivot_true = array_ops.identity(p_true, name="switch_t")
        pivot_false = array_ops.identity(p_false, name="switch_f")
        pred = array_ops.identity(pred, name="pred_id")
        for tensor in (p_true, p_false, pivot_true, pivot_false, pred):
            tensor.op.graph.prevent_fetching(tensor.op)
        context_t = CondContext(pred, pivot_true, branch=1)
        returned_t, result_t = context_t.build_branch(true_fn)
        if returned_t is None:
            raise ValueError("true_fn must have a return value.")
        context_f = CondContext(pred, pivot_false, branch=0)
        returned_f, result_f = context_f.build_branch(false_fn)
        if returned_f is None:
            raise ValueError("false_fn must have a return value.")
        if not strict:
            returned_t, returned_f = _unpacked(returned_t), _unpacked(returned_f)
            result_t, result_f = _unpacked(result_t), _unpacked(result_f)
        _check_structures(returned_t, returned_f, result_t, result_f)
        flat_t = nest.flatten(result_t, expand_composites=True)
        flat_f = nest.flatten(result_f, expand_composites=True)
        if not flat_t:
            raise ValueError("true_fn and false_fn must return at least one result.")
        for x, y in zip(flat_t, flat_f):
            if x.dtype.base_dtype != y.dtype.base_dtype:
                raise ValueError("Outputs of true_fn and false_fn must have the same type: %s, %s" %
                                 (x.dtype.name, y.dtype.name))
        merges = [control_flow_ops.merge(pair)[0] for pair in zip(flat_f, flat_t)]
        merges = tensor_array_ops.with_flows(nest.flatten(returned_t, expand_composites=True), merges)
        if context_t.outer_context is None:
            ops.add_to_collection(ops.GraphKeys.COND_CONTEXT, context_t)
            ops.add_to_collection(ops.GraphKeys.COND_CONTEXT, context_f)
        merged = nest.pack_sequence_as(structure=returned_t, flat_sequence=merges, expand_composites=True)
        return merged if strict else _unpacked(merged)


def _assert_at_most_n_true(predicates, n, msg):
    together = array_ops.stack(predicates, name="preds_c")
    count = math_ops.reduce_sum(math_ops.cast(together, dtypes.int32), name="num_true_conds")
    condition = gen.less_equal(count, constant_op.constant(n, name="n_true_conds"))
    names = ", ".join(getattr(p, "name", "?") for p in predicates)
    data = ["%s: more than %d conditions (%s) evaluated as True:" % (msg, n, names), together]
    return control_flow_ops.Assert(condition, data=data, summarize=len(predicates))


def _checked_pairs(pred_fn_pairs, exclusive, name, allow_python_preds=False):
    if not isinstance(pred_fn_pairs, (list, tuple, dict)):
        raise TypeError("fns must be a list, tuple, or dict")
    if isinstance(pred_fn_pairs, collections.OrderedDict):
        pred_fn_pairs = pred_fn_pairs.items()
    elif isinstance(pred_fn_pairs, dict):
        pred_fn_pairs = sorted(pred_fn_pairs.items(), key=lambda item: item[0].name)
        if not exclusive:
            logging.warn("%s: An unordered dictionary of predicate/fn pairs was provided, but exclusive=False. The "
                         "order of conditional tests is deterministic but not guaranteed.", name)
    for pair in pred_fn_pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        pred, function = pair
        if isinstance(pred, ops.Tensor):
            shown = pred.numpy() if pred._is_eager else pred.name
            if pred.dtype != dtypes.bool:
                raise TypeError("pred must be Tensor of type bool: %s" % shown)
        elif not allow_python_preds:
            raise TypeError("pred must be a Tensor, got: %s" % pred)
        elif not isinstance(pred, bool):
            raise TypeError("pred must be a Tensor or bool, got: %s" % pred)
        else:
            shown = pred
        if not callable(function):
            raise TypeError("fn for pred %s must be callable." % shown)
    return zip(*pred_fn_pairs)


def _last_as_default(predicates, actions):
    """Without a default the last action is it, guarded by its own condition."""
    k = len(predicates) - 1

    def default():
        others = ("Implementation error: selected default action #%d was called, but some of other predicates are "
                  "True: " % k)
        none = ("Input error: None of conditions evaluated as True:", array_ops.stack(predicates, name="preds_c"))
        with ops.control_dependencies([_assert_at_most_n_true(predicates[:k], n=0, msg=others),
                                       control_flow_ops.Assert(predicates[k], data=none)]):
            return actions[k]()

    return default, predicates[:k], actions[:k]


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """The function of the first predicate that holds, else `default`; `exclusive` demands that at most one holds."""
    return _case_helper(functools.partial(cond, strict=strict), pred_fn_pairs, default, exclusive, name)


def _case_helper(cond_fn, pred_fn_pairs, default, exclusive, name, allow_python_preds=False):
    """`case` made of `cond_fn(predicate, true_fn, false_fn)`."""
    predicates, actions = _checked_pairs(pred_fn_pairs, exclusive, name, allow_python_preds)
    with ops.name_scope(name, "case", [predicates]):
        if default is None:
            default, predicates, actions = _last_as_default(predicates, actions)
        function = default
        for predicate, action in reversed(list(zip(predicates, actions))):
            function = functools.partial(cond_fn, predicate, true_fn=action, false_fn=function)
        if not exclusive:
            return function()
        with ops.control_dependencies([_assert_at_most_n_true(predicates, n=1, msg="Input error: exclusive=True")]):
            return function()


def cond_for_tf_v2(pred, true_fn=None, false_fn=None, name=None):
    """As cond; what is returned has the structure that the functions return."""
    return cond(pred, true_fn=true_fn, false_fn=false_fn, strict=True, name=name)
