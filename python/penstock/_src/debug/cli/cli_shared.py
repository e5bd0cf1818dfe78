"""What the debugger's commands have in common: sizes and times as texts, values as lines, introductions to runs."""
import math

import numpy as np

from penstock._src.debug.cli import command_parser
from penstock._src.debug.cli import debugger_cli_common
from penstock._src.debug.cli import tensor_format
from penstock._src.debug.lib import common
from penstock._src.graph import ops
from penstock._src.ops.state import variables
from penstock._src.files import gfile

RL = debugger_cli_common.RichLine

DEFAULT_NDARRAY_DISPLAY_THRESHOLD = 2000

COLOR_BLACK, COLOR_BLUE, COLOR_CYAN, COLOR_GRAY, COLOR_GREEN = "black", "blue", "cyan", "gray", "green"
COLOR_MAGENTA, COLOR_RED, COLOR_WHITE, COLOR_YELLOW = "magenta", "red", "white", "yellow"

TIME_UNIT_US, TIME_UNIT_MS, TIME_UNIT_S = "us", "ms", "s"
TIME_UNITS = [TIME_UNIT_US, TIME_UNIT_MS, TIME_UNIT_S]

_BAR = "=" * 38
_ERROR_BAR = "-" * 38


def bytes_to_readable_str(num_bytes, include_b=False):
    """"12", "1.50k", "2.00M", "1.00G", with a "B" behind it if asked for."""
    if num_bytes is None:
        return str(num_bytes)
    for power, unit in ((3, "G"), (2, "M"), (1, "k")):
        if num_bytes >= 1024 ** power:
            text = "%.2f%s" % (num_bytes / 1024.0 ** power, unit)
            break
    else:
        text = "%d" % num_bytes
    return text + ("B" if include_b else "")


def time_to_readable_str(value_us, force_time_unit=None):
    """Microseconds as "12us", "1.5ms", "2s". ValueError for another unit."""
    if not value_us:
        return "0"
    if force_time_unit:
        if force_time_unit not in TIME_UNITS:
            raise ValueError("Invalid time unit: %s" % force_time_unit)
        order, digits = TIME_UNITS.index(force_time_unit), 10
    else:
        order, digits = min(len(TIME_UNITS) - 1, int(math.log(value_us, 10) / 3)), 3
    return "%.*g%s" % (digits, value_us / 1000.0 ** order, TIME_UNITS[order])


def parse_ranges_highlight(ranges_string):
    """HighlightOptions for elements in ranges (command_parser.parse_ranges); None without any."""
    if not ranges_string:
        return None
    ranges = command_parser.parse_ranges(ranges_string)

    def inside(values):
        result = np.zeros(values.shape, dtype=bool)
        for first, last in ranges:
            result |= (values >= first) & (values <= last)
        return result

    return tensor_format.HighlightOptions(inside, description=ranges_string)


def numpy_printoptions_from_screen_info(screen_info):
    """Options of np.set_printoptions for a screen."""
    return {"linewidth": screen_info["cols"]} if screen_info and "cols" in screen_info else {}


def format_tensor(tensor, tensor_name, np_printoptions, print_all=False, tensor_slicing=None, highlight_options=None,
                  include_numeric_summary=False, write_path=None):
    """RichTextLines of a value, or of a slice of it; it is written to a .npy file too if there is a path."""
    if tensor_slicing:
        tensor, tensor_name = command_parser.evaluate_tensor_slice(tensor, tensor_slicing), tensor_name + tensor_slicing
    message = None
    if write_path:
        with gfile.GFile(write_path, "wb") as f:
            np.save(f, tensor)
        line = RL("Saved value to: ") + RL(write_path, font_attr="bold")
        line += " (%sB)" % bytes_to_readable_str(gfile.Stat(write_path).length)
        message = debugger_cli_common.rich_text_lines_from_rich_line_list([line, ""])
    np_printoptions["threshold"] = np.size(tensor) if print_all else DEFAULT_NDARRAY_DISPLAY_THRESHOLD
    return tensor_format.format_tensor(tensor, tensor_name, include_metadata=True,
                                       include_numeric_summary=include_numeric_summary, auxiliary_message=message,
                                       np_printoptions=np_printoptions, highlight_options=highlight_options)


def error(msg):
    """RichTextLines that say what went wrong, in red."""
    return debugger_cli_common.rich_text_lines_from_rich_line_list([RL("ERROR: " + msg, COLOR_RED)])


def _recommend(command, description, clickable=True):
    attr = [debugger_cli_common.MenuItem("", command), "bold"] if clickable else "bold"
    return [RL("  ") + RL(command, attr) + ":", "    " + description]


def get_tfdbg_logo():
    """The debugger's name in large letters."""
    return debugger_cli_common.RichTextLines([
        "",
        "TTTTTT FFFF DDD  BBBB   GGG ",
        "  TT   F    D  D B   B G    ",
        "  TT   FFF  D  D BBBB  G  GG",
        "  TT   F    D  D B   B G   G",
        "  TT   F    DDD  BBBB   GGG ",
        "",
    ])


def get_run_start_intro(run_call_count, fetches, feed_dict, tensor_filters, is_callable_runner=False):
    """What is about to be run, and which commands there are, as RichTextLines."""
    lines = [_BAR]
    if is_callable_runner:
        lines.append("Running a runner returned by Session.make_callable()")
    else:
        lines += ["Session.run() call #%d:" % run_call_count, "", "Fetch(es):"]
        lines += ["  " + name for name in common.get_flattened_names(fetches)]
        lines += ["", "Feed dict:"]
        for feed in map(common.get_graph_element_name, feed_dict or ()):
            lines.append(RL("  ") + RL(feed, debugger_cli_common.MenuItem(None, "pf '%s'" % feed)))
        if not feed_dict:
            lines.append("  (Empty)")
    lines += [_BAR, "", "Select one of the following commands to proceed ---->"]
    lines += _recommend("run", "Execute the run() call with debug tensor-watching")
    lines += _recommend("run -n", "Execute the run() call without debug tensor-watching")
    lines += _recommend("run -t <T>", "Execute run() calls (T - 1) times without debugging, then execute run() once "
                        "more with debugging and drop back to the CLI", clickable=False)
    lines += _recommend("run -f <filter_name>", "Keep executing run() calls until a dumped tensor passes a given, "
                        "registered filter (conditional breakpoint mode)", clickable=False)
    lines.append("    Registered filter(s):")
    for name in tensor_filters or ():
        lines.append(RL("        * ") + RL(name, debugger_cli_common.MenuItem("", "run -f %s" % name)))
    if not tensor_filters:
        lines.append("        (None)")
    lines += ["", RL("For more details, see ") + RL("help.", debugger_cli_common.MenuItem("", "help")) + ".", ""]
    menu = debugger_cli_common.Menu()
    menu.append(debugger_cli_common.MenuItem("run", "run"))
    menu.append(debugger_cli_common.MenuItem("exit", "exit"))
    return debugger_cli_common.rich_text_lines_from_rich_line_list(lines, {debugger_cli_common.MAIN_MENU_KEY: menu})


def get_run_short_description(run_call_count, fetches, feed_dict, is_callable_runner=False):
    """A run in one line: its number, fetches and feeds."""
    if is_callable_runner:
        return "runner from make_callable()"
    if isinstance(fetches, (ops.Tensor, ops.Operation, variables.Variable)):
        fetched = "1 fetch (%s)" % common.get_graph_element_name(fetches)
    else:
        count = len(common.get_flattened_names(fetches))
        fetched = "%d fetch%s" % (count, "es" if count > 1 else "")
    if feed_dict and len(feed_dict) == 1:
        fed = "1 feed (%s)" % common.get_graph_element_name(next(iter(feed_dict)))
    else:
        fed = "%d feeds" % len(feed_dict or ())
    return "run #%d: %s; %s" % (run_call_count, fetched, fed)


def get_error_intro(tf_error):
    """What failed, and which commands help to see why, as RichTextLines."""
    name = getattr(getattr(tf_error, "op", None), "name", None)
    lines = [_ERROR_BAR, RL("!!! An error occurred during the run !!!", "blink"), ""]
    if name is None:
        lines.append("WARNING: Cannot determine the name of the op that caused the error.")
    else:
        lines.append("You may use the following commands to debug:")
        lines += _recommend("ni -a -d -t %s" % name, "Inspect information about the failing op.")
        lines += _recommend("li -r %s" % name, "List inputs to the failing op, recursively.")
        lines += _recommend("lt", "List all tensors dumped during the failing run() call.")
    lines += ["", "Op name:    %s" % name, "Error type: " + str(type(tf_error)), "", "Details:", str(tf_error), "",
              _ERROR_BAR, ""]
    return debugger_cli_common.rich_text_lines_from_rich_line_list(lines)
