"""tf.profiler: profiles of a graph and of steps that ran in it."""
import sys

from penstock._src.graph import errors
from penstock._src.files import gfile
from penstock._src.profiler import tfprof_logger
from penstock._src.profiler.internal import advice
from penstock._src.profiler.internal import report
from penstock._src.profiler.internal import traces
from penstock._src.profiler.internal import views
from penstock._src.profiler.internal.node_stats import GraphStats
from penstock._src.profiler.internal.options import COLUMNS, Options
from penstock._src.profiler.internal.shown import to_message
from penstock._src.profiler.option_builder import ProfileOptionBuilder
from penstock.proto import AdvisorOptionsProto, GraphNodeProto, MultiGraphNodeProto

ALL_ADVICE = {
    "ExpensiveOperationChecker": {},
    "AcceleratorUtilizationChecker": {},
    "JobChecker": {},
    "OperationChecker": {},
}
_DEFAULT_PROFILE_OPTIONS = 0
_DEFAULT_ADVISE_OPTIONS = 0
_VIEWS = {"scope": views.ScopeView, "graph": views.GraphView, "code": views.CodeView, "op": views.OpView}


class Profiler:
    """Profiles of several steps of a graph:

        profiler = tf.profiler.Profiler(sess.graph)
        sess.run(train, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
        profiler.add_step(1, metadata)
        profiler.profile_operations(tf.profiler.ProfileOptionBuilder.time_and_memory())
    """

    def __init__(self, graph=None, op_log=None):
        """graph: by default, unless eager, the default graph. op_log: an OpLogProto with further types of nodes."""
        self._graph = tfprof_logger.default_graph(graph)
        self._coverage = 0.0
        self._stats = GraphStats()
        self._add_graph()
        self._stats.add_op_log(tfprof_logger.merge_default_with_oplog(self._graph, op_log=op_log))

    def _add_graph(self):
        if self._graph:
            self._stats.add_graph(self._graph.as_graph_def(add_shapes=True))

    def add_step(self, step, run_meta):
        """Adds a RunMetadata to the step of that number, which options name with `with_step`."""
        op_log = tfprof_logger.merge_default_with_oplog(self._graph, run_meta=run_meta)
        self._add_graph()
        self._stats.add_run_metadata(step, run_meta)
        self._stats.add_op_log(op_log)
        self._coverage = self._stats.coverage

    def profile_python(self, options):
        """By lines of code: a MultiGraphNodeProto."""
        return _profile(self._stats, "code", options)

    def profile_operations(self, options):
        """By op types: a MultiGraphNodeProto."""
        return _profile(self._stats, "op", options)

    def profile_name_scope(self, options):
        """By name scopes: a GraphNodeProto."""
        return _profile(self._stats, "scope", options)

    def profile_graph(self, options):
        """By inputs: a GraphNodeProto."""
        return _profile(self._stats, "graph", options)

    def advise(self, options):
        """An AdviceProto. options: a dict whose keys are names of checkers, as ALL_ADVICE."""
        return _advise(self._stats, options)

    def serialize_to_string(self):
        """All that is known, as a serialized ProfileProto."""
        return self._stats.to_message().SerializeToString()

    def _write_profile(self, filename):
        gfile.write_atomically(filename, self.serialize_to_string())


def profile(graph=None, run_meta=None, op_log=None, cmd="scope", options=_DEFAULT_PROFILE_OPTIONS):
    """Profiles a graph and, with `run_meta`, a step of it.

    graph: by default, unless eager, the default graph. op_log: an OpLogProto with further types of nodes.
    cmd: "scope" or "graph", which give a GraphNodeProto, "op" or "code", which give a MultiGraphNodeProto.
    options: a dict that ProfileOptionBuilder makes; by default the parameters of trainable variables.
    Prints a table, or writes a file, as the options ask. InvalidArgumentError for another `cmd`, a wrong output or
    regular expression.
    """
    if cmd not in _VIEWS:
        raise errors.InvalidArgumentError(None, None, f"unknown cmd: {cmd}\n")
    if options == _DEFAULT_PROFILE_OPTIONS:
        options = ProfileOptionBuilder.trainable_variables_parameter()
    return _profile(_collect(graph, run_meta, op_log, add_trace=cmd == "code"), cmd, options)


def advise(graph=None, run_meta=None, options=_DEFAULT_ADVISE_OPTIONS):
    """Looks for what could be better, and prints it: an AdviceProto.

    options: a dict whose keys are names of checkers; by default ALL_ADVICE.
    """
    options = ALL_ADVICE if options == _DEFAULT_ADVISE_OPTIONS else options
    return _advise(_collect(graph, run_meta, None, add_trace=True), options)


def _collect(graph, run_meta, op_log, add_trace):
    graph = tfprof_logger.default_graph(graph)
    op_log = tfprof_logger.merge_default_with_oplog(graph, op_log, run_meta, add_trace=add_trace)
    stats = GraphStats()
    if graph:
        stats.add_graph(graph.as_graph_def(add_shapes=True))
    if run_meta and run_meta.HasField("step_stats"):
        stats.add_run_metadata(0, run_meta)
    stats.add_op_log(op_log)
    return stats


def _advise(stats, options):
    wanted = AdvisorOptionsProto()
    for checker, settings in (options or {}).items():
        for key, value in settings.items():
            wanted.checkers[checker].options[key] = value
        wanted.checkers[checker].SetInParent()
    return advice.advise(stats, wanted.checkers)


def _profile(stats, command, options):
    """The message of a view, after it was written where the options say."""
    options = Options(options)
    empty = (GraphNodeProto if command in ("scope", "graph") else MultiGraphNodeProto)()
    if options.step >= 0 and options.step not in stats.steps:
        sys.stderr.write(f"Options -step={options.step} not found.\nAvailable steps: "
                         f"{' '.join(map(str, sorted(stats.steps)))}\n")
        return empty
    if command == "code" and not stats.has_code:
        sys.stderr.write("No code trace information\n")
        return empty
    if options.output == "timeline" and command == "graph" and options.step < 0:
        for step in sorted(stats.steps):
            _profile(stats, command, {**options.given, "step": step})
        return empty
    if not _is_possible(command, options):
        return empty
    view = _VIEWS[command](stats)
    if command == "code" and view.unaccounted:
        sys.stderr.write(f"{view.unaccounted} gradient nodes not accounted\n")
    root = view.show(options)
    _write(command, root, options)
    return to_message(root)


def _is_possible(command, options):
    """Whether a view has the output that is asked for; says so if not."""
    reason = None
    if options.output == "timeline" and command == "op":
        reason = "op view doesn't support timeline yet. Consider graph/scope/code view."
    elif options.output == "pprof" and command != "code":
        reason = "Only 'code' view supports pprof output now."
    elif options.output == "pprof" and len(options.select) != 1:
        reason = "Can only select 1 attribute for pprof output."
    elif options.output == "pprof" and not options.select <= set(COLUMNS):
        reason = f"pprof doesn't support -select={next(iter(options.select))}"
    if reason:
        sys.stderr.write(reason + "\n")
    return reason is None


def _write(command, root, options):
    if options.output == "timeline":
        trace = (traces.graph_timeline(root, options.step) if command == "graph" else traces.nested_timeline(root))
        traces.write_timeline(trace, options.outfile, options.step)
    elif options.output == "pprof":
        column, = options.select
        traces.write_pprof(traces.pprof_profile(root, column, options.step), options.outfile)
    elif options.output != "none":
        table = report.types(root, options) if command == "op" else report.tree(command, root, options)
        table = report.documentation(command, options) + table
        if options.output == "file":
            gfile.write_atomically(options.outfile, table)
        else:
            print(f"\n{' Options ':=^65}\n{options.as_table()}\n{' Model Analysis Report ':=^65}\n{table}\n"
                  f"{' End of Report ':=^65}", flush=True)
