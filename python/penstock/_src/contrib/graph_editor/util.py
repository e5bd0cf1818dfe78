"""Control outputs, placeholders for tensors, and the corresponding elements of two graphs."""
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.ops.queues.op_selector import check_graphs as check_graphs
from penstock._src.ops.queues.op_selector import concatenate_unique as concatenate_unique
from penstock._src.ops.queues.op_selector import get_consuming_ops as get_consuming_ops
from penstock._src.ops.queues.op_selector import get_generating_ops as get_generating_ops
from penstock._src.ops.queues.op_selector import get_tensors as get_tensors
from penstock._src.ops.queues.op_selector import get_unique_graph as get_unique_graph
from penstock._src.ops.queues.op_selector import is_iterable as is_iterable
from penstock._src.ops.queues.op_selector import make_list_of_op as make_list_of_op
from penstock._src.ops.queues.op_selector import make_list_of_t as make_list_of_t

_PREFIX = "geph"


class ListView:
    """A list that cannot be changed."""

    def __init__(self, list_):
        if not isinstance(list_, list):
            raise TypeError("Expected a list, got: {}.".format(type(list_)))
        self._list = list_

    def __iter__(self):
        return iter(self._list)

    def __len__(self):
        return len(self._list)

    def __bool__(self):
        return bool(self._list)

    def __getitem__(self, i):
        return self._list[i]

    def __add__(self, other):
        return [*self._list, *other]


class ControlOutputs:
    """Which operations of a graph wait for which others."""

    def __init__(self, graph):
        """TypeError if `graph` is no graph."""
        if not isinstance(graph, ops.Graph):
            raise TypeError("Expected a tf.Graph, got: {}".format(type(graph)))
        self._graph = graph
        self._control_outputs = {}
        self._version = None
        self.update()

    def update(self):
        """Looks again if the graph has grown; returns itself."""
        if self._version != self._graph.version:
            self._control_outputs.clear()
            for op in self._graph.get_operations():
                for before in op.control_inputs:
                    concatenate_unique(self._control_outputs.setdefault(before, []), [op])
            self._version = self._graph.version
        return self

    def get_all(self):
        """{operation: those that wait for it}."""
        return self._control_outputs

    def get(self, op):
        """The operations that wait for `op`."""
        return self._control_outputs.get(op, ())

    @property
    def graph(self):
        """The graph."""
        return self._graph


def flatten_tree(tree, leaves=None):
    """The leaves of nested dicts and iterables, as a list; added to `leaves` if that is given."""
    leaves = [] if leaves is None else leaves
    if isinstance(tree, dict) or is_iterable(tree):
        for child in tree.values() if isinstance(tree, dict) else tree:
            flatten_tree(child, leaves)
    else:
        leaves.append(tree)
    return leaves


def transform_tree(tree, fn, iterable_type=tuple):
    """Nested dicts and sequences with `fn` applied to the leaves; other iterables become `iterable_type`."""
    if not is_iterable(tree):
        return fn(tree)
    if isinstance(tree, dict):
        return type(tree)((key, transform_tree(child, fn)) for key, child in tree.items())
    children = (transform_tree(child, fn) for child in tree)
    if isinstance(tree, tuple) and hasattr(tree, "_asdict"):
        return type(tree)(*children)
    return (type(tree) if isinstance(tree, (list, tuple)) else iterable_type)(children)


def scope_finalize(scope):
    """A scope's name with a slash at its end, unless it is empty."""
    return scope + "/" if scope and scope[-1] != "/" else scope


def scope_dirname(scope):
    """The part of a name up to its last slash, with that."""
    return scope[:scope.rfind("/") + 1]


def scope_basename(scope):
    """The part of a name behind its last slash."""
    return scope[scope.rfind("/") + 1:]


def placeholder_name(t=None, scope=None, prefix=_PREFIX):
    """The name for a placeholder of a tensor: that of its operation, with prefix and index, in its scope or another.

    TypeError if `t` is no tensor.
    """
    if scope is not None:
        scope = scope_finalize(scope)
    if t is None:
        return (scope or "") + prefix
    if not isinstance(t, ops.Tensor):
        raise TypeError("Expected a tf.Tenfor, got: {}".format(type(t)))
    name = scope_basename(t.op.name)
    if not name.startswith(prefix + "__"):
        name = "{}__{}_{}".format(prefix, name, t.value_index)
    return (scope_dirname(t.op.name) if scope is None else scope) + name


def make_placeholder_from_tensor(t, scope=None, prefix=_PREFIX):
    """A placeholder of a tensor's type and shape in the default graph, named by placeholder_name."""
    return array_ops.placeholder(dtype=t.dtype, shape=t.get_shape(), name=placeholder_name(t, scope, prefix))


def make_placeholder_from_dtype_and_shape(dtype, shape=None, scope=None, prefix=_PREFIX):
    """A placeholder in the default graph."""
    return array_ops.placeholder(dtype=dtype, shape=shape, name=placeholder_name(scope=scope, prefix=prefix))


def get_predefined_collection_names():
    """The names of the collections that tf.GraphKeys lists."""
    keys = ops.GraphKeys
    return [getattr(keys, key) for key in dir(keys) if not key.startswith("__")]


def find_corresponding_elem(target, dst_graph, dst_scope="", src_scope=""):
    """The tensor or operation of another graph that has `target`'s name, one scope replaced by another.

    ValueError if it is not in `src_scope`, KeyError if there is none of that name, TypeError for anything else.
    """
    name, src_scope = target.name, scope_finalize(src_scope)
    if not name.startswith(src_scope):
        raise ValueError("{} does not start with {}".format(name, src_scope))
    name = scope_finalize(dst_scope) + name[len(src_scope):]
    if isinstance(target, ops.Tensor):
        return dst_graph.get_tensor_by_name(name)
    if isinstance(target, ops.Operation):
        return dst_graph.get_operation_by_name(name)
    raise TypeError("Expected tf.Tensor or tf.Operation, got: {}".format(type(target)))


def find_corresponding(targets, dst_graph, dst_scope="", src_scope=""):
    """find_corresponding_elem of all in a nested structure."""
    return transform_tree(targets, lambda top: find_corresponding_elem(top, dst_graph, dst_scope, src_scope))
