"""Objects that a registered saver saves and restores together."""
from penstock._src.graph import gen
from penstock._src.ops.state import saveable_object
from penstock._src.ops.state import registration
from penstock._src.base import nest


class RegisteredSaveable(saveable_object.SaveableObject):
    """{name in the checkpoint: object} of one saver. It has no tensors that others could write."""

    def __init__(self, saver_name, trackables):
        super().__init__(None, [], saver_name)
        self._trackables = trackables

    def save_shards(self, file_prefix):
        """Writes the objects; gives the prefixes of what is written."""
        save = registration.get_save_function(self.name)
        shard = gen.string_join([file_prefix, f"-{self.name}"])
        return [prefix for prefix in nest.flatten(self._call(save, file_prefix=shard)) if prefix is not None]

    def restore_shards(self, merged_prefix):
        """Reads the objects; gives operations, where there are any to be run."""
        restore = registration.get_restore_function(self.name)
        return [op for op in nest.flatten(self._call(restore, merged_prefix=merged_prefix)) if op is not None]

    def _call(self, function, **prefix):
        return function(trackables=self._trackables, **prefix)


class TracedSaveable(RegisteredSaveable):
    """The same in the graph of a SavedModel. `call(function, prefix)` calls there what is traced here."""

    def __init__(self, saveable, call):
        super().__init__(saveable.name, saveable._trackables)
        self._call_traced = call

    def _call(self, function, **prefix):
        (key, value), = prefix.items()
        return self._call_traced(lambda text: function(trackables=self._trackables, **{key: text}), value)


def together(saveables):
    """One RegisteredSaveable for each saver."""
    found = {}
    for saveable in saveables:
        found.setdefault(saveable.name, {}).update(saveable._trackables)
    return [RegisteredSaveable(name, trackables) for name, trackables in found.items()]
