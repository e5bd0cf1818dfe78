"""Derivatives inside of a function's body by what lies around it, through values that the body captures."""


def captures(graph):
    """[(tensor outside, placeholder)] of a function's body."""
    found = getattr(graph, "captures", None)
    return list(graph._captured.values()) if found is None else list(found)


_FLOW = frozenset(("Switch", "RefSwitch", "Merge", "RefMerge", "Enter", "RefEnter", "Exit", "RefExit"))


def _is_of_control_flow(op):
    """Whether an operation is part of a conditional or loop of version 1; the two that say which side is taken are."""
    if op.type in _FLOW or op._get_control_flow_context() is not None:
        return True
    return op.type == "Identity" and op.inputs[0].op.type == "Switch"


def _check_stateless(op):
    if op.op_def.is_stateful:
        raise NotImplementedError(f"tf.gradients inside of a function, through {op.name} ({op.type}) outside")


class Around:
    """The part of the graphs around a function's body that lies between some tensors `xs` and what it captures."""

    def __init__(self, graph, xs):
        self._graph = graph
        self._copies = {}
        self._sources = {}  # placeholder -> what it stands for, of all bodies around
        inside: dict = {}  # captured tensor -> its placeholders
        around = graph
        while around is not None and around.building_function:
            for outer, inner in captures(around):
                self._sources[id(inner)] = outer
                inside.setdefault(id(outer), []).append(inner)
            around = getattr(around, "_outer_graph", None)
        self._dependent: set = set()
        stack = list(xs)
        while stack:
            x = stack.pop()
            after = [y for op in x.consumers() for y in op.outputs] + inside.get(id(x), [])
            stack += [y for y in after if id(y) not in self._dependent]
            self._dependent.update(map(id, after))
        self._derived = {id(x) for x in xs} & self._dependent
        self._xs = {id(x) for x in xs} - self._derived
        self._dependent |= self._xs

    def depends(self, tensor):
        """Whether it is computed from one of the xs."""
        return id(tensor) in self._dependent

    def is_derived(self, tensor):
        """Whether it is an x that is computed from another."""
        return id(tensor) in self._derived

    def copied(self, tensor):
        """The tensor computed anew in the body, from the xs as the body captures them."""
        found = self._copies.get(id(tensor))
        if found is not None:
            return found
        source = self._sources.get(id(tensor))
        if id(tensor) in self._xs or not self.depends(tensor):
            found = tensor if tensor.graph is self._graph else self._graph.capture(tensor)
        elif source is not None:
            found = self.copied(source)
        else:
            op = tensor.op
            if _is_of_control_flow(op):
                found = self._copies[id(tensor)] = self._copy_of_construct(tensor)
                return found
            _check_stateless(op)
            inputs = [self.copied(x) for x in op.inputs]
            with self._graph.as_default():
                copy = self._graph.create_op(op.type, inputs, [x.dtype for x in op.outputs],
                                             name=op.name.split("/")[-1], attrs=op.node_def.attr)
            for x, y in zip(op.outputs, copy.outputs):
                self._copies[id(x)] = y
            return self._copies[id(tensor)]
        self._copies[id(tensor)] = found
        return found


    def _copy_of_construct(self, tensor):
        """A result of a conditional or loop of version 1, which is copied with all that is inside of it."""
        from penstock._src.function import importer
        from penstock import proto
        inside, outside, stack = {}, {}, [tensor.op]
        while stack:
            op = stack.pop()
            if op.name in inside:
                continue
            _check_stateless(op)
            inside[op.name] = op
            for x in op.inputs:
                if _is_of_control_flow(x.op):
                    stack.append(x.op)
                else:
                    outside[x.name] = x
            stack += [before for before in op.control_inputs if _is_of_control_flow(before)]
        graph_def = proto.message("tensorflow.GraphDef")()
        for op in inside.values():
            node = graph_def.node.add()
            node.CopyFrom(op.node_def)
            node.attr.pop("_class", None)  # what it is placed with may not be copied
            kept = [x for x in node.input if not x.startswith("^") or x[1:] in inside]
            del node.input[:]
            node.input.extend(kept)
        inputs = {name: self.copied(x) for name, x in outside.items()}
        with self._graph.as_default(), self._graph.control_dependencies(None):
            return importer.import_graph_def(graph_def, input_map=inputs, return_elements=[tensor.name],
                                             name=tensor.op.name.split("/")[0])[0]

    def dependent_captures(self):
        """[(tensor outside, placeholder)] of what the body captures and is computed from the xs."""
        return [(outer, inner) for outer, inner in captures(self._graph)
                if not outer._is_eager and id(outer) not in self._xs and self.depends(outer)]
