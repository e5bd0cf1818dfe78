"""The debugger's settings, kept in a file in the home folder."""
import json
import os

from penstock._src.debug.cli import debugger_cli_common
from penstock._src.graph import errors
from penstock._src.files import gfile

_WORDS = {**dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True),
          **dict.fromkeys(("0", "false", "f", "no", "n", "off"), False)}


class CLIConfig:
    """Named properties with values; each change is written to the file at once."""

    _CONFIG_FILE_NAME = ".tfdbg_config"
    _DEFAULT_CONFIG = [("graph_recursion_depth", 20), ("mouse_mode", True)]

    def __init__(self, config_file_path=None):
        self._config_file_path = config_file_path or os.path.join(os.path.expanduser("~"), self._CONFIG_FILE_NAME)
        self._config = dict(self._DEFAULT_CONFIG)
        self._config.update(self._load())
        self._save()
        self._set_callbacks = {}

    def _load(self):
        try:
            with gfile.GFile(self._config_file_path, "r") as f:
                return dict(sorted(json.load(f).items()))
        except (OSError, ValueError, errors.OpError):
            return {}

    def _save(self):
        try:
            with gfile.GFile(self._config_file_path, "w") as f:
                json.dump(self._config, f)
        except (OSError, errors.OpError):
            pass

    def _check(self, property_name):
        if property_name not in self._config:
            raise KeyError("%s is not a valid property name." % property_name)

    def get(self, property_name):
        """The value of a property. KeyError if there is none of that name."""
        self._check(property_name)
        return self._config[property_name]

    def set(self, property_name, property_val):
        """Sets a property to a value of its type, or a text that stands for one. KeyError, ValueError."""
        self._check(property_name)
        kind = type(self._config[property_name])
        if kind is bool and isinstance(property_val, str):
            if property_val.lower() not in _WORDS:
                raise ValueError("Invalid string value for bool type: %s" % property_val)
            property_val = _WORDS[property_val.lower()]
        elif kind not in (bool, int, str):
            raise TypeError("Unsupported property type: %s" % kind)
        self._config[property_name] = kind(property_val)
        self._save()
        if property_name in self._set_callbacks:
            self._set_callbacks[property_name](self._config)

    def set_callback(self, property_name, callback):
        """Calls `callback` with all properties whenever one is set. KeyError, TypeError."""
        self._check(property_name)
        if not callable(callback):
            raise TypeError("The callback object provided is not callable.")
        self._set_callbacks[property_name] = callback

    def summarize(self, highlight=None):
        """All properties as RichTextLines, one of them in bold."""
        line = debugger_cli_common.RichLine
        lines = [line("Command-line configuration:", "bold"), line("")]
        for name, value in self._config.items():
            bold = "bold" if name == highlight else None
            lines.append(line("  ") + line(name, ["underline", bold]) + ": " + line(str(value), bold))
        return debugger_cli_common.rich_text_lines_from_rich_line_list(lines)
