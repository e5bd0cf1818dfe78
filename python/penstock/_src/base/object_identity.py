"""Sets and dictionaries whose members are equal only if they are the same object."""
import collections.abc
import weakref


class Reference:
    """A hashable stand-in for an object, equal only to stand-ins for the same one."""

    __slots__ = ("_referenced", "__weakref__")

    def __init__(self, referenced):
        self._referenced = referenced

    def deref(self):
        """The object."""
        return self._referenced

    unwrapped = property(deref)

    def __eq__(self, other):
        return isinstance(other, Reference) and self._referenced is other._referenced

    def __hash__(self):
        return id(self._referenced)

    def __lt__(self, other):
        """An order, so that dictionaries whose keys they are can be flattened."""
        return id(self._referenced) < id(other._referenced) if isinstance(other, Reference) else NotImplemented

    def __gt__(self, other):
        return id(self._referenced) > id(other._referenced) if isinstance(other, Reference) else NotImplemented

    def __repr__(self):
        return f"<Reference wrapping {self._referenced!r}>"


class ObjectIdentityDictionary(collections.abc.MutableMapping):
    """A dictionary by identity."""

    def __init__(self, items=()):
        self._storage = {}
        self.update(items)

    def __getitem__(self, key):
        return self._storage[id(key)][1]

    def __setitem__(self, key, value):
        self._storage[id(key)] = (key, value)

    def __delitem__(self, key):
        del self._storage[id(key)]

    def __contains__(self, key):
        return id(key) in self._storage

    def __len__(self):
        return len(self._storage)

    def __iter__(self):
        return iter([key for key, _ in self._storage.values()])


class ObjectIdentitySet(collections.abc.MutableSet):
    """A set by identity."""

    def __init__(self, items=()):
        self._storage = {id(item): item for item in items}

    @classmethod
    def _from_iterable(cls, items):
        return cls(items)

    def __contains__(self, item):
        return id(item) in self._storage

    def add(self, item):
        """Adds an item."""
        self._storage[id(item)] = item

    def discard(self, item):
        """Removes an item if it is there."""
        self._storage.pop(id(item), None)

    def update(self, items):
        """Adds items."""
        for item in items:
            self.add(item)

    def difference(self, items):
        """The members that are not among `items`."""
        return self - ObjectIdentitySet(items)

    def intersection(self, items):
        """The members that are among `items`."""
        return self & ObjectIdentitySet(items)

    def __len__(self):
        return len(self._storage)

    def __iter__(self):
        return iter(list(self._storage.values()))


class _WeakReference:
    """A Reference that does not keep its object alive."""

    __slots__ = ("_weak", "_hash", "__weakref__")

    def __init__(self, referenced, when_gone=None):
        self._hash = id(referenced)
        self._weak = weakref.ref(referenced, (lambda _: when_gone(self)) if when_gone else None)

    def deref(self):
        """The object, or None once it is gone."""
        return self._weak()

    def __eq__(self, other):
        return self is other or (isinstance(other, _WeakReference) and self.deref() is not None and
                                 self.deref() is other.deref())

    def __hash__(self):
        return self._hash


class ObjectIdentityWeakKeyDictionary(collections.abc.MutableMapping):
    """A dictionary by identity whose entries go with their keys."""

    def __init__(self):
        self._storage = {}

    def __getitem__(self, key):
        return self._storage[_WeakReference(key)]

    def __setitem__(self, key, value):
        storage = self._storage
        self._storage[_WeakReference(key, lambda reference: storage.pop(reference, None))] = value

    def __delitem__(self, key):
        del self._storage[_WeakReference(key)]

    def __len__(self):
        return sum(1 for _ in self)

    def __iter__(self):
        for reference in list(self._storage):
            key = reference.deref()
            if key is not None:
                yield key


class ObjectIdentityWeakSet(collections.abc.MutableSet):
    """A set by identity whose members may go."""

    def __init__(self, members=()):
        self._storage = ObjectIdentityWeakKeyDictionary()
        for member in members:
            self.add(member)

    def add(self, value):
        """Adds one."""
        self._storage[value] = True

    def discard(self, value):
        """Removes one if it is there."""
        self._storage.pop(value, None)

    def __contains__(self, value):
        return value in self._storage

    def __len__(self):
        return len(self._storage)

    def __iter__(self):
        return iter(self._storage)
