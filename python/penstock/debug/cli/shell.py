"""The debugger's prompt: commands before a run and behind it."""
import argparse
import re
import shlex
import sys

import numpy as np

from penstock.debug.lib import debug_data
from penstock.debug.wrappers import framework


class Plan:
    """What was asked for: `times` runs, debugged or not, until a filter finds something."""

    def __init__(self, times=0, debugs=True, tensor_filter=None, exclude=None, watch=None):
        self.times, self.debugs, self.filter, self.exclude, self.watch = times, debugs, tensor_filter, exclude, watch

    @property
    def asks(self):
        """Whether to ask before the next run."""
        return self.times <= 0


class _Failed(Exception):
    """A command that was not understood, or could not be done."""


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise _Failed("%s: %s" % (self.prog, message))


def _parser(name, *arguments):
    parser = _Parser(prog=name, add_help=False)
    for names, options in arguments:
        parser.add_argument(*names, **options)
    return parser


def _option(*names, **options):
    return names, options


_RUN = _parser("run", _option("-n", "--no_debug", action="store_true"), _option("-t", "--times", type=int, default=1),
               _option("-f", "--till_filter_pass", dest="filter"), _option("-fenn", "--filter_exclude_node_names"),
               _option("--node_name_filter"), _option("--op_type_filter"), _option("--tensor_dtype_filter"),
               _option("-p", "--profile", action="store_true"))
_LIST = _parser("list_tensors", _option("-f", "--tensor_filter", dest="filter"),
                _option("-fenn", "--filter_exclude_node_names"), _option("-n", "--node_name_filter"),
                _option("-t", "--op_type_filter"), _option("-s", "--sort_by", default="timestamp"),
                _option("-r", "--reverse", action="store_true"))
_PRINT = _parser("print_tensor", _option("tensor"), _option("-n", "--number", type=int, default=-1),
                 _option("-a", "--all", action="store_true"), _option("-s", "--numeric_summary", action="store_true"))
_NODE = _parser("node_info", _option("node"), _option("-a", "--attributes", action="store_true"),
                _option("-d", "--dumps", action="store_true"), _option("-t", "--traceback", action="store_true"))
_EDGES = _parser("list_inputs", _option("node"), _option("-c", "--include_control", action="store_true"),
                 _option("-d", "--depth", type=int, default=1), _option("-r", "--recursive", action="store_true"))
_FEED = _parser("print_feed", _option("tensor"))

_SHORT = {"r": "run", "ri": "run_info", "pf": "print_feed", "lt": "list_tensors", "pt": "print_tensor",
          "ni": "node_info", "li": "list_inputs", "lo": "list_outputs", "ev": "eval", "quit": "exit", "q": "exit",
          "h": "help"}
_HELP = {
    "run": "run [-n] [-t TIMES] [-f FILTER] [-fenn REGEX] [--node_name_filter REGEX] [--op_type_filter REGEX]: runs; "
           "-n without debugging, -f until a filter finds a tensor",
    "run_info": "run_info: what is fetched and fed",
    "print_feed": "print_feed TENSOR: the value that a tensor is fed",
    "list_tensors": "list_tensors [-f FILTER] [-n REGEX] [-t REGEX] [-s timestamp|dump_size|op_type|tensor_name] [-r]: "
                    "what was dumped",
    "print_tensor": "print_tensor NODE:OUTPUT[SLICE] [-n NUMBER] [-a] [-s]: a value",
    "node_info": "node_info [-a] [-d] [-t] NODE: a node with its attributes, dumps, Python lines",
    "list_inputs": "list_inputs [-c] [-r] [-d DEPTH] NODE: what a node reads",
    "list_outputs": "list_outputs [-c] [-r] [-d DEPTH] NODE: who reads a node",
    "eval": "eval EXPRESSION: Python with np, in which `NODE:OUTPUT` is a value",
    "help": "help: this list",
    "exit": "exit: ends the program",
}


class _Prompt:
    """Commands from the terminal until one of them says what to run next. Methods do_NAME are the commands."""

    def __init__(self, run_number, feed_dict, filters, out=None):
        self.run_number, self.feeds, self.filters = run_number, feed_dict or {}, filters
        self.out = out or sys.stdout

    def say(self, *lines):
        """Prints lines."""
        for line in lines:
            print(line, file=self.out)

    def ask(self):
        """The Plan that the user comes to."""
        if sys.stdin.isatty():
            import readline  # noqa: F401  (input() gets a history by it)
        while True:
            try:
                line = input("tfdbg> ")
            except EOFError:
                line = "exit"
            try:
                plan = self._do(line)
            except (_Failed, ValueError, LookupError, re.error) as e:
                self.say("ERROR: %s" % e)
                continue
            if plan is not None:
                return plan

    def _do(self, line):
        name, _, rest = line.strip().partition(" ")
        if not name:
            return None
        name = _SHORT.get(name, name)
        command = getattr(self, "do_" + name, None)
        if command is None:
            raise _Failed("no command %s here; help lists them" % name)
        return command(rest if name == "eval" else shlex.split(rest))

    def do_help(self, _):
        """Lists the commands."""
        self.say(*[text for name, text in _HELP.items() if hasattr(self, "do_" + name)])

    def do_exit(self, _):
        """Ends the program."""
        sys.exit(1)

    def do_run(self, arguments):
        """What to run."""
        options = _RUN.parse_args(arguments)
        if options.filter is not None and options.filter not in self.filters:
            raise _Failed('There is no tensor filter named "%s".' % options.filter)
        watch = framework.WatchOptions(node_name_regex_whitelist=options.node_name_filter,
                                       op_type_regex_whitelist=options.op_type_filter,
                                       tensor_dtype_regex_whitelist=options.tensor_dtype_filter)
        times = sys.maxsize if options.filter is not None else options.times
        # Before the last of several runs nothing is looked at.
        return Plan(times, not options.no_debug and (options.filter is not None or times == 1), options.filter,
                    options.filter_exclude_node_names, watch)

    def do_run_info(self, _):
        """Fetches and feeds."""
        self.say("Session.run() call #%d" % self.run_number, "Feeds:",
                 *["  %s" % getattr(feed, "name", feed) for feed in self.feeds] or ["  none"])

    def do_print_feed(self, arguments):
        """A fed value."""
        name = _FEED.parse_args(arguments).tensor
        for feed, value in self.feeds.items():
            if name in (getattr(feed, "name", feed), getattr(feed, "name", str(feed)).split(":")[0]):
                return self.say('Tensor "%s (feed)":' % name, _array_text(np.asarray(value), False))
        raise _Failed("The feed_dict of the current run does not contain the key %s" % name)


class _Behind(_Prompt):
    """With the dump of a run."""

    def __init__(self, run_number, feed_dict, filters, dump):
        super().__init__(run_number, feed_dict, filters)
        self.dump = dump

    def do_list_tensors(self, arguments):
        """The dumped tensors."""
        options = _LIST.parse_args(arguments)
        data = self.dump.dumped_tensor_data
        if options.filter is not None:
            if options.filter not in self.filters:
                raise _Failed('There is no tensor filter named "%s".' % options.filter)
            data = self.dump.find(self.filters[options.filter], exclude_node_names=options.filter_exclude_node_names)
        if options.node_name_filter:
            data = [d for d in data if re.match(options.node_name_filter, d.node_name)]
        if options.op_type_filter:
            data = [d for d in data if re.match(options.op_type_filter, self._op(d))]
        keys = {"timestamp": lambda d: d.timestamp, "dump_size": lambda d: d.dump_size_bytes, "op_type": self._op,
                "tensor_name": lambda d: d.tensor_name}
        if options.sort_by not in keys:
            raise _Failed("Unsupported key to sort tensors by: %s" % options.sort_by)
        rows = [("t (ms)", "Size (B)", "Op type", "Tensor name")]
        for d in sorted(data, key=keys[options.sort_by], reverse=options.reverse):
            rows.append(("[%.3f]" % ((d.timestamp - self.dump.t0) / 1e3), str(d.dump_size_bytes), self._op(d),
                         d.tensor_name))
        what = ' passing filter "%s"' % options.filter if options.filter else ""
        self.say("%d dumped tensor(s)%s:" % (len(rows) - 1, what))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        self.say(*["%s  %s  %s  %s" % (*[cell.ljust(w) for cell, w in zip(row, widths)], row[3]) for row in rows])

    def _op(self, datum):
        try:
            return self.dump.node_op_type(datum.node_name)
        except (ValueError, LookupError):
            return "?"

    def _values(self, name):
        """(values, by time, of the tensor "node:output", what is behind it: a slice)."""
        found = re.fullmatch(r"([^\[\]:]+)(?::(\d+))?(?::Debug\w+)?(\[.*\])?", name)
        if not found:
            raise _Failed('"%s" is not a valid tensor name' % name)
        node, slot, part = found.groups()
        slots = sorted({d.output_slot for d in self.dump.dumped_tensor_data if d.node_name == node})
        if slot is None and len(slots) > 1:
            raise _Failed('Node "%s" has debug dumps from %d output slots: %s' % (node, len(slots), slots))
        slot = int(slot) if slot is not None else slots[0] if slots else 0
        try:
            return self.dump.get_tensors(node, slot, "DebugIdentity"), part
        except debug_data.WatchKeyDoesNotExistInDebugDumpDirError:
            raise _Failed('"%s:%d" was not dumped in this run' % (node, slot)) from None

    def do_print_tensor(self, arguments):
        """A value."""
        options = _PRINT.parse_args(arguments)
        values, part = self._values(options.tensor)
        if options.number >= len(values):
            raise _Failed("there are %d dumps of %s" % (len(values), options.tensor))
        value = values[options.number]
        if isinstance(value, debug_data.InconvertibleTensorProto):
            return self.say('Tensor "%s":' % options.tensor, str(value))
        if part:
            if not re.fullmatch(r"\[[-\d:,. ]*\]", part):
                raise _Failed("Bad slice: %s" % part)
            value = np.asarray(value)[_slices(part[1:-1])]
        value = np.asarray(value)
        self.say('Tensor "%s":' % options.tensor, "  dtype: %s" % value.dtype, "  shape: %s" % (value.shape,), "")
        if options.numeric_summary and value.size and value.dtype.kind in "fiu":
            finite = value[np.isfinite(value)] if value.dtype.kind == "f" else value
            self.say("numeric summary: %d elements, %d NaN, %d -Inf, %d +Inf, min %s, max %s, mean %s, std %s" % (
                value.size, np.isnan(value).sum(), np.isneginf(value).sum(), np.isposinf(value).sum(),
                *([f(finite) for f in (np.min, np.max, np.mean, np.std)] if finite.size else ["-"] * 4)), "")
        self.say(_array_text(value, options.all))

    def do_node_info(self, arguments):
        """A node."""
        options = _NODE.parse_args(arguments)
        name, dump = options.node.split(":")[0], self.dump
        self.say("Node %s" % name, "", "  Op: %s" % dump.node_op_type(name), "  Device: %s" % dump.node_device(name))
        for what, control in (("", False), (" control", True)):
            for side, names in (("input", dump.node_inputs(name, control)),
                                ("recipient", dump.node_recipients(name, control))):
                self.say("", "  %d%s %s(s)" % (len(names), what, side),
                         *["    [%s] %s" % (dump.node_op_type(n), n) for n in names])
        if options.attributes:
            self.say("", "Node attributes:",
                     *["  %s: %s" % (k, str(v).strip()) for k, v in sorted(dump.node_attributes(name).items())])
        if options.dumps:
            data = [d for d in dump.dumped_tensor_data if d.node_name == name]
            self.say("", "%d dumped tensor(s):" % len(data),
                     *["  Slot %d @ %s @ %.3f ms" % (d.output_slot, d.debug_op, (d.timestamp - dump.t0) / 1e3)
                       for d in data])
        if options.traceback:
            self.say("", "Traceback of node construction:",
                     *["  %s:%d: %s" % tuple(frame[:3]) for frame in dump.node_traceback(name)])

    def do_list_inputs(self, arguments):
        """What a node reads."""
        self._edges(arguments, self.dump.node_inputs, "Inputs to")

    def do_list_outputs(self, arguments):
        """Who reads a node."""
        self._edges(arguments, self.dump.node_recipients, "Recipients of")

    def _edges(self, arguments, follow, title):
        options = _EDGES.parse_args(arguments)
        name = options.node.split(":")[0]
        self.dump.node_op_type(name)  # an error if there is no such node
        depth = 20 if options.recursive and options.depth == 1 else options.depth
        self.say('%s node "%s" (Depth limit = %d%s):' % (title, name, depth,
                                                         ", control included" if options.include_control else ""))
        seen = set()

        def tell(node, level):
            for control in (False, True) if options.include_control else (False,):
                for other in (n.split(":")[0] for n in follow(node, control)):
                    known = self.dump.node_exists(other)
                    self.say("%s(%d) %s[%s] %s" % ("|  " * level, level + 1, "(Ctrl) " if control else "",
                                                   self.dump.node_op_type(other) if known else "fed", other))
                    if known and level + 1 < depth and other not in seen:
                        seen.add(other)
                        tell(other, level + 1)

        tell(name, 0)

    def do_eval(self, text):
        """Python over values."""
        values = {}

        def value(match):
            name = "_tensor%d" % len(values)
            values[name] = self._values(match.group(1))[0][-1]
            return name

        expression = re.sub(r"`([^`]+)`", value, text)
        try:
            result = eval(expression, {"np": np, "numpy": np}, values)
        except Exception as e:
            raise _Failed("%s: %s" % (type(e).__name__, e)) from e
        self.say("Evaluated expression: %s" % text, _array_text(np.asarray(result), False))


def _slices(text):
    parts = []
    for part in text.split(","):
        part = part.strip()
        if part == "...":
            parts.append(Ellipsis)
        elif ":" in part:
            parts.append(slice(*[int(p) if p.strip() else None for p in part.split(":")]))
        else:
            parts.append(int(part))
    return tuple(parts)


def _array_text(value, whole):
    with np.printoptions(threshold=sys.maxsize if whole else 1000):
        return repr(value)


def before_run(run_number, fetches, feed_dict, filters):
    """Asks before a run; returns a Plan."""
    prompt = _Prompt(run_number, feed_dict, dict.fromkeys(filters))
    names = fetches if isinstance(fetches, (list, tuple)) else [fetches]
    prompt.say("", "run-start: run #%d: %d fetch(es) (%s); %d feed(s)" % (
        run_number, len(names), ", ".join(str(getattr(f, "name", f)) for f in names), len(feed_dict or ())),
        "run, r: a debugged run; run -n: one without; help: all commands")
    return prompt.ask()


def after_run(run_number, dump, filters, feed_dict, passed_filter, found, failure):
    """Asks behind a run; returns the Plan for the next ones."""
    prompt = _Behind(run_number, feed_dict, filters, dump)
    prompt.say("", "run-end: run #%d: %d dumped tensor(s)" % (run_number, dump.size))
    if failure is not None:
        prompt.say("!!! An error occurred during the run !!!", str(failure))
    if passed_filter is not None:
        prompt.do_list_tensors(["-f", passed_filter] if found else [])
    else:
        prompt.do_list_tensors([])
    return prompt.ask()
