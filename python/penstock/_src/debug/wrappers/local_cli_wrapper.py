"""A session that stops before and behind each run, in a terminal."""
import argparse
import os
import shutil
import sys
import tempfile

from penstock._src.debug.cli import analyzer_cli
from penstock._src.debug.cli import cli_config
from penstock._src.debug.cli import cli_shared
from penstock._src.debug.cli import command_parser
from penstock._src.debug.cli import debugger_cli_common
from penstock._src.debug.cli import profile_analyzer_cli
from penstock._src.debug.cli import ui_factory
from penstock._src.debug.lib import common
from penstock._src.debug.lib import debug_data
from penstock._src.debug.wrappers import framework


def _run_parser():
    parser = argparse.ArgumentParser(description="Runs, with or without the debugger.", usage=argparse.SUPPRESS)
    parser.add_argument("-t", "--times", type=int, default=1, help="how many Session.run() calls to go on for")
    parser.add_argument("-n", "--no_debug", action="store_true", help="runs without watching tensors")
    parser.add_argument("-f", "--till_filter_pass", default="", help="runs until a filter finds a tensor")
    parser.add_argument("-fenn", "--filter_exclude_node_names", default="",
                        help="with -f: a regular expression for names of nodes that are left out")
    parser.add_argument("--node_name_filter", default="", help="watches nodes whose names match a regular expression")
    parser.add_argument("--op_type_filter", default="", help="watches nodes whose ops match a regular expression")
    parser.add_argument("--tensor_dtype_filter", default="",
                        help="watches tensors whose types match a regular expression")
    parser.add_argument("-p", "--profile", action="store_true", help="runs, and shows what took how long")
    return parser


class LocalCLIDebugWrapperSession(framework.BaseDebugWrapperSession):
    """Before each run the debugger asks what to do (`help` lists it); behind a debugged run it shows what happened.

    dump_root: where dumps are kept while the terminal is open, by default a temporary directory. ui_type: "curses" and
    "readline" both are a prompt. ValueError if `dump_root` is a file, or a directory that is not empty.
    """

    def __init__(self, sess, dump_root=None, log_usage=True, ui_type="curses", thread_name_filter=None,
                 config_file_path=False):
        del log_usage
        super().__init__(sess, thread_name_filter=thread_name_filter)
        if dump_root:
            dump_root = os.path.expanduser(dump_root)
            if os.path.isfile(dump_root):
                raise ValueError("dump_root path points to a file: %s" % dump_root)
            if os.path.isdir(dump_root) and os.listdir(dump_root):
                raise ValueError("dump_root path points to a non-empty directory: %s" % dump_root)
        self._dump_root = dump_root or tempfile.mkdtemp(prefix="tfdbg_")
        self._argparsers = {
            "run": _run_parser(),
            "run_info": argparse.ArgumentParser(description="Shows what this Session.run() call is asked for.",
                                                usage=argparse.SUPPRESS),
            "print_feed": command_parser.get_print_tensor_argparser("Prints a value of the feed_dict."),
        }
        self._tensor_filters = {}
        self.add_tensor_filter("has_inf_or_nan", debug_data.has_inf_or_nan)
        # A filter that runs go on until it finds something, and the answer to all those runs.
        self._active_tensor_filter = self._active_filter_exclude_node_names = None
        self._active_tensor_filter_run_start_response = None
        self._run_through_times, self._skip_debug = 1, False
        self._run_start_response, self._is_run_start = None, True
        self._ui_type = ui_type
        self._config = cli_config.CLIConfig(config_file_path=config_file_path) if config_file_path else None

    def _is_disk_usage_reset_each_run(self):
        return True  # dumps do not outlive the terminal

    def add_tensor_filter(self, filter_name, tensor_filter):
        """A filter for `run -f NAME` and `lt -f NAME`: tensor_filter(datum, value) is true of what it shows."""
        self._tensor_filters[filter_name] = tensor_filter

    def on_session_init(self, request):
        """Goes on."""
        return framework.OnSessionInitResponse(framework.OnSessionInitAction.PROCEED)

    def on_run_start(self, request):
        """What was asked for in the terminal, now or before."""
        self._is_run_start = True
        self._update_run_calls_state(request.run_call_count, request.fetches, request.feed_dict,
                                     is_callable_runner=request.is_callable_runner)
        if self._active_tensor_filter:
            return self._active_tensor_filter_run_start_response
        self._exit_if_requested_by_user()
        if self._run_call_count > 1 and not self._skip_debug:
            if self._run_through_times > 0:
                return framework.OnRunStartResponse(framework.OnRunStartAction.NON_DEBUG_RUN, [])
            if self._run_through_times == 0:
                return self._run_start_response or framework.OnRunStartResponse(
                    framework.OnRunStartAction.DEBUG_RUN, self._get_run_debug_urls())
        if self._run_start_response is None:
            self._prep_cli_for_run_start()
            self._run_start_response = self._launch_cli()
            if self._active_tensor_filter:
                self._active_tensor_filter_run_start_response = self._run_start_response
            if self._run_through_times > 1:
                self._run_through_times -= 1
        self._exit_if_requested_by_user()
        return self._run_start_response

    def _exit_if_requested_by_user(self):
        if self._run_start_response == debugger_cli_common.EXPLICIT_USER_EXIT:
            print("Note: user exited from debugger CLI: Calling sys.exit(1).", file=sys.stderr)
            sys.exit(1)

    def _prep_cli_for_run_start(self):
        self._run_cli = ui_factory.get_ui(self._ui_type, config=self._config)
        intro = debugger_cli_common.RichTextLines([])
        if self._run_call_count == 1:
            intro.extend(cli_shared.get_tfdbg_logo())
            intro.extend(debugger_cli_common.get_tensorflow_version_lines())
        intro.extend(debugger_cli_common.RichTextLines("Upcoming run:"))
        intro.extend(self._run_info)
        self._run_cli.set_help_intro(intro)
        self._title, self._title_color = "run-start: " + self._run_description, "blue_on_white"
        self._init_command = "run_info"

    def on_run_end(self, request):
        """Shows what a run gave, if that was asked for."""
        self._is_run_start = False
        if request.performed_action == framework.OnRunStartAction.DEBUG_RUN:
            self._show_debugged_run(request)
        elif request.performed_action == framework.OnRunStartAction.PROFILE_RUN:
            self._prep_profile_cli_for_run_end(self._sess.graph, request.run_metadata)
            self._run_start_response = self._launch_cli()
        else:
            self._run_start_response = None
        return framework.OnRunEndResponse()

    def _show_debugged_run(self, request):
        graphs = list(request.run_metadata.partition_graphs) if request.run_metadata else []
        if not graphs and request.client_graph_def:
            graphs = [request.client_graph_def]
        if request.tf_error and not os.path.isdir(self._dump_root):
            raise request.tf_error  # it failed before anything was dumped
        dump = debug_data.DebugDumpDir(self._dump_root, partition_graphs=graphs)
        dump.set_python_graph(self._sess.graph)
        passed, excluded = self._active_tensor_filter, self._active_filter_exclude_node_names
        if passed:
            if not dump.find(self._tensor_filters[passed], first_n=1, exclude_node_names=excluded):
                self._remove_dump_root()
                return
            self._active_tensor_filter = self._active_filter_exclude_node_names = None
        self._prep_debug_cli_for_run_end(dump, request.tf_error, passed, excluded)
        self._run_start_response = self._launch_cli()
        self._remove_dump_root()

    def _remove_dump_root(self):
        if os.path.isdir(self._dump_root):
            shutil.rmtree(self._dump_root)

    def _prep_debug_cli_for_run_end(self, debug_dump, tf_error, passed_filter, passed_filter_exclude_node_names):
        self._title = "run-end: " + self._run_description
        self._run_cli = analyzer_cli.create_analyzer_ui(debug_dump, self._tensor_filters, ui_type=self._ui_type,
                                                        on_ui_exit=self._remove_dump_root, config=self._config)
        self._run_cli.register_tab_comp_context(["node_info", "ni", "list_inputs", "li", "list_outputs", "lo"],
                                                list(debug_dump.nodes()))
        if tf_error:
            self._init_command, self._title_color = "help", "red_on_white"
            self._run_cli.set_help_intro(cli_shared.get_error_intro(tf_error))
        elif passed_filter is not None:
            self._init_command, self._title_color = "lt -f %s" % passed_filter, "red_on_white"
            if passed_filter_exclude_node_names:
                self._init_command += " --filter_exclude_node_names %s" % passed_filter_exclude_node_names
        else:
            self._init_command, self._title_color = "lt", "black_on_white"

    def _prep_profile_cli_for_run_end(self, py_graph, run_metadata):
        self._init_command, self._title = "lp", "run-end (profiler mode): " + self._run_description
        self._run_cli = profile_analyzer_cli.create_profiler_ui(py_graph, run_metadata, ui_type=self._ui_type,
                                                                config=self._run_cli.config)

    def _launch_cli(self):
        self._register_this_run_info(self._run_cli)
        return self._run_cli.run_ui(init_command=self._init_command, title=self._title, title_color=self._title_color)

    def _run_info_handler(self, args, screen_info=None):
        output = debugger_cli_common.RichTextLines([])
        if self._run_call_count == 1:
            output.extend(cli_shared.get_tfdbg_logo())
            output.extend(debugger_cli_common.get_tensorflow_version_lines())
        output.extend(self._run_info)
        menu = output.annotations.get(debugger_cli_common.MAIN_MENU_KEY)
        if not self._is_run_start and menu is not None and "list_tensors" not in menu.captions():
            menu.insert(0, debugger_cli_common.MenuItem("list_tensors", "list_tensors"))
        return output

    def _print_feed_handler(self, args, screen_info=None):
        if not self._feed_dict:
            return cli_shared.error("The feed_dict of the current run is None or empty.")
        parsed = self._argparsers["print_feed"].parse_args(args)
        name, slicing = command_parser.parse_tensor_name_with_slicing(parsed.tensor_name)
        for key, value in self._feed_dict.items():
            if common.get_graph_element_name(key) == name:
                return cli_shared.format_tensor(
                    value, name + " (feed)", cli_shared.numpy_printoptions_from_screen_info(screen_info),
                    print_all=parsed.print_all, tensor_slicing=slicing,
                    highlight_options=cli_shared.parse_ranges_highlight(parsed.ranges),
                    include_numeric_summary=parsed.numeric_summary)
        return cli_shared.error("The feed_dict of the current run does not contain the key %s" % name)

    def _run_handler(self, args, screen_info=None):
        """`run`: leaves the terminal with what to do."""
        parsed = self._argparsers["run"].parse_args(args)
        if parsed.filter_exclude_node_names and not parsed.till_filter_pass:
            raise ValueError("The --filter_exclude_node_names (or -feon) flag is valid only if the --till_filter_pass "
                             "(or -f) flag is used.")
        if parsed.profile:
            raise debugger_cli_common.CommandLineExit(
                exit_token=framework.OnRunStartResponse(framework.OnRunStartAction.PROFILE_RUN, []))
        self._skip_debug, self._run_through_times = parsed.no_debug, parsed.times
        debugs = parsed.times <= 1 and not parsed.no_debug
        response = framework.OnRunStartResponse(
            framework.OnRunStartAction.DEBUG_RUN if debugs else framework.OnRunStartAction.NON_DEBUG_RUN,
            self._get_run_debug_urls() if debugs else [],
            node_name_regex_whitelist=parsed.node_name_filter or None,
            op_type_regex_whitelist=parsed.op_type_filter or None,
            tensor_dtype_regex_whitelist=parsed.tensor_dtype_filter or None)
        if parsed.till_filter_pass:
            if parsed.till_filter_pass not in self._tensor_filters:
                return cli_shared.error('tensor filter "%s" does not exist.' % parsed.till_filter_pass)
            self._active_tensor_filter = parsed.till_filter_pass
            self._active_filter_exclude_node_names = parsed.filter_exclude_node_names
            self._active_tensor_filter_run_start_response = response
        raise debugger_cli_common.CommandLineExit(exit_token=response)

    def _register_this_run_info(self, cli):
        for name, handler, alias in (("run", self._run_handler, "r"), ("run_info", self._run_info_handler, "ri"),
                                     ("print_feed", self._print_feed_handler, "pf")):
            cli.register_command_handler(name, handler, self._argparsers[name].format_help(), prefix_aliases=[alias])
        if self._tensor_filters:
            cli.register_tab_comp_context(["run", "r"], list(self._tensor_filters))
        if self._feed_dict and hasattr(self._feed_dict, "keys"):
            cli.register_tab_comp_context(["print_feed", "pf"],
                                          [common.get_graph_element_name(key) for key in self._feed_dict])

    def _get_run_debug_urls(self):
        return ["file://" + self._dump_root]

    def _update_run_calls_state(self, run_call_count, fetches, feed_dict, is_callable_runner=False):
        self._run_call_count, self._feed_dict = run_call_count, feed_dict
        self._run_description = cli_shared.get_run_short_description(run_call_count, fetches, feed_dict,
                                                                     is_callable_runner=is_callable_runner)
        self._run_through_times -= 1
        self._run_info = cli_shared.get_run_start_intro(run_call_count, fetches, feed_dict, self._tensor_filters,
                                                        is_callable_runner=is_callable_runner)
