"""jumps.lower for the trees of programs: loops say what ends them where pyct has it."""
import ast

from penstock._src.autograph.converters import code
from penstock._src.autograph.converters import jumps
from penstock._src.autograph.converters.names import all_names
from penstock._src.autograph.pyct import anno
from penstock._src.autograph.pyct import qual_names


class _Namer:
    """Names that neither the program's namer has given out nor the tree uses."""

    def __init__(self, namer, used):
        self._namer, self._used = namer, used

    def new_symbol(self, name_root, reserved_locals):
        return self._namer.new_symbol(name_root, self._used)


def _say_what_ends_it(loop):
    flags = jumps.none_of(loop.stops)
    if type(loop).__name__ == "While":
        test = code.expression(f"{flags} and _", loop)
        test.values[-1] = loop.test
        loop.test = test
        return
    test, known = code.expression(flags, loop), anno.Basic.EXTRA_LOOP_TEST.of(loop)
    if known is not None:
        both = code.expression("_ and _", loop)
        both.values = [test, known]
        test = both
    anno.setanno(loop, anno.Basic.EXTRA_LOOP_TEST, qual_names.resolve(test))


def transform(node, ctx, kinds, default=True):
    """A tree without jumps of some kinds, in all its functions; a list if it is a statement that becomes several.

    ctx: a transformer.Context. A loop that a flag ends has it in its test (while), or as EXTRA_LOOP_TEST (for).
    """
    namer = _Namer(ctx.namer, all_names(node))
    for function in [n for n in ast.walk(node) if type(n).__name__ == "FunctionDef"]:
        document = getattr(function.body[0], "value", None) if type(function.body[0]).__name__ == "Expr" else None
        first = int(isinstance(getattr(document, "value", None), str))
        if function.body[first:]:
            function.body[first:] = jumps.lower(function.body[first:], namer, kinds, default)
    made = [node]
    if isinstance(node, ast.stmt) and type(node).__name__ not in ("FunctionDef", "ClassDef"):
        made = jumps.lower(made, namer, kinds, default)
    for root in made:
        for loop in ast.walk(root):
            if getattr(loop, "stops", None):
                _say_what_ends_it(loop)
            if hasattr(loop, "stops"):
                del loop.stops
    made = [qual_names.resolve(root) for root in made]
    return made[0] if len(made) == 1 else made
