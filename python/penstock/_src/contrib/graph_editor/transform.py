"""Copies of parts of a graph, in it or into another, with changes on the way."""
import copy as copy_module

from penstock._src.contrib.graph_editor import reroute
from penstock._src.contrib.graph_editor import select
from penstock._src.contrib.graph_editor import subgraph
from penstock._src.contrib.graph_editor import util
from penstock._src.graph import ops as framework_ops


def replace_t_with_placeholder_handler(info, t):
    """A placeholder for a tensor from without."""
    with info.graph_.as_default():
        return util.make_placeholder_from_tensor(t, scope=info.scope_)


def keep_t_if_possible_handler(info, t):
    """A tensor from without itself, or a placeholder if the copy is made in another graph."""
    return t if info.graph is info.graph_ else replace_t_with_placeholder_handler(info, t)


def assign_renamed_collections_handler(info, elem, elem_):
    """Adds the copy of an element to the collections that the element is in, those of the program's own renamed."""
    known = util.get_predefined_collection_names()
    for name, collection in info.collections.items():
        if any(elem is member for member in collection):
            info.graph_.add_to_collection(name if name in known else info.new_name(name), elem_)


def transform_op_if_inside_handler(info, op, keep_if_possible=True):
    """The copy of an operation; one from without itself in the same graph, or None."""
    if op in info.ops:
        return info.transformed_ops[op]
    return op if keep_if_possible and info.graph is info.graph_ else None


def copy_op_handler(info, op, new_inputs, copy_shape=False, nodedef_fn=None):
    """A copy of an operation with other inputs: the operation and its outputs.

    nodedef_fn: changes the NodeDef. copy_shape: whether the outputs get the known shapes of the original's. TypeError
    if `new_inputs` cannot be iterated over.
    """
    if isinstance(new_inputs, bool):
        raise TypeError("the `new_inputs` argument must be an iterable.")
    node = copy_module.deepcopy(op.node_def)
    graph = info.graph_
    node.name = graph.unique_name(info.new_name(op.name))
    if nodedef_fn is not None:
        node = nodedef_fn(node)
    with graph.as_default(), framework_ops.control_dependencies(None), graph.colocate_with(None, True), \
            graph.device(None):
        result = graph.create_op(node.op, list(new_inputs), op._output_types, op._input_types, name=node.name + "/",
                                 attrs=dict(node.attr))
    result._set_device(node.device)
    if copy_shape:
        for tensor, new in zip(op.outputs, result.outputs):
            new.set_shape(tensor.get_shape())
    result._original_op = op._original_op
    return result, result.outputs


class TransformerInfo:
    """What became of which operation and tensor."""

    def __init__(self, info):
        self._graph, self._scope = info.graph, info.scope
        self._graph_, self._scope_ = info.graph_, info.scope_
        self._transformed_ops, self._transformed_ts = info.transformed_ops, info.transformed_ts

    def _map(self, top):
        if isinstance(top, framework_ops.Operation):
            return self._transformed_ops
        if isinstance(top, framework_ops.Tensor):
            return self._transformed_ts
        raise TypeError("Expected a tf.Tensor or a tf.Operation, got a {}".format(type(top)))

    def transformed(self, original, missing_fn=None):
        """The copies of operations and tensors, which may be nested; where there is none, None or missing_fn(it)."""
        def find(top):
            known = self._map(top)
            return known[top] if top in known else None if missing_fn is None else missing_fn(top)

        return util.transform_tree(original, find)

    def original(self, transformed, missing_fn=None):
        """What operations and tensors, which may be nested, are copies of."""
        def find(top):
            for one, other in self._map(top).items():
                if other is top:
                    return one
            return None if missing_fn is None else missing_fn(top)

        return util.transform_tree(transformed, find)

    def __str__(self):
        lines = ["Transform result info:"]
        if self._graph is self._graph_:
            lines.append("  Within graph[{}]{}".format(id(self._graph), "" if self._scope_ else " IN-PLACE"))
        else:
            lines.append("  graph[{}] => graph[{}]".format(id(self._graph), id(self._graph_)))
        if self._scope:
            lines.append("  Relative to source scope: {}".format(self._scope))
        if self._scope_:
            lines.append("  Scope destination: {}".format(self._scope_))
        lines.append("Operations mapping:")
        lines += ["  {} => {}".format(op.name, new.name) for op, new in self._transformed_ops.items()]
        return "\n".join([*lines, ""])


class _Info:
    """What the handlers of a Transformer see; an underscore at the end marks what is the copy's."""

    def __init__(self, sgv, dst_graph, dst_scope, src_scope):
        self.sgv = sgv
        self.sgv_inputs_set = frozenset(sgv.inputs)
        self.ops = frozenset(sgv.ops)
        self.control_outputs = util.ControlOutputs(sgv.graph)
        self.graph, self.scope = sgv.graph, src_scope
        self.graph_, self.scope_ = dst_graph, dst_scope
        self.transformed_ops, self.transformed_ts = {}, {}
        self.collections = {key: self.graph.get_collection(key) for key in self.graph.get_all_collection_keys()}
        self.tmp_cyclic_ts = []

    def new_name(self, name):
        """A name with its scope replaced. ValueError if it is not in the source's."""
        if not name.startswith(self.scope):
            raise ValueError("{} does not belong to source scope: {}.".format(name, self.scope))
        return self.scope_ + name[len(self.scope):]


class Transformer:
    """Copies views. What is to be done otherwise than in a plain copy is set as a handler of the object."""

    def __init__(self):
        self.transform_op_handler = copy_op_handler
        self.transform_control_input_handler = transform_op_if_inside_handler
        self.assign_collections_handler = assign_renamed_collections_handler
        self.transform_external_input_handler = replace_t_with_placeholder_handler
        self.transform_external_hidden_input_handler = keep_t_if_possible_handler
        self.transform_original_op_handler = transform_op_if_inside_handler

    def __call__(self, sgv, dst_graph, dst_scope, src_scope="", reuse_dst_scope=False):
        """Copies a view into a graph, below `dst_scope`, which is made unique unless `reuse_dst_scope`.

        Returns the copy's view and a TransformerInfo. TypeError if `dst_graph` is no graph, ValueError if an operation
        is not in `src_scope`, or a handler returns the operation itself.
        """
        sgv = subgraph.make_view(sgv)
        _check_graph(dst_graph)
        src_scope, dst_scope = util.scope_finalize(src_scope), util.scope_finalize(dst_scope)
        if dst_scope and not reuse_dst_scope:
            dst_scope = util.scope_finalize(dst_graph.unique_name(dst_scope[:-1]))
        info = _Info(sgv, dst_graph, dst_scope, src_scope)
        self._copy_ops(info)
        for tensor, stand_in, user in info.tmp_cyclic_ts:
            user = info.transformed_ops[user]
            user._update_input(list(user.inputs).index(stand_in), info.transformed_ts[tensor])
        self._connect_control_inputs(info)
        return self._view_of_copies(info), TransformerInfo(info)

    def _copy_ops(self, info):
        for op in sorted(info.sgv.ops, key=lambda op: op._id):
            new_inputs = [self._copied_input(info, tensor, op) for tensor in op.inputs]
            new, outputs = self.transform_op_handler(info, op, new_inputs)
            if new is op:
                raise ValueError("In-place transformation not allowed.")
            info.transformed_ops[op] = new
            self.assign_collections_handler(info, op, new)
            for tensor, new_tensor in zip(op.outputs, outputs):
                info.transformed_ts[tensor] = new_tensor
                self.assign_collections_handler(info, tensor, new_tensor)

    def _copied_input(self, info, tensor, user):
        if tensor in info.transformed_ts:
            return info.transformed_ts[tensor]
        if tensor in info.sgv_inputs_set:
            return self.transform_external_input_handler(info, tensor)
        if tensor.op not in info.ops:
            return self.transform_external_hidden_input_handler(info, tensor)
        # It comes later: the back edge of a loop. Something of its type stands in until it is there.
        if user.type == "Merge":
            stand_in = self._copied_input(info, user.inputs[0], user)
        elif tensor.op.type == "Enter":
            stand_in = self._copied_input(info, tensor.op.inputs[0], user)
        else:
            with info.graph_.as_default():
                stand_in = util.make_placeholder_from_tensor(tensor, scope=info.scope_, prefix="geph_tmp")
        info.tmp_cyclic_ts.append((tensor, stand_in, user))
        return stand_in

    def _connect_control_inputs(self, info):
        for op in info.sgv.ops:
            new = info.transformed_ops[op]
            if op._original_op is not None:
                original = self.transform_original_op_handler(info, op._original_op)
                if original is not None:
                    new._original_op = original
            before = [self.transform_control_input_handler(info, other) for other in op.control_inputs]
            reroute.add_control_inputs(new, [other for other in before if other is not None])

    @staticmethod
    def _view_of_copies(info):
        view = subgraph.SubGraphView(list(info.transformed_ops.values()))

        def positions(originals, copies):
            new = [info.transformed_ts.get(tensor) for tensor in originals]
            return [copies.index(tensor) for tensor in new if tensor is not None and tensor in copies]

        return view.remap(positions(info.sgv.inputs, list(view.inputs)),
                          positions(info.sgv.outputs, list(view.outputs)))


def _check_graph(graph):
    if not isinstance(graph, framework_ops.Graph):
        raise TypeError("Expected a tf.Graph, got: {}".format(type(graph)))


def copy(sgv, dst_graph=None, dst_scope="", src_scope="", reuse_dst_scope=False):
    """Copies a view, with placeholders as inputs, into its graph or another: (the copy's view, a TransformerInfo)."""
    sgv = subgraph.make_view(sgv)
    return Transformer()(sgv, sgv.graph if dst_graph is None else dst_graph, dst_scope, src_scope,
                         reuse_dst_scope=reuse_dst_scope)


def copy_with_input_replacements(sgv, replacement_ts, dst_graph=None, dst_scope="", src_scope="",
                                 reuse_dst_scope=False):
    """Copies a view with some inputs replaced, {input: tensor}; as copy, but other inputs are kept if they can be."""
    sgv = subgraph.make_view(sgv)
    copier = Transformer()

    def replace(info, tensor):
        return replacement_ts[tensor] if tensor in replacement_ts else keep_t_if_possible_handler(info, tensor)

    copier.transform_external_input_handler = replace
    return copier(sgv, sgv.graph if dst_graph is None else dst_graph, dst_scope, src_scope,
                  reuse_dst_scope=reuse_dst_scope)


def graph_replace(target_ts, replacement_ts, dst_scope="", src_scope="", reuse_dst_scope=False):
    """The targets, which may be nested, computed with some tensors replaced, {tensor: tensor}.

    What depends on these is copied. ValueError if no target does.
    """
    targets = util.flatten_tree(target_ts)
    graph = util.get_unique_graph(targets, check_types=framework_ops.Tensor)
    control_ios = util.ControlOutputs(graph)
    ops = select.get_walks_intersection_ops(list(replacement_ts), targets, control_ios=control_ios)
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    contexts = dict.fromkeys(op._get_control_flow_context() for op in ops)
    for context in contexts:
        if context is not None and context.IsWhileContext():  # a loop is copied as a whole
            util.concatenate_unique(ops, select.get_walks_intersection_ops(
                [tensor.op for tensor in context.loop_enters], [tensor.op for tensor in context.loop_exits],
                control_ios=control_ios))
    _, info = copy_with_input_replacements(ops, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope)
    return info.transformed(target_ts, lambda tensor: tensor)
