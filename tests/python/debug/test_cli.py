"""What the debugger's terminal is made of, against TensorFlow 1.15.5's answers."""
import math

import numpy as np
import pytest

from penstock._src.debug.cli import analyzer_cli, cli_config, cli_shared, command_parser, debugger_cli_common, evaluator
from penstock._src.debug.cli import readline_ui, tensor_format
from penstock._src.debug.lib import common, debug_data, debug_graphs

NAMES = {"parse": command_parser, "shared": cli_shared, "form": tensor_format, "common": debugger_cli_common,
         "graphs": debug_graphs, "lib": common, "data": debug_data, "evaluator": evaluator, "np": np}
inf = math.inf

ANSWERS = [
    ('parse.parse_command("lt -f \'a b\' [1, 2] \\"c\\"")',
     ['lt', '-f', 'a b', '[1, 2]', 'c']),
    ('parse.parse_command("  ")',
     []),
    ('parse.extract_output_file_path(["pt", "a:0", ">", "/tmp/x"])',
     (['pt', 'a:0'], '/tmp/x')),
    ('parse.extract_output_file_path(["lp", "-e", ">100ms"])',
     (['lp', '-e', '>100ms'], None)),
    ('parse.extract_output_file_path(["pt", "a:0>x.txt"])',
     (['pt', 'a:0'], 'x.txt')),
    ('parse.extract_output_file_path(["lp", "-e", ">=100ms", ">x.txt"])',
     (['lp', '-e', '>=100ms'], 'x.txt')),
    ('parse.parse_tensor_name_with_slicing("a/b:0[1, :]")',
     ('a/b:0', '[1, :]')),
    ('parse.evaluate_tensor_slice(np.arange(12).reshape(3, 4), "[1:, ::2]").tolist()',
     [[4, 6], [8, 10]]),
    ('parse.parse_indices("[1, 2]")',
     [1, 2]),
    ('parse.parse_ranges("[[-inf, -0.1], [0.1, inf]]")',
     [[-1.7976931348623157e+308, -0.1], [0.1, 1.7976931348623157e+308]]),
    ('vars(parse.parse_memory_interval("[1k, 2.5MB)"))',
     {'end': 2621440, 'end_included': False, 'start': 1024, 'start_included': True}),
    ('vars(parse.parse_time_interval("<=1.5ms"))',
     {'end': 1500, 'end_included': True, 'start': 0, 'start_included': False}),
    ('vars(parse.parse_time_interval("(2us, 1s]"))',
     {'end': 1000000, 'end_included': True, 'start': 2, 'start_included': False}),
    ('[parse.parse_readable_size_str(t) for t in ("0", "12B", "1k", "2.5M", "1GB")]',
     [0, 12, 1024, 2621440, 1073741824]),
    ('[parse.parse_readable_time_str(t) for t in ("0", "12us", "1.5ms", "2s")]',
     [0, 12, 1500, 2000000]),
    ("[shared.bytes_to_readable_str(n, include_b=True) for n in (0, 1023, 1024, 1572864, 2147483648)]",
     ['0B', '1023B', '1.00kB', '1.50MB', '2.00GB']),
    ("[shared.time_to_readable_str(n) for n in (0, 1, 999, 1000, 1234567, 98765432100)]",
     ['0', '1us', '999us', '1e+03us', '1.23s', '9.88e+04s']),
    ('[shared.time_to_readable_str(n, force_time_unit="ms") for n in (1, 1234567)]',
     ['0.001ms', '1234.567ms']),
    ('shared.get_run_short_description(3, [["a:0"], ("b:0", {"c": "d"})], {"x:0": 1})',
     'run #3: 3 fetches; 1 feed (x:0)'),
    ('shared.get_run_start_intro(2, "a:0", {"x:0": 1}, {"has_inf_or_nan": None}).lines',
     ['======================================', 'Session.run() call #2:', '', 'Fetch(es):', '  a:0', '',
      'Feed dict:', '  x:0', '======================================', '',
      'Select one of the following commands to proceed ---->', '  run:',
      '    Execute the run() call with debug tensor-watching', '  run -n:',
      '    Execute the run() call without debug tensor-watching', '  run -t <T>:',
      '    Execute run() calls (T - 1) times without debugging, then execute run() once more with '
      'debugging and drop back to the CLI',
      '  run -f <filter_name>:',
      '    Keep executing run() calls until a dumped tensor passes a given, registered filter '
      '(conditional breakpoint mode)',
      '    Registered filter(s):', '        * has_inf_or_nan', '', 'For more details, see help..', '']),
    ('shared.error("bad").font_attr_segs',
     {0: [(0, 10, 'red')]}),
    ('form.format_tensor(np.arange(6.0).reshape(2, 3) - 2, "a:0:DebugIdentity", '
     'include_metadata=True, include_numeric_summary=True).lines',
     ['Tensor "a:0:DebugIdentity":', '  dtype: float64', '  shape: (2, 3)', '', 'Numeric summary:',
      '| - 0 + | total |', '| 2 1 3 |     6 |',
      '|               min               max              mean               std |',
      '|              -2.0               3.0               0.5 1.707825127659933 |', '',
      'array([[-2., -1.,  0.],', '       [ 1.,  2.,  3.]])']),
    ('form.format_tensor(np.array([True, False]), "a:0", include_numeric_summary=True).lines',
     ['Tensor "a:0":', '', 'Numeric summary:', '| False  True | total |', '|     1     1 |     2 |', '',
      'array([ True, False])']),
    ('form.format_tensor(np.zeros([0, 3]), "a:0", include_numeric_summary=True).lines',
     ['Tensor "a:0":', '', 'Numeric summary:', 'No numeric summary available due to empty tensor.', '',
      'array([], shape=(0, 3), dtype=float64)']),
    ("form.numeric_summary(np.array([np.nan, -np.inf, np.inf, 1.0, -2.0, 0.0])).lines",
     ['|  nan -inf    -    0    + +inf | total |', '|    1    1    1    1    1    1 |     6 |',
      '|                 min                 max                mean                 std |',
      '|                -2.0                 1.0 -0.3333333333333333   1.247219128924647 |']),
    ('form.locate_tensor_element(form.format_tensor(np.arange(1000.0).reshape(10, 100), "a:0"), [3, 5])',
     (False, 32, 38, 42)),
    ('form.locate_tensor_element(form.format_tensor(np.arange(10000.0).reshape(100, '
     '100), "a:0", np_printoptions={"threshold": 100}), [[0, 1], [50, 2], [99, 99]])',
     ([False, True, False], [2, 8, 14], [19, None, None], [28, None, None])),
    ('{k: v for k, v in form.format_tensor(np.arange(24.0).reshape(2, '
     '3, 4), "a:0").annotations.items() if isinstance(k, int)}',
     {2: {'i0': [0, 0, 0]},
      3: {'i0': [0, 1, 0]},
      4: {'i0': [0, 2, 0]},
      6: {'i0': [1, 0, 0]},
      7: {'i0': [1, 1, 0]},
      8: {'i0': [1, 2, 0]}}),
    ('shared.format_tensor(np.arange(4.0), "a:0", {}, highlight_options=shared.parse_ranges_highlight("[1, '
     '2]")).lines[0]',
     'Tensor "a:0": Highlighted([1, 2]): 2 of 4 element(s) (50.00%)'),
    ('common.regex_find(common.RichTextLines(["abc", "bcd"]), "b.", "red").font_attr_segs',
     {0: [(1, 3, 'red')], 1: [(0, 2, 'red')]}),
    ('[x.lines if hasattr(x, "lines") else x for x in common.wrap_rich_text_lines(common.RichTextLines(["abcdefg", '
     '"", "xyz"]), 3)]',
     [['abc', 'def', 'g', '', 'xyz'], [0, 3, 4]]),
    ('common.wrap_rich_text_lines(common.RichTextLines(["abcdefg"], '
     '{0: [(1, 6, "red")]}), 3)[0].font_attr_segs',
     {0: [(1, 3, 'red')], 1: [(0, 3, 'red')]}),
    ('graphs.parse_debug_node_name("__dbg_a/b_c:2_1_DebugNanCount")',
     ('a/b_c', 2, 1, 'DebugNanCount')),
    ('evaluator._parse_debug_tensor_name("/job:a/replica:0/task:2/cpu:0:x/y:1:DebugNanCount")',
     ('/job:a/replica:0/task:2/cpu:0', 'x/y', 1, 'DebugNanCount', 0)),
    ('evaluator._parse_debug_tensor_name("x/y:1[3]")',
     (None, 'x/y', 1, 'DebugIdentity', 3)),
    ('lib.get_run_key({"a": "x:0"}, [["y:0"], {"k": "z:0"}])',
     '[["x:0"], ["y:0", "z:0"]]'),
    ('data.device_path_to_device_name("_tfdbg_device_,job_my_worker,replica_0,task_1,device_CPU_0")',
     '/job:my_worker/replica:0/task:1/device:CPU:0'),
]


@pytest.mark.parametrize("expression, answer", ANSWERS)
def test_answers(expression, answer):
    with np.printoptions(threshold=1000, linewidth=75):
        assert eval(expression, dict(NAMES)) == answer


def test_bad_texts():
    for parse, text in ((command_parser.parse_memory_interval, "[2k, 1k]"), (command_parser.parse_time_interval, "5"),
                        (command_parser.parse_readable_size_str, "2E"), (command_parser.parse_ranges, "[1, 2, 3]"),
                        (debug_graphs.parse_debug_node_name, "__copy_a_0")):
        with pytest.raises(ValueError):
            parse(text)
    with pytest.raises(SyntaxError):
        command_parser.extract_output_file_path(["pt", "a:0>"])


def test_settings(tmp_path):
    path, seen = str(tmp_path / "config"), []
    config = cli_config.CLIConfig(config_file_path=path)
    config.set_callback("graph_recursion_depth", lambda values: seen.append(values["graph_recursion_depth"]))
    config.set("graph_recursion_depth", "9")
    config.set("mouse_mode", "off")
    assert seen == [9] and cli_config.CLIConfig(config_file_path=path).get("mouse_mode") is False
    assert config.summarize().lines[1:] == ["", "  graph_recursion_depth: 9", "  mouse_mode: False"]
    with pytest.raises(KeyError):
        config.get("none")
    with pytest.raises(ValueError):
        config.set("mouse_mode", "perhaps")


def test_commands_and_completion(tmp_path, monkeypatch, capsys):
    ui = readline_ui.ReadlineUI(config=cli_config.CLIConfig(config_file_path=str(tmp_path / "config")))

    def add(args, screen_info=None):
        if args == ["leave"]:
            raise debugger_cli_common.CommandLineExit(exit_token="left")
        return debugger_cli_common.RichTextLines([str(sum(map(int, args)))])

    ui.register_command_handler("add", add, "adds numbers", prefix_aliases=["+"])
    ui.register_tab_comp_context(["add", "+"], ["10", "12", "2"])
    assert [ui._readline_complete("a", i) for i in range(2)] == ["add", None]
    assert [ui._readline_complete("+ 1 1", i) for i in range(3)] == ["+ 1 10", "+ 1 12", None]
    path = tmp_path / "sum"
    lines = iter(["add 1 2 > %s" % path, "+ x", "none", "help add", "+ leave"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    ui = ui.__class__(config=ui.config)
    ui.register_command_handler("add", add, "adds numbers", prefix_aliases=["+"])
    assert ui.run_ui(title="sums") == "left"
    shown = capsys.readouterr().out
    for phrase in ("sums", "Wrote output to", "Error occurred during handling of command: add x:",
                   'ERROR: Invalid command prefix "none"', "  Aliases: +\n\n  adds numbers"):
        assert phrase in shown
    assert path.read_text() == "3\n"


def test_filters_have_names(tmp_path):
    analyzer = analyzer_cli.DebugAnalyzer(None, cli_config.CLIConfig(config_file_path=str(tmp_path / "config")))
    for name, tensor_filter, error in ((1, len, TypeError), ("", len, ValueError), ("a", 1, TypeError)):
        with pytest.raises(error):
            analyzer.add_tensor_filter(name, tensor_filter)
    with pytest.raises(ValueError, match='no tensor filter named "b"'):
        analyzer.get_tensor_filter("b")
