"""Functions of a GraphDef that take a variable's value where they took its handle."""
from penstock._src.graph import tensor_util
from penstock.proto import types_pb2

# op -> (attribute with the types of inputs, first input that functions get, attributes that name functions)
_KINDS = {
    "If": ("Tin", 1, ("then_branch", "else_branch")), "StatelessIf": ("Tin", 1, ("then_branch", "else_branch")),
    "Case": ("Tin", 1, ("branches",)), "StatelessCase": ("Tin", 1, ("branches",)),
    "While": ("T", 0, ("cond", "body")), "StatelessWhile": ("T", 0, ("cond", "body")),
    "PartitionedCall": ("Tin", 0, ("f",)), "StatefulPartitionedCall": ("Tin", 0, ("f",)),
}


def takes_functions(node):
    """Whether a node is a call, a conditional or a loop."""
    return node.op in _KINDS


class Freezer:
    """Changes nodes that call functions, whose changed copies it adds to a library."""

    def __init__(self, library):
        self._library = library
        self._functions = {function.signature.name: function for function in library.function}
        self._made = {}

    def call(self, node, frozen):
        """Changes a node. frozen: {index of an input: (type, shape) of the value that it is now}."""
        types, first, names = _KINDS[node.op]
        inner = {i - first: kind for i, kind in frozen.items()}
        for i, (dtype, shape) in inner.items():
            node.attr[types].list.type[i] = dtype
            if types == "T" and len(node.attr["output_shapes"].list.shape) > i:
                node.attr["output_shapes"].list.shape[i].CopyFrom(shape)
        for name in names:
            value = node.attr[name]
            for function in value.list.func if value.WhichOneof("value") == "list" else [value.func]:
                function.name = self._function(function.name, inner)
        for name in ("_output_shapes", "_gradient_op_type", "_handle_dtypes", "_handle_shapes"):
            node.attr.pop(name, None)
        return inner if types == "T" else {}

    def _function(self, name, frozen):
        key = name, tuple(sorted((i, kind[0]) for i, kind in frozen.items()))
        if key in self._made:
            return self._made[key]
        made = self._library.function.add()
        made.CopyFrom(self._functions[name])
        self._made[key] = new = f"{name}_frozen_{len(self._made)}"
        made.signature.name = new
        values = {}  # what names a value that was a handle -> (type, shape)
        for i, kind in frozen.items():
            argument = made.signature.input_arg[i]
            argument.type = kind[0]
            values[argument.name] = kind
            made.arg_attr.pop(i, None)
            del argument.handle_data[:]
        made.attr.pop("_input_shapes", None)
        renamed = self._nodes(made, values)
        for node in made.node_def:
            for i, text in enumerate(node.input):
                node.input[i] = renamed.get(text, text)
        for output in made.signature.output_arg:
            text = made.ret[output.name]
            made.ret[output.name] = renamed.get(text, text)
            if text in values:
                output.type = values[text][0]
        return new

    def _nodes(self, function, values):
        """Changes the nodes that use values; {old name of a tensor: new name}."""
        renamed: dict[str, str] = {}
        rest = list(function.node_def)
        while True:
            known = [node for node in rest if any(text in values for text in node.input)]
            if not known:
                return renamed
            rest = [node for node in rest if not any(node is other for other in known)]
            for node in known:
                self._node(function, node, values, renamed)

    def _node(self, function, node, values, renamed):
        frozen = {i: values[text] for i, text in enumerate(node.input) if text in values}
        if takes_functions(node):
            for i, kind in self.call(node, frozen).items():
                values[f"{node.name}:output:{i}"] = kind
            return
        (dtype, shape), = frozen.values()
        indices, batch_dims = node.attr["Tindices"].type, node.attr["batch_dims"].i
        out_type = node.attr["out_type"].type or types_pb2.DT_INT32
        if node.op in ("Identity", "ReadVariableOp"):
            if node.op == "Identity":
                values[f"{node.name}:output:0"] = dtype, shape
            renamed[f"{node.name}:value:0"] = f"{node.name}:output:0"
            node.op, types = "Identity", {"T": dtype}
        elif node.op == "ResourceGather":
            axis = function.node_def.add(name=node.name + "/axis", op="Const")
            axis.attr["dtype"].type = types_pb2.DT_INT32
            axis.attr["value"].tensor.CopyFrom(tensor_util.make_tensor_proto(batch_dims, dtype=types_pb2.DT_INT32))
            node.input.insert(2, axis.name + ":output:0")
            node.op, types = "GatherV2", {"Tparams": dtype, "Tindices": indices, "Taxis": types_pb2.DT_INT32}
        elif node.op == "ResourceGatherNd":
            node.op, types = "GatherNd", {"Tparams": dtype, "Tindices": indices}
        elif node.op == "VariableShape":
            node.op, types = "Shape", {"T": dtype, "out_type": out_type}
        else:
            raise ValueError(f"The variable that {node.name} ({node.op}) uses in {function.signature.name} cannot "
                             "become a constant.")
        node.attr.clear()
        for name, kind in types.items():
            node.attr[name].type = kind
        if node.op == "GatherV2":
            node.attr["batch_dims"].i = batch_dims


def keep_named_functions(graph_def):
    """Removes the functions of a GraphDef's library that nothing in it names."""
    library = {function.signature.name: function for function in graph_def.library.function}
    gradients = {gradient.function_name: gradient.gradient_func for gradient in graph_def.library.gradient}
    kept: set[str] = set()
    nodes = list(graph_def.node)
    while nodes:
        node = nodes.pop()
        names = {node.op, *(f.name for value in node.attr.values() for f in [value.func, *value.list.func])}
        names.update(gradients.get(name) for name in list(names))
        for name in names & library.keys() - kept:
            kept.add(name)
            nodes.extend(library[name].node_def)
    functions = [function for function in graph_def.library.function if function.signature.name in kept]
    if len(functions) < len(library):
        del graph_def.library.function[:]
        graph_def.library.function.extend(functions)
