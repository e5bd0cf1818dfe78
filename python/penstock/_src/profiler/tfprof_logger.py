"""The op log: what a program knows of its nodes beyond the GraphDef, and tf.profiler.write_op_log."""
import os
import sys

from penstock._src.graph import context
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.files import gfile
from penstock.proto import OpLogEntry, OpLogProto

TRAINABLE_VARIABLES = "_trainable_variables"
REGISTERED_FLOP_STATS = "flops"


def default_graph(graph):
    """`graph`, or the default graph unless eager; None without either."""
    return graph or (None if context.executing_eagerly() else ops.get_default_graph())


def _complete_shapes(graph, run_meta):
    """Gives tensors of unknown shape those that they had in a step."""
    for device in run_meta.step_stats.dev_stats:
        for node in device.node_stats:
            try:
                op = graph.get_operation_by_name(node.node_name)
            except (KeyError, ValueError):
                continue  # of the runtime's own
            if len(node.output) != len(op.outputs):
                continue  # of a conditional's outputs only one is there
            for tensor, seen in zip(op.outputs, node.output):
                if tensor.shape.is_fully_defined():
                    continue
                shape = tensor_shape.TensorShape([d.size for d in seen.tensor_description.shape.dim])
                try:
                    tensor.set_shape(tensor.shape.merge_with(shape))
                except ValueError as e:
                    sys.stderr.write(f"Node {node.node_name} incompatible shapes: {e}.\n")


class _Strings:
    """Numbers for strings; 0 for none."""

    def __init__(self):
        self.ids = {"none": 0}

    def __call__(self, text):
        return self.ids.setdefault(text, len(self.ids)) if text else 0


def _float_ops(graph, node):
    """Of a NodeDef, or None if its shapes are not known."""
    try:
        return int(ops.get_stats_for_node_def(graph, node, REGISTERED_FLOP_STATS).value or 0)
    except ValueError:
        return None


def _get_logged_ops(graph, run_meta=None, add_trace=True, add_trainable_var=True):
    """(name -> OpLogEntry, string -> number) of a graph."""
    if run_meta:
        _complete_shapes(graph, run_meta)
    strings, entries, unknown = _Strings(), {}, 0
    for op in graph.get_operations():
        float_ops = _float_ops(graph, op.node_def)
        unknown += float_ops is None
        if not float_ops and not add_trace:
            continue
        entry = entries[op.name] = OpLogEntry(name=op.name, float_ops=float_ops or 0)
        for file, line, function, text, first in op.traceback_with_start_lines if add_trace else ():
            entry.code_def.traces.add(file_id=strings(file), lineno=line or -1, function_id=strings(function),
                                      line_id=strings(text), func_start_line=first or -1)
    if add_trainable_var:
        for variable in graph.get_collection(ops.GraphKeys.TRAINABLE_VARIABLES):
            name = variable.op.name
            entries.setdefault(name, OpLogEntry(name=name)).types.append(TRAINABLE_VARIABLES)
    if unknown and not run_meta:
        sys.stderr.write(f"{unknown} ops no flops stats due to incomplete shapes.\n")
    return entries, strings.ids


def merge_default_with_oplog(graph, op_log=None, run_meta=None, add_trace=True, add_trainable_var=True):
    """An OpLogProto of what the graph's own nodes say, added to `op_log`, whose entries count more.

    run_meta: a RunMetadata that completes unknown shapes. add_trace: whether to add where nodes were made.
    """
    merged = OpLogProto()
    graph = default_graph(graph)
    if not graph:
        return merged
    entries, ids = _get_logged_ops(graph, run_meta, add_trace, add_trainable_var)
    given = {entry.name: entry for entry in op_log.log_entries} if op_log else {}
    for name, entry in entries.items():
        known = given.setdefault(name, entry)
        if known is entry:
            continue
        known.types.extend(entry.types)
        if entry.float_ops > 0 and known.float_ops == 0:
            known.float_ops = entry.float_ops
        if entry.code_def.traces and not known.code_def.traces:
            known.code_def.MergeFrom(entry.code_def)
    merged.log_entries.extend(given.values())
    for text, number in ids.items():
        merged.id_to_string[number] = text
    return merged


def write_op_log(graph, log_dir, op_log=None, run_meta=None, add_trace=True):
    """Writes an OpLogProto to the file `tfprof_log` in a directory: `op_log` with flops, trainable variables and, with
    `add_trace`, where each node was made. `run_meta` completes shapes."""
    op_log = merge_default_with_oplog(graph, op_log, run_meta, add_trace)
    with gfile.Open(os.path.join(log_dir, "tfprof_log"), "wb") as log:
        log.write(op_log.SerializeToString())
