"""Results kept for as long as the functions they are made of."""
import inspect
import weakref


class _TransformedFnCache:
    """cache[function] is a dict of what was made of a function; it goes when what stands for the function does."""

    __slots__ = ("_cache",)

    def __init__(self):
        self._cache = weakref.WeakKeyDictionary()

    def _get_key(self, entity):
        raise NotImplementedError("a subclass says what stands for a function")

    def has(self, entity, subkey):
        """Whether something of that name is kept for the function."""
        return subkey in self._cache.get(self._get_key(entity), ())

    def __getitem__(self, entity):
        return self._cache.setdefault(self._get_key(entity), {})

    def __len__(self):
        return len(self._cache)


class CodeObjectCache(_TransformedFnCache):
    """One entry for all functions of the same code: a closure's copies, an object's methods."""

    def _get_key(self, entity):
        return getattr(entity, "__code__", entity)


class UnboundInstanceCache(_TransformedFnCache):
    """One entry for each function; an object's methods are that of their class."""

    def _get_key(self, entity):
        return entity.__func__ if inspect.ismethod(entity) else entity
