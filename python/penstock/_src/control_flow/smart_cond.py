"""A conditional that is decided at once if its condition is known."""
from penstock._src.graph import tensor_util
from penstock._src.graph.tensor import Tensor


def smart_constant_value(pred):
    """True, False, or None if it depends on the step. TypeError if it is no condition."""
    if pred in (0, 1) if isinstance(pred, (int, bool)) else False:
        return bool(pred)
    if isinstance(pred, Tensor):
        value = tensor_util.constant_value(pred)
        if value is None and not pred._is_eager:  # what the runtime can tell counts too
            known = pred.graph._core.constant_value(*pred._key)
            value = None if known is None else known.numpy()
        return None if value is None else bool(value)
    raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}")


def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    """What one of two functions returns; a conditional in the graph only if the condition is not known."""
    if not callable(true_fn):
        raise TypeError("`true_fn` must be callable.")
    if not callable(false_fn):
        raise TypeError("`false_fn` must be callable.")
    known = smart_constant_value(pred)
    if known is not None:
        return true_fn() if known else false_fn()
    from penstock._src.control_flow import cond as cond_lib
    return cond_lib.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)


def smart_case(pred_fn_pairs, default=None, exclusive=False, name="smart_case"):
    """As tf.case; predicates may be bools, and those whose values are known leave no conditional in the graph."""
    from penstock._src.control_flow import cond
    return cond._case_helper(smart_cond, pred_fn_pairs, default, exclusive, name, allow_python_preds=True)
