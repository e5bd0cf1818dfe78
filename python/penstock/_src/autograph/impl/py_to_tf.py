"""api.PyToTF: the conversion as a transpiler, which programs derive their own from."""
import ast

import gast

from penstock._src.autograph.impl import conversion
from penstock._src.autograph.impl import generated
from penstock._src.autograph.pyct import anno
from penstock._src.autograph.pyct import cfg
from penstock._src.autograph.pyct import qual_names
from penstock._src.autograph.pyct import templates
from penstock._src.autograph.pyct import transpiler
from penstock._src.autograph.pyct.static_analysis import activity
from penstock._src.autograph.pyct.static_analysis import reaching_definitions


class PyToTF(transpiler.PyToPy):
    """transform(function, a converter.ProgramContext) is (the converted function, its module, its source map).

    A subclass may rewrite the tree in transform_ast before, or after, it calls that of this class.
    """

    def get_transformed_name(self, node):
        return "tf__" + super().get_transformed_name(node)

    def get_extra_locals(self):
        """`ag__`, the module whose functions converted code calls."""
        return {"ag__": generated}

    def get_caching_key(self, user_context):
        return user_context.options

    def initial_analysis(self, node, ctx):
        """Writes names, scopes and definitions on a tree, and returns it."""
        node = activity.resolve(qual_names.resolve(node), ctx)
        node = reaching_definitions.resolve(node, ctx, cfg.build(node))
        anno.dup(node, {anno.Static.DEFINITIONS: anno.Static.ORIG_DEFINITIONS})
        return node

    def transform_ast(self, node, ctx):
        """The FunctionDef with control flow that knows tensors. conversion.UnsupportedError if there is none."""
        origins = {}
        for part in ast.walk(node):
            origin = anno.Basic.ORIGIN.of(part)
            if origin is not None:
                origins.setdefault(getattr(part, "lineno", None), origin)
            test = anno.Basic.EXTRA_LOOP_TEST.of(part)
            if test is not None:  # a program has lowered its jumps
                part.body[:0] = templates.replace("if not test:\n  break", test=test)
        plain = ast.fix_missing_locations(gast.gast_to_ast(node))
        made = gast.ast_to_gast(conversion.convert_tree(plain, ctx.info.name, ctx.info.name))
        for part in ast.walk(made):
            origin = origins.get(getattr(part, "lineno", None))
            if origin is not None:
                anno.setanno(part, anno.Basic.ORIGIN, origin)
        return made
