"""Lists of operations and tensors of a graph, and the operations that lie behind others."""
from penstock._src.graph import ops


def is_iterable(obj):
    """Whether `obj` can be iterated over; a tensor is one thing."""
    if isinstance(obj, ops.Tensor):
        return False
    try:
        iter(obj)
    except Exception:  # whatever an object's own __iter__ raises
        return False
    return True


def concatenate_unique(first, second):
    """`first`, a list, with those of `second` added that it lacks, in their order."""
    known = set(first)
    for item in second:
        if item not in known:
            first.append(item)
            known.add(item)
    return first


def get_tensors(graph):
    """All outputs of a graph's operations. TypeError if it is no graph."""
    if not isinstance(graph, ops.Graph):
        raise TypeError("Expected a graph, got: {}".format(type(graph)))
    return [tensor for op in graph.get_operations() for tensor in op.outputs]


def get_unique_graph(tops, check_types=None, none_if_empty=False):
    """The graph of operations and tensors (or of the given types): TypeError for others, ValueError if there are
    several graphs, or none and `none_if_empty` is not set."""
    if isinstance(tops, ops.Graph):
        return tops
    if not is_iterable(tops):
        raise TypeError("{} is not iterable".format(type(tops)))
    if check_types is None:
        check_types = (ops.Operation, ops.Tensor)
    elif not is_iterable(check_types):
        check_types = (check_types,)
    graph = None
    for item in tops:
        if not isinstance(item, tuple(check_types)):
            raise TypeError("Expected a type in ({}), got: {}".format(", ".join(map(str, check_types)), type(item)))
        if graph is None:
            graph = item.graph
        elif graph is not item.graph:
            raise ValueError("Operation {} does not belong to given graph".format(item))
    if graph is None and not none_if_empty:
        raise ValueError("Can't find the unique graph of an empty list")
    return graph


def check_graphs(*args):
    """ValueError unless all that have a graph have the same."""
    graph = None
    for i, item in enumerate(args):
        if graph is None and item.graph is not None:
            graph = item.graph
        elif item.graph is not None and item.graph is not graph:
            raise ValueError("Argument[{}]: Wrong graph!".format(i))


def make_list_of_op(tops, check_graph=True, allow_graph=True, ignore_ts=False):
    """The operations of a graph, of a list or a single one.

    TypeError for what is none, a graph unless `allow_graph`, or a tensor unless `ignore_ts`, which leaves them out.
    """
    return _list(tops, ops.Operation, ops.Graph.get_operations, check_graph, allow_graph, ignore_ts)


def make_list_of_t(ts, check_graph=True, allow_graph=True, ignore_ops=False):
    """The tensors of a graph, of a list or a single one; as make_list_of_op."""
    return _list(ts, ops.Tensor, get_tensors, check_graph, allow_graph, ignore_ops)


def _list(items, kind, of_graph, check_graph, allow_graph, ignore_others):
    if isinstance(items, ops.Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return of_graph(items)
    if not is_iterable(items):
        items = [items]
    items = list(items)
    if not items:
        return []
    if check_graph:
        get_unique_graph(items, check_types=None if ignore_others else kind)
    return [item for item in items if isinstance(item, kind)]


def get_generating_ops(ts):
    """The operation of each tensor. TypeError if one is no tensor."""
    return [tensor.op for tensor in make_list_of_t(ts, allow_graph=False)]


def get_consuming_ops(ts):
    """The operations that use one of the tensors. TypeError if one is no tensor."""
    found = []
    for tensor in make_list_of_t(ts, allow_graph=False):
        concatenate_unique(found, tensor.consumers())
    return found


def walk(seed_ops, from_tensors, neighbours, inclusive=True, within_ops=None, within_ops_fn=None):
    """The operations that are reached from some, breadth first.

    seed_ops: operations, or tensors, which `from_tensors` turns into operations. neighbours: those next to one.
    within_ops, within_ops_fn: a list of those that may be entered, and a test of them. TypeError for what is neither
    an operation nor a tensor.
    """
    if not is_iterable(seed_ops):
        seed_ops = [seed_ops]
    seed_ops = list(seed_ops)
    if not seed_ops:
        return []
    if isinstance(seed_ops[0], ops.Tensor):
        seed_ops = from_tensors(seed_ops)
    seeds = dict.fromkeys(make_list_of_op(seed_ops, allow_graph=False))
    within = frozenset(make_list_of_op(within_ops, allow_graph=False)) if within_ops else None
    if within is not None:
        seeds = dict.fromkeys(op for op in seeds if op in within)
    found = dict(seeds)
    wave = seeds
    while wave:
        wave = dict.fromkeys(
            op for last in wave for op in neighbours(last)
            if op not in found and (within is None or op in within) and (within_ops_fn is None or within_ops_fn(op)))
        found.update(wave)
    return [op for op in found if inclusive or op not in seeds]


def is_differentiable(op):
    """Whether operations of its type have a gradient."""
    try:
        return ops.get_gradient_function(op) is not None
    except LookupError:
        return False


def get_backward_walk_ops(seed_ops, inclusive=True, within_ops=None, within_ops_fn=None, stop_at_ts=(),
                          control_inputs=False, only_differentiable=False):
    """The operations that `seed_ops` (operations or tensors) are computed of, and themselves unless `inclusive` is
    False.

    within_ops, within_ops_fn: those that may be entered. stop_at_ts: tensors behind which nothing is looked for.
    control_inputs: whether these count as inputs; not together with `only_differentiable`, under which an operation
    without gradient counts as having no inputs. TypeError for what is neither operation nor tensor.
    """
    stop_at_ts = frozenset(make_list_of_t(stop_at_ts))

    def neighbours(op):
        inputs = () if only_differentiable and not is_differentiable(op) else op.inputs
        behind = [tensor.op for tensor in inputs if tensor not in stop_at_ts]
        return [*behind, *op.control_inputs] if control_inputs and not only_differentiable else behind

    return walk(seed_ops, get_generating_ops, neighbours, inclusive, within_ops, within_ops_fn)
