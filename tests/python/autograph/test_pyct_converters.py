"""Converters that programs apply to code of their own, as TensorFlow Probability does: jumps as flags, named values."""
import itertools

import pytest

import penstock as tf
from penstock._src.autograph.core import config
from penstock._src.autograph.core import converter
from penstock._src.autograph.core import converter_base
from penstock._src.autograph.impl import api
from penstock._src.autograph.impl import generated
from penstock._src.autograph.impl import py_to_tf
from penstock._src.autograph.utils import ag_logging
from penstock._src.graph import context as context_module

gast = pytest.importorskip("gast")

from penstock._src.autograph.converters import break_statements  # noqa: E402
from penstock._src.autograph.converters import continue_statements  # noqa: E402
from penstock._src.autograph.converters import functions  # noqa: E402
from penstock._src.autograph.converters import return_statements  # noqa: E402
from penstock._src.autograph.pyct import anno  # noqa: E402
from penstock._src.autograph.pyct import cfg  # noqa: E402
from penstock._src.autograph.pyct import compiler  # noqa: E402
from penstock._src.autograph.pyct import naming  # noqa: E402
from penstock._src.autograph.pyct import origin_info  # noqa: E402
from penstock._src.autograph.pyct import parser  # noqa: E402
from penstock._src.autograph.pyct import qual_names  # noqa: E402
from penstock._src.autograph.pyct import transformer  # noqa: E402
from penstock._src.autograph.pyct import transpiler  # noqa: E402
from penstock._src.autograph.pyct.common_transformers import anf  # noqa: E402
from penstock._src.autograph.pyct.static_analysis import activity  # noqa: E402
from penstock._src.autograph.pyct.static_analysis import liveness  # noqa: E402
from penstock._src.autograph.pyct.static_analysis import reaching_definitions  # noqa: E402
from penstock._src.autograph.pyct.static_analysis import reaching_fndefs  # noqa: E402


def context(name="f"):
    return transformer.Context(transformer.EntityInfo(name, "", None, (), {}), naming.Namer({}), None)


def text(node):
    return parser.unparse(node, include_encoding_marker=False)


class _ForTests(transformer.Base):
    """What ends for loops, as code."""

    def visit_For(self, node):
        node = self.generic_visit(node)
        test = anno.Basic.EXTRA_LOOP_TEST.of(node)
        if test is not None:
            stop = parser.parse("if not 0:\n  break")
            stop.test.operand = test
            node.body.insert(0, stop)
        return node


class _Jumps(gast.NodeVisitor):
    def __init__(self, node):
        self.found = []
        self.visit(node)

    def generic_visit(self, node):
        if isinstance(node, (gast.Break, gast.Continue, gast.Return)):
            self.found.append(type(node).__name__)
        super().generic_visit(node)


class _Converted(transpiler.PyToPy):
    def __init__(self, *steps):
        super().__init__()
        self._steps = steps

    def get_caching_key(self, user_context):
        return None

    def get_extra_locals(self):
        return {"ag__": generated}

    def transform_ast(self, node, ctx):
        for step in self._steps:
            node = step(node, ctx)
        node = activity.resolve(qual_names.resolve(node), ctx)  # the analyses take what was made
        graphs = cfg.build(node)
        node = reaching_fndefs.resolve(reaching_definitions.resolve(node, ctx, graphs), ctx, graphs)
        liveness.resolve(node, ctx, graphs)
        self.jumps = _Jumps(node).found
        return _ForTests(ctx).visit(node)


def searching(numbers, wanted):
    """Document."""
    seen = []
    for n in numbers:
        if n < 0:
            continue
        for m in range(n):
            if m == wanted:
                return "found", seen
            if m > 3:
                break
            seen.append(m)
        else:
            seen.append("all")
            if n == 2:
                continue
        seen.append(n)
    else:
        seen.append("end")
    return "none", seen


def counting(n, _):
    total = 0
    while True:
        n -= 1
        try:
            if n == 3:
                raise ValueError
            if n < 0:
                break
            if n % 2:
                continue
            total += n
        except ValueError:
            total += 100
            if total > 200:
                return total
            continue
        finally:
            total += 1000
        total += 1
    while n:
        n += 1
    else:
        return total
    return -1


def falling(n, m):
    if n > m:
        return n
    elif n == m:
        if m:
            return "same"
    else:
        def inner(k):
            while k:
                k -= 1
                if k == m:
                    return k
            return None

        return inner(n)


BREAK, CONTINUE, RETURN = (m.transform for m in (break_statements, continue_statements, return_statements))


@pytest.mark.parametrize("steps, left", [
    ([BREAK], {"Continue", "Return"}), ([CONTINUE], {"Break", "Return"}), ([RETURN], {"Break", "Continue", "Return"}),
    ([BREAK, CONTINUE, RETURN], {"Return"}), ([CONTINUE, BREAK], {"Return"})])
def test_jumps_become_flags(steps, left):
    for function, first, second in [(searching, ([3, -1, 2, 6, 1], [], [1]), (0, 3, 9)), (counting, (0, 1, 5, 8), (0,)),
                                    (falling, (0, 1, 3), (0, 1))]:
        if function is searching and steps == [RETURN]:
            continue  # a for loop with else, break and return
        converted = _Converted(*steps)
        made, *_ = converted.transform(function, None)
        for one, two in itertools.product(first, second):
            assert made(one, two) == function(one, two), (function, one, two)
        assert set(converted.jumps) <= left
        assert RETURN not in steps or len(converted.jumps) - converted.jumps.count("Break") - converted.jumps.count(
            "Continue") == (2 if function is falling else 1)
        assert made.__doc__ == function.__doc__


def test_local_functions_are_marked_as_converted():
    node = parser.parse("def f():\n  def g():\n    pass\n  class C:\n    def h(self): pass\n  return g")
    assert text(functions.transform(node, context())) == "\n".join([
        "def f():", "", "    @ag__.autograph_artifact", "    def g():", "        pass", "", "    class C:", "",
        "        def h(self):", "            pass", "    return g"])


def test_one_return_without_a_default():
    node = parser.parse("def f(a):\n  if a:\n    return 1\n  return 2")
    assert text(return_statements.transform(node, context(), default_to_null_return=False)) == "\n".join([
        "def f(a):", "    do_return = False", "    if a:", "        retval_ = 1", "        do_return = True",
        "    else:", "        retval_ = 2", "        do_return = True", "    return retval_"])
    with pytest.raises(NotImplementedError, match="break first"):
        return_statements.transform(parser.parse(
            "def f(a):\n  for b in a:\n    if b: break\n    return 1\n  else:\n    c\n  return 2"), context())


def test_statements_and_what_is_noted_of_them():
    node = parser.parse("while a:\n  if b:\n    break  # out\n  c")
    origin_info.resolve(node, "while a:\n  if b:\n    break  # out\n  c", "file", 10, 0)
    anno.setanno(node, anno.Basic.DIRECTIVES, "kept")
    first, loop = break_statements.transform(node, context())
    assert text(first) == "break_ = False" and text(loop.test) == "not break_ and a"
    assert anno.Basic.DIRECTIVES.of(loop) == "kept"
    flag = loop.body[0].body[0]
    assert text(flag) == "break_ = True" and anno.Basic.ORIGIN.of(flag).loc.lineno == 12
    assert text(loop.body[1]) == "if not break_:\n    c"
    assert [text(n) for n in break_statements.transform(parser.parse("for break_ in a:\n  break"), context())][0] == \
        "break__1 = False"


# Values with names


def test_named_values():
    node = parser.parse("def f(a):\n  if a.b + 1 > g(a, 2 * a):\n    return [a, -a][0], *h(a)\n  a[i + 1] += k(1)")
    assert text(anf.transform(node, context())) == "\n".join([
        "def f(a):", "    tmp_1001 = a.b", "    tmp_1002 = 2 * a", "    tmp_1003 = tmp_1001 + 1",
        "    tmp_1004 = g(a, tmp_1002)", "    tmp_1005 = tmp_1003 > tmp_1004", "    if tmp_1005:",
        "        tmp_1006 = -a", "        tmp_1007 = [a, tmp_1006]", "        tmp_1008 = tmp_1007[0]",
        "        tmp_1009 = h(a)", "        tmp_1010 = (tmp_1008, *tmp_1009)", "        return tmp_1010",
        "    tmp_1011 = i + 1", "    a[tmp_1011] += k(1)"])
    rules = [(anf.ASTEdgePattern(gast.Call, "args", anf.ANY), lambda parent, field, child: parent.func.id == "g"),
             (anf.ASTEdgePattern(anf.ANY, anf.ANY, gast.Call), anf.REPLACE), (anf.ANY, anf.LEAVE)]
    node = parser.parse("x = g(1, a + b) + h(2 * c)")
    assert text(anf.transform(node, context(), rules)) == "\n".join([
        "tmp_1001 = 1", "tmp_1002 = a + b", "tmp_1003 = g(tmp_1001, tmp_1002)", "tmp_1004 = h(2 * c)",
        "x = tmp_1003 + tmp_1004"])


@pytest.mark.parametrize("code", ["x = a and b + c + d", "x = [b for b in c]", "x = a < b < c", "while a + b: pass",
                                  "assert f(a)", "x = lambda: f(g(a))", "x = a if b else f(g(c))"])
def test_values_that_may_not_be_computed_before(code):
    with pytest.raises(ValueError):
        anf.transform(parser.parse(code), context())


# Converters of programs


def test_options():
    options = converter.ConversionOptions(recursive=True, optional_features=converter.Feature.LISTS)
    made = {"ag__": converter}
    assert eval(text(options.to_ast()), made) == options and hash(eval(text(options.to_ast()), made)) == hash(options)
    assert options.uses(converter.Feature.LISTS) and not options.uses(converter.Feature.ASSERT_STATEMENTS)
    assert converter.ConversionOptions().uses(converter.Feature.LISTS)
    assert not options.call_options().user_requested and options.call_options().internal_convert_user_code
    assert text(converter.STANDARD_OPTIONS.to_ast()) == "ag__.STD"
    assert converter.ProgramContext(options).options is options


def test_a_converter_is_used_once_and_knows_directives():
    class Mine(converter_base.Base):
        def visit_Name(self, node):
            node.id += "_"
            return node

    mine = Mine(context())
    assert text(mine.visit(parser.parse("a + b"))) == "a_ + b_"
    with pytest.raises(ValueError, match="reused"):
        mine.visit(parser.parse("c"))

    definitions = [reaching_definitions.Definition(), reaching_definitions.Definition()]
    node = qual_names.resolve(parser.parse_expression("a"))
    anno.setanno(node, anno.Static.ORIG_DEFINITIONS, tuple(definitions))
    ask = lambda: Mine(context()).get_definition_directive(node, test_options, "k", "default")  # noqa: E731
    assert ask() == "default"
    definitions[0].directives[test_options] = {"k": parser.parse_expression("v")}
    definitions[1].directives[test_options] = {"k": parser.parse_expression("v")}
    assert ask().id == "v"
    definitions[1].directives[test_options] = {"k": parser.parse_expression("w")}
    with pytest.raises(ValueError, match="ambiguous"):
        ask()


def test_version_ones_names():
    module, _, places = compiler.ast_to_object(parser.parse("def f(x):\n  return x + 1"), include_source_map=True)
    assert module.f(1) == 2 and places == {} and compiler.ast_to_source(parser.parse("x"))[-1] == "x"
    assert compiler.source_to_entity("y = 3", delete_on_exit=True)[0].y == 3


# The conversion as a transpiler


class _Doubled(py_to_tf.PyToTF):
    """Doubles numbers before the conversion."""

    def transform_ast(self, node, ctx):
        node = self.initial_analysis(break_statements.transform(node, ctx), ctx)
        assert anno.hasanno(node.body[0].targets[0], anno.Static.ORIG_DEFINITIONS)
        for part in gast.walk(node):
            if isinstance(part, gast.Constant) and isinstance(part.value, int) and not isinstance(part.value, bool):
                part.value *= 2
        return super().transform_ast(node, ctx)


def test_a_program_derives_its_conversion_from_ours():
    step = 1

    def f(n):
        total = 0
        for i in range(n):
            if i == 2:
                break
            total += step + 1
        while total < 20:
            if total > 10:
                total += 3
                continue
            total += 1
        return -total

    options = converter.ProgramContext(converter.ConversionOptions(recursive=True))
    made, module, places = _Doubled().transform(f, options)
    assert made.__name__ == "tf__f" and "ag__.while_stmt" in open(module.__file__).read()

    def expected(n):
        total = min(n, 4) * 3
        while total < 40:
            total += 6 if total > 20 else 2
        return -total

    assert [made(n) for n in (0, 3, 9)] == [expected(n) for n in (0, 3, 9)]
    with context_module.eager_mode():
        assert int(tf.function(made, autograph=False)(tf.constant(9))) == expected(9)
    lines = {origin.loc.lineno - f.__code__.co_firstlineno for origin in places.values()}
    assert lines >= {1, 2, 3, 5, 9} and {origin.loc.filename for origin in places.values()} == {__file__}
    made, *_ = py_to_tf.PyToTF().transform(lambda x: step if x else -step, options)
    assert made(0) == -1


# What else such programs import


def test_operators_under_tensorflows_names():
    from penstock._src.autograph import operators
    assert operators.if_exp(True, lambda: 1, lambda: 2, "c") == 1 and operators.ld(3) == 3
    assert set(operators._WHERE) <= set(dir(operators)) and all(callable(getattr(operators, n)) for n in dir(operators)
                                                                if n in operators._WHERE)
    with pytest.raises(UnboundLocalError):
        operators.ld(operators.ldu(lambda: undefined_name, "u"))  # noqa: F821
    with pytest.raises(AttributeError):
        operators.no_such_operator


def test_rules_say_what_is_converted(monkeypatch):
    def f(x):
        return "ag__" in f.__code__.co_freevars if x else None

    f.__module__ = "some.module.inside"
    assert api.converted(f) is not f
    monkeypatch.setattr(config, "CONVERSION_RULES", (config.DoNotConvert("some.module"), *config.CONVERSION_RULES))
    assert api.converted(f) is f
    monkeypatch.setattr(config, "CONVERSION_RULES", (config.Convert("some.module.inside"), *config.CONVERSION_RULES))
    assert api.converted(f) is not f
    rule = config.DoNotConvert("numpy")
    assert rule.matches("numpy.random") and not rule.matches("numpyro") and str(rule) == "DoNotConvert rule for numpy"
    assert rule.get_action(parser) is config.Action.NONE


def test_what_is_told(monkeypatch, capsys):
    monkeypatch.setattr(ag_logging, "verbosity_level", None)
    monkeypatch.setattr(ag_logging, "echo_log_to_stdout", False)
    monkeypatch.setenv("AUTOGRAPH_VERBOSITY", "2")
    assert ag_logging.get_verbosity() == 2 and not ag_logging.has_verbosity(3)
    ag_logging.set_verbosity(1, alsologtostdout=True)
    ag_logging.log(1, "of %s", "a")
    ag_logging.error(2, "no")
    ag_logging.warning("100%")
    assert capsys.readouterr().out == "of a\nWARNING: 100%\n"
