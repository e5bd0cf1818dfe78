"""What the debugger's terminals are made of: lines with attributes, commands, their completion and history, menus."""
import copy
import os
import re
import traceback

import numpy as np

from penstock._src.graph import versions
from penstock._src.files import gfile

HELP_INDENT = "  "

EXPLICIT_USER_EXIT = "explicit_user_exit"
# Keys of annotations that belong to no line.
REGEX_MATCH_LINES_KEY = "regex_match_lines"
INIT_SCROLL_POS_KEY = "init_scroll_pos"
MAIN_MENU_KEY = "mm:"


class CommandLineExit(Exception):
    """Raised by a command to leave the terminal; `exit_token` goes to whoever opened it."""

    def __init__(self, exit_token=None):
        super().__init__()
        self._exit_token = exit_token

    exit_token = property(lambda self: self._exit_token, doc="What the terminal returns.")


class RichLine:
    """A line with attributes: `font_attr_segs` lists (begin, end, attribute), where an attribute may be a list."""

    def __init__(self, text="", font_attr=None):
        self.text = text
        self.font_attr_segs = [(0, len(text), font_attr)] if font_attr else []

    def __add__(self, other):
        if not isinstance(other, (str, RichLine)):
            raise TypeError("%r cannot be concatenated with a RichLine" % other)
        result = RichLine(self.text + (other if isinstance(other, str) else other.text))
        result.font_attr_segs = list(self.font_attr_segs)
        if isinstance(other, RichLine):
            shift = len(self.text)
            result.font_attr_segs += [(begin + shift, end + shift, attr) for begin, end, attr in other.font_attr_segs]
        return result

    def __len__(self):
        return len(self.text)


def rich_text_lines_from_rich_line_list(rich_text_list, annotations=None):
    """RichTextLines of RichLines and plain strings."""
    output = RichTextLines([], annotations=annotations)
    for line in rich_text_list:
        if isinstance(line, RichLine):
            output.append_rich_line(line)
        else:
            output.append(line)
    return output


def get_tensorflow_version_lines(include_dependency_versions=False):
    """The version of TensorFlow (and NumPy) as RichTextLines."""
    lines = ["TensorFlow version: %s" % versions.VERSION, ""]
    if include_dependency_versions:
        lines += ["Dependency version(s):", "  numpy: %s" % np.__version__, ""]
    return RichTextLines(lines)


def _shifted(numbered, offset):
    """A copy of a map whose integer keys, numbers of lines, grow by `offset`."""
    return {key + offset if isinstance(key, int) else key: value for key, value in numbered.items()}


class RichTextLines:
    """Lines with attributes and annotations: what a command answers.

    lines: a list of strings, or one. font_attr_segs: {line: [(begin, end, attribute)]}. annotations: {line: anything},
    with keys that are no integers for the whole. ValueError if lines are neither.
    """

    def __init__(self, lines, font_attr_segs=None, annotations=None):
        if not isinstance(lines, (list, str)):
            raise ValueError("Unexpected type in lines: %s" % type(lines))
        self._lines = [lines] if isinstance(lines, str) else lines
        self._font_attr_segs = font_attr_segs or {}
        self._annotations = annotations or {}

    lines = property(lambda self: self._lines, doc="The lines, as strings.")
    font_attr_segs = property(lambda self: self._font_attr_segs, doc="{line: [(begin, end, attribute)]}.")
    annotations = property(lambda self: self._annotations, doc="{line, or another key: anything}.")

    def num_lines(self):
        """The number of lines."""
        return len(self._lines)

    def slice(self, begin, end):
        """The lines from `begin` up to `end`, neither of them negative, as new RichTextLines."""
        if begin < 0 or end < 0:
            raise ValueError("Encountered negative index.")

        def part(numbered):
            return _shifted({key: value for key, value in numbered.items()
                             if not isinstance(key, int) or begin <= key < end}, -begin)

        return RichTextLines(self._lines[begin:end], part(self._font_attr_segs), part(self._annotations))

    def extend(self, other):
        """Adds other RichTextLines at the end; their annotations of the whole replace one's own."""
        offset = self.num_lines()
        self._lines.extend(other.lines)
        self._font_attr_segs.update(_shifted(other.font_attr_segs, offset))
        self._annotations.update(_shifted(other.annotations, offset))

    def append(self, line, font_attr_segs=None):
        """Adds a string at the end, with the attributes of its parts."""
        self._lines.append(line)
        if font_attr_segs:
            self._font_attr_segs[len(self._lines) - 1] = font_attr_segs

    def append_rich_line(self, rich_line):
        """Adds a RichLine at the end."""
        self.append(rich_line.text, rich_line.font_attr_segs)

    def prepend(self, line, font_attr_segs=None):
        """Adds a string (or a list of them) at the beginning, with the attributes of the first one's parts."""
        first = [line] if isinstance(line, str) else line
        self._lines = first + self._lines
        self._font_attr_segs = _shifted(self._font_attr_segs, len(first))
        if font_attr_segs:
            self._font_attr_segs[0] = font_attr_segs
        self._annotations = _shifted(self._annotations, len(first))

    def write_to_file(self, file_path):
        """Writes the lines, without attributes and annotations."""
        with gfile.GFile(file_path, "w") as f:
            f.write("".join(line + "\n" for line in self._lines))


def regex_find(orig_screen_output, regex, font_attr):
    """A copy in which what matches a regular expression has the attribute; its lines are in an annotation.

    ValueError if the expression is none.
    """
    try:
        pattern = re.compile(regex)
    except re.error:
        raise ValueError('Invalid regular expression: "%s"' % regex) from None
    segs = copy.deepcopy(orig_screen_output.font_attr_segs)
    found = []
    for number, line in enumerate(orig_screen_output.lines):
        matches = [(match.start(), match.end(), font_attr) for match in pattern.finditer(line)]
        if matches:
            segs[number] = sorted(segs.get(number, []) + matches, key=lambda seg: seg[0])
            found.append(number)
    output = RichTextLines(orig_screen_output.lines, segs, orig_screen_output.annotations)
    output.annotations[REGEX_MATCH_LINES_KEY] = found
    return output


def wrap_rich_text_lines(inp, cols):
    """(RichTextLines with at most `cols` characters a line, for each of `inp`'s lines the number where it begins).

    ValueError for other arguments.
    """
    if not isinstance(inp, RichTextLines):
        raise ValueError("Invalid type of input screen_output")
    if not isinstance(cols, int):
        raise ValueError("Invalid type of input cols")
    output = RichTextLines([], annotations={k: v for k, v in inp.annotations.items() if not isinstance(k, int)})
    begins = []
    for number, line in enumerate(inp.lines):
        begins.append(output.num_lines())
        if number in inp.annotations:
            output.annotations[output.num_lines()] = inp.annotations[number]
        segs = inp.font_attr_segs.get(number, [])
        for begin in range(0, max(len(line), 1), cols):
            end = min(begin + cols, len(line))
            clipped = [(max(first, begin) - begin, min(last, end) - begin, attr) for first, last, attr in segs]
            output.append(line[begin:end], [seg for seg in clipped if seg[1] > seg[0]])
    return output, begins


class CommandHandlerRegistry:
    """Commands by name and alias; "help" and "version" among them."""

    HELP_COMMAND, HELP_COMMAND_ALIASES = "help", ["h"]
    VERSION_COMMAND, VERSION_COMMAND_ALIASES = "version", ["ver"]

    def __init__(self):
        self._handlers, self._help, self._aliases = {}, {}, {}
        self._alias_to_prefix = {}
        self._help_intro = None
        self.register_command_handler(self.HELP_COMMAND, self._help_handler, "Print this help message.",
                                      prefix_aliases=self.HELP_COMMAND_ALIASES)
        self.register_command_handler(self.VERSION_COMMAND, self._version_handler,
                                      "Print the versions of TensorFlow and its key dependencies.",
                                      prefix_aliases=self.VERSION_COMMAND_ALIASES)

    def register_command_handler(self, prefix, handler, help_info, prefix_aliases=None):
        """Adds the command `prefix`: handler(argv, screen_info=None) gives RichTextLines or None.

        ValueError if a name is taken or empty, the handler cannot be called, or the help is no string.
        """
        if not prefix:
            raise ValueError("Empty command prefix")
        if prefix in self._handlers:
            raise ValueError('A handler is already registered for command prefix "%s"' % prefix)
        if not callable(handler):
            raise ValueError("handler is not callable")
        if not isinstance(help_info, str):
            raise ValueError("help_info is not a str")
        for alias in prefix_aliases or ():
            if self.is_registered(alias):
                raise ValueError('The prefix alias "%s" clashes with existing prefixes or aliases.' % alias)
            self._alias_to_prefix[alias] = prefix
        self._handlers[prefix], self._help[prefix], self._aliases[prefix] = handler, help_info, prefix_aliases

    def dispatch_command(self, prefix, argv, screen_info=None):
        """Runs a command. What it raises, but for CommandLineExit, becomes lines that say so.

        ValueError if there is no such command, or it gave something else than RichTextLines.
        """
        if not prefix:
            raise ValueError("Prefix is empty")
        name = self._resolve(prefix)
        if name is None:
            raise ValueError('No handler is registered for command prefix "%s"' % prefix)
        try:
            output = self._handlers[name](argv, screen_info=screen_info)
        except CommandLineExit:
            raise
        except SystemExit:  # argparse
            output = RichTextLines(["Syntax error for command: %s" % prefix, 'For help, do "help %s"' % prefix])
        except BaseException as e:
            output = RichTextLines(["Error occurred during handling of command: %s %s:" % (name, " ".join(argv)),
                                    "%s: %s" % (type(e), e), ""] + traceback.format_exc().split("\n"))
        if output is not None and not isinstance(output, RichTextLines):
            raise ValueError("Return value from command handler %s is not None or a RichTextLines instance" %
                             self._handlers[name])
        return output

    def _resolve(self, token):
        return token if token in self._handlers else self._alias_to_prefix.get(token)

    def is_registered(self, prefix):
        """Whether there is a command of that name or alias."""
        return self._resolve(prefix) is not None

    def get_help(self, cmd_prefix=None):
        """Help for one command, or for all of them."""
        if cmd_prefix:
            return RichTextLines(self._help_lines(cmd_prefix))
        output = RichTextLines([])
        if self._help_intro:
            output.extend(self._help_intro)
        for name in sorted(self._handlers):
            output.extend(RichTextLines(self._help_lines(name) + ["", ""]))
        return output

    def set_help_intro(self, help_intro):
        """RichTextLines that stand before the help for all commands."""
        self._help_intro = help_intro

    def _help_lines(self, prefix):
        name = self._resolve(prefix)
        if name is None:
            return ['Invalid command prefix: "%s"' % prefix]
        aliases = [HELP_INDENT + "Aliases: " + ", ".join(self._aliases[name])] if self._aliases[name] else []
        return [name, *aliases, "", *[HELP_INDENT + line for line in self._help[name].split("\n")]]

    def _help_handler(self, args, screen_info=None):
        if len(args) > 1:
            return RichTextLines(["ERROR: help takes only 0 or 1 input argument."])
        return self.get_help(*args)

    def _version_handler(self, args, screen_info=None):
        return get_tensorflow_version_lines(include_dependency_versions=True)


class TabCompletionRegistry:
    """What a word may become, by the word before it: context words to sorted lists of items; "" is a line's start."""

    def __init__(self):
        self._items = {}

    def register_tab_comp_context(self, context_words, comp_items):
        """Sets the items behind each of some context words. TypeError unless both are lists."""
        if not isinstance(context_words, list):
            raise TypeError("Incorrect type in context_list: Expected list, got %s" % type(context_words))
        if not isinstance(comp_items, list):
            raise TypeError("Incorrect type in comp_items: Expected list, got %s" % type(comp_items))
        items = sorted(comp_items)
        for word in context_words:
            self._items[word] = items

    def deregister_context(self, context_words):
        """Forgets context words. KeyError, and nothing is forgotten, if one of them is unknown."""
        for word in context_words:
            if word not in self._items:
                raise KeyError('Cannot deregister unregistered context word "%s"' % word)
        for word in context_words:
            del self._items[word]

    def _of(self, context_word):
        if context_word not in self._items:
            raise KeyError('Context word "%s" has not been registered' % context_word)
        return self._items[context_word]

    def extend_comp_items(self, context_word, new_comp_items):
        """Adds items behind a context word, and those registered with it. KeyError if it is unknown."""
        items = self._of(context_word)
        items.extend(new_comp_items)
        items.sort()

    def remove_comp_items(self, context_word, comp_items):
        """Removes items behind a context word. KeyError if it is unknown."""
        items = self._of(context_word)
        for item in comp_items:
            items.remove(item)

    def get_completions(self, context_word, prefix):
        """(items that begin with `prefix`, what they all begin with); (None, None) for an unknown context word."""
        if context_word not in self._items:
            return None, None
        found = sorted(item for item in self._items[context_word] if item.startswith(prefix))
        return found, os.path.commonprefix(found)


class CommandHistory:
    """The last commands, kept in a file in the home folder too."""

    _HISTORY_FILE_NAME = ".tfdbg_history"

    def __init__(self, limit=100, history_file_path=None):
        self._limit = limit
        self._history_file_path = history_file_path or self._get_default_history_file_path()
        self._commands = []
        self._load()

    @classmethod
    def _get_default_history_file_path(cls):
        return os.path.join(os.path.expanduser("~"), cls._HISTORY_FILE_NAME)

    def _load(self):
        if not os.path.isfile(self._history_file_path):
            return
        try:
            with open(self._history_file_path) as f:
                commands = [line.strip() for line in f if line.strip()]
            self._commands = commands[-self._limit:]
            if len(commands) > self._limit:
                with open(self._history_file_path, "w") as f:
                    f.writelines(command + "\n" for command in self._commands)
        except OSError:
            print("WARNING: writing history file failed.")

    def add_command(self, command):
        """Adds a command that is not the last one again. TypeError if it is no string."""
        if self._commands and command == self._commands[-1]:
            return
        if not isinstance(command, str):
            raise TypeError("Attempt to enter non-str entry to command history")
        self._commands = (self._commands + [command])[-self._limit:]
        try:
            with open(self._history_file_path, "a") as f:
                f.write(command + "\n")
        except OSError:
            pass

    def most_recent_n(self, n):
        """The last n commands, oldest first."""
        return self._commands[-n:]

    def lookup_prefix(self, prefix, n):
        """The last n commands that begin with `prefix`, oldest first."""
        return [command for command in self._commands if command.startswith(prefix)][-n:]


class MenuItem:
    """An item of a menu, or of a line that can be clicked: `content` is the command."""

    def __init__(self, caption, content, enabled=True):
        self._caption, self._content, self._enabled = caption, content, enabled

    caption = property(lambda self: self._caption, doc="What is shown.")
    content = property(lambda self: self._content, doc="The command.")

    def is_enabled(self):
        """Whether it can be chosen."""
        return self._enabled

    def disable(self):
        """Makes it one that cannot be chosen."""
        self._enabled = False

    def enable(self):
        """Makes it one that can be chosen."""
        self._enabled = True


class Menu:
    """MenuItems in a row."""

    def __init__(self, name=None):
        self._name, self._items = name, []

    def append(self, item):
        """Adds an item at the end."""
        self._items.append(item)

    def insert(self, index, item):
        """Adds an item in front of another one."""
        self._items.insert(index, item)

    def num_items(self):
        """The number of items."""
        return len(self._items)

    def captions(self):
        """The captions of all items."""
        return [item.caption for item in self._items]

    def caption_to_item(self, caption):
        """The first item of a caption. LookupError if there is none."""
        for item in self._items:
            if item.caption == caption:
                return item
        raise LookupError('There is no menu item with the caption "%s"' % caption)

    def format_as_single_line(self, prefix=None, divider=" | ", enabled_item_attrs=None, disabled_item_attrs=None):
        """The captions in one line, as RichTextLines; items have themselves and the attributes given as attributes."""
        def listed(attrs):
            return attrs if isinstance(attrs, list) else [attrs] if attrs is not None else []

        line = RichLine(prefix or "")
        for item in self._items:
            attrs = listed(enabled_item_attrs if item.is_enabled() else disabled_item_attrs)
            line += RichLine(item.caption, ([item] if item.is_enabled() else []) + attrs)
            line += divider
        return rich_text_lines_from_rich_line_list([line])
