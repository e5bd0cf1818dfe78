"""Network: a layer whose parts are its attributes."""
from penstock._src.layers import base
from penstock._src.ops.state import variables as variables_lib
from penstock._src.ops.state import base as trackable
from penstock._src.ops.state import data_structures
from penstock._src.base import nest

_OWN = ("_trainable_weights", "_non_trainable_weights", "_layers")  # attributes that are no parts


class Network(base.Layer):
    """A layer to be subclassed: `__init__` makes layers and variables and sets them as attributes, `call` uses them.

    The weights are those of the layers and variables that were set as attributes, alone or in lists, tuples and dicts,
    in the order in which they were set.
    """

    def __init__(self, *args, **kwargs):
        object.__setattr__(self, "_parts", {})
        super().__init__(*args, **kwargs)

    def __setattr__(self, name, value):
        parts = self.__dict__.get("_parts")
        if parts is None:
            if isinstance(value, (base.Layer, variables_lib.Variable)):
                raise RuntimeError("It looks like you are subclassing `Model` and you forgot to call "
                                   "`super(YourClass, self).__init__()`.")
        elif name not in _OWN and self.__dict__.get("_self_setattr_tracking", True):
            if not name.startswith("_") or isinstance(value, trackable.Trackable):
                value = data_structures.sticky_attribute_assignment(self, name, value)
            parts.pop(name, None)
            found = [part for part in self._flat(value) if isinstance(part, (base.Layer, variables_lib.Variable))]
            if found:
                parts[name] = value
            for part in found:
                # Layers of models have resource variables, whatever the mode.
                if hasattr(part, "_use_resource_variables"):
                    part._use_resource_variables = True
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        self.__dict__.get("_parts", {}).pop(name, None)
        object.__delattr__(self, name)

    @staticmethod
    def _flat(value):
        return nest.flatten(value) if isinstance(value, (list, tuple, dict)) else [value]

    def _attributes(self, kind):
        """The attributes of a class, each once."""
        parts = [part for value in self._parts.values() for part in self._flat(value) if isinstance(part, kind)]
        return list({id(part): part for part in parts}.values())

    @property
    def layers(self):
        """The layers among the attributes."""
        return self._attributes(base.Layer)

    def _all_weights(self):
        """The model's own weights and those of its layers, each once."""
        own = self._attributes(variables_lib.Variable) + self._trainable_weights + self._non_trainable_weights
        nested = [weight for layer in self.layers for weight in layer.weights]
        return list({id(weight): weight for weight in own + nested}.values())

    def _trained(self):
        frozen = {id(weight) for layer in self.layers for weight in layer.non_trainable_weights}
        frozen.update(id(weight) for weight in self._non_trainable_weights)
        frozen.update(id(weight) for weight in self._attributes(variables_lib.Variable) if not weight.trainable)
        return {id(weight) for weight in self._all_weights() if id(weight) not in frozen}

    @property
    def trainable_weights(self):
        """The weights that training changes."""
        trained = self._trained() if self.trainable else ()
        return [weight for weight in self._all_weights() if id(weight) in trained]

    @property
    def non_trainable_weights(self):
        """The other weights."""
        trained = self._trained() if self.trainable else ()
        return [weight for weight in self._all_weights() if id(weight) not in trained]
