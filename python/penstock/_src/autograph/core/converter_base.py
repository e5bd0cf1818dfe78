"""converter.Base, which programs derive converters of their own from."""
from penstock._src.autograph.pyct import anno
from penstock._src.autograph.pyct import ast_util
from penstock._src.autograph.pyct import parser
from penstock._src.autograph.pyct import transformer


class Base(transformer.Base):
    """A transformer for one tree: ValueError when it is used again."""

    def __init__(self, ctx):
        super().__init__(ctx)
        self._used = False
        self._depth = 0

    def get_definition_directive(self, node, directive, arg, default):
        """The argument `arg` of a directive that the assignments have which reach a name (ORIG_DEFINITIONS).

        `default` if none has it; ValueError if they differ.
        """
        found = [d.directives[directive][arg] for d in anno.Static.ORIG_DEFINITIONS.of(node, default=())
                 if arg in d.directives.get(directive, ())]
        for other in found[1:]:
            if not ast_util.matches(found[0], other):
                values = ", ".join(parser.unparse(v, include_encoding_marker=False) for v in (other, found[0]))
                raise ValueError(f"{anno.getanno(node, anno.Basic.QN)} has ambiguous annotations for "
                                 f"{directive.__name__}({arg}): {values}")
        return found[0] if found else default

    def visit(self, node):
        if not self._depth and self._used:
            raise ValueError("converter objects cannot be reused")
        self._used = True
        self._depth += 1
        try:
            return super().visit(node)
        finally:
            self._depth -= 1
