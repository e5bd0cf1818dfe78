"""Command-line flags in absl's manner: --name=value, --name value, --flag, --noflag, -- ends them."""
import sys

__all__ = ["DEFINE_bool", "DEFINE_boolean", "DEFINE_enum", "DEFINE_float", "DEFINE_integer", "DEFINE_list",
           "DEFINE_multi_integer", "DEFINE_multi_float", "DEFINE_multi_string", "DEFINE_string", "DuplicateFlagError",
           "Error", "FLAGS", "FlagValues", "IllegalFlagValueError", "UnparsedFlagAccessError", "UnrecognizedFlagError",
           "ValidationError", "mark_flag_as_required", "mark_flags_as_required", "register_validator", "validator"]


class Error(Exception):
    """Something about flags is wrong."""


class DuplicateFlagError(Error):
    """A flag was defined twice."""


class IllegalFlagValueError(Error):
    """A value does not fit a flag."""


class ValidationError(IllegalFlagValueError):
    """A validator refused a value."""


class UnrecognizedFlagError(Error):
    """No such flag was defined."""


class UnparsedFlagAccessError(Error):
    """A flag was read before the command line was."""


class Flag:
    """One flag: how its text is read, its default, its value."""

    def __init__(self, name, default, help, parse, boolean=False, multiple=False):  # noqa: A002
        self.name = name
        self.default = default
        self.help = help or ""
        self.parse = parse
        self.boolean = boolean
        self.multiple = multiple
        self.value = default
        self.present = 0

    def set_text(self, text):
        """Takes the value from the command line."""
        try:
            value = self.parse(text)
        except (ValueError, TypeError) as e:
            raise IllegalFlagValueError(f"flag --{self.name}={text}: {e}") from None
        if self.multiple:
            self.value = (self.value if self.present else []) + [value]
        else:
            self.value = value
        self.present += 1


class FlagValues:
    """All flags of the program; values are its attributes."""

    def __init__(self):
        self.__dict__["_flags"] = {}
        self.__dict__["_validators"] = []
        self.__dict__["_parsed"] = False

    def __getattr__(self, name):
        if name.startswith("__") or name not in self._flags:
            raise AttributeError(name)
        if not self._parsed:
            self(sys.argv, known_only=True)
        return self._flags[name].value

    def __setattr__(self, name, value):
        if name not in self._flags:
            raise UnrecognizedFlagError(f"Unknown command line flag '{name}'")
        self._flags[name].value = value
        self._check(name)

    def __delattr__(self, name):
        if name not in self._flags:
            raise AttributeError(name)
        del self._flags[name]

    def __contains__(self, name):
        return name in self._flags

    def __iter__(self):
        return iter(self._flags)

    def __len__(self):
        return len(self._flags)

    def __getitem__(self, name):
        return self._flags[name]

    def __dir__(self):
        return list(self._flags)

    def define(self, flag):
        """Adds a flag."""
        if flag.name in self._flags:
            raise DuplicateFlagError(f"The flag '{flag.name}' is defined twice.")
        self._flags[flag.name] = flag

    def is_parsed(self):
        """Whether the command line was read."""
        return self._parsed

    def mark_as_parsed(self):
        """Makes the defaults readable."""
        self.__dict__["_parsed"] = True

    def flag_values_dict(self):
        """name -> value."""
        return {name: flag.value for name, flag in self._flags.items()}

    def _check(self, name=None):
        for names, checker, message in self._validators:
            if name is None or name in names:
                if not checker({n: self._flags[n].value for n in names if n in self._flags}):
                    raise IllegalFlagValueError(f"flag --{names[0]}={self._flags[names[0]].value}: {message}")

    def _set(self, key, text, following):
        """Sets one flag; returns whether the following word was its value."""
        flag = self._flags.get(key)
        if flag is None and key.startswith("no") and text is None:
            off = self._flags.get(key[2:])
            if off is not None and off.boolean:
                off.set_text("false")
                return False
        if flag is None:
            raise UnrecognizedFlagError(f"Unknown command line flag '{key}'")
        if text is not None:
            flag.set_text(text)
            return False
        if flag.boolean:
            flag.set_text("true")
            return False
        if following is None:
            raise Error(f"Missing value for flag --{key}")
        flag.set_text(following)
        return True

    def __call__(self, argv, known_only=False):
        """Reads a command line; returns it without the flags. With `known_only`, unknown flags stay in it."""
        rest, words = list(argv[:1]), list(argv[1:])
        i = 0
        while i < len(words):
            word = words[i]
            i += 1
            if word == "--":
                rest.extend(words[i:])
                break
            if not word.startswith("-") or word == "-":
                rest.append(word)
                continue
            key, equals, text = word.lstrip("-").partition("=")
            try:
                i += self._set(key, text if equals else None, words[i] if i < len(words) else None)
            except UnrecognizedFlagError:
                if key in ("help", "helpfull", "h") and not known_only:
                    print(self.get_help())
                    sys.exit(1)
                if not known_only:
                    raise
                rest.append(word)
        self.__dict__["_parsed"] = True
        self._check()
        return rest

    def get_help(self):
        """What the flags mean."""
        return "\n".join(f"  --{f.name}: {f.help}\n    (default: {f.default!r})" for f in self._flags.values())


FLAGS = FlagValues()


def _bool(text):
    if isinstance(text, bool):
        return text
    if str(text).lower() in ("true", "t", "1", "yes", "y"):
        return True
    if str(text).lower() in ("false", "f", "0", "no", "n"):
        return False
    raise ValueError("Non-boolean argument to boolean flag")


def _items(text):
    return text if isinstance(text, list) else [item.strip() for item in text.split(",")] if text else []


def _maker(parse, boolean=False, multiple=False):
    def define(name, default, help=None, flag_values=FLAGS, **kwargs):  # noqa: A002
        flag_values.define(Flag(name, default if default is None or multiple else parse(default), help, parse, boolean,
                                multiple))
    return define


DEFINE_string = _maker(str)
DEFINE_integer = _maker(lambda text: text if isinstance(text, int) else int(text, 0))
DEFINE_float = _maker(float)
DEFINE_bool = DEFINE_boolean = _maker(_bool, boolean=True)
DEFINE_list = _maker(_items)
DEFINE_multi_string = _maker(str, multiple=True)
DEFINE_multi_integer = _maker(int, multiple=True)
DEFINE_multi_float = _maker(float, multiple=True)


def DEFINE_enum(name, default, enum_values, help=None, flag_values=FLAGS, **kwargs):  # noqa: N802, A002
    """A flag with one of several values."""
    def parse(text):
        if text not in enum_values:
            raise ValueError(f"value should be one of <{'|'.join(enum_values)}>")
        return text
    flag_values.define(Flag(name, default, help, parse))


def register_validator(flag_name, checker, message="Flag validation failed", flag_values=FLAGS):
    """Makes `checker(value)` decide whether a value is allowed."""
    flag_values._validators.append(([flag_name], lambda values: checker(values[flag_name]), message))


def validator(flag_name, message="Flag validation failed", flag_values=FLAGS):
    """Decorator form of register_validator."""
    def decorate(function):
        register_validator(flag_name, function, message, flag_values)
        return function
    return decorate


def mark_flag_as_required(flag_name, flag_values=FLAGS):
    """Makes a missing flag an error when the command line is read."""
    message = f"Flag --{flag_name} must have a value other than None."
    register_validator(flag_name, lambda value: value is not None, message,
                       flag_values)


def mark_flags_as_required(flag_names, flag_values=FLAGS):
    """mark_flag_as_required for several."""
    for name in flag_names:
        mark_flag_as_required(name, flag_values)
