"""The debugger's commands behind a run that was timed: nodes, and Python lines, by what they took."""
import argparse
import math
import os
import re

from penstock._src.debug.cli import cli_shared
from penstock._src.debug.cli import command_parser
from penstock._src.debug.cli import debugger_cli_common
from penstock._src.debug.cli import ui_factory
from penstock._src.debug.lib import profiling
from penstock._src.debug.lib import source_utils

RL = debugger_cli_common.RichLine

SORT_OPS_BY_OP_NAME, SORT_OPS_BY_OP_TYPE, SORT_OPS_BY_OP_TIME = "node", "op_type", "op_time"
SORT_OPS_BY_EXEC_TIME, SORT_OPS_BY_START_TIME, SORT_OPS_BY_LINE = "exec_time", "start_time", "line"

_SORT_KEYS = {
    SORT_OPS_BY_OP_NAME: lambda datum: datum.node_exec_stats.node_name,
    SORT_OPS_BY_OP_TYPE: lambda datum: datum.op_type,
    SORT_OPS_BY_START_TIME: lambda datum: datum.start_time,
    SORT_OPS_BY_OP_TIME: lambda datum: datum.op_time,
    SORT_OPS_BY_EXEC_TIME: lambda datum: datum.exec_time,
    SORT_OPS_BY_LINE: lambda datum: datum.file_line_func,
}
_FILTERS = ("device_name_filter", "node_name_filter", "op_type_filter")
_BAR = 10  # characters of the bar for the most expensive line


def _filter_options(filters):
    """Options, with a blank before each, that repeat what was filtered by."""
    return "".join(" --%s %s" % (name, filters[name]) for name in _FILTERS if filters.get(name))


class ProfileDataTableView:
    """ProfileDatums as the cells of a table."""

    def __init__(self, profile_datum_list, time_unit=cli_shared.TIME_UNIT_US):
        self._data, self._unit = profile_datum_list, time_unit
        self._columns = (("Node", SORT_OPS_BY_OP_NAME), ("Op Type", SORT_OPS_BY_OP_TYPE),
                         ("Start Time (us)", SORT_OPS_BY_START_TIME), ("Op Time (%s)" % time_unit, SORT_OPS_BY_OP_TIME),
                         ("Exec Time (%s)" % time_unit, SORT_OPS_BY_EXEC_TIME),
                         ("Filename:Lineno(function)", SORT_OPS_BY_LINE))

    def value(self, row, col, device_name_filter=None, node_name_filter=None, op_type_filter=None):
        """A cell as RichLine. IndexError for a column that is not there."""
        if not 0 <= col < len(self._columns):
            raise IndexError("Invalid column index %d." % col)
        datum, key, item = self._data[row], self._columns[col][1], None
        value = _SORT_KEYS[key](datum)
        if key in (SORT_OPS_BY_OP_TIME, SORT_OPS_BY_EXEC_TIME):
            value = cli_shared.time_to_readable_str(value, force_time_unit=self._unit)
        elif key == SORT_OPS_BY_LINE:
            options = _filter_options(dict(zip(_FILTERS, (device_name_filter, node_name_filter, op_type_filter))))
            item = debugger_cli_common.MenuItem(None, "ps%s %s --init_line %d" % (options, datum.file_path,
                                                                                  datum.line_number))
        return RL(str(value), font_attr=item)

    def row_count(self):
        """The number of rows."""
        return len(self._data)

    def column_count(self):
        """The number of columns."""
        return len(self._columns)

    def column_names(self):
        """The heads of the columns."""
        return [name for name, _ in self._columns]

    def column_sort_id(self, col):
        """What sorts by a column."""
        return self._columns[col][1]


def _regex(text):
    return re.compile(text) if text else None


def _wanted(datum, regexes, op_time, exec_time, min_lineno, max_lineno):
    """Whether a ProfileDatum passes regular expressions for (node, file, op), intervals of times, and lines."""
    for regex, text in zip(regexes, (datum.node_exec_stats.node_name, datum.file_path, datum.op_type)):
        if regex is not None and text is not None and not regex.match(text):
            return False
    if datum.line_number and (0 < min_lineno > datum.line_number or 0 < max_lineno <= datum.line_number):
        return False
    return not (op_time and not op_time.contains(datum.op_time)
                or exec_time and not exec_time.contains(datum.exec_time))


def _parsers():
    units = " | ".join(cli_shared.TIME_UNITS)
    interval = "an interval of time in s, ms or us: -e >100s, -e <100, -e [100us,1000ms]"
    listing = argparse.ArgumentParser(description="Lists nodes by what they took.", usage=argparse.SUPPRESS)
    source = argparse.ArgumentParser(description="Prints a Python file with what its lines took.",
                                     usage=argparse.SUPPRESS)
    source.add_argument("source_file_path", help="the file")
    source.add_argument("--cost_type", choices=["exec_time", "op_time"], default="exec_time", help="which time")
    for parser in (listing, source):
        parser.add_argument("--time_unit", default=cli_shared.TIME_UNIT_US, help="unit of times: " + units)
        for option, name in zip(("-d", "-n", "-t"), _FILTERS):
            parser.add_argument(option, "--" + name, default="",
                                help="a regular expression for names of %ss" % name.split("_")[0])
    listing.add_argument("-f", "--file_path_filter", default="", help="a regular expression for Python files")
    listing.add_argument("--min_lineno", type=int, default=-1, help="the first line of the file")
    listing.add_argument("--max_lineno", type=int, default=-1, help="the line behind the last one")
    listing.add_argument("-e", "--execution_time", default="", help=interval)
    listing.add_argument("-o", "--op_time", default="", help="the same, of the kernel alone")
    listing.add_argument("-s", "--sort_by", default=SORT_OPS_BY_START_TIME, help=" | ".join(_SORT_KEYS))
    listing.add_argument("-r", "--reverse", action="store_true", help="the other way round")
    source.add_argument("--init_line", type=int, default=0, help="the line to scroll to, from 1")
    return {"list_profile": listing, "print_source": source}


class ProfileAnalyzer:
    """Commands over a graph and the RunMetadata of a step. ValueError without the latter."""

    def __init__(self, graph, run_metadata):
        if not run_metadata:
            raise ValueError("No RunMetadata passed for profile analysis.")
        self._graph, self._run_metadata = graph, run_metadata
        self._arg_parsers = _parsers()

    def get_help(self, handler_name):
        """A command's help."""
        return self._arg_parsers[handler_name].format_help()

    def _devices(self, name_filter):
        """(number, device's statistics) of the devices that match."""
        regex = _regex(name_filter)
        return [(number, stats) for number, stats in enumerate(self._run_metadata.step_stats.dev_stats)
                if regex is None or regex.match(stats.device)]

    def _data_of(self, device_stats):
        """ProfileDatums of a device, with the innermost Python line that is not this package's."""
        places = {}
        for op in self._graph.get_operations():
            for frame in reversed(op.traceback):
                places[op.name] = (frame[0], frame[1], frame[2], op.type)
                if not frame[0].endswith(".py") or not source_utils.guess_is_tensorflow_py_library(frame[0]):
                    break
        return [profiling.ProfileDatum(device_stats.device, stats, *places.get(stats.node_name, ("", 0, "", "")))
                for stats in device_stats.node_stats if stats.node_name not in ("_SOURCE", "_SINK")]

    def list_profile(self, args, screen_info=None):
        """`lp`: nodes, device by device."""
        parsed = self._arg_parsers["list_profile"].parse_args(args)
        regexes = [_regex(text) for text in (parsed.node_name_filter, parsed.file_path_filter, parsed.op_type_filter)]
        op_time, exec_time = (command_parser.parse_time_interval(text) if text else None
                              for text in (parsed.op_time, parsed.execution_time))
        output = debugger_cli_common.RichTextLines([""])
        key = _SORT_KEYS.get(parsed.sort_by, _SORT_KEYS[SORT_OPS_BY_START_TIME])
        for number, stats in self._devices(parsed.device_name_filter):
            data = [datum for datum in self._data_of(stats)
                    if _wanted(datum, regexes, op_time, exec_time, parsed.min_lineno, parsed.max_lineno)]
            title = "Device %d of %d: %s" % (number + 1, len(self._run_metadata.step_stats.dev_stats), stats.device)
            output.extend(self._table(title, sorted(data, key=key, reverse=parsed.reverse), parsed,
                                      (screen_info or {}).get("cols", 80)))
        return output

    def _table(self, title, data, parsed, screen_cols):
        table = ProfileDataTableView(data, time_unit=parsed.time_unit)
        filters = {name: getattr(parsed, name) for name in _FILTERS}
        rows = [[table.value(row, col, **filters) for col in range(table.column_count())]
                for row in range(table.row_count())]
        totals = ["Device Total", ""] + [
            cli_shared.time_to_readable_str(sum(times), force_time_unit=parsed.time_unit)
            for times in ([datum.op_time for datum in data], [datum.exec_time for datum in data])]
        widths = [2 + max(len(cell) for cell in [name] + ([totals[col]] if col < len(totals) else []) +
                          [row[col] for row in rows]) for col, name in enumerate(table.column_names())]
        heads = []
        for col, name in enumerate(table.column_names()):
            key = table.column_sort_id(col)
            again = " -r" if parsed.sort_by == key and not parsed.reverse else ""
            heads.append(RL(name, [debugger_cli_common.MenuItem(None, "list_profile -s %s%s" % (key, again)), "bold"]))
        lines = [RL("-" * screen_cols), RL(title), RL()]
        for cells in [heads] + rows:
            line = RL()
            for cell, width in zip(cells, widths):
                line += cell + RL(" " * (width - len(cell)))
            lines.append(line)
        lines += [RL(), RL("".join(text.ljust(width) for text, width in zip(totals, widths)))]
        return debugger_cli_common.rich_text_lines_from_rich_line_list(lines)

    def print_source(self, args, screen_info=None):
        """`ps`: a Python file with what its lines took."""
        parsed = self._arg_parsers["print_source"].parse_args(args)
        data = [datum for _, stats in self._devices(parsed.device_name_filter) for datum in self._data_of(stats)]
        found = source_utils.annotate_source_against_profile(
            data, os.path.expanduser(parsed.source_file_path), node_name_filter=parsed.node_name_filter,
            op_type_filter=parsed.op_type_filter)
        filters = {name: getattr(parsed, name) for name in _FILTERS}
        if not found:
            return debugger_cli_common.RichTextLines(
                ["The source file %s does not contain any profile information for the previous Session run under the "
                 "following filters:" % parsed.source_file_path] +
                ["  --%s: %s" % (name, filters[name]) for name in _FILTERS])
        costs = {line: (profile.total_exec_time if parsed.cost_type == "exec_time" else profile.total_op_time)
                 for line, profile in found.items()}
        source, number_width = source_utils.load_source(parsed.source_file_path)
        bar, cost, nodes = _BAR + 3, len(parsed.cost_type) + 3, len("(#execs)") + 1  # widths of columns
        blue, yellow = cli_shared.COLOR_CYAN, cli_shared.COLOR_YELLOW
        lines = [RL(" " * bar + parsed.cost_type.ljust(cost) + "#nodes".ljust(nodes), blue) + RL("lineno", yellow),
                 RL(" " * (bar + cost) + "(#execs)".ljust(nodes) + " " * number_width, blue) + RL("source", "bold")]
        annotations = {}
        for number, text in enumerate(source, 1):
            if number in found:
                profile = found[number]
                command = "lp --file_path_filter %s --min_lineno %d --max_lineno %d%s" % (
                    re.escape(parsed.source_file_path) + "$", number, number + 1, _filter_options(filters))
                took = cli_shared.time_to_readable_str(costs[number], force_time_unit=parsed.time_unit)
                count = "%d(%d)" % (profile.node_count, profile.node_exec_count)
                line = self._render_normalized_cost_bar(costs[number], max(costs.values()), _BAR) + " "
                line += RL(took, blue) + " " * (cost - len(took))
                line += RL(count, [blue, debugger_cli_common.MenuItem(None, command)]) + " " * (nodes - len(count))
            else:
                line = RL(" " * (bar + cost + nodes))
            label = " L%d" % number
            line += RL(label, yellow) + " " * (number_width - len(label)) + text
            lines.append(line)
            if number == parsed.init_line:
                annotations[debugger_cli_common.INIT_SCROLL_POS_KEY] = len(lines) - 1
        return debugger_cli_common.rich_text_lines_from_rich_line_list(lines, annotations=annotations)

    def _render_normalized_cost_bar(self, cost, max_cost, length):
        """A bar in brackets, at least one character long."""
        ticks = math.ceil(cost / max_cost * length) if max_cost else 0
        blue = cli_shared.COLOR_CYAN
        return RL("[", blue) + RL(("|" * max(ticks, 1)).ljust(length), ["bold", blue]) + RL("]", blue)


def create_profiler_ui(graph, run_metadata, ui_type="curses", on_ui_exit=None, config=None):
    """A terminal with the commands of a ProfileAnalyzer."""
    analyzer = ProfileAnalyzer(graph, run_metadata)
    cli = ui_factory.get_ui(ui_type, on_ui_exit=on_ui_exit, config=config)
    for name, handler, alias in (("list_profile", analyzer.list_profile, "lp"),
                                 ("print_source", analyzer.print_source, "ps")):
        cli.register_command_handler(name, handler, analyzer.get_help(name), prefix_aliases=[alias])
    return cli
