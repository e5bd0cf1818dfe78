"""tf.profiler.ProfileOptionBuilder: what to count, which nodes to show, where to write."""
import copy

from penstock._src.profiler import tfprof_logger

_EVERYTHING = {
    "max_depth": 10000,
    "min_bytes": 0,
    "min_micros": 0,
    "min_params": 0,
    "min_float_ops": 0,
    "min_occurrence": 0,
    "order_by": "name",
    "account_type_regexes": [".*"],
    "start_name_regexes": [".*"],
    "trim_name_regexes": [],
    "show_name_regexes": [".*"],
    "hide_name_regexes": [],
    "account_displayed_op_only": True,
    "select": ["micros"],
    "step": -1,
    "output": "stdout",
}


def _options(**changed):
    return {**copy.deepcopy(_EVERYTHING), **changed}


class ProfileOptionBuilder:
    """Makes a dict of options, each method setting some of them:

        builder = tf.profiler.ProfileOptionBuilder
        opts = builder(builder.time_and_memory()).with_max_depth(3).order_by("micros").build()
    """

    def __init__(self, options=None):
        """options: a dict to begin with; by default time of all nodes by name, to a depth of 100."""
        self._options = (_options(max_depth=100, account_displayed_op_only=False) if options is None
                         else copy.deepcopy(options))

    @staticmethod
    def trainable_variables_parameter():
        """Options that count the parameters of trainable variables, for the "scope" view."""
        return _options(account_type_regexes=[tfprof_logger.TRAINABLE_VARIABLES], select=["params"])

    @staticmethod
    def float_operation():
        """Options that count floating-point operations."""
        return _options(min_float_ops=1, order_by="float_ops", select=["float_ops"])

    @staticmethod
    def time_and_memory(min_micros=1, min_bytes=1, min_accelerator_micros=0, min_cpu_micros=0, min_peak_bytes=0,
                        min_residual_bytes=0, min_output_bytes=0):
        """Options that show time and memory of nodes which took at least so much of each."""
        return _options(min_micros=min_micros, min_bytes=min_bytes, min_accelerator_micros=min_accelerator_micros,
                        min_cpu_micros=min_cpu_micros, min_peak_bytes=min_peak_bytes,
                        min_residual_bytes=min_residual_bytes, min_output_bytes=min_output_bytes,
                        order_by="micros", select=["micros", "bytes"])

    def _set(self, **options):
        self._options.update(copy.copy(options))
        return self

    def build(self):
        """The options as a dict."""
        return copy.deepcopy(self._options)

    def with_max_depth(self, max_depth):
        """How many levels of a tree, or nodes of a list, are shown."""
        return self._set(max_depth=max_depth)

    def with_min_memory(self, min_bytes=0, min_peak_bytes=0, min_residual_bytes=0, min_output_bytes=0):
        """Shows only nodes that asked for, held at once, kept, or gave out at least so many bytes."""
        return self._set(min_bytes=min_bytes, min_peak_bytes=min_peak_bytes, min_residual_bytes=min_residual_bytes,
                         min_output_bytes=min_output_bytes)

    def with_min_execution_time(self, min_micros=0, min_accelerator_micros=0, min_cpu_micros=0):
        """Shows only nodes that took at least so many microseconds."""
        return self._set(min_micros=min_micros, min_accelerator_micros=min_accelerator_micros,
                         min_cpu_micros=min_cpu_micros)

    def with_min_parameters(self, min_params):
        """Shows only nodes of at least so many parameters."""
        return self._set(min_params=min_params)

    def with_min_occurrence(self, min_occurrence):
        """Shows only types or lines with at least so many nodes."""
        return self._set(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops):
        """Shows only nodes of at least so many floating-point operations."""
        return self._set(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes):
        """Counts only nodes one of whose types matches: op type, device, or a type of the op log."""
        return self._set(account_type_regexes=copy.copy(account_type_regexes))

    def with_node_names(self, start_name_regexes=None, show_name_regexes=None, hide_name_regexes=None,
                        trim_name_regexes=None):
        """Which nodes, by name: where to begin, what to show, what to hide, where to go no deeper."""
        names = {"start_name_regexes": start_name_regexes, "show_name_regexes": show_name_regexes,
                 "hide_name_regexes": hide_name_regexes, "trim_name_regexes": trim_name_regexes}
        return self._set(**{key: copy.copy(regexes) for key, regexes in names.items() if regexes is not None})

    def account_displayed_op_only(self, is_true):
        """Whether totals leave out what is not shown."""
        return self._set(account_displayed_op_only=is_true)

    def with_empty_output(self):
        """Writes nothing."""
        return self._set(output="none")

    def with_stdout_output(self):
        """Prints the table."""
        return self._set(output="stdout")

    def with_file_output(self, outfile):
        """Writes the table to a file."""
        return self._set(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file):
        """Writes a trace for chrome://tracing; the step's number is added to the file's name."""
        return self._set(output=f"timeline:outfile={timeline_file}")

    def with_pprof_output(self, pprof_file):
        """Writes a compressed profile for the program pprof; the "code" view has it."""
        return self._set(output=f"pprof:outfile={pprof_file}")

    def order_by(self, attribute):
        """What to sort by: "name", "bytes", "peak_bytes", "residual_bytes", "output_bytes", "micros",
        "accelerator_micros", "cpu_micros", "params", "float_ops", "occurrence"."""
        return self._set(order_by=attribute)

    def select(self, attributes):
        """Which columns: what `order_by` takes but names, and "device", "op_types", "input_shapes"."""
        return self._set(select=copy.copy(attributes))

    def with_step(self, step):
        """Which step of Profiler.add_step; -1 for the mean of all."""
        return self._set(step=step)
