"""tensorflow.python.autograph.pyct as programs use it that rewrite Python code. Values are TensorFlow 2.21's."""
import ast
import inspect
import os
import subprocess
import sys
import textwrap
import threading

import pytest

import penstock as tf
from penstock._src.autograph.pyct import cache
from penstock._src.autograph.pyct import errors
from penstock._src.autograph.pyct import naming
from penstock._src.autograph.pyct import sources
from penstock._src.autograph.pyct.qual_names import QN, Literal, from_str
from penstock._src.graph import context

gast = pytest.importorskip("gast")

from penstock._src.autograph.pyct import anno  # noqa: E402
from penstock._src.autograph.pyct import ast_util  # noqa: E402
from penstock._src.autograph.pyct import error_utils  # noqa: E402
from penstock._src.autograph.pyct import inspect_utils  # noqa: E402
from penstock._src.autograph.pyct import loader  # noqa: E402
from penstock._src.autograph.pyct import origin_info  # noqa: E402
from penstock._src.autograph.pyct import parser  # noqa: E402
from penstock._src.autograph.pyct import pretty_printer  # noqa: E402
from penstock._src.autograph.pyct import qual_names  # noqa: E402
from penstock._src.autograph.pyct import templates  # noqa: E402
from penstock._src.autograph.pyct import transformer  # noqa: E402
from penstock._src.autograph.pyct import transpiler  # noqa: E402


def code(text):
    return textwrap.dedent(text).strip()


# Names and notes


def test_qualified_names():
    name = from_str("a.b[c.d]['e']")
    assert str(name) == "a.b[c.d]['e']" and name.ssf() == "a_b_sub_c_d_sub_'e'"
    assert name == QN(QN(QN(QN("a"), attr="b"), subscript=QN(QN("c"), attr="d")), subscript=QN(Literal("e")))
    assert hash(name) == hash(from_str("a.b[c.d]['e']")) and name != from_str("a.b[c.d][e]")
    assert from_str("a[i].b").owner_set == {QN("a"), from_str("a[i]")}
    assert from_str("a[i].b").support_set == {QN("a"), QN("i")}
    assert parser.unparse(templates.replace("x = 1", x=from_str("a.b[3]"))[0], include_encoding_marker=False) == \
        "a.b[3] = 1"
    assert sorted([QN("z"), from_str("a.b"), QN("a")]) == [QN("a"), from_str("a.b"), QN("z")]
    for wrong in (lambda: QN("a", attr="b"), lambda: QN(3), lambda: QN("a").parent, lambda: QN("a").attr,
                  lambda: QN(QN("a"), attr="b", subscript=QN("c"))):
        with pytest.raises(ValueError):
            wrong()


def test_notes_go_with_nodes_only_where_they_are_asked_for():
    node = parser.parse("x = f(y)")
    anno.setanno(node, anno.Basic.ORIGIN, "here")
    anno.setanno(node.value, "other", 1)
    assert anno.Basic.ORIGIN.of(node) == "here" and anno.keys(node) == {anno.Basic.ORIGIN}
    copied = ast_util.copy_clean(node, preserve_annos={anno.Basic.ORIGIN})
    assert anno.hasanno(copied, anno.Basic.ORIGIN) and not anno.hasanno(copied.value, "other")
    anno.dup(node, {"other": "again"})
    assert anno.getanno(node.value, "again") == 1
    anno.delanno(node, anno.Basic.ORIGIN)
    assert anno.getanno(node, anno.Basic.ORIGIN, default=None) is None
    with pytest.raises(AttributeError):
        anno.getanno(node, anno.Basic.ORIGIN)


def test_new_names():
    namer = naming.Namer({"temp": 1})
    assert [namer.new_symbol("temp", {QN("temp_2")}), namer.new_symbol("temp", ()), namer.new_symbol("x_7", ())] == [
        "temp_1", "temp_2", "x"]
    assert namer.new_symbol("x_7", ()) == "x_8"
    with pytest.raises(ValueError):
        namer.new_symbol("a", (3,))


def test_caches_forget_functions():
    def make(x):
        def inner():
            return x
        return inner

    kept, one, two = cache.CodeObjectCache(), make(1), make(2)
    kept[one]["key"] = 5
    assert kept.has(two, "key") and not kept.has(two, "other") and len(kept) == 1
    kept = cache.UnboundInstanceCache()
    kept[one]["key"] = 5
    assert not kept.has(two, "key")
    del one
    assert len(kept) == 0


# Reading code


def test_lambdas_are_told_apart():
    pair = (lambda x: x + 1), (lambda x: x + 2)
    folded = (
        lambda x: lambda y: x + y
        - 1)
    assert [parser.parse_entity(f, ())[1] for f in pair] == ["lambda x: x + 1", "lambda x: x + 2"]
    node, source = parser.parse_entity(folded(3), ())
    assert source == "lambda y: x + y\n        - 1" and isinstance(node, gast.Lambda) and node.lineno == 1
    assert ast.unparse(sources.tree_of(folded)) == "lambda x: lambda y: x + y - 1"
    same = [lambda x: x, lambda x: x]
    assert parser.parse_entity(same[1], ())[1] == "lambda x: x"


def test_functions_keep_their_strings_and_lines():
    def f(x):
        """A text
    that ends further left."""
        return x + \
            1

    node, source = parser.parse_entity(f, ("division",))
    assert source.startswith("from __future__ import division\ndef f(x):\n") and isinstance(node, gast.FunctionDef)
    assert parser.parse(source, preamble_len=1).name == "f"
    tree = sources.tree_of(f)
    assert tree.lineno == f.__code__.co_firstlineno and ast.get_docstring(tree) == inspect.cleandoc(f.__doc__)
    exec_made = {}
    exec("def g(): pass", exec_made)
    for read in (lambda g: parser.parse_entity(g, ()), sources.tree_of):
        with pytest.raises(errors.InaccessibleSourceCodeError):
            read(exec_made["g"])
    with pytest.raises(errors.UnsupportedLanguageElementError):
        parser.dedent_block("  def f():\n\t  return 1\n")


def test_parse_and_unparse():
    assert parser.unparse(parser.parse("if 1:\n  a=b")) == "# coding=utf-8\nif 1:\n    a = b"
    assert parser.parse_expression(" a.b ").attr == "b"
    for wrong in (lambda: parser.parse_expression("a = 1"), lambda: parser.parse("a\nb")):
        with pytest.raises(ValueError):
            wrong()
    assert pretty_printer.fmt(parser.parse_expression("f(x, 'y')"), color=False).splitlines()[:4] == [
        "Call:", "| func=Name:", '| | id=u"f"', "| | ctx=Load()"]


# Making code


def test_templates():
    made = templates.replace("""
        def name(args):
            block
            target = call(x, kw=None)
            return owner.field
    """, name="f", args=[gast.Name("p", ctx=gast.Param(), annotation=None, type_comment=None)],
        block=[parser.parse("p += 1"), parser.parse("p *= 2")], target=parser.parse_expression("(a, b.c[0])"),
        kw=parser.parse_expression("g(k=1, l=2)").keywords, owner="a", field="attribute")
    assert parser.unparse(made, include_encoding_marker=False) == code("""
        def f(p):
            p += 1
            p *= 2
            (a, b.c[0]) = call(x, k=1, l=2)
            return a.attribute
    """).replace("(a, b.c[0])", ast.unparse(ast.parse("(a, b.c[0]) = 1")).split(" =")[0])
    target = made[0].body[2].targets[0]
    assert isinstance(target.ctx, gast.Store) and isinstance(target.elts[1].ctx, gast.Store)
    assert isinstance(target.elts[1].value.ctx, gast.Load)
    assert parser.unparse(templates.replace_as_expression("f(x)", x=from_str("y.z")),
                          include_encoding_marker=False) == "f(y.z)"
    for wrong in (lambda: templates.replace("f(k=1)", k=3), lambda: templates.replace("a.b", b=3),
                  lambda: templates.replace(parser.parse("x")), lambda: templates.replace_as_expression("a\nb")):
        with pytest.raises(ValueError):
            wrong()


def test_matching_renaming_and_taking_apart():
    assert ast_util.matches(parser.parse_expression("super(A, self).__init__(1)"), "super(_).__init__(_)")
    assert not ast_util.matches(parser.parse_expression("a - b"), "a + _")
    node = qual_names.resolve(parser.parse("def f():\n  global a\n  a = b.c + b.d"))
    node = ast_util.rename_symbols(node, {QN("a"): QN("z"), from_str("b.c"): QN("y"), QN("f"): QN("g")})
    assert parser.unparse(node, include_encoding_marker=False) == "def g():\n    global z\n    z = y + b.d"
    found = []
    assignment = parser.parse("a, (b, c) = x, y")
    ast_util.apply_to_single_assignments(assignment.targets, assignment.value, lambda *pair: found.append(
        tuple(parser.unparse(part, include_encoding_marker=False) for part in pair)))
    assert found == [("a", "x"), ("b", "y[0]"), ("c", "y[1]")]
    with pytest.raises(ValueError):
        list(ast_util.parallel_walk(parser.parse("a + b"), parser.parse("a + (b + c)")))


def test_loaded_code_knows_where_it_came_from():
    def f(x):
        y = x  # of the program
        return y

    node, source = parser.parse_entity(f, ())
    origin_info.resolve_entity(node, source, f)
    first = anno.getanno(node.body[0], anno.Basic.ORIGIN)
    line = f.__code__.co_firstlineno
    assert first.comment == "of the program" and first.loc.lineno == line + 1 and first.function_name == "f"
    assert first.as_frame() == (__file__, line + 1, "f", "    y = x  # of the program")
    module, text, places = loader.load_ast(node, include_source_map=True)
    assert module.f(3) == 3 and open(module.__file__).read() == text
    assert places[origin_info.LineLocation(module.__file__, 3)] == first
    assert repr(first) == f"test_pyct.py:{line + 1}:8"
    told = error_utils.ErrorMetadataBase([(module.__file__, 3, "f", "y = x"), ("/lib.py", 7, "g", None)], None, "why",
                                         places, None)
    assert str(told.create_exception(KeyError("k"))) == "\n".join([
        "in user code:", "", f'    File "{__file__}", line {line + 1}, in f  *', "        y = x  # of the program",
        '    File "/lib.py", line 7, in g', "        <source unavailable>", "", "    why", ""])
    with pytest.raises(ValueError, match="not that of the trees"):
        origin_info.create_source_map([node], "def f(x):\n  return x", "file")


def test_what_is_known_of_functions():
    class Base:
        def method(self):
            return self

    class Derived(Base):
        __call__ = Base.method

    assert inspect_utils.getmethodclass(Derived().method) is Derived
    assert inspect_utils.getmethodclass(Derived()) is Derived
    assert inspect_utils.getdefiningclass(Derived.method, Derived) is Base
    assert inspect_utils.getqualifiedname({"os": os}, os.path.join) == "os.path.join"
    assert inspect_utils.getqualifiedname({"os": os}, object()) is None
    outside = 5
    assert inspect_utils.getnamespace(lambda: outside)["outside"] == 5
    assert inspect_utils.isbuiltin(len) and inspect_utils.isconstructor(Base) and not inspect_utils.isnamedtuple(tuple)


# Rewriting


def test_state_and_blocks():
    class Loop:
        depth = 0

    class Marks(transformer.Base):
        def visit_While(self, node):
            with self.state[Loop] as loop:
                loop.depth = self.state[Loop].level
                node.body = self.visit_block(node.body)
            return node

        def visit_Expr(self, node):
            node.value = gast.Constant(self.state[Loop].depth, kind=None)
            return [node, gast.Pass()] if self.state[Loop].depth else node

    node = parser.parse("def f():\n  a\n  while b:\n    c\n    while d:\n      e")
    node = Marks(transformer.Context(transformer.EntityInfo("f", "", None, (), {}), None, None)).visit(node)
    assert parser.unparse(node, include_encoding_marker=False) == code("""
        def f():
            0
            while b:
                2
                pass
                while d:
                    3
                    pass
    """)
    with pytest.raises(ValueError, match="visit_block"):
        Marks(transformer.Context(None, None, None)).visit(node.body)

    class Text(transformer.CodeGenerator):
        def visit_Name(self, node):
            self.emit(node.id + ";")

    text = Text(transformer.Context(None, None, None))
    text.visit(parser.parse("a = b + c"))
    assert text.code_buffer == "a;b;c;"


OFFSET = 10


class Swap(transformer.Base):
    """+ for -, and numbers through a function of the program."""

    def visit_BinOp(self, node):
        node = self.generic_visit(node)
        if isinstance(node.op, gast.Add):
            node.op = gast.Sub()
        elif isinstance(node.op, gast.Sub):
            node.op = gast.Add()
        return node

    def visit_Constant(self, node):
        return templates.replace_as_expression("seen__(x)", x=ast_util.copy_clean(node)) if node.value == 7 else node


class Swapper(transpiler.PyToPy):
    def __init__(self):
        super().__init__()
        self.made, self.seen = 0, []

    def get_caching_key(self, user_context):
        return user_context

    def get_extra_locals(self):
        return {"seen__": lambda x: self.seen.append(x) or x}

    def transform_ast(self, node, ctx):
        self.made += 1
        assert ctx.user == "key" and ctx.info.namespace["OFFSET"] == OFFSET
        return Swap(ctx).visit(node)


def test_a_programs_own_transpiler():
    step = 2

    def f(n, start=1 + 2, *, scale=1):
        total = start
        for i in range(n):
            if i % 2:
                total = total + i * scale
                continue
            total = total - step
        return total + OFFSET, 7

    swapper = Swapper()
    swapped, module, places = swapper.transform(f, "key")
    # 3 + 2 - 1 + 2 - 3 + 2 - 10
    assert swapped(5) == (-5, 7) and swapper.seen == [7] and f(5)[0] == 3 - 2 + 1 - 2 + 3 - 2 + 10
    assert swapped(5, scale=0) == (-1, 7)
    step = 3
    assert swapped(1, 0) == (-7, 7) and swapper.transform(f, "key")[1] is module and swapper.made == 1
    origin = places[origin_info.LineLocation(module.__file__, swapped.__code__.co_firstlineno)]
    assert origin.loc == (__file__, f.__code__.co_firstlineno, 4)
    swapped, *_ = swapper.transform(lambda x: x + step, "key")
    assert swapped(1) == -2
    with pytest.raises(NotImplementedError):
        swapper.transform(3, "key")


def test_threads_share_what_was_made():
    def f():
        return 1

    swapper, modules = Swapper(), set()
    threads = [threading.Thread(target=lambda: modules.add(swapper.transform(f, "key")[1])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(modules) == 1


def test_a_rewritten_function_is_traced():
    """It is converted like any other function: its file has its lines."""
    def f(x):
        if x > 0:
            return x + 1.0
        return x + 2.0

    swapped, *_ = Swapper().transform(f, "key")
    with context.eager_mode():
        traced = tf.function(swapped)
        assert float(traced(tf.constant(3.0))) == 2.0 and float(traced(tf.constant(-3.0))) == -5.0


def test_tensorflows_names_and_no_gast_without_need():
    done = subprocess.run([sys.executable, "-c", """
import sys
from penstock import alias
alias.install("v2")
import tensorflow as tf
from tensorflow.python.autograph.impl import api
from tensorflow.python.autograph.pyct import anno, cache, errors, naming, qual_names
assert "gast" not in sys.modules
from tensorflow.python.autograph.pyct import (ast_util, error_utils, gast_util, inspect_utils, loader,
                                              origin_info, parser, pretty_printer, templates, transformer, transpiler)
assert parser.parse_expression("x").id == "x" and "gast" in sys.modules
"""], capture_output=True, text=True, env=dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p)))
    assert done.returncode == 0, done.stderr
