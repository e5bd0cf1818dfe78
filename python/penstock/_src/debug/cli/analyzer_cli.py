"""The debugger's commands behind a run: list, print, compute with, and trace back what it dumped."""
import argparse
import re

from penstock._src.debug.cli import cli_config
from penstock._src.debug.cli import cli_shared
from penstock._src.debug.cli import command_parser
from penstock._src.debug.cli import debugger_cli_common
from penstock._src.debug.cli import evaluator
from penstock._src.debug.cli import ui_factory
from penstock._src.debug.lib import debug_graphs
from penstock._src.debug.lib import source_utils

RL = debugger_cli_common.RichLine
_Item = debugger_cli_common.MenuItem

SORT_TENSORS_BY_TIMESTAMP, SORT_TENSORS_BY_DUMP_SIZE = "timestamp", "dump_size"
SORT_TENSORS_BY_OP_TYPE, SORT_TENSORS_BY_TENSOR_NAME = "op_type", "tensor_name"
_SORT_KEYS = (SORT_TENSORS_BY_TIMESTAMP, SORT_TENSORS_BY_DUMP_SIZE, SORT_TENSORS_BY_OP_TYPE,
              SORT_TENSORS_BY_TENSOR_NAME)
_HEADS = ("t (ms)", "Size (B)", "Op type", "Tensor name")
# What runs add to graphs on the way to devices and back; nobody asks for them.
_PLUMBING = ("_Send", "_Recv", "_HostSend", "_HostRecv", "_Retval")


def _add_main_menu(output, node_name=None, enable_list_tensors=True, enable_node_info=True, enable_print_tensor=True,
                   enable_list_inputs=True, enable_list_outputs=True):
    """Annotates an answer with the commands that may follow it."""
    menu = debugger_cli_common.Menu()
    menu.append(_Item("list_tensors", "list_tensors", enabled=enable_list_tensors))
    for name, options, enabled in (("node_info", "-a -d -t ", enable_node_info),
                                   ("print_tensor", "", enable_print_tensor),
                                   ("list_inputs", "-c -r ", enable_list_inputs),
                                   ("list_outputs", "-c -r ", enable_list_outputs)):
        if node_name:
            menu.append(_Item(name, "%s %s%s" % (name, options, node_name), enabled=enabled))
        else:
            menu.append(_Item(name, None, enabled=False))
    menu.append(_Item("run_info", "run_info"))
    menu.append(_Item("help", "help"))
    output.annotations[debugger_cli_common.MAIN_MENU_KEY] = menu


def _parser(description, *arguments):
    """An ArgumentParser; each argument is a tuple of its names and a dict."""
    parser = argparse.ArgumentParser(description=description, usage=argparse.SUPPRESS)
    for names, options in arguments:
        parser.add_argument(*names, **options)
    return parser


def _text(*names, **options):
    return names, dict({"default": ""}, **options)


def _flag(*names, **options):
    return names, dict(options, action="store_true")


def _neighbors_parser(what, depth):
    return _parser(
        "Shows %s." % what,
        (("node_name",), {"help": "a node, or one of its outputs: layer/MatMul:0"}),
        _flag("-c", "--control", help="with control edges"),
        (("-d", "--depth"), {"type": int, "default": depth, "help": "how far to go, with -r"}),
        _flag("-r", "--recursive", help="goes on from each of them"),
        _flag("-t", "--op_type", help="with their ops"))


class DebugAnalyzer:
    """Commands over a DebugDumpDir; each takes its arguments and gives RichTextLines."""

    def __init__(self, debug_dump, config):
        self._debug_dump = debug_dump
        self._evaluator = evaluator.ExpressionEvaluator(debug_dump)
        self._tensor_filters = {}
        self._build_argument_parsers(config)
        config.set_callback("graph_recursion_depth", self._build_argument_parsers)

    def _build_argument_parsers(self, config):
        depth = config.get("graph_recursion_depth")
        self._arg_parsers = {
            "list_tensors": _parser(
                "Lists dumped tensors.",
                _text("-f", "--tensor_filter", help="only those that a filter finds"),
                _text("-fenn", "--filter_exclude_node_names",
                      help="with -f: a regular expression for names of nodes that are left out"),
                _text("-n", "--node_name_filter", help="a regular expression for names of nodes"),
                _text("-t", "--op_type_filter", help="a regular expression for ops"),
                _text("-s", "--sort_by", default=SORT_TENSORS_BY_TIMESTAMP, help=" | ".join(_SORT_KEYS)),
                _flag("-r", "--reverse", help="the other way round")),
            "node_info": _parser(
                "Shows a node.",
                (("node_name",), {"help": "a node, or one of its outputs: layer/MatMul:0"}),
                _flag("-a", "--attributes", help="with its attributes"),
                _flag("-d", "--dumps", help="with its dumps"),
                _flag("-t", "--traceback", help="with the Python lines that made it")),
            "list_inputs": _neighbors_parser("what a node reads", depth),
            "list_outputs": _neighbors_parser("who reads a node", depth),
            "print_tensor": command_parser.get_print_tensor_argparser("Prints a dumped tensor."),
            "print_source": _parser(
                "Prints a Python file with the nodes that its lines made.",
                (("source_file_path",), {"help": "the file"}),
                _flag("-t", "--tensors", help="with dumped tensors in place of nodes"),
                (("-m", "--max_elements_per_line"), {"type": int, "default": 10, "help": "how many, at most"}),
                (("-b", "--line_begin"), {"type": int, "default": 1, "help": "the line to begin with, from 1"})),
            "list_source": _parser(
                "Lists Python files that made nodes of the run.",
                _text("-p", "--path_filter", help="a regular expression for files"),
                _text("-n", "--node_name_filter", help="a regular expression for names of nodes")),
            "eval": _parser(
                "Computes a Python expression; `NODE:OUTPUT` in backticks is a dumped value, np is NumPy. An "
                "expression with blanks stands in quotes.",
                (("expression",), {"help": "for example np.argmax(`Softmax:0`); in backticks: "
                                           "[DEVICE:]NODE:OUTPUT[:DEBUG_OP][[NUMBER]]"}),
                _flag("-a", "--all", dest="print_all", help="prints all elements"),
                _text("-w", "--write_path", help="writes the value into a .npy file")),
        }

    def add_tensor_filter(self, filter_name, filter_callable):
        """A filter for `lt -f`: filter_callable(datum, value). TypeError, ValueError for bad arguments."""
        if not isinstance(filter_name, str):
            raise TypeError("Input argument filter_name is expected to be str, but is not.")
        if not filter_name:
            raise ValueError("Input argument filter_name cannot be empty.")
        if not callable(filter_callable):
            raise TypeError("Input argument filter_callable is expected to be callable, but is not.")
        self._tensor_filters[filter_name] = filter_callable

    def get_tensor_filter(self, filter_name):
        """A filter by its name. ValueError if there is none."""
        if filter_name not in self._tensor_filters:
            raise ValueError('There is no tensor filter named "%s"' % filter_name)
        return self._tensor_filters[filter_name]

    def get_help(self, handler_name):
        """A command's help."""
        return self._arg_parsers[handler_name].format_help()

    # --- list_tensors

    def list_tensors(self, args, screen_info=None):
        """`lt`: dumped tensors, by time, size, op or name."""
        parsed = self._arg_parsers["list_tensors"].parse_args(args)
        output = debugger_cli_common.RichTextLines(
            ['%s regex filter: "%s"' % (what, regex) for what, regex in
             (("Op type", parsed.op_type_filter), ("Node name", parsed.node_name_filter)) if regex] + [""])
        if parsed.tensor_filter:
            try:
                found = self.get_tensor_filter(parsed.tensor_filter)
            except ValueError as e:
                output = cli_shared.error("%s." % e)
                _add_main_menu(output, enable_list_tensors=False)
                return output
            data = self._debug_dump.find(found, exclude_node_names=parsed.filter_exclude_node_names)
        elif parsed.filter_exclude_node_names:
            raise ValueError("The flag --filter_exclude_node_names is valid only when the flag -f or --tensor_filter "
                             "is used.")
        else:
            data = self._debug_dump.dumped_tensor_data
        widths = self._measure_tensor_list_column_widths(data)
        output.extend(self._column_heads(parsed, widths))
        count = 0
        for datum in self._sorted(data, parsed.sort_by, parsed.reverse):
            if not re.match(parsed.node_name_filter, datum.node_name):
                continue
            if not re.match(parsed.op_type_filter, self._op(datum)):
                continue
            cells = self._cells(datum)
            line = "".join(cell.ljust(width) for cell, width in zip(cells, widths)) + datum.tensor_name
            output.append(line, [(len(line) - len(datum.tensor_name), len(line),
                                  _Item("", "pt %s" % datum.tensor_name))])
            count += 1
        passing = ' passing filter "%s"' % parsed.tensor_filter if parsed.tensor_filter else ""
        output.prepend("%d dumped tensor(s)%s:" % (count, passing))
        _add_main_menu(output, enable_list_tensors=False)
        return output

    def _op(self, datum):
        return self._debug_dump.node_op_type(datum.node_name)

    def _milliseconds(self, datum):
        return (datum.timestamp - self._debug_dump.t0) / 1000.0

    def _cells(self, datum):
        return ("[%.3f]" % self._milliseconds(datum), cli_shared.bytes_to_readable_str(datum.dump_size_bytes),
                self._op(datum))

    def _measure_tensor_list_column_widths(self, data):
        """Widths of time, size and op, with a blank behind each (two behind the last time)."""
        widths = [len(head) + 1 for head in _HEADS[:3]]
        for datum in data:
            widths[1:] = [max(width, len(cell) + 1) for width, cell in zip(widths[1:], self._cells(datum)[1:])]
        if data:
            widths[0] = max(widths[0], len(self._cells(data[-1])[0]) + 2)
        return widths

    def _sorted(self, data, sort_by, reverse):
        keys = {SORT_TENSORS_BY_TIMESTAMP: lambda d: d.timestamp,
                SORT_TENSORS_BY_DUMP_SIZE: lambda d: d.dump_size_bytes,
                SORT_TENSORS_BY_OP_TYPE: self._op, SORT_TENSORS_BY_TENSOR_NAME: lambda d: d.tensor_name}
        if sort_by not in keys:
            raise ValueError("Unsupported key to sort tensors by: %s" % sort_by)
        return sorted(data, key=keys[sort_by], reverse=reverse)

    def _column_heads(self, parsed, widths):
        """The heads; each sorts by its column when it is clicked, the other way round the second time."""
        command = "list_tensors"
        for option, value in (("-f", parsed.tensor_filter), ("-t", parsed.op_type_filter),
                              ("-n", parsed.node_name_filter)):
            if value:
                command += " %s %s" % (option, value)
        line, segs = "", []
        for head, key, width in zip(_HEADS, _SORT_KEYS, widths + [0]):
            again = " -r" if parsed.sort_by == key and not parsed.reverse else ""
            item = _Item("" if head == _HEADS[-1] else None, "%s -s %s%s" % (command, key, again))
            segs.append((len(line), len(line) + len(head), [item, "bold"]))
            line += head.ljust(width)
        return debugger_cli_common.RichTextLines([line], font_attr_segs={0: segs})

    # --- node_info

    def node_info(self, args, screen_info=None):
        """`ni`: a node with what it reads and who reads it."""
        parsed = self._arg_parsers["node_info"].parse_args(args)
        name, dump = debug_graphs.get_node_name(parsed.node_name), self._debug_dump
        if not dump.node_exists(name):
            output = cli_shared.error('There is no node named "%s" in the partition graphs' % name)
            _add_main_menu(output)
            return output
        lines = [RL("Node ") + RL(name, "bold"), "", "  Op: %s" % dump.node_op_type(name),
                 "  Device: %s" % dump.node_device(name)]
        for kind, neighbors in (("input", dump.node_inputs), ("recipient", dump.node_recipients)):
            lines += self._neighbors(kind, *[self._without_plumbing(neighbors(name, is_control=control))
                                             for control in (False, True)])
        output = debugger_cli_common.rich_text_lines_from_rich_line_list(lines)
        for wanted, more in ((parsed.attributes, self._node_attributes), (parsed.dumps, self._node_dumps),
                             (parsed.traceback, self._node_traceback)):
            if wanted:
                output.extend(debugger_cli_common.rich_text_lines_from_rich_line_list(more(name)))
        _add_main_menu(output, node_name=name, enable_node_info=False)
        return output

    def _without_plumbing(self, names):
        return [name for name in names if self._debug_dump.node_op_type(debug_graphs.get_node_name(name))
                not in _PLUMBING]

    def _neighbors(self, kind, names, controls):
        lines = ["", "  %d %s(s) + %d control %s(s):" % (len(names), kind, len(controls), kind)]
        for what, found in ((kind, names), ("control " + kind, controls)):
            if what == kind or found:
                lines += ([""] if what != kind else []) + ["    %d %s(s):" % (len(found), what)]
                lines += [RL("      [%s] " % self._debug_dump.node_op_type(debug_graphs.get_node_name(name))) +
                          RL(name, _Item(None, "ni -a -d -t %s" % name)) for name in found]
        return lines

    def _node_attributes(self, name):
        lines = ["", "Node attributes:"]
        for key, value in self._debug_dump.node_attributes(name).items():
            lines += ["  %s:" % key, "    %s" % repr(value).strip().replace("\n", " "), ""]
        return lines

    def _node_dumps(self, name):
        data = [datum for key in self._debug_dump.debug_watch_keys(name)
                for datum in self._debug_dump.watch_key_to_data(key)]
        return ["%d dumped tensor(s):" % len(data), ""] + [
            RL("  ") + RL("Slot %d @ %s @ %.3f ms" % (datum.output_slot, datum.debug_op, self._milliseconds(datum)),
                          _Item(None, "pt %s -n %d" % (datum.tensor_name, number)))
            for number, datum in enumerate(data)]

    def _node_traceback(self, name):
        lines = ["", "", RL("Traceback of node construction:", "bold")]
        try:
            for depth, frame in enumerate(self._debug_dump.node_traceback(name)):
                path, line, function, text = tuple(frame)[:4]
                item = _Item("", "ps %s -b %d" % (path, line)) if text else None
                lines += ["%d: %s" % (depth, path), RL("  ") + RL("Line:     %d" % line, item),
                          "  Function: %s" % function, "  Text:     " + ('"%s"' % text if text else "None"), ""]
        except KeyError:
            lines.append("(Node unavailable in the loaded Python graph)")
        except LookupError:
            lines.append("(Unavailable because no Python graph has been loaded)")
        return lines

    # --- list_inputs, list_outputs

    def list_inputs(self, args, screen_info=None):
        """`li`: what a node reads."""
        parsed = self._arg_parsers["list_inputs"].parse_args(args)
        output = self._list_neighbors(parsed, "Inputs to", "inputs", self._debug_dump.node_inputs, "li -c -r %s")
        _add_main_menu(output, node_name=debug_graphs.get_node_name(parsed.node_name), enable_list_inputs=False)
        return output

    def list_outputs(self, args, screen_info=None):
        """`lo`: who reads a node."""
        parsed = self._arg_parsers["list_outputs"].parse_args(args)
        output = self._list_neighbors(parsed, "Recipients of", "recipients", self._debug_dump.node_recipients,
                                      "lo -c -r %s")
        _add_main_menu(output, node_name=debug_graphs.get_node_name(parsed.node_name), enable_list_outputs=False)
        return output

    def _list_neighbors(self, parsed, title, plural, neighbors, command):
        name = debug_graphs.get_node_name(parsed.node_name)
        if not self._debug_dump.node_exists(name):
            return cli_shared.error('There is no node named "%s" in the partition graphs' % name)
        depth = parsed.depth if parsed.recursive else 1
        lines = [RL(title + ' node "') + RL(name, "bold") + '"' + " (Depth limit = %d%s):" % (
            depth, ", control %s included" % plural if parsed.control else "")]
        self._add_tree(lines, name, neighbors, depth, parsed, command, "")
        lines += ["", "Legend:", "  (d): recursion depth = d."]
        if parsed.control:
            lines.append("  (Ctrl): Control input.")
        if parsed.op_type:
            lines.append("  [Op]: Input node has op type Op.")
        return debugger_cli_common.rich_text_lines_from_rich_line_list(lines)

    def _add_tree(self, lines, name, neighbors, max_depth, parsed, command, hang, depth=1):
        """Adds what is behind a node; `hang` are the lines from the nodes above, which have others to come or not."""
        found = [(other, False) for other in self._without_plumbing(neighbors(name, is_control=False))]
        if parsed.control:
            found += [(other, True) for other in self._without_plumbing(sorted(neighbors(name, is_control=True)))]
        if not found and depth == 1:
            lines.append("  [None]")
        if found and depth > max_depth:
            lines.append(hang + "|- ...")
            return
        for number, (other, control) in enumerate(found):
            node = debug_graphs.get_node_name(other)
            text = "%s|- (%d) %s%s" % (hang, depth, "(Ctrl) " if control else "",
                                       "[%s] " % self._debug_dump.node_op_type(node) if parsed.op_type else "")
            lines.append(RL(text) + RL(other, _Item(None, command % other)))
            self._add_tree(lines, node, neighbors, max_depth, parsed, command,
                           hang + ("|  " if number + 1 < len(found) else "   "), depth + 1)

    # --- values

    def print_tensor(self, args, screen_info=None):
        """`pt`: a value."""
        parsed = self._arg_parsers["print_tensor"].parse_args(args)
        name, slicing = command_parser.parse_tensor_name_with_slicing(parsed.tensor_name)
        node, slot = debug_graphs.parse_node_or_tensor_name(name)
        if self._debug_dump.loaded_partition_graphs() and not self._debug_dump.node_exists(node):
            output = cli_shared.error('Node "%s" does not exist in partition graphs' % node)
            _add_main_menu(output, enable_print_tensor=False)
            return output
        data = [datum for key in self._debug_dump.debug_watch_keys(node)
                for datum in self._debug_dump.watch_key_to_data(key)]
        if slot is None:
            slots = {datum.output_slot for datum in data}
            if len(slots) != 1:
                output = debugger_cli_common.RichTextLines(
                    ['Node "%s" generated debug dumps from %s output slots:' % (node, len(slots)),
                     "Please specify the output slot: %s:x." % node])
                _add_main_menu(output, node_name=node, enable_print_tensor=False)
                return output
            slot = slots.pop()
        data = [datum for datum in data if datum.output_slot == slot]
        if not data:
            return cli_shared.error('Tensor "%s" did not generate any dumps.' % parsed.tensor_name)
        output = self._print_dump(parsed, data, slicing, screen_info)
        _add_main_menu(output, node_name=node, enable_print_tensor=False)
        return output

    def _print_dump(self, parsed, data, slicing, screen_info):
        """One of a tensor's dumps, or a list of them."""
        number, several = parsed.number, len(data) > 1
        if several and number < 0:
            lines = ['Tensor "%s" generated %d dumps:' % (parsed.tensor_name, len(data))]
            lines += [RL("#%d [%.3f ms] " % (i, self._milliseconds(datum))) +
                      RL(datum.watch_key, _Item(None, "print_tensor %s -n %d" % (parsed.tensor_name, i)))
                      for i, datum in enumerate(data)]
            lines += ["", "You can use the -n (--number) flag to specify which dump to print.", "For example:",
                      "  print_tensor %s -n 0" % parsed.tensor_name]
            return debugger_cli_common.rich_text_lines_from_rich_line_list(lines)
        if not several and number > 0:
            return cli_shared.error("Invalid number (%d) for tensor %s, which generated one dump." %
                                    (number, parsed.tensor_name))
        if number >= len(data):
            return cli_shared.error("Specified number (%d) exceeds the number of available dumps (%d) for tensor %s" %
                                    (number, len(data), parsed.tensor_name))
        datum = data[max(number, 0)]
        return cli_shared.format_tensor(
            datum.get_tensor(), datum.watch_key + (" (dump #%d)" % number if several else ""),
            cli_shared.numpy_printoptions_from_screen_info(screen_info), print_all=parsed.print_all,
            tensor_slicing=slicing, highlight_options=cli_shared.parse_ranges_highlight(parsed.ranges),
            include_numeric_summary=parsed.numeric_summary, write_path=parsed.write_path)

    def evaluate_expression(self, args, screen_info=None):
        """`ev`: the value of an expression."""
        parsed = self._arg_parsers["eval"].parse_args(args)
        return cli_shared.format_tensor(
            self._evaluator.evaluate(parsed.expression), "from eval of expression '%s'" % parsed.expression,
            cli_shared.numpy_printoptions_from_screen_info(screen_info), print_all=parsed.print_all,
            include_numeric_summary=True, write_path=parsed.write_path)

    # --- Python files

    def print_source(self, args, screen_info=None):
        """`ps`: a Python file with what its lines made."""
        parsed = self._arg_parsers["print_source"].parse_args(args)
        made = source_utils.annotate_source(self._debug_dump, parsed.source_file_path,
                                            do_dumped_tensors=parsed.tensors)
        source, width = source_utils.load_source(parsed.source_file_path)
        lines, scroll = [], 0
        for number, text in enumerate(source, 1):
            if number == parsed.line_begin:
                scroll = len(lines)
            lines.append(RL("L%d" % number, cli_shared.COLOR_YELLOW) + " " * (width - len("L%d" % number)) + text)
            names, most = sorted(made.get(number, ())), parsed.max_elements_per_line
            for name in names[:most]:
                dumped = self._debug_dump.debug_watch_keys(debug_graphs.get_node_name(name))
                lines.append(RL("    ") + RL(name, _Item("", "pt %s" % name) if dumped else cli_shared.COLOR_BLUE))
            if len(names) > most:
                more = "ps %s %s -b %d -m %d" % (parsed.source_file_path, "-t" if parsed.tensors else "", number,
                                                 most + 5)
                lines.append(RL("    (... Omitted %d of %d %s ...) " % (
                    len(names) - most, len(names), "tensor(s)" if parsed.tensors else "op(s)")) +
                    RL("+5", _Item(None, more)))
        output = debugger_cli_common.rich_text_lines_from_rich_line_list(
            lines, annotations={debugger_cli_common.INIT_SCROLL_POS_KEY: scroll})
        _add_main_menu(output)
        return output

    def list_source(self, args, screen_info=None):
        """`ls`: Python files that made nodes of the run."""
        parsed = self._arg_parsers["list_source"].parse_args(args)
        files = source_utils.list_source_files_against_dump(
            self._debug_dump, path_regex_whitelist=parsed.path_filter,
            node_name_regex_whitelist=parsed.node_name_filter)
        lines = [RL("List of source files that created nodes in this run", "bold")]
        lines += ['%s regex filter: "%s"' % (what, regex) for what, regex in
                  (("File path", parsed.path_filter), ("Node name", parsed.node_name_filter)) if regex] + [""]
        if not files:
            lines.append("[No source file information.]")
            return debugger_cli_common.rich_text_lines_from_rich_line_list(lines)
        lines += _source_table("File(s) outside TensorFlow Python library:", cli_shared.COLOR_WHITE,
                               [file for file in files if not file[1]])
        lines += _source_table("TensorFlow Python library file(s):", cli_shared.COLOR_GRAY,
                               [file for file in files if file[1]])
        output = debugger_cli_common.rich_text_lines_from_rich_line_list(lines)
        _add_main_menu(output)
        return output


def _source_table(title, color, files):
    """Lines of files with their numbers of nodes, tensors and dumps."""
    lines = [RL(title, color)]
    if not files:
        return lines + ["[No files.]", ""]
    heads = ("Source file path", "#(nodes)", "#(tensors)", "#(tensor dumps)")
    rows = [(path, str(nodes), str(tensors), str(dumps)) for path, _, nodes, tensors, dumps, _ in files]
    widths = [max(len(row[i]) for row in [heads] + rows) + 1 for i in range(3)] + [0]
    line = RL()
    for head, width in zip(heads, widths):
        line += RL(head.ljust(width), color)
    lines.append(line)
    for row, file in zip(rows, files):
        clickable = source_utils.is_extension_uncompiled_python_source(file[0])
        item = [_Item(None, "ps %s -b %d" % (file[0], file[5]))] if clickable else []
        line = RL(row[0], [color] + item) + " " * (widths[0] - len(row[0]))
        for cell, width in zip(row[1:], widths[1:]):
            line += RL(cell.ljust(width), color)
        lines.append(line)
    return lines + [""]


def create_analyzer_ui(debug_dump, tensor_filters=None, ui_type="curses", on_ui_exit=None, config=None):
    """A terminal with the commands of a DebugAnalyzer."""
    config = config or cli_config.CLIConfig()
    analyzer = DebugAnalyzer(debug_dump, config=config)
    for name, tensor_filter in (tensor_filters or {}).items():
        analyzer.add_tensor_filter(name, tensor_filter)
    cli = ui_factory.get_ui(ui_type, on_ui_exit=on_ui_exit, config=config)
    for name, handler, alias in (
            ("list_tensors", analyzer.list_tensors, "lt"), ("node_info", analyzer.node_info, "ni"),
            ("list_inputs", analyzer.list_inputs, "li"), ("list_outputs", analyzer.list_outputs, "lo"),
            ("print_tensor", analyzer.print_tensor, "pt"), ("print_source", analyzer.print_source, "ps"),
            ("list_source", analyzer.list_source, "ls"), ("eval", analyzer.evaluate_expression, "ev")):
        cli.register_command_handler(name, handler, analyzer.get_help(name), prefix_aliases=[alias])
    cli.register_tab_comp_context(["print_tensor", "pt"],
                                  [datum.tensor_name for datum in debug_dump.dumped_tensor_data])
    return cli
