"""tf.switch_case: a Case operation whose branches are functions."""
from penstock.framework import function
from penstock.framework import gen
from penstock.framework import ops
from penstock.ops import array_ops
from penstock.util import nest


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


class _Branch:
    """What a function returns, built as the body of one."""

    def __init__(self, name, fn):
        outer = ops.get_default_graph()

        def body():
            self.structure = fn()
            if self.structure is None:
                raise ValueError("a branch must have a return value")
            return nest.flatten(self.structure, expand_composites=True)

        self.name = name
        self.graph = function.func_graph_from_py_func(body, [], [], name, collections_ref=outer._collections)

    def as_function(self, captured):
        """The function with these outer tensors as arguments."""
        graph = self.graph
        inputs = [graph.capture(tensor) for tensor in captured]
        results = [t._key for t in graph.outputs]
        data = graph._core.to_function(self.name, None, [t._key for t in inputs], results, (), [], {}, "", False)
        from penstock import proto
        result = function._from_definition(proto.message("tensorflow.FunctionDef").FromString(data))
        result._sub_functions = list(graph._functions.values())
        result._stateful_ops = [(op.name, op.type) for op in graph.get_operations() if op._is_stateful]
        return result


def indexed_case(branch_index, branch_fns, name="indexed_case"):
    """What the branch number `branch_index` returns, the last one's result if there is none of this number."""
    graph = ops.get_default_graph()
    with ops.name_scope(name) as scope:
        branches = [_Branch(f"{scope}branch{i}_{ops.uid()}".replace("/", "_"), fn) for i, fn in enumerate(branch_fns)]
        for branch in branches[1:]:
            nest.assert_same_structure(branches[0].structure, branch.structure, expand_composites=True)
            for i, (a, b) in enumerate(zip(branches[0].graph.outputs, branch.graph.outputs)):
                if a.dtype != b.dtype:
                    raise TypeError(f"{branches[0].name} and {branch.name} arguments to tf.switch_case must have "
                                    f"outputs of the same type: output {i} is {a.dtype.name} and {b.dtype.name}")
        captured = []
        for branch in branches:
            captured.extend(t for t in branch.graph.extra_inputs if not any(t is other for other in captured))
        functions = [branch.as_function(captured) for branch in branches]
        for made in functions:
            made.add_to_graph(graph)
        outputs = branches[0].graph.outputs
        shapes = [_common_shape([branch.graph.outputs[i].shape for branch in branches]) for i in range(len(outputs))]
        build = gen.case if any(made.stateful_ops for made in functions) else gen.stateless_case
        results = build(branch_index, captured, [t.dtype for t in outputs], functions, output_shapes=shapes, name=scope)
        if isinstance(results, ops.Operation):
            return results
        results[0].op._set_attr("_lower_using_switch_merge", results[0].op._set_attr_value(b=True))
        results = [array_ops.identity(t) for t in results]
    return nest.pack_sequence_as(branches[0].structure, results, expand_composites=True)


def _common_shape(shapes):
    from penstock.framework import tensor_shape
    result = shapes[0]
    for shape in shapes[1:]:
        if result.ndims is None or shape.ndims != result.ndims:
            return tensor_shape.unknown_shape()
        result = tensor_shape.TensorShape([a if a == b else None for a, b in zip(result.as_list(), shape.as_list())])
    return result


def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """What the function number `branch_index` returns; `default`, or the last function, if there is none of this
    number."""
    branch_fns = _checked_branches(branch_fns, default, branch_index)
    with ops.name_scope(name, "case", [branch_index]):
        if ops.executing_eagerly():
            index = int(branch_index.numpy())
            return branch_fns[index if 0 <= index < len(branch_fns) else len(branch_fns) - 1]()
        return indexed_case(branch_index, branch_fns)
