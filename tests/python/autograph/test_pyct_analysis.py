"""Control flow graphs and analyses of tensorflow.python.autograph.pyct. What is expected is TensorFlow 2.21's."""
import textwrap

import pytest

gast = pytest.importorskip("gast")

from penstock._src.autograph.pyct import anno  # noqa: E402
from penstock._src.autograph.pyct import cfg  # noqa: E402
from penstock._src.autograph.pyct import naming  # noqa: E402
from penstock._src.autograph.pyct import parser  # noqa: E402
from penstock._src.autograph.pyct import qual_names  # noqa: E402
from penstock._src.autograph.pyct import transformer  # noqa: E402
from penstock._src.autograph.pyct.static_analysis import activity  # noqa: E402
from penstock._src.autograph.pyct.static_analysis import liveness  # noqa: E402
from penstock._src.autograph.pyct.static_analysis import reaching_definitions  # noqa: E402
from penstock._src.autograph.pyct.static_analysis import reaching_fndefs  # noqa: E402
from penstock._src.autograph.pyct.static_analysis import type_inference  # noqa: E402
from penstock._src.autograph.pyct.static_analysis.annos import NodeAnno  # noqa: E402


def edges(text):
    """{statement: those that may follow it} of a function, and the statements that may be its last."""
    node = parser.parse(textwrap.dedent(text))
    graph = cfg.build(node)[node]
    assert all(n in m.prev for n in graph.index.values() for m in n.next)
    return {repr(n): set(map(repr, n.next)) for n in graph.index.values()}, set(map(repr, graph.exit)), graph, node


def analysed(text):
    node = parser.parse(textwrap.dedent(text))
    context = transformer.Context(transformer.EntityInfo("f", text, None, (), {}), naming.Namer({}), None)
    node = activity.resolve(qual_names.resolve(node), context)
    graphs = cfg.build(node)
    node = reaching_definitions.resolve(node, context, graphs)
    node = reaching_fndefs.resolve(node, context, graphs)
    return liveness.resolve(node, context, graphs)


def names(found):
    return {str(name) for name in found}


# Graphs


def test_branches_and_loops():
    found, last, graph, node = edges("""
        def f(a, b):
            for i in a:
                if i:
                    continue
                elif b:
                    break
                c
            else:
                d
            while e:
                return g
    """)
    assert found == {"a, b": {"a"}, "a": {"i", "d"}, "i": {"continue", "b"}, "continue": {"a"}, "b": {"break", "c"},
                     "break": {"e"}, "c": {"a"}, "d": {"e"}, "e": {"return g"}, "return g": set()}
    assert last == {"e", "return g"} and repr(graph.entry) == "a, b"
    assert names(graph.stmt_prev[node.body[0]]) == {"a, b"} and names(graph.stmt_next[node.body[0]]) == {"e"}
    assert names(graph.stmt_next[node.body[0].body[0]]) == {"a", "c", "e"}
    assert graph.as_dot().startswith("digraph CFG {\n") and graph.as_dot().count("->") == 12


def test_jumps_go_through_finally():
    found, last, _, _ = edges("""
        def f(a):
            while a:
                try:
                    try:
                        break
                    finally:
                        b
                    c
                finally:
                    d
                e
            g
    """)
    assert found == {"a": {"break", "g"}, "break": {"b"}, "b": {"d"}, "c": {"d"}, "d": {"e", "g"}, "e": {"a"},
                     "g": set()}
    assert last == {"g"}


def test_raises_lead_to_handlers():
    found, last, graph, _ = edges("""
        def f(a):
            try:
                if a:
                    raise b
                c
            except d:
                e
            except:
                g
            h
    """)
    assert found["raise b"] == {"e", "g"} and found["c"] == {"e", "g", "h"} and found["e"] == {"h"}
    assert last == {"h", "raise b"} and [type(n).__name__ for n in graph.error] == ["Raise"]


def test_functions_have_graphs_of_their_own():
    node = parser.parse(textwrap.dedent("""
        def f(a):
            def g(b):
                return b
            class C:
                def h(self): pass
            with a as x, y:
                return lambda z: z + g
    """))
    graphs = cfg.build(node)
    assert [type(n).__name__ for n in graphs] == ["FunctionDef", "FunctionDef", "Lambda", "FunctionDef"]
    assert [repr(n) for n in graphs[node].index.values()] == [
        "a", "def g", "class C", "a", "y", "lambda z: z + g", "return lambda z: z + g"]


def test_a_visitor_goes_on_while_something_changes():
    class Depth(cfg.GraphVisitor):
        def init_state(self, node):
            return 0

        def visit_node(self, node):
            before = self.out[node]
            self.out[node] = min(max([self.out[n] for n in node.prev], default=0) + 1, 9)
            return self.out[node] != before

    _, _, graph, _ = edges("def f(a):\n  while b:\n    c\n  d")
    visitor = Depth(graph)
    visitor.visit_forward()
    assert {repr(n): depth for n, depth in visitor.out.items()} == {"a": 1, "b": 9, "c": 9, "d": 9}


# Names


def test_names_read_and_written():
    node = analysed("""
        def f(self, a, *, k=default):
            global g
            b, a.c = a[i], [x.y for x in z if x]
            g += 1
            del b
            if (w := a) > 0:
                e: int = h(a, key=u)
            import p.q, r as s
    """)
    assign = anno.getanno(node.body[1], anno.Static.SCOPE)
    assert names(assign.read) == {"a", "a[i]", "i", "z"} and names(assign.modified) == {"b", "a.c"}
    plus, gone = (anno.getanno(node.body[i], anno.Static.SCOPE) for i in (2, 3))
    assert names(plus.read) == names(plus.modified) == {"g"} and names(gone.deleted) == names(gone.read) == {"b"}
    test, body = (anno.getanno(node.body[4], key) for key in (NodeAnno.COND_SCOPE, NodeAnno.BODY_SCOPE))
    assert names(test.modified) == {"w"} and names(body.read) == {"a", "h", "int", "u"}
    assert names(body.annotations) == {"int"}
    assert names(anno.getanno(node.body[4].body[0].value, NodeAnno.ARGS_SCOPE).read) == {"a", "u"}
    assert names(anno.getanno(node.body[5], anno.Static.SCOPE).modified) == {"p", "s"}
    whole = anno.getanno(node, NodeAnno.ARGS_AND_BODY_SCOPE)
    assert names(whole.globals) == {"g"} and set(anno.getanno(node.args, anno.Static.SCOPE).params.values()) == {node}
    assert names(whole.bound) == {"self", "a", "k", "b", "a.c", "g", "w", "e", "p", "s"}
    assert names(anno.getanno(node, anno.Static.SCOPE).read) == {"default"}
    assert names(whole.free_vars) >= {"z", "i", "h"} and "a" not in names(whole.free_vars)


def test_names_of_functions_and_classes_within():
    node = analysed("""
        def f(a):
            def g(b):
                nonlocal c
                c = a + b + d
            class C(base):
                def __init__(self):
                    self.e = a
            try:
                h = lambda i: i + j
            except k as l:
                l.m = 1
            return g
    """)
    body = anno.getanno(node, NodeAnno.BODY_SCOPE)
    assert names(body.modified) == {"g", "C", "h", "l.m"} and names(body.read) == {
        "a", "d", "base", "j", "k", "g"}
    constructor = anno.getanno(node.body[1].body[0], NodeAnno.BODY_SCOPE)
    assert names(constructor.modified) == {"self", "self.e"}


def test_scopes_are_copied_and_joined():
    outer = activity.Scope(None)
    inner = activity.Scope(outer, isolated=False)
    inner.read.add("a")
    copied = activity.Scope.copy_of(inner)
    inner.modified.add("b")
    assert not copied.modified and copied.parent is not outer and copied.referenced == {"a"}
    copied.merge_from(inner)
    assert copied.modified == {"b"}
    inner.finalize()
    assert outer.read == {"a"} and outer.modified == {"b"}
    with pytest.raises(AssertionError):
        inner.finalize()


# What reaches, and what is needed


def test_live_names():
    node = analysed("""
        def f(a, b, c):
            while a:
                d = b
                b = c
            if d:
                e = 1
            else:
                e = g()
            def g():
                return c
            h(a)
            return e
    """)
    loop, branch = node.body[0], node.body[1]
    live_in, live_out = anno.Static.LIVE_VARS_IN, anno.Static.LIVE_VARS_OUT
    assert names(anno.getanno(loop, live_in)) == {"a", "b", "c", "d", "g", "h"}
    assert names(anno.getanno(loop, live_out)) == {"a", "c", "d", "g", "h"}
    assert names(anno.getanno(branch, live_out)) == {"a", "c", "e", "h"}
    assert names(anno.getanno(node.body[3], live_out)) == {"c", "e"}


def test_definitions():
    node = analysed("""
        def f(a, b):
            if a:
                b = 1
            c = b
            for a in c:
                b += 1
            return b
    """)
    key = anno.Static.DEFINITIONS
    parameter, = anno.getanno(node.args.args[1], key)
    assigned, = anno.getanno(node.body[0].body[0].targets[0], key)
    assert parameter.param_of() is node and assigned.param_of is None
    assert set(anno.getanno(node.body[1].value, key)) == {parameter, assigned}
    last = anno.getanno(node.body[3].value, key)
    assert set(last) == {parameter, assigned, *anno.getanno(node.body[2].body[0].target, key)} and len(last) == 3
    assert names(anno.getanno(node.body[2], anno.Static.DEFINED_VARS_IN)) == {"a", "b", "c"}


def test_functions_that_may_be_called():
    node = analysed("""
        def f(a):
            b
            while a:
                c
                def g():
                    d
            e
    """)
    key = anno.Static.DEFINED_FNS_IN
    inner = node.body[1].body[1]
    assert anno.getanno(node.body[0], key) == frozenset() and anno.getanno(node.body[2], key) == {inner}
    assert anno.getanno(node.body[1].body[0], key) == {inner}
    assert anno.getanno(inner.body[0], key) == {inner}


# Types


class _Types(type_inference.Resolver):
    """Python's own types; annotations are their names."""

    def res_name(self, ns, types_ns, name):
        value = ns.get(str(name), {"int": int, "float": float}.get(str(name)))
        return (None if value is None else {value} if isinstance(value, type) else {type(value)}), value

    def res_value(self, ns, value):
        return {type(value)}

    def res_arg(self, ns, types_ns, f_name, name, type_anno, f_is_local):
        return {{"int": int, "float": float}[str(type_anno)]} if type_anno else {f_name + str(f_is_local)}

    def res_call(self, ns, types_ns, node, f_type, args, keywords):
        assert len(args) == len(node.args)
        return {"called"}, {qual_names.QN("n"): {"assigned"}}

    def res_slice(self, ns, types_ns, node_or_slice, value, slice_):
        return {t[node_or_slice] if isinstance(t, tuple) else "element" for t in value}

    def res_binop(self, ns, types_ns, node, left, right):
        return {float} if float in left | right else left | right

    def res_compare(self, ns, types_ns, node, left, right):
        return {bool}

    def res_unop(self, ns, types_ns, node, opnd):
        return opnd

    def res_list_literal(self, ns, elt_types):
        return {list}


def test_types():
    node = parser.parse(textwrap.dedent("""
        def f(a: int, b):
            c = a
            while c < 3:
                c = c + 1.0
            d, (e, g) = c, (1, "s")
            def local(x: float) -> int:
                return (c, x, h.real)
            i = local(e)
            n = outer(i)
            return c, d, e, g, i, n, [a], -c, b, k, a[0]
    """))
    namespace = {"h": 2.5, "outer": len}
    context = transformer.Context(transformer.EntityInfo("f", "", None, (), namespace), naming.Namer({}), None)
    node = activity.resolve(qual_names.resolve(node), context)
    graphs = cfg.build(node)
    node = reaching_fndefs.resolve(reaching_definitions.resolve(node, context, graphs), context, graphs)
    type_inference.resolve(node, context, graphs, _Types())

    def types(elements):
        return [set(anno.Static.TYPES.of(n, default=())) for n in elements]

    assert types(node.body[-1].value.elts) == [
        {int, float}, {int, float}, {int}, {str}, {int}, {"called"}, {list}, {int, float}, {"fFalse"}, set(),
        {"element"}]
    local = node.body[3]
    assert types(local.body[0].value.elts) == [{int, float}, {float}, {float}]
    assert anno.Static.VALUE.of(local.body[0].value.elts[2]) == 2.5
    closure = anno.getanno(local, anno.Static.CLOSURE_TYPES)
    assert closure[qual_names.QN("c")] == {int, float} and closure[qual_names.QN("e")] == {int}

    class Wrong(_Types):
        def res_arg(self, *args):
            return 1

    with pytest.raises(ValueError, match="expected to return set"):
        type_inference.resolve(node, context, graphs, Wrong())
