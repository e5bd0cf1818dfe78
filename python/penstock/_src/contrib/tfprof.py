"""tf.contrib.tfprof.model_analyzer: the profiler's functions under their old names, and options as dicts."""
from penstock._src.profiler import tfprof_logger as tfprof_logger
from penstock._src.profiler.model_analyzer import ALL_ADVICE as ALL_ADVICE
from penstock._src.profiler.model_analyzer import Profiler as Profiler
from penstock._src.profiler.model_analyzer import advise as _advise
from penstock._src.profiler.model_analyzer import profile as _profile
from penstock._src.profiler.profile_context import ProfileContext as ProfileContext


def _options(**changes):
    options = {
        "max_depth": 10000, "min_bytes": 0, "min_micros": 0, "min_params": 0, "min_float_ops": 0, "order_by": "name",
        "account_type_regexes": [".*"], "start_name_regexes": [".*"], "trim_name_regexes": [],
        "show_name_regexes": [".*"], "hide_name_regexes": [], "account_displayed_op_only": True, "select": [],
        "output": "stdout", "dump_to_file": "",
    }
    return {**options, **changes}


TRAINABLE_VARS_PARAMS_STAT_OPTIONS = _options(account_type_regexes=["_trainable_variables"], select=["params"])
FLOAT_OPS_OPTIONS = _options(min_float_ops=1, order_by="float_ops", select=["float_ops"])
PRINT_ALL_TIMING_MEMORY = _options(min_bytes=1, min_micros=1, select=["micros", "bytes"])


def advise(graph, run_meta=None, tfprof_options=0):
    """`tf.profiler.advise` with its options under their old name."""
    return _advise(graph, run_meta, tfprof_options)


def print_model_analysis(graph, run_meta=None, op_log=None, tfprof_cmd="scope", tfprof_options=0):
    """`tf.profiler.profile` with its arguments under their old names."""
    return _profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options)
