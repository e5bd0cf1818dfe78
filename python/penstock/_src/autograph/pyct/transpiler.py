"""Functions rewritten as a program wants them: it derives from PyToPy, or from GenericTranspiler for other results."""
import inspect
import threading
import types

import gast

from penstock._src.autograph.pyct import cache
from penstock._src.autograph.pyct import inspect_utils
from penstock._src.autograph.pyct import loader
from penstock._src.autograph.pyct import naming
from penstock._src.autograph.pyct import origin_info
from penstock._src.autograph.pyct import parser
from penstock._src.autograph.pyct import templates
from penstock._src.autograph.pyct import transformer


class GenericTranspiler:
    """transform(function, anything) is (what transform_ast made of its tree, the transformer.Context)."""

    def get_transformed_name(self, node):
        """The name of what is made of a FunctionDef or Lambda."""
        if isinstance(node, gast.Lambda):
            return "lam"
        if isinstance(node, gast.FunctionDef):
            return node.name
        raise ValueError(f"{node} is no function")

    def transform_ast(self, node, ctx):
        """What a function's tree becomes. Subclasses say it."""
        raise NotImplementedError("subclasses must override this")

    def transform(self, obj, user_context):
        """Transforms a function or method; user_context is ctx.user of transform_ast.

        NotImplementedError if it is something else.
        """
        if inspect.isfunction(obj) or inspect.ismethod(obj):
            return self.transform_function(obj, user_context)
        raise NotImplementedError(f"Non-function: {type(obj)}")

    def _erase_arg_defaults(self, node):
        """Defaults are values of the function: their code would run again."""
        a = node.args
        a.defaults = [gast.Constant(None, kind=None) for _ in a.defaults]
        a.kw_defaults = [default and gast.Constant(None, kind=None) for default in a.kw_defaults]
        return node

    def transform_module(self, mod, user_context):
        """What `transform` gives of all that a module holds and that can be transformed."""
        results = []
        for member in list(vars(mod).values()):
            if inspect.ismodule(member):
                continue
            try:
                results.append(self.transform(member, user_context))
            except NotImplementedError:
                pass
        return results

    def transform_function(self, fn, user_context):
        """Transforms a function, see `transform`."""
        future_features = inspect_utils.getfutureimports(fn)
        node, source = parser.parse_entity(fn, future_features=future_features)
        origin_info.resolve_entity(node, source, fn)
        namespace = inspect_utils.getnamespace(fn)
        namer = naming.Namer(namespace)
        info = transformer.EntityInfo(
            name=namer.new_symbol(self.get_transformed_name(node), ()), source_code=source,
            source_file="<fragment>", future_features=future_features, namespace=namespace)
        context = transformer.Context(info, namer, user_context)
        return self.transform_ast(self._erase_arg_defaults(node), context), context


class _Factory:
    """Makes functions of rewritten code, each with its own globals, closure and defaults."""

    # The outer function makes variables of the closure's names, so that Python takes them for free ones in the inner.
    _TEMPLATE = """
        future_imports
        def outer_name():
            closure_variables
            def inner_name(extra_names):
                definitions
                return result
            return inner_name
    """

    def __init__(self, nodes, context, free_names, extra_locals):
        name = context.info.name
        inner, outer = (context.namer.new_symbol(n, ()) for n in ("inner_factory", "outer_factory"))
        future = [gast.ImportFrom(module="__future__", names=[gast.alias(name=n, asname=None)], level=0)
                  for n in context.info.future_features]
        variables = [s for free in free_names for s in templates.replace("variable = None", variable=free)]
        parameters = [gast.Name(n, ctx=gast.Param(), annotation=None, type_comment=None) for n in extra_locals]
        nodes = templates.replace(self._TEMPLATE, future_imports=future, outer_name=outer, inner_name=inner,
                                  closure_variables=variables, extra_names=parameters, definitions=nodes, result=name)
        self.module, _, self.source_map = loader.load_ast(nodes, include_source_map=True)
        self._code = getattr(self.module, outer)().__code__
        self._name, self._free, self._extra = name, free_names, extra_locals

    def function(self, original):
        """The rewritten function for one that has this code."""
        cells = dict(zip(self._free, original.__closure__ or ()))
        missing = [name for name in self._code.co_freevars if name not in cells]
        if missing:
            raise ValueError(f"{original} has no variables {missing} around it, which the rewritten code uses")
        made = types.FunctionType(self._code, original.__globals__, self._name, (),
                                  tuple(cells[name] for name in self._code.co_freevars))(**self._extra)
        made.__defaults__ = original.__defaults__
        made.__kwdefaults__ = original.__kwdefaults__
        return made


class PyToPy(GenericTranspiler):
    """transform(function, anything) is (the rewritten function, the module that holds its code, its source map).

    A subclass rewrites the tree in transform_ast. The function sees what the original does, and the names that
    get_extra_locals gives. Code is made once for each code object and get_caching_key; threads may share it.
    """

    def __init__(self):
        self._cache_lock = threading.RLock()
        self._cache = cache.CodeObjectCache()

    def get_extra_locals(self):
        """name -> value of what rewritten code sees besides. Subclasses say it."""
        raise NotImplementedError("subclasses must override this")

    def get_caching_key(self, user_context):
        """Something with a hash: what is made depends on the code and on it only. Subclasses say it."""
        raise NotImplementedError("subclasses must override this")

    def _cached_factory(self, fn, cache_subkey):
        return self._cache[fn][cache_subkey]

    def transform_function(self, fn, user_context):
        """Transforms a function, see the class."""
        key = self.get_caching_key(user_context)
        if not self._cache.has(fn, key):
            with self._cache_lock:
                if not self._cache.has(fn, key):
                    self._cache[fn][key] = self._factory(fn, user_context)
        factory = self._cached_factory(fn, key)
        return factory.function(fn), factory.module, factory.source_map

    def _factory(self, fn, user_context):
        node, context = super().transform_function(fn, user_context)
        if isinstance(node, gast.Lambda):
            target = gast.Name(context.info.name, ctx=gast.Store(), annotation=None, type_comment=None)
            node = gast.Assign(targets=[target], value=node, type_comment=None)
        else:
            node.name = context.info.name
        return _Factory(node, context, fn.__code__.co_freevars, self.get_extra_locals())
