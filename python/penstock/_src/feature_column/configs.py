"""Columns as dictionaries that JSON can say, and back."""
from penstock._src.graph import dtypes


class Coder:
    """How one field is written and read."""

    def encode(self, value):
        """What JSON can say."""
        raise NotImplementedError

    def decode(self, value, custom_objects, columns_by_name):
        """The value again."""
        raise NotImplementedError


class _Columns(Coder):
    """A column, or a tuple of columns and names of features."""

    def encode(self, value):
        from penstock._src.feature_column import serialization
        if type(value) is tuple:
            return tuple(serialization.serialize_feature_column(column) for column in value)
        return serialization.serialize_feature_column(value)

    def decode(self, value, custom_objects, columns_by_name):
        from penstock._src.feature_column import serialization
        if isinstance(value, (tuple, list)):
            return tuple(self.decode(column, custom_objects, columns_by_name) for column in value)
        return serialization.deserialize_feature_column(value, custom_objects, columns_by_name)


class _DType(Coder):

    def encode(self, value):
        return value.name

    def decode(self, value, custom_objects, columns_by_name):
        return dtypes.as_dtype(value)


class _Object(Coder):
    """A function by its name, or an object by its class and configuration."""

    def encode(self, value):
        if value is None:
            return None
        if hasattr(value, "get_config"):
            return {"class_name": type(value).__name__, "config": value.get_config()}
        if hasattr(value, "__name__"):
            return value.__name__
        raise ValueError("Cannot serialize", value)

    def decode(self, value, custom_objects, columns_by_name):
        from penstock._src.feature_column import serialization
        return serialization.deserialize_object(value, custom_objects)


columns, dtype, an_object = _Columns(), _DType(), _Object()


class Configured:
    """A named tuple whose fields are its configuration; `_coders` has those that JSON cannot say."""

    _coders = {}

    def _get_config(self):
        config = dict(zip(self._fields, self))
        for field, coder in self._coders.items():
            config[field] = coder.encode(config[field])
        return config

    @classmethod
    def _from_config(cls, config, custom_objects=None, columns_by_name=None):
        config = {**cls._field_defaults, **config}
        if set(config) != set(cls._fields):
            raise ValueError("Invalid config: {}, expected keys: {}".format(config, cls._fields))
        # JSON has no tuples.
        kwargs = {key: tuple(value) if isinstance(value, list) else value for key, value in config.items()}
        for field, coder in cls._coders.items():
            kwargs[field] = coder.decode(config[field], custom_objects, columns_by_name)
        return cls(**kwargs)
