"""tf.switch_case: a Case operation whose branches are functions."""
from penstock._src.graph import ops
from penstock._src.control_flow.cond_v2 import indexed_case


def _checked_branches(branch_fns, default, branch_index):
    """The branches in order, the default last."""
    if not isinstance(branch_index, ops.Tensor):
        raise TypeError("branch_index must a Tensor, got {}".format(type(branch_index)))
    if not branch_index.dtype.is_integer:
        raise TypeError("branch_index must an integer Tensor, got {}".format(branch_index.dtype))
    if not branch_fns:
        raise ValueError("Must provide at least one item in branch_fns")
    if not isinstance(branch_fns, (list, tuple, dict)):
        raise TypeError("branch_fns must be a list, tuple, or dict")
    if isinstance(branch_fns, dict):
        branch_fns = branch_fns.items()
    if all(callable(fn) for fn in branch_fns):
        branch_fns = list(enumerate(branch_fns))
    for pair in branch_fns:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in branch_fns must be a 2-tuple")
        key, fn = pair
        if not isinstance(key, int):
            raise TypeError("key must be a Python `int`, got {}".format(type(key)))
        if not callable(fn):
            raise TypeError("fn for key {} must be callable.".format(key))
    keys = [key for key, _ in branch_fns]
    if min(keys) < 0 or max(keys) >= len(keys) or len(set(keys)) != len(keys):
        raise ValueError("branch indices (keys) must form contiguous range of [0 to {}) but found {{{}}}".format(
            len(keys), ",".join(map(str, sorted(keys)))))
    actions = [fn for _, fn in sorted(branch_fns, key=lambda pair: pair[0])]
    if default is not None:
        actions.append(default)
    return actions


def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """What the function number `branch_index` returns; `default`, or the last function, if there is none of this
    number."""
    branch_fns = _checked_branches(branch_fns, default, branch_index)
    with ops.name_scope(name, "case", [branch_index]):
        if ops.executing_eagerly():
            index = int(branch_index.numpy())
            return branch_fns[index if 0 <= index < len(branch_fns) else len(branch_fns) - 1]()
        return indexed_case(branch_index, branch_fns)


def execute_fn_for_device(device_branch_fns, default_fn, name="execute_fn"):
    """What the function for CPUs in `device_branch_fns` ({type of device: function}) returns, or else `default_fn`."""
    with ops.name_scope(name, "execute_fn"):
        return {kind.upper(): fn for kind, fn in device_branch_fns.items()}.get("CPU", default_fn)()
