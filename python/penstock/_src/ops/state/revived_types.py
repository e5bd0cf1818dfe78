"""Kinds of objects that a SavedModel names: how they are told, and how they are made again."""
import collections

from penstock.proto import saved_object_graph_pb2
from penstock.proto import versions_pb2


class VersionedTypeRegistration:
    """One version of a kind: `object_factory(proto)` makes an object, `setter(object, name, part)` gives it a part."""

    def __init__(self, object_factory, version, min_producer_version, min_consumer_version, bad_consumers=None,
                 setter=setattr):
        self.setter = setter
        self.identifier = None
        self._object_factory = object_factory
        self.version = version
        self._min_consumer_version = min_consumer_version
        self._min_producer_version = min_producer_version
        self._bad_consumers = list(bad_consumers or ())

    def to_proto(self):
        """The SavedUserObject."""
        return saved_object_graph_pb2.SavedUserObject(identifier=self.identifier, version=versions_pb2.VersionDef(
            producer=self.version, min_consumer=self._min_consumer_version, bad_consumers=self._bad_consumers))

    def from_proto(self, proto):
        """An object of this kind."""
        return self._object_factory(proto)

    def should_load(self, proto):
        """Whether this version makes objects of the one that was saved."""
        return (proto.identifier == self.identifier and self.version >= proto.version.min_consumer and
                proto.version.producer >= self._min_producer_version and
                self.version not in proto.version.bad_consumers)


_REVIVED = collections.OrderedDict()  # identifier -> (predicate, versions, newest first)


def register_revived_type(identifier, predicate, versions):
    """Makes objects for which `predicate` is true known by a name. AssertionError if it is taken."""
    versions = sorted(versions, key=lambda registration: registration.version, reverse=True)
    if not versions:
        raise AssertionError("Need at least one version of a registered type.")
    if len({registration.version for registration in versions}) != len(versions):
        raise AssertionError(f"Got multiple registrations with the same version for type {identifier}.")
    if identifier in _REVIVED:
        raise AssertionError(f"Duplicate registrations for type '{identifier}'")
    for registration in versions:
        registration.identifier = identifier
    _REVIVED[identifier] = predicate, versions


def serialize(obj):
    """The SavedUserObject of an object of a known kind, else None."""
    for predicate, versions in _REVIVED.values():
        if predicate(obj):
            return versions[0].to_proto()
    return None


def _registration(proto):
    _, versions = _REVIVED.get(proto.identifier, (None, ()))
    return next((registration for registration in versions if registration.should_load(proto)), None)


def deserialize(proto):
    """(object, setter) for a SavedUserObject of a known kind, else None."""
    found = _registration(proto)
    return None if found is None else (found.from_proto(proto), found.setter)


def get_setter(proto):
    """How an object of a SavedUserObject of a known kind gets its parts, else None."""
    found = _registration(proto)
    return None if found is None else found.setter


def registered_identifiers():
    """The known kinds."""
    return list(_REVIVED)
