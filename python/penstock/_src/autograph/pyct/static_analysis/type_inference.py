"""Types that expressions may have, as far as annotations, constants and the values of outer names tell. After
reaching_fndefs.

What a type is, and what operations make of it, a program says: it derives from Resolver.
"""
import itertools
from typing import Any, Callable

import gast

from penstock._src.autograph.pyct import anno
from penstock._src.autograph.pyct import cfg
from penstock._src.autograph.pyct import qual_names
from penstock._src.autograph.pyct import transformer
from penstock._src.autograph.pyct.static_analysis import annos


class Resolver:
    """What a program knows of types. Each method returns the set of possible types, or None: unknown.

    ns: name -> value of what the function sees around it. types_ns: QN -> types of variables. Names are QNs, types of
    operands are sets.
    """

    def res_name(self, ns, types_ns, name):
        """(types, value or None) of a name of the outside."""
        raise NotImplementedError("subclasses must implement")

    def res_value(self, ns, value):
        """Of a constant or known value."""
        raise NotImplementedError("subclasses must implement")

    def res_arg(self, ns, types_ns, f_name, name, type_anno, f_is_local):
        """Of a function's argument; type_anno: the name of its annotation, or None."""
        raise NotImplementedError("subclasses must implement")

    def res_call(self, ns, types_ns, node, f_type, args, keywords):
        """(types of the result, None or {QN: types} of what it assigns outside) of a call of an outer function."""
        raise NotImplementedError("subclasses must implement")

    def res_slice(self, ns, types_ns, node_or_slice, value, slice_):
        """Of an element; node_or_slice: the Subscript, or the number of the element that is unpacked."""
        raise NotImplementedError("subclasses must implement")

    def res_compare(self, ns, types_ns, node, left, right):
        """Of a comparison; right: a list, for each comparator."""
        raise NotImplementedError("subclasses must implement")

    def res_unop(self, ns, types_ns, node, opnd):
        """Of an operator of one operand."""
        raise NotImplementedError("subclasses must implement")

    def res_binop(self, ns, types_ns, node, left, right):
        """Of an operator of two operands."""
        raise NotImplementedError("subclasses must implement")

    def res_list_literal(self, ns, elt_types):
        """Of a list; elt_types: for each element."""
        raise NotImplementedError("subclasses must implement")


_NO_VALUE = object()


class StmtInferrer(gast.NodeVisitor):
    """The types in one statement: written on its expressions as TYPES. new_symbols: QN -> types of what it assigns.

    What a call assigns outside counts from the next statement on.
    """

    def __init__(self, resolver, scope, namespace, closure_types, types_in):
        self.resolver, self.scope, self.namespace = resolver, scope, namespace
        self.closure_types, self.types_in = closure_types, types_in
        self.new_symbols = {}
        self._assigned = None  # types of the value, for targets

    def _checked(self, types):
        if types is not None and not isinstance(types, set):
            raise ValueError(f"{self.resolver} method expected to return set, got {types}")
        return types

    def visit(self, node):
        types = self._checked(super().visit(node))
        if types is not None:
            anno.setanno(node, anno.Static.TYPES, tuple(types))
        return types

    def _res_name(self, node):
        """Types of a name of the outside, whose value is written on the node."""
        types, value = self.resolver.res_name(self.namespace, self.types_in, anno.getanno(node, anno.Basic.QN))
        if value is not None:
            anno.setanno(node, anno.Static.VALUE, value)
        return types

    def visit_Constant(self, node):
        return self.resolver.res_value(self.namespace, node.value)

    def _unpacked(self, node):
        types = self._assigned
        if types is not None:
            number = self.resolver.res_value(self.namespace, 0)
            for i, element in enumerate(node.elts):
                self._assigned = self.resolver.res_slice(self.namespace, self.types_in, i, types, number)
                self.visit(element)
            self._assigned = types
        return types

    def visit_Tuple(self, node):
        if not isinstance(node.ctx, gast.Load):
            return self._unpacked(node)
        elements = [self.visit(element) for element in node.elts]
        return None if None in elements else set(itertools.product(*elements))

    def visit_List(self, node):
        if not isinstance(node.ctx, gast.Load):
            return self._unpacked(node)
        return self.resolver.res_list_literal(self.namespace, tuple(map(self.visit, node.elts)))

    def visit_Name(self, node):
        name = anno.getanno(node, anno.Basic.QN)
        if isinstance(node.ctx, gast.Load):
            types = self.types_in.get(name)
            if types is None and (name not in self.scope.bound or name in self.scope.nonlocals):
                types = self.closure_types[name] if name in self.closure_types else self._res_name(node)
            return types
        if isinstance(node.ctx, gast.Param):
            annotation = None if node.annotation is None else anno.Basic.QN.of(node.annotation)
            local = self.scope.parent.parent is not None
            types = self.resolver.res_arg(self.namespace, self.types_in, self.scope.function_name, name, annotation,
                                          local)
        else:
            types = self._assigned if isinstance(node.ctx, gast.Store) else None
        if types is not None:
            self.new_symbols[name] = types
        return types

    def visit_Attribute(self, node):
        owner_types, owner = self.visit(node.value), anno.Static.VALUE.of(node.value)
        if owner is not None:
            value = getattr(owner, node.attr, _NO_VALUE)
            if value is _NO_VALUE:  # the program may know the whole name
                return self._res_name(node)
        else:
            values = [getattr(t, node.attr, None) for t in owner_types or ()]
            if not values or values[0] is None or any(v is not values[0] for v in values):
                return None
            value = values[0]
        anno.setanno(node, anno.Static.VALUE, value)
        return self.resolver.res_value(self.namespace, value)

    def visit_FunctionDef(self, node):
        if node.decorator_list:
            raise NotImplementedError(f"decorators: {node.decorator_list}")
        types = None if node.returns is None else self._checked(self._res_name(node.returns))
        self.new_symbols[qual_names.QN(node.name)] = {Callable[[Any], t] for t in types or (Any,)}

    def visit_Lambda(self, node):
        return None  # it has a graph of its own

    def visit_Call(self, node):
        self.visit(node.func)
        name = anno.Basic.QN.of(node.func)
        args, keywords = [self.visit(a) for a in node.args], [self.visit(k.value) for k in node.keywords]
        if name in self.scope.bound:
            return self._result_of(self.types_in.get(name))
        types, assigned = self.resolver.res_call(
            self.namespace, self.types_in, node, anno.Static.TYPES.of(node.func), args, keywords)
        if assigned:
            if not isinstance(assigned, dict) or not all(isinstance(key, qual_names.QN) for key in assigned):
                raise ValueError(f"side effects must be a dict with QNs, got {assigned}")
            self.new_symbols.update((key, self._checked(value)) for key, value in assigned.items())
        return types

    @staticmethod
    def _result_of(function_types):
        """What a local function of these types, or None, gives back."""
        if function_types is None:
            return None
        if not all(map(callable, function_types)):
            raise NotImplementedError(f"callable type {function_types}")
        return {(getattr(t, "__args__", None) or (Any,))[-1] for t in function_types}

    def visit_Expr(self, node):
        return self.visit(node.value)

    def visit_Assign(self, node):
        self._assigned = self.visit(node.value)
        for target in node.targets:
            self.visit(target)
        self._assigned = None

    def _of_operands(self, resolve, node, *operands):
        if any(types is None or isinstance(types, list) and None in types for types in operands):
            return None
        return resolve(self.namespace, self.types_in, node, *operands)

    def visit_Subscript(self, node):
        return self._of_operands(self.resolver.res_slice, node, self.visit(node.value), self.visit(node.slice))

    def visit_Compare(self, node):
        return self._of_operands(self.resolver.res_compare, node, self.visit(node.left),
                                 [self.visit(c) for c in node.comparators])

    def visit_BinOp(self, node):
        return self._of_operands(self.resolver.res_binop, node, self.visit(node.left), self.visit(node.right))

    def visit_UnaryOp(self, node):
        return self._of_operands(self.resolver.res_unop, node, self.visit(node.operand))


def _add(to, types):
    for name, found in types.items():
        to[name] = to.get(name, set()) | found


class Analyzer(cfg.GraphVisitor):
    """in_, out: Node -> {name: types} before and behind it."""

    def __init__(self, graph, resolver, namespace, scope, closure_types):
        super().__init__(graph)
        self.resolver, self.namespace, self.scope, self.closure_types = resolver, namespace, scope, closure_types
        self._outside = {name: types for name, types in closure_types.items() if name not in scope.bound}

    def init_state(self, node):
        return {}

    def visit_node(self, node):
        before, types = self.out[node], {}
        for other in node.prev:
            _add(types, self.out[other])
        if node is self.graph.entry:
            _add(types, self._outside)
        self.in_[node] = types
        statement = StmtInferrer(self.resolver, self.scope, self.namespace, self.closure_types, types)
        statement.visit(node.ast_node)
        self.out[node] = {**types, **statement.new_symbols}
        scope = anno.Static.SCOPE.of(node.ast_node)
        for function in anno.Static.DEFINED_FNS_IN.of(node.ast_node, default=()) if scope is not None else ():
            if isinstance(function, gast.FunctionDef) and qual_names.QN(function.name) in scope.read:
                if not anno.hasanno(function, anno.Static.CLOSURE_TYPES):
                    anno.setanno(function, anno.Static.CLOSURE_TYPES, {})
                _add(anno.getanno(function, anno.Static.CLOSURE_TYPES), self.out[node])
        return before != self.out[node]


class FunctionVisitor(transformer.Base):
    """Infers the types of each function of a tree, the outer ones first."""

    def __init__(self, source_info, graphs, resolver):
        super().__init__(source_info)
        self.graphs = graphs
        self.resolver = resolver

    def visit_FunctionDef(self, node):
        Analyzer(self.graphs[node], self.resolver, self.ctx.info.namespace,
                 anno.getanno(node, annos.NodeAnno.ARGS_AND_BODY_SCOPE),
                 anno.Static.CLOSURE_TYPES.of(node, default={})).visit_forward()
        node.body = self.visit_block(node.body)
        return node


def resolve(node, source_info, graphs, resolver):
    """Writes types on the expressions of a tree, and returns it.

    TYPES: a tuple of types. VALUE: the value, where it is known. CLOSURE_TYPES: on local functions, {name: types} where
    they are called. source_info: a transformer.Context. graphs: those of cfg.build. resolver: a Resolver.
    """
    return FunctionVisitor(source_info, graphs, resolver).visit(node)
