"""HParams: hyperparameters by name, with types, that a command line can set."""
import json
import numbers
import re

_ASSIGNMENT = re.compile(r"\s*(?P<name>[a-zA-Z][\w.]*)(\[\s*(?P<index>\d+)\s*\])?\s*=\s*"
                         r"((?P<value>[^,\[]*)|\[(?P<list>[^\]]*)\])\s*($|,\s*)")


def _cast(name, kind, value):
    """`value` as `kind`; ValueError where that would lose something, as 1.5 for an int."""
    fail = ValueError("Could not cast hparam '%s' of type '%s' from value %r" % (name, kind, value))
    if kind is type(None) or isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool):
        return value
    if issubclass(kind, (str, bytes)):
        if isinstance(value, bytes):
            return value.decode()
        return str(value) if isinstance(value, str) else kind(value)
    if issubclass(kind, numbers.Number) and isinstance(value, bool) != issubclass(kind, bool):
        raise fail
    if issubclass(kind, numbers.Integral) and not isinstance(value, numbers.Integral):
        raise fail
    if issubclass(kind, numbers.Number) and not isinstance(value, numbers.Number):
        raise fail
    return kind(value)


def _parsed(name, kind, text):
    fail = ValueError("Could not parse hparam '%s' of type '%s' with value '%s'" % (name, kind.__name__, text))
    text = text.strip()
    if kind is bool:
        if text in ("true", "True"):
            return True
        if text in ("false", "False"):
            return False
        try:
            return bool(int(text))
        except ValueError:
            raise fail
    try:
        return kind(text)
    except ValueError:
        raise fail


def parse_values(values, type_map, ignore_unknown=False):
    """{name: value or list or {index: value}} of a text such as "rate=0.1,sizes=[3,4],sizes[1]=5"."""
    found = {}
    position = 0
    while position < len(values):
        match = _ASSIGNMENT.match(values, position)
        if not match:
            raise ValueError("Malformed hyperparameter value: %s" % values[position:])
        position = match.end()
        name = match.group("name")
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError("Unknown hyperparameter type for %s" % name)
        kind = type_map[name]
        if match.group("list") is not None:
            if match.group("index") is not None:
                raise ValueError("Assignment of a list to a list index: %s" % match.group(0))
            if name in found:
                raise ValueError("Multiple assignments to variable '%s' in %s" % (name, values))
            found[name] = [_parsed(name, kind, v) for v in match.group("list").split(",")]
        elif match.group("index") is not None:
            elements = found.setdefault(name, {})
            if not isinstance(elements, dict) or int(match.group("index")) in elements:
                raise ValueError("Multiple assignments to variable '%s' in %s" % (name, values))
            elements[int(match.group("index"))] = _parsed(name, kind, match.group("value"))
        else:
            if name in found:
                raise ValueError("Multiple assignments to variable '%s' in %s" % (name, values))
            found[name] = _parsed(name, kind, match.group("value"))
    return found


class HParams(object):
    """Attributes with types that their first values fix: HParams(rate=0.1, sizes=[3, 4])."""

    _HAS_DYNAMIC_ATTRIBUTES = True

    def __init__(self, hparam_def=None, model_structure=None, **kwargs):
        if hparam_def is not None:
            raise ValueError("hparam_def is not supported; pass the values")
        self._hparam_types = {}  # name -> (type, whether a list)
        self._model_structure = model_structure
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name, value):
        """Adds a hyperparameter; ValueError if the name is taken."""
        if getattr(self, name, None) is not None:
            raise ValueError("Hyperparameter name is reserved: %s" % name)
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError("Multi-valued hyperparameters cannot be empty: %s" % name)
            self._hparam_types[name] = (type(value[0]), True)
        else:
            self._hparam_types[name] = (type(value), False)
        setattr(self, name, value)

    def set_hparam(self, name, value):
        """Sets a hyperparameter to a value of its type."""
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list):
            if not is_list:
                raise ValueError("Must not pass a list for single-valued parameter: %s" % name)
            setattr(self, name, [_cast(name, kind, v) for v in value])
        elif isinstance(value, dict) and is_list:
            elements = list(getattr(self, name))
            for index, element in value.items():
                elements[index] = _cast(name, kind, element)
            setattr(self, name, elements)
        elif is_list:
            raise ValueError("Must pass a list for multi-valued parameter: %s." % name)
        else:
            setattr(self, name, _cast(name, kind, value))

    def del_hparam(self, name):
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values):
        """Sets what a text such as "rate=0.1,sizes=[3,4]" says."""
        return self.override_from_dict(parse_values(values, {n: t for n, (t, _) in self._hparam_types.items()}))

    def override_from_dict(self, values_dict):
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map):
        return self.override_from_dict(values_map)

    def set_model_structure(self, model_structure):
        self._model_structure = model_structure

    def get_model_structure(self):
        return self._model_structure

    def to_json(self, indent=None, separators=None, sort_keys=False):
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def parse_json(self, values_json):
        return self.override_from_dict(json.loads(values_json))

    def values(self):
        """{name: value}."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key, default=None):
        """The value, or `default` (which must be of its type) if there is none of that name."""
        if key not in self._hparam_types:
            return default
        if default is not None:
            kind, is_list = self._hparam_types[key]
            problem = "Hparam '%s' of type '%s' is incompatible with default=%s" % (
                key, "list<%s>" % kind if is_list else kind, default)
            if is_list != isinstance(default, list):
                raise ValueError(problem)
            try:
                for value in default if is_list else [default]:
                    _cast(key, kind, value)
            except ValueError as e:
                raise ValueError("%s. %s" % (problem, e))
        return getattr(self, key)

    def __contains__(self, key):
        return key in self._hparam_types

    def __str__(self):
        return ",".join("%s=%s" % item for item in self.values().items())

    def __repr__(self):
        return "%s(%s)" % (type(self).__name__, sorted(self.values().items()))
