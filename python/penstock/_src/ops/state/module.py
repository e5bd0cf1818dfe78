"""Module: an object with variables and modules in its attributes, which it finds by itself."""
import re

from penstock._src.graph import defaults
from penstock._src.graph import ops
from penstock._src.base import tf2
from penstock._src.base.mode import mode
from penstock._src.ops.state import variables as variables_module
from penstock._src.ops.state import tracking
from penstock._src.base import nest

_IDENTIFIER = re.compile(r"[a-zA-Z_]([a-zA-Z0-9_])*$")


def valid_identifier(name):
    """Whether it is a name that Python would take."""
    return bool(_IDENTIFIER.match(name))


def camel_to_snake(value):
    """ModuleName -> module_name."""
    value = re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))", r"_\1", value)
    return value.lower()


class Module(tracking.AutoTrackable):
    """Base class of layers and models.

    name: a Python identifier; by default the class's name in snake case. Attributes are looked through in the order of
    their names, lists, tuples and dicts in them included.
    """

    _TF_MODULE_IGNORED_PROPERTIES = frozenset([
        "_self_unconditional_checkpoint_dependencies", "_self_unconditional_dependency_names",
        "_self_unconditional_deferred_dependencies", "_self_name_based_restores"])

    def __init__(self, name=None):
        if name is None:
            name = camel_to_snake(type(self).__name__)
        elif not valid_identifier(name):
            raise ValueError(f"{name!r} is not a valid module name. Module names must be valid Python identifiers "
                             "(e.g. a valid class name).")
        self._name = name
        with ops.name_scope(name) as scope:
            self._scope_name = scope
        if mode.tensor_shape_v2 and defaults.executing_eagerly_outside_functions():
            self._name_scope = _scope(scope)

    @property
    def name(self):
        """The name given."""
        return self._name

    @property
    def name_scope(self):
        """A context manager: the name scope in which the module was made, with its name."""
        kept = getattr(self, "_name_scope", None)  # not by __dict__: programs wrap what attributes give
        return kept if kept is not None else _scope(self._scope_name)

    @property
    def variables(self):
        """The variables of this module and those in it."""
        return self._variables_that(_is_variable)

    @property
    def trainable_variables(self):
        """Those of `variables` that are trained."""
        return self._variables_that(lambda x: _is_variable(x) and getattr(x, "trainable", False))

    @property
    def non_trainable_variables(self):
        """Those of `variables` that are not trained."""
        return self._variables_that(lambda x: _is_variable(x) and not getattr(x, "trainable", False))

    def _variables_that(self, predicate):
        """Version 2 finds them in composite values too."""
        return tuple(self._flatten(predicate=predicate, expand_composites=tf2.enabled()))

    @property
    def submodules(self):
        """The modules in this one, at any depth."""
        return tuple(self._flatten(predicate=_is_module))

    def _flatten(self, recursive=True, predicate=None, attribute_traversal_key=None, with_path=False,
                 expand_composites=False):
        """The values in attributes that `predicate` wants, each once; those of modules within last."""
        seen = set()
        yield from _walk(self, recursive, predicate or (lambda _: True), attribute_traversal_key, with_path,
                         expand_composites, (), seen)

    @classmethod
    def with_name_scope(cls, method):
        """Decorator of methods: they run in the module's name scope."""
        if hasattr(method, "_decorate") and hasattr(method, "python_function"):
            method._decorate(cls.with_name_scope)
            return method
        import functools

        @functools.wraps(method)
        def method_with_name_scope(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)

        return method_with_name_scope


class _Scope(ops.name_scope):
    """A name scope that may be entered again and again, within itself too."""

    __slots__ = ("_entered",)

    def __init__(self, name):
        super().__init__(name)
        self._entered = []

    def __enter__(self):
        inner = ops.name_scope(self._name)
        self._entered.append(inner)
        return inner.__enter__()

    def __exit__(self, *exc):
        return self._entered.pop().__exit__(*exc)


def _scope(name):
    return _Scope(name)


def _is_variable(x):
    return isinstance(x, variables_module.Variable) or hasattr(x, "_should_act_as_resource_variable")


def _is_module(x):
    return isinstance(x, Module)


def _walk(module, recursive, predicate, key, with_path, expand_composites, path, seen, around=()):
    """As Module._flatten. Each value once; with paths once on each, but not in a module of `around`."""
    attributes = {k: v for k, v in vars(module).items() if k not in module._TF_MODULE_IGNORED_PROPERTIES}
    inner = []
    seen.add(id(module))
    for name in sorted(attributes, key=key):
        value = attributes[name]
        try:
            leaves = nest.flatten_with_tuple_paths(value, expand_composites=expand_composites)
        except (TypeError, ValueError) as e:
            raise ValueError(f"Error processing property {name!r} of {value!r}") from e
        for leaf_path, leaf in leaves:
            full = path + (name,) + tuple(leaf_path)
            if id(leaf) in seen and not with_path:
                continue
            wanted, is_module = predicate(leaf), _is_module(leaf)
            if wanted:
                seen.add(id(leaf))
                yield (full, leaf) if with_path else leaf
            if recursive and is_module:
                inner.append((full, leaf))
    for full, leaf in inner:
        if not any(leaf is outer for outer in around):
            yield from _walk(leaf, recursive, predicate, key, with_path, expand_composites, full, seen,
                             (*around, leaf))
