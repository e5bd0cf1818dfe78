"""The files of a debugged run (io/debug_dump.h), read."""
import collections
import json
import os

import numpy as np

from penstock.framework import tensor_util
from penstock.platform import gfile
from penstock.proto import event_pb2
from penstock.proto import graph_pb2
from penstock.proto import types_pb2
from penstock.util import compat

# Beginnings of names.
METADATA_FILE_PREFIX, DEVICE_TAG, CORE_METADATA_TAG, GRAPH_FILE_TAG = "_tfdbg_", "device_", "core_metadata_", "graph_"
FETCHES_INFO_FILE_TAG, FEED_KEYS_INFO_FILE_TAG = "fetches_info_", "feed_keys_info_"
_DEVICE, _GRAPH, _CORE = "_tfdbg_device_", "_tfdbg_graph_", "_tfdbg_core_metadata_"


class InconvertibleTensorProto:
    """A value that is no array: of a variable that holds nothing, or of a resource."""

    def __init__(self, tensor_proto, initialized=True):
        self._proto, self._initialized = tensor_proto, initialized

    def __str__(self):
        return "" if self._initialized else "Uninitialized tensor:\n%s" % self._proto

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
    if proto.dtype == types_pb2.DT_INVALID:
        return InconvertibleTensorProto(proto, initialized=False)
    if proto.dtype in (types_pb2.DT_RESOURCE, types_pb2.DT_VARIANT):
        return InconvertibleTensorProto(proto)
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


def device_name_to_device_path(device_name):
    """The folder of a device's dumps."""
    return _DEVICE + device_name.replace(":", "_").replace("/", ",")


def device_path_to_device_name(device_dir):
    """The device whose dumps a folder holds; "" if it is no such folder."""
    parts = os.path.basename(device_dir)[len(_DEVICE):].split(",")
    return "/".join(":".join(part.rsplit("_", 2) if part.startswith("device_") else part.rsplit("_", 1))
                    for part in parts)


class DebugTensorDatum:
    """One dumped value."""

    def __init__(self, dump_root, debug_dump_rel_path):
        device, _, rest = debug_dump_rel_path.partition(os.sep)
        if not device.startswith(_DEVICE):
            device, rest = "", debug_dump_rel_path
        parts = rest.rsplit("_", 3)
        if len(parts) != 4 or not parts[1].isdigit() or not parts[3].isdigit():
            raise ValueError("Dump file path does not conform to the naming pattern: %s" %
                             os.path.basename(debug_dump_rel_path))
        name, slot, debug_op, timestamp = parts
        self._path = os.path.join(dump_root, debug_dump_rel_path)
        self._device, self._node, self._slot = device_path_to_device_name(device), name, int(slot)
        self._op, self._timestamp = debug_op, int(timestamp)
        self._size = gfile.Stat(self._path).length if gfile.Exists(self._path) else None

    def __str__(self):
        return "{DebugTensorDatum (%s) %s:%d @ %s @ %d}" % (self.device_name, self.node_name, self.output_slot,
                                                            self.debug_op, self.timestamp)

    __repr__ = __str__

    def get_tensor(self):
        """The value."""
        return load_tensor_from_event_file(self._path)

    timestamp = property(lambda self: self._timestamp, doc="Microseconds since 1970.")
    debug_op = property(lambda self: self._op, doc="The debug op.")
    device_name = property(lambda self: self._device, doc="The device that it was on.")
    node_name = property(lambda self: self._node, doc="The node that gave it.")
    output_slot = property(lambda self: self._slot, doc="Which output of the node.")
    tensor_name = property(lambda self: "%s:%d" % (self._node, self._slot), doc="node:output")
    watch_key = property(lambda self: "%s:%s" % (self.tensor_name, self._op), doc="node:output:debug op")
    file_path = property(lambda self: self._path, doc="Where it stands.")
    dump_size_bytes = property(lambda self: self._size, doc="Bytes of the file.")


class WatchKeyDoesNotExistInDebugDumpDirError(ValueError):
    """Nothing was dumped under that name."""


_Metadata = collections.namedtuple("CoreMetadata", ["global_step", "session_run_index", "executor_step_index",
                                                    "input_names", "output_names", "target_nodes"])


class DebugDumpDir:
    """All that a debugged run dumped into a directory."""

    def __init__(self, dump_root, partition_graphs=None, validate=True):
        if not gfile.IsDirectory(dump_root):
            raise IOError("Dump root directory %s does not exist" % dump_root)
        self._root = dump_root
        self._data, self._graphs, self._metadata = collections.OrderedDict(), {}, []
        self._python_graph = None
        self._run_info = {FETCHES_INFO_FILE_TAG: [], FEED_KEYS_INFO_FILE_TAG: []}
        for name in sorted(gfile.ListDirectory(dump_root)):
            if name.startswith(_CORE):
                message = _event(os.path.join(dump_root, name)).log_message.message
                self._metadata.append(_Metadata(**json.loads(message)))
            elif name.startswith(_DEVICE):
                self._load_device(name)
            for tag, texts in self._run_info.items():
                if name.startswith(METADATA_FILE_PREFIX + tag):
                    texts.append(_event(os.path.join(dump_root, name)).log_message.message)
        if partition_graphs:
            self._graphs = {_device_of(graph) or device: graph
                            for graph, device in zip(partition_graphs, self._data or [""])}
        self._nodes = {device: {node.name: node for node in graph.node if not _is_debugging(node)}
                       for device, graph in self._graphs.items()}
        if validate:
            self._validate()
        every = [datum.timestamp for data in self._data.values() for datum in data]
        self._t0 = min(every) if every else None

    def _load_device(self, folder):
        root = os.path.join(self._root, folder)
        data = []
        for place, _, files in gfile.Walk(root):
            for name in files:
                if name.startswith(_GRAPH):
                    graph = graph_pb2.GraphDef.FromString(_event(os.path.join(place, name)).graph_def)
                    self._graphs[device_path_to_device_name(folder)] = graph
                elif not name.startswith(METADATA_FILE_PREFIX):
                    relative = os.path.relpath(os.path.join(place, name), self._root)
                    data.append(DebugTensorDatum(self._root, relative))
        # Outputs of one node, dumped in one microsecond, stand in the order of their numbers.
        data.sort(key=lambda datum: (datum.timestamp, datum.node_name, datum.output_slot))
        self._data[device_path_to_device_name(folder)] = data

    def _validate(self):
        for device, nodes in self._nodes.items():
            for datum in self._data.get(device, ()):
                if datum.node_name not in nodes:
                    raise ValueError("Node name '%s' is not found in partition graphs of device %s." %
                                     (datum.node_name, device))

    @property
    def core_metadata(self):
        """What is known of the run (of several: a list); names of its feeds, fetches and targets among it."""
        if not self._metadata:
            return None
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
        return sorted((datum for data in self._data.values() for datum in data),
                      key=lambda datum: (datum.timestamp, datum.node_name, datum.output_slot))

    t0 = property(lambda self: self._t0, doc="The time of the first value in microseconds since 1970.")
    size = property(lambda self: sum(map(len, self._data.values())), doc="The number of values.")

    def set_python_graph(self, python_graph):
        """The graph that was run, for tracebacks."""
        self._python_graph = python_graph

    python_graph = property(lambda self: self._python_graph, doc="The graph that was run, if it was set.")

    def devices(self):
        """Names of devices."""
        return list(self._data)

    def partition_graphs(self):
        """Each device's graph, with the debugger's nodes."""
        if not self._graphs:
            raise LookupError("No partition graphs have been loaded.")
        return list(self._graphs.values())

    def reconstructed_non_debug_partition_graphs(self):
        """{device: its graph without the debugger's nodes}."""
        return {device: graph_pb2.GraphDef(node=list(nodes.values())) for device, nodes in self._nodes.items()}

    def _node(self, node_name, device_name=None):
        if not self._nodes:
            raise LookupError("No partition graphs have been loaded.")
        name = node_name.split(":")[0]
        found = [nodes[name] for device, nodes in self._nodes.items()
                 if name in nodes and device_name in (None, device)]
        if not found:
            raise ValueError("Node '%s' does not exist in partition graphs%s." %
                             (name, " of device " + device_name if device_name else ""))
        return found[0]

    def nodes(self, device_name=None):
        """Names of all nodes."""
        if not self._nodes:
            raise LookupError("No partition graphs have been loaded.")
        if device_name is not None and device_name not in self._nodes:
            raise ValueError("Invalid device name: %s" % device_name)
        return [name for device, nodes in self._nodes.items() if device_name in (None, device) for name in nodes]

    def node_exists(self, node_name, device_name=None):
        """Whether there is a node of that name."""
        return node_name in self.nodes(device_name)

    def node_device(self, node_name):
        """The device (or devices) of a node."""
        devices = [device for device, nodes in self._nodes.items() if node_name.split(":")[0] in nodes]
        if not devices:
            raise ValueError("Node '%s' does not exist in partition graphs." % node_name)
        return devices[0] if len(devices) == 1 else devices

    def node_op_type(self, node_name, device_name=None):
        """The op of a node."""
        return self._node(node_name, device_name).op

    def node_attributes(self, node_name, device_name=None):
        """The attributes of a node."""
        return self._node(node_name, device_name).attr

    def node_inputs(self, node_name, is_control=False, device_name=None):
        """Tensors (or nodes) that a node reads (or waits for)."""
        inputs = self._node(node_name, device_name).input
        if is_control:
            return [i[1:] for i in inputs if i.startswith("^")]
        return [i[:-2] if i.endswith(":0") else i for i in inputs if not i.startswith("^")]

    def node_recipients(self, node_name, is_control=False, device_name=None):
        """Nodes that read (or wait for) a node."""
        name = self._node(node_name, device_name).name
        return [other for other in self.nodes(device_name)
                if name in [i.split(":")[0] for i in self.node_inputs(other, is_control)]]

    def transitive_inputs(self, node_name, include_control=True, include_reversed_ref=False, device_name=None):
        """All nodes that a node depends on."""
        del include_reversed_ref
        seen, waiting = [], [self._node(node_name, device_name).name]
        while waiting:
            name = waiting.pop()
            inputs = self.node_inputs(name) + (self.node_inputs(name, True) if include_control else [])
            for source in (i.split(":")[0] for i in inputs):
                if source not in seen and self.node_exists(source):
                    seen.append(source)
                    waiting.append(source)
        return seen

    def debug_watch_keys(self, node_name, device_name=None):
        """Keys under which a node's values were dumped."""
        return sorted({datum.watch_key for datum in self.dumped_tensor_data
                       if datum.node_name == node_name and device_name in (None, datum.device_name)})

    def watch_key_to_data(self, debug_watch_key, device_name=None):
        """The values dumped under a key, by time."""
        return [datum for datum in self.dumped_tensor_data
                if datum.watch_key == debug_watch_key and device_name in (None, datum.device_name)]

    def find(self, predicate, first_n=0, device_name=None, exclude_node_names=None):
        """The values for which predicate(datum, value) holds, the first `first_n` (0: all), by time."""
        import re
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
        key = "%s:%d:%s" % (node_name, output_slot, debug_op)
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
        """The Python lines that made a node."""
        if self._python_graph is None:
            raise LookupError("Python graph is not available for traceback lookup")
        name = compat.as_str(element_name).split(":")[0]
        return self._python_graph.get_operation_by_name(name).traceback


def _is_debugging(node):
    return node.name.startswith("__copy_") or node.name.startswith("__dbg_")


def _device_of(graph):
    return next((node.device for node in graph.node if node.device), None)
