"""tf.debugging.experimental.enable_dump_debug_info: what runs and what is built, for TensorBoard's Debugger V2."""
import atexit
import os
import re
import socket
import sys
import threading
import uuid
import weakref

from penstock import proto
from penstock._src.debug.lib import debug_events_writer
from penstock._src.debug.lib import op_callbacks_common
from penstock._src.debug.lib import source_utils
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.function import function_definition
from penstock._src.graph import gen
from penstock._src.graph import op_callbacks
from penstock._src.graph import tensor_util
from penstock._src.control_flow import control_flow_util_v2
from penstock._src.base import tf_logging as logging

DEFAULT_TENSOR_DEBUG_MODE = "NO_TENSOR"
_MODES = ("UNSPECIFIED", "NO_TENSOR", "CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "SHAPE", "FULL_NUMERICS",
          "FULL_TENSOR", "REDUCE_INF_NAN_THREE_SLOTS")
_SKIPPED = frozenset(op_type.decode() for op_type in op_callbacks_common.OP_CALLBACK_SKIP_OPS)
_HEALTH = ("CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH")
_DEEPER = frozenset(("Switch", "RefSwitch", "_SwitchN", "Enter", "RefEnter"))
_HIGHER = frozenset(("Merge", "RefMerge", "Exit", "RefExit"))

_OWN_FILES = (__file__, op_callbacks.__file__)

_state = threading.local()
_branching = weakref.WeakSet()  # graphs with branches or loops that are no functions


def _message(kind, **fields):
    return proto.message("tensorflow." + kind)(**fields)


def _new_id():
    return str(uuid.uuid4())


class _CodeLocations:
    """Lines of programs as the messages name them; what is new of files and frames is written down."""

    def __init__(self, writer):
        self._writer = writer
        self._host = socket.gethostname()
        self._files = {}
        self._frames = {}
        self._known = {}  # code and instruction -> id of the frame

    def here(self):
        """A CodeLocation of the caller's stack without what leads from the op to here."""
        frame, ids = sys._getframe(1), []
        while frame is not None:
            code = frame.f_code
            if code.co_filename not in _OWN_FILES and not code.co_filename.startswith("<op "):
                key = code, frame.f_lasti
                if key not in self._known:
                    self._known[key] = self._frame(os.path.abspath(code.co_filename), frame.f_lineno, code.co_name)
                ids.append(self._known[key])
            frame = frame.f_back
        return _message("CodeLocation", host_name=self._host, stack_frame_ids=reversed(ids))

    def _frame(self, path, line, function):
        key = path, line, function
        if key not in self._frames:
            self._frames[key] = _new_id()
            place = proto.message("tensorflow.GraphDebugInfo.FileLineCol")(
                file_index=self._file(path), line=line, func=function)
            self._writer.WriteStackFrameWithId(_message("StackFrameWithId", id=self._frames[key], file_line_col=place))
        return self._frames[key]

    def _file(self, path):
        if path not in self._files:
            self._files[path] = len(self._files)
            lines = None
            if source_utils.is_extension_uncompiled_python_source(path):
                try:
                    lines, _ = source_utils.load_source(path)
                except (OSError, UnicodeDecodeError) as e:
                    logging.warn("Failed to read source code from path: %s. Reason: %s", path, e)
            self._writer.WriteSourceFile(_message("SourceFile", file_path=path, host_name=self._host, lines=lines))
        return self._files[path]


class _DumpingCallback:
    """Writes down each op that the thread runs or adds to a graph, and lets graphs trace their values."""

    def __init__(self, dump_root, tensor_debug_mode, circular_buffer_size, op_regex, tensor_dtypes):
        self.tfdbg_run_id = _new_id()[:8]
        self.tensor_debug_mode = tensor_debug_mode
        self.circular_buffer_size = circular_buffer_size
        self._mode = _MODES.index(tensor_debug_mode)
        self._op_regex = op_regex and re.compile(op_regex)
        self._tensor_dtypes = tensor_dtypes
        self._last_tensor = 0
        self._begin(dump_root)

    def _begin(self, dump_root):
        self.dump_root = dump_root
        self.writer = debug_events_writer.DebugEventsWriter(dump_root, self.tfdbg_run_id, self.circular_buffer_size)
        self._locations = _CodeLocations(self.writer)
        self._graphs = weakref.WeakKeyDictionary()  # graph -> its id

    def move(self, dump_root):
        """Writes to another directory from now on."""
        if dump_root != self.dump_root:
            self.writer.Close()
            self._begin(dump_root)

    def callback(self, op_type, inputs, attrs, outputs, op_name=None, graph=None):
        """Sees one op."""
        del attrs
        if graph is not None:
            self._see_created(op_type, inputs, outputs, op_name, graph)
        elif op_type not in _SKIPPED:
            self._see_run(op_type, inputs, outputs)

    # In graphs

    def _graph_id(self, graph):
        """What names a graph, which is written down when it is first asked for."""
        found = self._graphs.get(graph)
        if found is None:
            found = self._graphs[graph] = _new_id()
            outer = getattr(graph, "outer_graph", None)
            self.writer.WriteDebuggedGraph(_message(
                "DebuggedGraph", graph_id=found, graph_name=getattr(graph, "name", None),
                outer_context_id=self._graph_id(outer) if outer is not None else None))
        return found

    def _see_created(self, op_type, inputs, outputs, op_name, graph):
        context = getattr(graph, "_debugged_as", None) or graph
        first = self._last_tensor + 1
        self._last_tensor += len(outputs)
        ids = range(first, self._last_tensor + 1)
        self.writer.WriteGraphOpCreation(_message(
            "GraphOpCreation", op_type=op_type, op_name=op_name, graph_name=getattr(context, "name", None),
            graph_id=self._graph_id(context), input_names=[t.name for t in inputs], num_outputs=len(outputs),
            output_tensor_ids=ids, code_location=self._locations.here()))
        if op_type in _SKIPPED or _is_conditional(graph, op_type, op_name):
            return
        for slot, (tensor, number) in enumerate(zip(outputs, ids)):
            if graph.building_function or not tensor.dtype._is_ref_dtype:
                trace = self._trace(tensor, number, op_type, op_name, slot, self._graph_id(context))
                if trace is None:
                    continue
                # Of itself, no step would run it.
                if not graph.building_function:
                    graph._traces.setdefault(op_name, {})[slot] = trace
                elif _is_part_of_plain_graph(graph):
                    graph.control_outputs.append(trace)

    def _trace(self, tensor, number, op_type, op_name, slot, context):
        """Adds the nodes to a graph that write down what a tensor is in each step; gives the last one."""
        if not self._is_wanted(op_type, tensor.dtype):
            return None
        value = tensor
        if self.tensor_debug_mode == "NO_TENSOR":
            value = constant_op.constant([], dtypes.float32)
        elif self.tensor_debug_mode != "FULL_TENSOR":
            if not self._has_summary(tensor.dtype):
                return None
            value = gen.debug_numeric_summary_v2(tensor, tensor_id=number, tensor_debug_mode=self._mode,
                                                 output_dtype=dtypes.float64)
        written = gen.debug_identity_v2(
            value, tfdbg_context_id=context, op_name=op_name, output_slot=slot, tensor_debug_mode=self._mode,
            debug_urls=["file://" + str(self.dump_root)], circular_buffer_size=self.circular_buffer_size,
            tfdbg_run_id=self.tfdbg_run_id, name=f"DebugIdentityV2_{number}")
        return written.op

    def _is_wanted(self, op_type, dtype):
        if not dtype.is_numpy_compatible or self._op_regex and not self._op_regex.match(op_type):
            return False
        if self._tensor_dtypes is None:
            return True
        return bool(self._tensor_dtypes(dtype)) if callable(self._tensor_dtypes) else dtype in self._tensor_dtypes

    def _has_summary(self, dtype):
        if self.tensor_debug_mode in _HEALTH:
            return dtype.is_floating
        return dtype.is_floating or dtype.is_integer or dtype.is_bool

    # Eagerly

    def _see_run(self, op_type, inputs, outputs):
        definition = function_definition.known(op_type)
        graph_id = None
        if definition is not None:
            graph = definition.debugged_as or definition.body()
            graph_id = self._graphs.get(graph) if graph is not None else None
        execution = _message(
            "Execution", op_type=op_type, num_outputs=len(outputs), graph_id=graph_id,
            input_tensor_ids=[t._id for t in inputs], output_tensor_ids=[t._id for t in outputs],
            output_tensor_device_ids=[self.writer.RegisterDeviceAndGetId(t.device) for t in outputs],
            tensor_debug_mode=self._mode, code_location=self._locations.here())
        if self.tensor_debug_mode != "NO_TENSOR":
            execution.tensor_protos.extend(
                self._value(t) for t in outputs if self._is_wanted(op_type, t.dtype))
        self.writer.WriteExecution(execution)

    def _value(self, tensor):
        """The message of a value, or of what the mode asks about it; an empty one where there is nothing to ask."""
        if self.tensor_debug_mode != "FULL_TENSOR":
            if not self._has_summary(tensor.dtype):
                return _message("TensorProto")
            tensor = gen.debug_numeric_summary_v2(tensor, tensor_debug_mode=self._mode, output_dtype=dtypes.float64)
        return tensor_util.make_tensor_proto(tensor.numpy())


def _is_part_of_plain_graph(graph):
    """Whether a graph is of a branch or a loop outside of functions: there, what nobody reads does not run."""
    while isinstance(graph, control_flow_util_v2.ControlFlowFuncGraph):
        graph = graph.outer_graph
    return not graph.building_function


def _is_conditional(graph, op_type, op_name):
    """Whether an operation is one of a branch or a loop that stands in the graph itself, in functions since it was
    taken apart to be differentiated: what traces it could not be told to run."""
    if op_type in _DEEPER:
        _branching.add(graph)
    if graph not in _branching and not (graph.building_function and
                                        any(op.type in _DEEPER for op in graph.get_operations())):
        return False
    depths = {}
    for op in graph.get_operations():
        around = [depths.get(other, 0) for other in [*(t.op for t in op.inputs), *op.control_inputs]]
        depths[op] = max(around, default=0) + (op.type in _DEEPER) - (op.type in _HIGHER)
    return depths[graph.get_operation_by_name(op_name)] > 0


def enable_dump_debug_info(dump_root, tensor_debug_mode=DEFAULT_TENSOR_DEBUG_MODE, circular_buffer_size=1000,
                           op_regex=None, tensor_dtypes=None):
    """Writes what this thread runs, and what it builds of functions, to a directory for TensorBoard's Debugger V2.

    tensor_debug_mode: what is written of values. "NO_TENSOR": nothing; "CURT_HEALTH": of numbers with fractions
    whether any is infinite or NaN; "CONCISE_HEALTH": how many are; "FULL_HEALTH": also type, rank, size and how many
    are negative, zero and positive; "SHAPE": of all numbers and booleans type, rank, size and shape; "FULL_TENSOR":
    the values.
    circular_buffer_size: how many executions, and how many values in graphs, are kept until they are flushed; all are
    written at once if 0 or less.
    op_regex, tensor_dtypes: of what types of ops, and of what types of values (a list, or a function of a DType),
    values are written.

    Returns the writer, whose `FlushNonExecutionFiles()` and `FlushExecutionFiles()` bring everything into the files.
    What functions do is seen if they are traced from now on, and of graphs outside of functions what is added from
    now on; values of branches and loops there that are no functions, and of reference variables, are not.
    ValueError: an unknown mode, `tensor_dtypes` of another kind, or it is on already with another mode or buffer.
    """
    if tensor_debug_mode not in _MODES:
        raise ValueError(f"Invalid value in tensor_debug_mode ('{tensor_debug_mode}'). Valid options are: "
                         f"{list(_MODES)}")
    if tensor_debug_mode in ("UNSPECIFIED", "FULL_NUMERICS", "REDUCE_INF_NAN_THREE_SLOTS"):
        raise NotImplementedError(f"tfdbg dumping: support for tensor debug mode {tensor_debug_mode} is not "
                                  "implemented yet")
    if tensor_dtypes is not None:
        if isinstance(tensor_dtypes, (list, tuple)):
            tensor_dtypes = [dtypes.as_dtype(dtype) for dtype in tensor_dtypes]
        elif not callable(tensor_dtypes):
            raise ValueError("If specified, tensor_dtypes is expected to be a list, a tuple, or a callable that takes "
                             f"a DType argument and returns a boolean, but received {tensor_dtypes}")
    callback = getattr(_state, "dumping_callback", None)
    if callback is None:
        callback = _state.dumping_callback = _DumpingCallback(
            dump_root, tensor_debug_mode, circular_buffer_size, op_regex, tensor_dtypes)
        op_callbacks.add_op_callback(callback.callback)
        atexit.register(disable_dump_debug_info)
    elif callback.circular_buffer_size != circular_buffer_size:
        raise ValueError(
            "There is already a dumping callback configured with a different circular-buffer size "
            f"({callback.circular_buffer_size}). Therefore the newly request circular-buffer size "
            f"({circular_buffer_size}) will not be honored.")
    elif callback.tensor_debug_mode != tensor_debug_mode:
        raise ValueError(
            f"There is already a dumping callback configured for dump root {callback.dump_root} with a different "
            f"tensor-debug mode ({callback.tensor_debug_mode}). Therefore the newly request tensor-debug mode "
            f"({tensor_debug_mode}) size will not be honored.")
    callback.move(dump_root)
    logging.info("Enabled dumping callback in thread %s (dump root: %s, tensor debug mode: %s)",
                 threading.current_thread().name, callback.dump_root, tensor_debug_mode)
    return callback.writer


def disable_dump_debug_info():
    """Ends it: flushes and closes the files."""
    callback = getattr(_state, "dumping_callback", None)
    if callback is None:
        return
    del _state.dumping_callback
    op_callbacks.remove_op_callback(callback.callback)
    callback.writer.Close()
    logging.info("Disabled dumping callback in thread %s (dump root: %s)", threading.current_thread().name,
                 callback.dump_root)
