"""The files of a debugged run (io/debug_dump.h), read."""
import collections
import json
import os
import re

import numpy as np

from penstock._src.debug.lib import debug_graphs
from penstock._src.graph import tensor_util
from penstock._src.files import gfile
from penstock.proto import event_pb2
from penstock.proto import graph_pb2
from penstock.proto import types_pb2
from penstock._src.base import compat

# Beginnings of names.
METADATA_FILE_PREFIX, DEVICE_TAG, CORE_METADATA_TAG, GRAPH_FILE_TAG = "_tfdbg_", "device_", "core_metadata_", "graph_"
HASH_TAG, FETCHES_INFO_FILE_TAG, FEED_KEYS_INFO_FILE_TAG = "hash", "fetches_info_", "feed_keys_info_"
_DEVICE, _GRAPH, _CORE = "_tfdbg_device_", "_tfdbg_graph_", "_tfdbg_core_metadata_"


class InconvertibleTensorProto:
    """A value that is no array: of a variable that holds nothing, or of a resource."""

    def __init__(self, tensor_proto, initialized=True):
        self._proto, self._initialized = tensor_proto, initialized

    def __str__(self):
        return ("" if self._initialized else "Uninitialized tensor:\n") + str(self._proto)

    @property
    def initialized(self):
        """Whether there is a value."""
        return self._initialized


def _event(path):
    with gfile.GFile(path, "rb") as f:
        return event_pb2.Event.FromString(f.read())


def load_tensor_from_event(event):
    """The value in an Event: an array, or InconvertibleTensorProto."""
    proto = event.summary.value[0].tensor
    elements = np.prod([dim.size for dim in proto.tensor_shape.dim], dtype=np.int64)
    empty = elements and not any(field.name not in ("dtype", "tensor_shape", "version_number")
                                 for field, _ in proto.ListFields())
    if empty or proto.dtype in (types_pb2.DT_INVALID, types_pb2.DT_RESOURCE, types_pb2.DT_VARIANT):
        return InconvertibleTensorProto(proto, initialized=not empty)
    return tensor_util.MakeNdarray(proto)


def load_tensor_from_event_file(event_file_path):
    """The value that a file holds."""
    return load_tensor_from_event(_event(event_file_path))


def has_inf_or_nan(datum, tensor):
    """A filter: whether a value holds an infinity or NaN. Values that are no floating numbers do not."""
    del datum
    if isinstance(tensor, InconvertibleTensorProto) or not isinstance(tensor, (np.ndarray, np.generic)):
        return False
    if not (np.issubdtype(tensor.dtype, np.floating) or np.issubdtype(tensor.dtype, np.complexfloating)
            or tensor.dtype.kind == "V" and tensor.dtype.names is None
            or tensor.dtype.name.startswith(("bfloat", "float8"))):
        return False
    return bool(np.any(np.isnan(tensor)) or np.any(np.isinf(tensor)))


def extract_core_metadata_from_event_proto(event):
    """What an Event says of a run: steps, names of feeds, fetches and targets."""
    return _Metadata(**json.loads(event.log_message.message))


def device_name_to_device_path(device_name):
    """The folder of a device's dumps."""
    return _DEVICE + compat.as_text(device_name).replace(":", "_").replace("/", ",")


def device_path_to_device_name(device_dir):
    """The device whose dumps a folder holds."""
    parts = os.path.basename(device_dir)[len(_DEVICE):].split(",")
    return "/".join(part.replace("device_", "device:").replace("_", ":", 1) for part in parts)


class DebugTensorDatum:
    """One dumped value. ValueError if its path is not DEVICE/NODE_OUTPUT_OP_TIME."""

    def __init__(self, dump_root, debug_dump_rel_path):
        device, _, rest = os.path.normpath(debug_dump_rel_path).partition(os.sep)
        parts = (rest or device).rsplit("_", 3)
        if len(parts) != 4:
            raise ValueError("Dump file path does not conform to the naming pattern: %s" %
                             os.path.basename(debug_dump_rel_path))
        self._node, slot, self._op, self._extended_timestamp = parts
        self._device, self._slot = device_path_to_device_name(device), int(slot)
        # A dash and a number tell dumps of one microsecond apart.
        self._timestamp, self._number = map(int, (self._extended_timestamp.split("-") + ["0"])[:2])
        self._path = os.path.join(dump_root, debug_dump_rel_path)
        self._size = gfile.Stat(self._path).length if gfile.Exists(self._path) else None

    def __str__(self):
        return "{DebugTensorDatum (%s) %s:%d @ %s @ %d}" % (self.device_name, self.node_name, self.output_slot,
                                                            self.debug_op, self.timestamp)

    __repr__ = __str__

    def get_tensor(self):
        """The value."""
        return load_tensor_from_event_file(self._path)

    timestamp = property(lambda self: self._timestamp, doc="Microseconds since 1970.")
    extended_timestamp = property(lambda self: self._extended_timestamp,
                                  doc="The time as text, with a number behind it where several would be the same.")
    debug_op = property(lambda self: self._op, doc="The debug op.")
    device_name = property(lambda self: self._device, doc="The device that it was on.")
    node_name = property(lambda self: self._node, doc="The node that gave it.")
    output_slot = property(lambda self: self._slot, doc="Which output of the node.")
    tensor_name = property(lambda self: "%s:%d" % (self._node, self._slot), doc="node:output")
    watch_key = property(lambda self: "%s:%s" % (self.tensor_name, self._op), doc="node:output:debug op")
    file_path = property(lambda self: self._path, doc="Where it stands.")
    dump_size_bytes = property(lambda self: self._size, doc="Bytes of the file.")


def _order(datum):
    """Outputs of one node, dumped in one microsecond, stand in the order of their numbers."""
    return datum.timestamp, datum._number, datum.node_name, datum.output_slot


class WatchKeyDoesNotExistInDebugDumpDirError(ValueError):
    """Nothing was dumped under that name."""


_Metadata = collections.namedtuple("CoreMetadata", ["global_step", "session_run_index", "executor_step_index",
                                                    "input_names", "output_names", "target_nodes"])


class DebugDumpDir:
    """All that a debugged run dumped into a directory.

    partition_graphs: the devices' graphs, where the directory has none. validate: ValueError if what was dumped is not
    in the graphs, or came before what it was computed of. IOError if there is no such directory.
    """

    def __init__(self, dump_root, partition_graphs=None, validate=True):
        if not gfile.IsDirectory(dump_root):
            raise IOError("Dump root directory %s does not exist" % dump_root)
        self._root = dump_root
        self._data, self._graphs, self._metadata = {}, {}, []
        self._python_graph = None
        self._run_info = {FETCHES_INFO_FILE_TAG: [], FEED_KEYS_INFO_FILE_TAG: []}
        for name in sorted(gfile.ListDirectory(dump_root)):
            if name.startswith(_CORE):
                self._metadata.append(extract_core_metadata_from_event_proto(_event(os.path.join(dump_root, name))))
            elif name.startswith(_DEVICE):
                self._load_device(name, partition_graphs or ())
            for tag, texts in self._run_info.items():
                if name.startswith(METADATA_FILE_PREFIX + tag):
                    texts.append(_event(os.path.join(dump_root, name)).log_message.message)
        self._watches = {}  # by device and node: what was dumped, in order
        for device, data in self._data.items():
            for datum in data:
                self._watches.setdefault(device, {}).setdefault(datum.node_name, []).append(datum)
        if validate:
            for device in self._graphs:
                self._validate(device)
        every = [datum.timestamp for data in self._data.values() for datum in data]
        self._t0 = min(every) if every else None

    def _load_device(self, folder, partition_graphs):
        root, device = os.path.join(self._root, folder), device_path_to_device_name(folder)
        data, graph = [], None
        for place, _, files in gfile.Walk(root):
            for name in files:
                if name.startswith(_GRAPH):
                    graph = graph_pb2.GraphDef.FromString(_event(os.path.join(place, name)).graph_def)
                elif not name.startswith(METADATA_FILE_PREFIX):
                    relative = os.path.relpath(os.path.join(place, name), self._root)
                    data.append(DebugTensorDatum(self._root, relative))
        self._data[device] = sorted(data, key=_order)
        if graph is None:
            graph = next((g for g in partition_graphs if any(node.device == device for node in g.node)), None)
        if graph is not None:
            self._graphs[device] = debug_graphs.DebugGraph(graph, device_name=device)

    def _validate(self, device):
        graph, watches = self._graphs[device], self._watches.get(device, {})
        data = self._data[device]
        for datum in data:
            if datum.node_name not in graph.node_inputs:
                raise ValueError("Node name '%s' is not found in partition graphs of device %s." %
                                 (datum.node_name, device))
        dumped = {(datum.node_name, datum.output_slot) for datum in data}
        pending = {}  # by node: what was dumped of its inputs, until that has come
        for node, inputs in graph.node_inputs.items():
            if node in watches:
                pending[node] = {(debug_graphs.get_node_name(i), debug_graphs.get_output_slot(i)) for i in inputs
                                 if graph.node_op_types.get(i) not in ("Enter", "NextIteration")} & dumped
        by_time = collections.defaultdict(set)
        for datum in data:
            by_time[datum.timestamp].add((datum.node_name, datum.output_slot))
        for datum in data:
            missing = pending[datum.node_name] - by_time[datum.timestamp]
            if missing:
                raise ValueError("Causality violated in timing relations of debug dumps: %s (%d): these input(s) are "
                                 "not satisfied: %r" % (datum.node_name, datum.timestamp, sorted(missing)))
            came = (datum.node_name, datum.output_slot)
            for reader in graph.node_recipients[datum.node_name]:
                if came in pending.get(reader, ()):
                    pending[reader] = set() if graph.node_op_types[reader] == "Merge" else pending[reader] - {came}

    @property
    def core_metadata(self):
        """What is known of the run (of several, or none: a list); names of its feeds, fetches and targets among it."""
        return self._metadata[0] if len(self._metadata) == 1 else self._metadata

    @property
    def run_fetches_info(self):
        """`repr` of what the run was asked for; of several runs, or if nobody noted it, a list."""
        texts = self._run_info[FETCHES_INFO_FILE_TAG]
        return texts[0] if len(texts) == 1 else texts

    @property
    def run_feed_keys_info(self):
        """`repr` of the keys of what the run was fed; of several runs, or if nobody noted it, a list."""
        texts = self._run_info[FEED_KEYS_INFO_FILE_TAG]
        return texts[0] if len(texts) == 1 else texts

    @property
    def dumped_tensor_data(self):
        """All values, by time."""
        if len(self._data) == 1:
            return next(iter(self._data.values()))
        return sorted((datum for data in self._data.values() for datum in data), key=_order)

    t0 = property(lambda self: self._t0, doc="The time of the first value in microseconds since 1970.")
    size = property(lambda self: sum(map(len, self._data.values())), doc="The number of values.")

    def set_python_graph(self, python_graph):
        """The graph that was run, for tracebacks."""
        self._python_graph = python_graph

    python_graph = property(lambda self: self._python_graph, doc="The graph that was run, if it was set.")

    def devices(self):
        """Names of devices."""
        return list(self._data)

    def loaded_partition_graphs(self):
        """Whether there are graphs."""
        return bool(self._graphs)

    def _require_graphs(self, what="No partition graphs have been loaded."):
        if not self._graphs:
            raise LookupError(what)

    def partition_graphs(self):
        """Each device's graph, with the debugger's nodes."""
        self._require_graphs()
        return [graph.debug_graph_def for graph in self._graphs.values()]

    def reconstructed_non_debug_partition_graphs(self):
        """{device: its graph without the debugger's nodes}."""
        self._require_graphs()
        return {device: graph.non_debug_graph_def for device, graph in self._graphs.items()}

    def _device_of(self, node_name, device_name=None):
        """The device that is named, or the only one that has the node. ValueError if there is not one."""
        if device_name is not None:
            return device_name
        devices = [device for device, graph in self._graphs.items() if node_name in graph.node_op_types]
        if not devices:
            raise ValueError("None of the %d device(s) has a node named '%s'." % (len(self._data), node_name))
        if len(devices) > 1:
            raise ValueError("There are multiple (%d) devices with nodes named '%s' but device_name is not specified." %
                             (len(devices), node_name))
        return devices[0]

    def _graph_of(self, node_name, device_name, what):
        self._require_graphs(what + " are not loaded from partition graphs yet.")
        return self._graphs[self._device_of(node_name, device_name)]

    def nodes(self, device_name=None):
        """Names of all nodes. ValueError for an unknown device."""
        self._require_graphs()
        if device_name is not None and device_name not in self._graphs:
            raise ValueError("Invalid device name: %s" % device_name)
        return [name for device, graph in self._graphs.items() if device_name in (None, device)
                for name in graph.node_inputs]

    def node_exists(self, node_name, device_name=None):
        """Whether there is a node of that name. ValueError for an unknown device."""
        self._require_graphs("Nodes have not been loaded from partition graphs yet.")
        if device_name is not None and device_name not in self._graphs:
            raise ValueError("The specified device_name '%s' cannot be found." % device_name)
        return any(node_name in graph.node_inputs for device, graph in self._graphs.items()
                   if device_name in (None, device))

    def node_device(self, node_name):
        """The device (or devices) of a node."""
        self._require_graphs("Node devices are not loaded from partition graphs yet.")
        devices = set().union(*[graph.node_devices.get(node_name, ()) for graph in self._graphs.values()])
        if not devices:
            raise ValueError("Node '%s' does not exist in partition graphs." % node_name)
        return devices.pop() if len(devices) == 1 else list(devices)

    def node_op_type(self, node_name, device_name=None):
        """The op of a node."""
        return self._graph_of(node_name, device_name, "Node op types").node_op_types[node_name]

    def node_attributes(self, node_name, device_name=None):
        """The attributes of a node."""
        self._require_graphs()
        return self._graphs[self._device_of(node_name, device_name)].node_attributes[node_name]

    def node_inputs(self, node_name, is_control=False, device_name=None):
        """Tensors (or nodes) that a node reads (or waits for)."""
        graph = self._graph_of(node_name, device_name, "Node inputs")
        return (graph.node_ctrl_inputs if is_control else graph.node_inputs)[node_name]

    def node_recipients(self, node_name, is_control=False, device_name=None):
        """Nodes that read (or wait for) a node."""
        graph = self._graph_of(node_name, device_name, "Node recipients")
        return (graph.node_ctrl_recipients if is_control else graph.node_recipients)[node_name]

    def _tracer(self, graph, include_control, include_reversed_ref, destination=None):
        lists = [graph.node_inputs]
        if include_control:
            lists.append(graph.node_ctrl_inputs)
        if include_reversed_ref:
            lists.append(graph.node_reversed_ref_inputs)
        merges = [node for node, op in graph.node_op_types.items() if op == "Merge"]
        return debug_graphs.DFSGraphTracer(lists, skip_node_names=merges, destination_node_name=destination)

    def transitive_inputs(self, node_name, include_control=True, include_reversed_ref=False, device_name=None):
        """All that a node depends on, but for what is behind a Merge; depth first."""
        graph = self._graph_of(node_name, device_name, "Node inputs")
        tracer = self._tracer(graph, include_control, include_reversed_ref)
        tracer.trace(node_name)
        return tracer.inputs()

    def find_some_path(self, src_node_name, dst_node_name, include_control=True, include_reversed_ref=False,
                       device_name=None):
        """The names from one node to another that depends on it, both included; None if it does not.

        ValueError if they are on different devices.
        """
        devices = [self._device_of(name, device_name) for name in (src_node_name, dst_node_name)]
        if devices[0] != devices[1]:
            raise ValueError("Source (%s) and destination (%s) are not on the same device: %s vs. %s" %
                             (src_node_name, dst_node_name, *devices))
        tracer = self._tracer(self._graphs[devices[0]], include_control, include_reversed_ref, src_node_name)
        try:
            tracer.trace(dst_node_name)
            return None
        except debug_graphs.GraphTracingReachedDestination:
            path, depths = [], [0] + tracer.depth_list()
            for name, depth in zip(reversed([dst_node_name] + tracer.inputs()), reversed(depths)):
                if depth == depths[-1] - len(path):
                    path.append(name)
            return path

    def debug_watch_keys(self, node_name, device_name=None):
        """Keys under which a node's values were dumped; none for an unknown node."""
        try:
            device = self._device_of(node_name, device_name)
        except ValueError:
            return []
        return list(dict.fromkeys(datum.watch_key for datum in self._watches.get(device, {}).get(node_name, ())))

    def watch_key_to_data(self, debug_watch_key, device_name=None):
        """The values dumped under a key, by time. ValueError if several devices have some and none is named."""
        if device_name is not None and device_name not in self._data:
            raise ValueError("There is no device named '%s' consisting of debug watch keys." % device_name)
        node = debug_watch_key.split(":")[0]
        found = [[datum for datum in watches.get(node, ()) if datum.watch_key == debug_watch_key]
                 for device, watches in self._watches.items() if device_name in (None, device)]
        found = [data for data in found if data]
        if len(found) > 1:
            raise ValueError("The debug watch key '%s' exists on multiple (%d) devices, but device name is not "
                             "specified." % (debug_watch_key, len(found)))
        return found[0] if found else []

    def find(self, predicate, first_n=0, device_name=None, exclude_node_names=None):
        """The values for which predicate(datum, value) holds, the first `first_n` (0: all), by time."""
        excluded = re.compile(exclude_node_names) if exclude_node_names else None
        found = []
        for datum in self.dumped_tensor_data:
            if device_name not in (None, datum.device_name) or (excluded and excluded.match(datum.node_name)):
                continue
            if predicate(datum, datum.get_tensor()):
                found.append(datum)
                if first_n > 0 and len(found) >= first_n:
                    break
        return found

    def _of_key(self, node_name, output_slot, debug_op, device_name):
        """The values of an output, by time; WatchKeyDoesNotExistInDebugDumpDirError without any."""
        key = "%s:%d:%s" % (node_name, output_slot, debug_op)
        data = []
        if device_name is None or device_name in self._data:
            data = self.watch_key_to_data(key, device_name)
        if not data:
            raise WatchKeyDoesNotExistInDebugDumpDirError(
                'Watch key "%s" does not exist in the debug dump of device %s' % (key, device_name))
        return data

    def get_tensors(self, node_name, output_slot, debug_op, device_name=None):
        """The values of an output, by time."""
        return [datum.get_tensor() for datum in self._of_key(node_name, output_slot, debug_op, device_name)]

    def get_tensor_file_paths(self, node_name, output_slot, debug_op, device_name=None):
        """The files of an output's values."""
        return [datum.file_path for datum in self._of_key(node_name, output_slot, debug_op, device_name)]

    def get_rel_timestamps(self, node_name, output_slot, debug_op, device_name=None):
        """When an output's values were dumped, in microseconds after the first value of the run."""
        return [datum.timestamp - self._t0 for datum in self._of_key(node_name, output_slot, debug_op, device_name)]

    def get_dump_sizes_bytes(self, node_name, output_slot, debug_op, device_name=None):
        """Bytes of the files of an output's values."""
        return [datum.dump_size_bytes for datum in self._of_key(node_name, output_slot, debug_op, device_name)]

    def node_traceback(self, element_name):
        """The Python lines that made a node. LookupError without the Python graph, KeyError for other nodes."""
        if self._python_graph is None:
            raise LookupError("Python graph is not available for traceback lookup")
        name = debug_graphs.get_node_name(compat.as_str(element_name))
        try:
            return self._python_graph.get_operation_by_name(name).traceback
        except (KeyError, ValueError):
            raise KeyError('Cannot find node "%s" in Python graph' % name) from None
