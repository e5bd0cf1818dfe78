"""The native module: the interface of the C++ runtime for Python. Everything above it is Python.

Ids: a node is an int, stable for the life of its graph, in order of creation from 0; a tensor is the pair (node,
output). Data types are TensorFlow's DataType enum numbers (references are +100). Shapes are None (unknown rank) or
lists with -1 for unknown dimensions. Errors are raised as `penstock.errors` classes, found by the code given to
`set_error_classes`."""

from typing import Any, Callable, Iterable, Optional, Sequence, Union

TensorId = tuple[int, int]
ShapeLike = Optional[list[int]]
# An attribute as a Python value, by the attribute's type in the op's definition:
#   int, float, bool, bytes/str (string), int (type), ShapeLike (shape), Tensor (tensor),
#   (function name, {attribute: value with explicit kind, see Func}) (func), and lists of these
AttrValue = Any

def version() -> str: ...
def set_error_classes(classes: dict[int, type]) -> None:
    """classes[code](node_def: bytes | None, op: None, message: str, node_name: str): made when the runtime fails."""

def count_branches(on: bool) -> None:
    """Switches the counting of branches (base/branches.h) on or off; it is off at first."""

def reset_branches() -> None:
    """Sets all counts to zero."""

def branch_counts() -> dict[str, dict[str, int]]:
    """How often each branch of each table was entered: {table: {branch: count}}. A table is listed once one of its
    branches was entered while counting was on."""

class Tensor:
    """A value held by the runtime (host memory), immutable. dtype: int; shape: list[int]."""

    dtype: int
    shape: list[int]
    def numpy(self) -> Any:
        """A NumPy array (a copy unless nobody else holds the buffer); strings as objects (bytes)."""
    def proto(self) -> bytes:
        """A serialized TensorProto."""

def tensor_from_numpy(value: Any, dtype: int) -> Tensor:
    """Copies an array (C order); object, S and U arrays become strings. The array's dtype must fit `dtype`."""

def tensor_from_proto(proto: bytes) -> Tensor: ...
def register_numpy_dtype(enum: int, dtype: Any) -> None:
    """The NumPy type of a data type that the runtime does not know as one of NumPy's own."""


class ArgDef:
    name: str
    type: int  # 0 unless fixed
    type_attr: str  # "T" or ""
    number_attr: str  # "N" or ""
    type_list_attr: str
    is_ref: bool

class AttrDef:
    name: str
    type: str  # "int", "list(type)", ...
    has_default: bool
    default: AttrValue
    allowed: Optional[list[Any]]  # types (ints) or strings (bytes)
    has_minimum: bool
    minimum: int

class OpDef:
    name: str
    inputs: list[ArgDef]
    outputs: list[ArgDef]
    attrs: list[AttrDef]
    control_outputs: list[str]
    newer_attrs: list[str]  # that version 1.15 does not know
    is_stateful: bool
    is_commutative: bool
    is_elementwise: bool
    broadcasts: bool  # elementwise, of several inputs that are stretched to one shape
    has_kernel: bool  # False: known by name only (imported graphs); running it raises
    has_gradient: bool
    doc: str
    deprecation: Optional[tuple[int, str]]  # (version, explanation)
    def proto(self) -> bytes: ...

def op_def(name: str) -> Optional[OpDef]: ...
def capture_stack(depth: int) -> tuple[Any, ...]:
    """The frames above `depth` callers, innermost first, as a flat tuple of code objects and instruction offsets."""
def op_names() -> list[str]:
    """All ops that the runtime implements."""

class Func:
    """A function-valued attribute."""
    def __init__(self, name: str, attrs: dict[str, bytes] = {}) -> None:
        """attrs: serialized AttrValue protos."""
    name: str

class Graph:
    """Nodes, edges, functions. Methods that add to it validate against the op's definition and infer shapes at once."""
    def __init__(self) -> None: ...
    version: int  # grows with each change
    num_nodes: int
    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """Case-insensitively unique, `name_1` style."""
    def add_node(
        self,
        op: str,
        name: str,
        inputs: Sequence[Union[TensorId, list[TensorId]]],
        control_inputs: Sequence[int] = (),
        attrs: dict[str, AttrValue] = {},
        device: str = "",
        colocate: Sequence[str] = (),
    ) -> int:
        """`name` must be new (taken from unique_name). Inputs in the order of the definition; one list per `N * T` or
        list(type) argument, or flat. Type and number attributes follow from the inputs; defaults are filled in.
        attrs starting with "_" may be anything: bool, int, float, str, bytes, list of bytes, Func, or AttrProto.
        Raises InvalidArgumentError, NotFoundError (no such op)."""
    def node_by_name(self, name: str) -> int:
        """-1 if there is none."""
    def nodes_from(self, first: int) -> tuple[list[str], list[str], list[tuple[int, ...]]]:
        """(names, ops, output types) of all nodes from this id on."""
    def colocated_from(self, first: int) -> list[int]:
        """Of all nodes from this id on, those that are colocated with others."""
    def follow_colocation(self, nodes: list[int]) -> list[int]:
        """Gives nodes the device of the first of their colocation groups that has one, or none. Returns those that have
        one now."""
    def name(self, node: int) -> str: ...
    def op(self, node: int) -> str: ...
    def device(self, node: int) -> str: ...
    def set_device(self, node: int, device: str) -> None: ...
    def colocation_groups(self, node: int) -> list[bytes]:
        """loc:@NAME of each, from `_class`."""
    def inputs(self, node: int) -> list[TensorId]: ...
    def control_inputs(self, node: int) -> list[int]: ...
    def control_outputs(self, node: int) -> list[int]: ...
    def consumers(self, node: int, output: int) -> list[int]: ...
    def num_outputs(self, node: int) -> int: ...
    def output_dtypes(self, node: int) -> list[int]: ...
    def shape(self, node: int, output: int) -> ShapeLike: ...
    def set_shape(self, node: int, output: int, shape: ShapeLike) -> None:
        """Merges; InvalidArgumentError if incompatible."""
    def handle_data(self, node: int, output: int) -> Optional[list[tuple[int, ShapeLike]]]:
        """Shapes and types of the values of resources and variants."""
    def set_handle_data(self, node: int, output: int, data: list[tuple[int, ShapeLike]]) -> None: ...
    def attr(self, node: int, name: str) -> AttrValue:
        """KeyError if absent."""
    def has_attr(self, node: int, name: str) -> bool: ...
    def attr_proto(self, node: int, name: str) -> bytes:
        """A serialized AttrValue."""
    def set_attr_proto(self, node: int, name: str, value: bytes) -> None: ...
    def clear_attr(self, node: int, name: str) -> None: ...
    def node_def(self, node: int) -> bytes: ...
    def op_def(self, node: int) -> bytes: ...
    def add_control_input(self, node: int, control: int) -> None: ...
    def remove_control_inputs(self, node: int) -> None: ...
    def update_input(self, node: int, index: int, tensor: TensorId) -> None: ...
    def constant_value(self, node: int, output: int) -> Optional[Tensor]:
        """The value if it is known when built (seen through shape arithmetic)."""
    def constant_value_as_shape(self, node: int, output: int) -> ShapeLike:
        """Partially known value of a 1-D tensor that is a shape."""
    def graph_def(self, from_node: int = 0, add_shapes: bool = False) -> bytes: ...
    def import_graph_def(
        self,
        graph_def: bytes,
        prefix: str,
        input_map: dict[str, TensorId],
        control_input_map: dict[str, int],
        return_tensors: Sequence[str],
        return_ops: Sequence[str],
        device_function: Optional[Callable[[bytes], str]] = None,
        uniquify_prefix: bool = True,
        validate_colocation: bool = True,
        control_inputs: Sequence[int] = (),
    ) -> tuple[list[int], list[TensorId], list[int], list[str]]:
        """(positions of nodes that lack attributes with defaults, returned tensors, returned nodes, keys of input_map
        that were not used)."""
    def versions(self) -> tuple[int, int, list[int]]:
        """(producer, min_consumer, bad_consumers)"""
    def set_versions(self, producer: int, min_consumer: int) -> None: ...
    # functions
    def function_names(self) -> list[str]: ...
    def has_function(self, name: str) -> bool: ...
    def function_def(self, name: str) -> bytes: ...
    def add_function(self, function_def: bytes, gradient: str = "") -> None:
        """Same name again must be the same function."""
    def remove_function(self, name: str) -> None: ...
    def use_functions_of(self, other: Graph) -> None:
        """Takes another graph's library, as it is now."""
    def instantiate(self, name: str) -> tuple[Graph, list[int], list[int], list[int]]:
        """A function's body: (graph, _Arg nodes, _Retval nodes, nodes that run with every call)."""
    def function_shapes(self, name: str, shapes: Sequence[ShapeLike],
                        values: Sequence[Optional[Tensor]] = ()) -> list[ShapeLike]:
        """The shapes of a function's results for arguments of these shapes and, where they are known, values; nothing
        of a function with loops."""
    def to_function(
        self,
        name: str,
        nodes: Optional[Sequence[int]],
        inputs: Sequence[TensorId],
        outputs: Sequence[TensorId],
        output_names: Sequence[str] = (),
        control_outputs: Sequence[int] = (),
        attrs: dict[str, bytes] = {},
        description: str = "",
        append_hash: bool = False,
    ) -> bytes:
        """A FunctionDef made of this graph (or of `nodes`); `inputs` become its arguments."""
    # differentiation
    def gradients(
        self,
        ys: Sequence[TensorId],
        xs: Sequence[TensorId],
        grad_ys: Sequence[Any],
        *,
        stop_gradients: Sequence[TensorId] = (),
        name_scope: str = "gradients/",
        zero_unconnected: bool = False,
        colocate: bool = False,
        gate: int = 0,
        aggregation: int = 0,
        python_gradient: Optional[Callable[[int, list, Any], Optional[list]]] = None,
        python_ops: Sequence[str] = (),
        override_map: dict[str, str] = {},
        visits: Optional[list[tuple[int, int]]] = None,
        inside: int = -1,
        loops_without_gradient: Iterable[str] = (),
    ) -> list[Any]:
        """Adds the derivative of sum(ys) with respect to each x. A gradient is None, a TensorId, or (values, indices,
        dense_shape or None) for IndexedSlices. Nodes whose op type (or `_gradient_op_type`) is in `python_ops` are
        differentiated by python_gradient(node, output gradients, loop) -> input gradients; in the gradient of a loop,
        `loop` is (node after which nodes without inputs run, function that brings a tensor there), else None. For
        each node that is differentiated `visits` gets (number of the next node, node). `inside`: a node of the branch
        or loop in which the caller builds. Loops of the frames `loops_without_gradient` let no gradient through.
        LookupError: an op on the way has no gradient."""

class DeviceInfo:
    name: str
    device_type: str
    memory_limit: int
    incarnation: int

class Server:
    """One task of a cluster, which serves until the process ends."""
    def __init__(self, server_def: bytes) -> None:
        """server_def: a serialized ServerDef."""
    @property
    def target(self) -> str: ...

class Session:
    """Runs parts of one graph. All methods may be called from many threads; the GIL is released while running."""
    def __init__(self, graph: Graph, target: str = "", config: bytes = b"") -> None:
        """target: "" for its own devices, or "grpc://host:port" of a server; config: a serialized ConfigProto."""
    def run(
        self,
        feeds: Sequence[tuple[TensorId, Any]],
        fetches: Sequence[TensorId],
        targets: Sequence[int],
        options: Optional[bytes] = None,
        metadata: bool = False,
    ) -> tuple[list[Any], Optional[bytes]]:
        """(fetched NumPy values, serialized RunMetadata). A feed is a NumPy array of the tensor's dtype or a Tensor."""
    def callable(
        self,
        feeds: Sequence[TensorId],
        fetches: Sequence[TensorId],
        targets: Sequence[int],
        options: Optional[bytes] = None,
        connections: Sequence[tuple[TensorId, TensorId]] = (),
    ) -> Callable[..., list[Any]]:
        """A compiled step: call it with one value per feed (arrays of the right dtype, or anything that becomes one
        without change of values); a list of NumPy values comes back. Its method `with_metadata` gives that and a
        serialized RunMetadata. Of each connection (a, b), readers of b read a."""
    def partial_run_setup(
        self, feeds: Sequence[TensorId], fetches: Sequence[TensorId], targets: Sequence[int]
    ) -> str: ...
    def partial_run(
        self, handle: str, feeds: Sequence[tuple[TensorId, Any]], fetches: Sequence[TensorId]
    ) -> list[Any]: ...
    def list_devices(self) -> list[DeviceInfo]: ...
    def close(self) -> None: ...
    @staticmethod
    def reset(target: str, containers: Sequence[str], servers: Sequence[Server] = ()) -> None: ...

def list_local_devices(config: bytes = b"") -> list[DeviceInfo]: ...
def set_py_function(call: Callable[[bytes, str, list[Any]], list[Any]]) -> None:
    """call(token, device, NumPy inputs) -> NumPy outputs: how PyFunc kernels reach Python."""

def import_known_ops() -> list[str]:
    """Ops of TensorFlow that are recognised by name in imported graphs."""

# Eager execution
class EagerTensorBase:
    """The base class of EagerTensor. Made by the functions below only."""

    _dtype: Any  # the DType
    _type_enum: int
    _eager_id: int  # identifies it for tapes
    _dims: tuple[int, ...]
    def _num_elements(self) -> int: ...

def set_eager_tensor_class(cls: type, dtypes: dict[int, Any]) -> None:
    """The class of all eager tensors, and the DType of each number."""

def cache_statistics() -> dict[str, dict[str, int]]:
    """Of each cache of compiled things: size, capacity, hits, misses, evictions. Sessions' are added up."""

def eager_execute(
    op: str, inputs: Sequence[EagerTensorBase], attrs: dict[str, AttrValue], record: bool = True, device: int = 0
) -> list[Any]:
    """Runs an op at once. With `record` false no tape sees it. An op on a resource runs where that is."""

def eager_set_device_count(count: int) -> bool:
    """Divides the host into devices; False if there are more already."""

def eager_set_threads(inter_op: int, intra_op: int) -> None:
    """The threads that ops and functions use from now on; 0: the environment or the number of cores decides."""

def eager_set_soft_placement(soft: bool) -> None:
    """Whether functions compiled from now on run on another device where there is none of those they name."""

def eager_find_device(name: str) -> int:
    """The number of the device that a name describes, or -1."""

class CancellationManager:
    is_cancelled: bool
    def cancel(self) -> None: ...

class EagerFunction:
    """A function of eager_graph()'s library, compiled when it is first called."""
    def __init__(self, name: str) -> None: ...
    def __call__(
        self, inputs: Sequence[EagerTensorBase], cancellation: Optional[CancellationManager] = None
    ) -> list[Any]: ...

class Traces:
    """A tf.function's traces by the kinds of plain arguments. Called with a tuple of arguments it
    returns the result of the trace's function (`build` makes it of the list of results), or NotImplemented."""
    def add(
        self, args: tuple, function: EagerFunction, captured: Sequence[EagerTensorBase], build: Optional[Callable]
    ) -> bool: ...
    def clear(self) -> None: ...
    def __call__(self, args: tuple) -> Any: ...

class FastOp:
    """A callable: an op with one result that runs at once if all inputs are eager values or plain numbers, and
    otherwise calls its fallback; without one it gives NotImplemented."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

def fast_op(
    op: str,
    fallback: Optional[Callable],
    attrs: dict[str, AttrValue] = {},
    *,
    reflected: bool = False,
    floating: bool = False,
    rank: int = -1,
) -> FastOp: ...
def executes_eagerly() -> bool:
    """Whether the thread executes eagerly with no scopes open that ops depend on."""

def eager_from_python(value: Any, dtype: int) -> Any:
    """A number or a list of numbers; None if it needs another conversion. dtype 0: the default type of the numbers."""

def eager_watch_thread(stack: list) -> None:
    """The thread's stack of default graphs; it must live as long as the thread."""

def eager_thread_scopes(count: int) -> None:
    """How many scopes that ops depend on are open in the thread."""

def eager_set_variable_class(cls: type) -> None:
    """Objects whose `value()` ops read."""

def eager_set_mode(eager: bool) -> None:
    """Whether a thread without default graph executes eagerly."""

def set_version_two(on: bool) -> None:
    """Whether kernels give version 2's answers where the versions differ (base/behavior.h)."""

def eager_set_classes(graph_class: type, gradients: dict[str, Callable]) -> None: ...
def eager_remove_function(name: str) -> None:
    """Removes a function and its compiled form."""

def eager_from_core(tensor: Tensor) -> Any: ...
def eager_from_numpy(value: Any, dtype: int) -> Any: ...
def eager_to_core(value: EagerTensorBase) -> Tensor: ...
def eager_numpy(value: EagerTensorBase) -> Any:
    """As Session.run gives values; a copy."""

def eager_alias(value: EagerTensorBase, device: int = 0) -> Any:
    """The same value with a different identity."""

def eager_to_dlpack(value: EagerTensorBase) -> Any:
    """A capsule that shares the memory."""

def eager_from_dlpack(capsule: Any) -> Any:
    """Of a capsule, or of an object that gives one; shares memory where it is aligned."""

def eager_handle_texts(value: EagerTensorBase) -> list[str]: ...
def eager_handle_data(value: EagerTensorBase) -> Optional[list[tuple[int, ShapeLike]]]: ...

def log_placement(on: bool) -> None:
    """Says on standard error which op runs where, in the whole process."""

def check_numerics(on: bool) -> None:
    """Refuses results of ops that are not finite, in the whole process."""

def process_trace_start() -> None:
    """From now on whatever the process runs is recorded: steps, functions, eager ops."""

def process_trace_stop() -> bytes:
    """Ends it: a serialized RunMetadata of the ops that ran."""

def eager_clear_caches() -> None:
    """Forgets all kernels, and with them the state of random ops."""

def eager_graph() -> Graph:
    """The graph whose library holds the functions that ops may call."""

def eager_device_name(value: EagerTensorBase) -> str: ...
def tape_is_active() -> bool:
    """Whether a tape records on this thread."""

def tape_wants(inputs: Sequence[EagerTensorBase]) -> bool:
    """Whether an active tape watches one of these."""

def tape_record(
    inputs: Sequence[EagerTensorBase], outputs: Sequence[EagerTensorBase], backward: Callable[[list], Sequence]
) -> None:
    """Tells the active tapes that `backward` takes the outputs' gradients (None, a tensor, or (values, indices,
    dense_shape or None)) to those of the inputs."""

class TapeList: ...

def tape_stop() -> TapeList:
    """Takes all tapes of this thread away; tape_resume puts them back."""

def tape_resume(tapes: TapeList) -> None: ...

class Tape:
    def __init__(self) -> None: ...
    def push(self) -> None:
        """From now on it records on this thread."""
    def pop(self) -> None: ...
    def watch(self, value: EagerTensorBase) -> None: ...
    def gradient(
        self, targets: Sequence[EagerTensorBase], sources: Sequence[EagerTensorBase], flowing: Sequence[Any]
    ) -> list[Any]:
        """LookupError: an op on the way has no gradient."""
    def recorded(self) -> list[tuple[Optional[bytes], list[EagerTensorBase], list[EagerTensorBase]]]:
        """The recorded calls: (NodeDef, or None for a function, inputs, outputs)."""

class DebugEvents:
    """The files of tfdbg's second format in a directory; files are numbered: metadata, source_files, stack_frames,
    graphs, execution, graph_execution_traces."""
    def __init__(self, directory: str, run_id: str, kept: int) -> None: ...
    def write(self, file: int, event: bytes) -> None: ...
    def flush_non_execution(self) -> None: ...
    def flush_execution(self) -> None: ...
    def close(self) -> None: ...

class EventWriter:
    """Writes an event file from a separate thread: PREFIX.out.tfevents.SECONDS.HOST with the suffix."""
    def __init__(self, prefix: str, suffix: str = "") -> None: ...
    def open(self) -> None:
        """Makes the file at once; otherwise the first event does."""
    def write(self, event: bytes) -> None:
        """A serialized Event."""
    def flush(self) -> None:
        """Returns when all is in the file."""
    def close(self) -> None:
        """The same; later events go to a new file."""
    def path(self) -> str:
        """Empty before the file is there."""

# Files, on the file system that the path's scheme names. Errors are those of penstock._src.graph.errors.
def file_stat(path: str) -> Optional[tuple[int, int, bool]]:
    """(bytes, nanoseconds, whether it is a directory), if any."""
def file_list(directory: str) -> list[tuple[str, bool]]: """Names, and whether each is a directory."""
def file_rename(source: str, target: str) -> None: """Replaces an existing target."""
def file_copy(source: str, target: str) -> None: """Replaces an existing target."""
def file_remove(path: str) -> None: ...
def make_directory(path: str) -> None: ...
def make_directories(path: str) -> None: ...
def remove_tree(path: str) -> None: ...
def matching_paths(pattern: str) -> list[str]: ...
def set_file_system_factory(factory: Callable[[str], Any]) -> None:
    """`factory` gives the file system of a scheme (files/remote_files.py), or None."""

class InputFile:
    def __init__(self, path: str) -> None: ...
    def size(self) -> int: ...
    def read(self, offset: int, n: int) -> bytes: ...

class OutputFile:
    """Mode "x": appears whole when it is committed; "w": begins empty; "a": goes on at the end."""
    def __init__(self, path: str, mode: str) -> None: ...
    def append(self, content: bytes) -> None: ...
    def size(self) -> int: """The number of appended bytes."""
    def flush(self) -> None: ...
    def commit(self) -> None: """Ends it."""

class CheckpointReader:
    """A checkpoint of version 2 (its prefix) or 1 (a pattern of files)."""
    def __init__(self, prefix: str) -> None: ...
    def version(self) -> int: ...
    def names(self) -> list[bytes]: ...
    def has(self, name: bytes) -> bool: ...
    def dtype(self, name: bytes) -> int: ...
    def shape(self, name: bytes) -> ShapeLike: ...
    def read(self, name: bytes) -> Any:
        """As Session.run gives values."""

class RecordReader:
    def __init__(self, path: str) -> None: ...
    def next(self) -> Optional[bytes]:
        """None at the end, where one may ask again later."""
    def offset(self) -> int:
        """Of the next record."""

class RecordStream:
    """The records of a TFRecord file; compression is "", "ZLIB" or "GZIP"."""
    def __init__(self, path: str, compression: str) -> None: ...
    def next(self) -> Optional[bytes]:
        """None at the end."""

class RecordFile:
    """Writes a TFRecord file."""
    def __init__(self, path: str, compression: str, level: int) -> None: ...
    def write(self, record: bytes | bytearray | str) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...
