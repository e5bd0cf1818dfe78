"""What is known of each node of a graph: from its NodeDef, from the op log, and from the steps in which it ran."""
import math
import re
import sys

from google.protobuf.message import DecodeError

from penstock._src.graph import errors
from penstock._src.files import gfile
from penstock.proto import ExecProfile, ProfileNode, ProfileProto

# What is counted for each node. The names are those of the messages; totals have the prefix "total_".
COUNTERS = ("exec_micros", "accelerator_exec_micros", "cpu_exec_micros", "requested_bytes", "peak_bytes",
            "residual_bytes", "output_bytes", "parameters", "float_ops")
_BYTES = ("requested_bytes", "peak_bytes", "residual_bytes", "output_bytes")
_PLAIN_DEVICE = re.compile(r".*/(device:gpu|gpu|device:cpu|cpu|device:sycl):\d+")
ROOT = "_TFProfRoot"


def on_accelerator(device):
    """Whether a device, in lower case, is not the CPU."""
    return "gpu" in device or "sycl" in device


def _dims(shape):
    """A TensorShapeProto as a list: 1 for a scalar, empty if the rank is unknown."""
    if not shape.dim and not shape.unknown_rank:
        return [1]
    return [d.size for d in shape.dim]


class Step:
    """How a node ran in one step."""

    def __init__(self):
        self.message = ExecProfile()

    def add_times(self, device, stats):
        """Adds the times of a NodeExecStats of `device`."""
        message = self.message
        if device not in message.devices:
            message.devices.append(device)
        start = stats.all_start_micros
        if start <= 0:
            return
        micros = stats.op_end_rel_micros or 1  # what is quicker than the clock took some time
        message.all_start_micros = min(message.all_start_micros or start, start)
        message.latest_end_micros = max(message.latest_end_micros, start + micros)
        if "stream:all" in device:
            message.accelerator_execs[device].times.add(int64_values=[start, micros])
        elif _PLAIN_DEVICE.fullmatch(device):
            message.cpu_execs[device].times.add(int64_values=[start, micros])
            message.run_count += 1  # in a loop a node runs several times

    def add_memory(self, device, stats):
        """Adds the memory of a NodeExecStats."""
        if stats.all_start_micros <= 0:
            return
        memory = self.message.memory_execs.add(memory_micros=stats.all_start_micros + stats.op_end_rel_micros)
        for output in stats.output:
            allocation = output.tensor_description.allocation_description
            size = max(allocation.allocated_bytes, allocation.requested_bytes)
            memory.output_bytes += size
            memory.output_memory[output.slot].bytes = size
            memory.output_memory[output.slot].ptr = allocation.ptr
        temporary = stats.memory_stats.temp_memory_size
        persistent = stats.memory_stats.persistent_memory_size
        if "cpu" in device:
            memory.host_temp_bytes, memory.host_persistent_bytes = temporary, persistent
        else:
            memory.accelerator_temp_bytes, memory.accelerator_persistent_bytes = temporary, persistent
        memory.residual_bytes = persistent + sum(m.live_bytes for m in stats.memory)
        memory.requested_bytes = persistent + temporary + sum(m.total_bytes for m in stats.memory)
        memory.peak_bytes = persistent + temporary + sum(m.peak_bytes for m in stats.memory)
        for allocator in stats.memory:
            if "GPU" in allocator.allocator_name:
                memory.allocator_bytes_in_use = max(memory.allocator_bytes_in_use, allocator.allocator_bytes_in_use)
                self.message.allocations.extend(allocator.allocation_records)

    def times(self, accelerator):
        """device -> [(start, microseconds)] on accelerators, or elsewhere."""
        execs = self.message.accelerator_execs if accelerator else self.message.cpu_execs
        return {device: [tuple(t.int64_values) for t in execs[device].times] for device in execs}

    def count(self, counter):
        """One of COUNTERS, or "run_count"."""
        if counter == "run_count":
            return self.message.run_count
        if counter in _BYTES:
            return sum(getattr(memory, counter) for memory in self.message.memory_execs)
        if counter == "exec_micros":
            return self.count("accelerator_exec_micros") + self.count("cpu_exec_micros")
        execs = self.times(accelerator=counter == "accelerator_exec_micros")
        return sum(micros for runs in execs.values() for _, micros in runs)


class NodeStats:
    """One node. Times and memory are of one step, or (step -1) the mean of all."""

    def __init__(self, name, op, number):
        self.name, self.op, self.number = name, op, number
        self.attrs = {}
        self.shape, self.output_shapes = [], {}
        self.inputs, self.source_index = {}, {}  # place -> name; name -> which of its outputs
        self.types = {op}
        self.float_ops = 0
        self.code = None  # a CodeDef
        self.device = self.host_device = ""
        self.steps = {}

    @classmethod
    def of_node_def(cls, node, number):
        """Of a NodeDef, whose shapes stand in `_output_shapes`."""
        stats = cls(node.name, node.op, number)
        stats.attrs = {name: node.attr[name] for name in node.attr}
        if stats.attrs.get("shape") and stats.attrs["shape"].HasField("shape"):
            stats.shape = _dims(stats.attrs["shape"].shape)
        if "_output_shapes" in stats.attrs:
            stats.output_shapes = {i: _dims(s) for i, s in enumerate(stats.attrs["_output_shapes"].list.shape)}
        for i, text in enumerate(node.input):
            source, _, index = text.partition(":")
            source = source[1:] if source.startswith("^") else source
            stats.inputs[i] = source
            stats.source_index[source] = int(index or 0)
        return stats

    def add_step(self, step, device, stats):
        """Adds a NodeExecStats of a device."""
        device = device.lower()
        if _PLAIN_DEVICE.fullmatch(device):
            if self.device and self.device != device:
                return  # a node of several devices counts where it was seen first
            if not self.device:
                self.device = device
                self.host_device = re.sub(r"device:sycl:\d+|gpu:\d+", "cpu:0", device)
                self.types.add(device)
        run = self.steps.setdefault(step, Step())
        run.add_times(device, stats)
        if device == self.device:
            run.add_memory(device, stats)

    def count(self, counter, step):
        """One of COUNTERS, or "run_count"."""
        if counter == "parameters":
            return self._parameters()
        if counter == "float_ops":
            return self.float_ops * (self.count("run_count", step) if self.steps else 1)
        if not self.steps:
            return 0
        if step >= 0:
            return self.steps[step].count(counter) if step in self.steps else 0
        return sum(run.count(counter) for run in self.steps.values()) // len(self.steps)

    def _parameters(self):
        """How many numbers its shape holds; none if that is unknown."""
        return math.prod(self.shape) if self.shape and min(self.shape) >= 0 else 0

    def runs_in(self, step):
        """Whether it is known when it ran in a step, and where."""
        return step in self.steps and self.steps[step].message.all_start_micros > 0 and bool(self.device)

    def input_shapes(self, nodes):
        """place -> shape, empty where it is unknown."""
        shapes = {}
        for place, source in self.inputs.items():
            known = nodes[source].output_shapes if source in nodes else {}
            shapes[place] = known.get(self.source_index[source], [])
        return dict(sorted(shapes.items()))

    def to_message(self, nodes):
        """As a ProfileNode."""
        node = ProfileNode(name=self.name, op=self.op, id=self.number, shape=self.shape, op_types=sorted(self.types),
                           canonical_device=self.device, host_device=self.host_device, float_ops=self.float_ops)
        if self.code is not None:
            node.trace.CopyFrom(self.code)
        for name, value in self.attrs.items():
            node.attrs[name].CopyFrom(value)
        for step, run in self.steps.items():
            node.execs[step].CopyFrom(run.message)
        for place, source in self.inputs.items():
            if source in nodes:
                node.inputs[place] = nodes[source].number
                node.src_output_index[nodes[source].number] = self.source_index[source]
        for index, shape in self.output_shapes.items():
            node.output_shapes[index].int64_values.extend(shape)
        return node

    @classmethod
    def of_message(cls, node, profile):
        """Of a ProfileNode of a ProfileProto."""
        stats = cls(node.name, node.op, node.id)
        stats.attrs = {name: node.attrs[name] for name in node.attrs}
        stats.shape, stats.types, stats.float_ops = list(node.shape), set(node.op_types), node.float_ops
        stats.output_shapes = {i: list(node.output_shapes[i].int64_values) for i in node.output_shapes}
        stats.device, stats.host_device = node.canonical_device, node.host_device
        stats.code = node.trace if node.HasField("trace") else None
        stats.inputs = {place: profile.nodes[number].name for place, number in node.inputs.items()}
        stats.source_index = {profile.nodes[number].name: i for number, i in node.src_output_index.items()}
        for step in node.execs:
            stats.steps[step] = Step()
            stats.steps[step].message.CopyFrom(node.execs[step])
        return stats


class GraphStats:
    """All nodes of a graph by name, and the steps that were recorded."""

    def __init__(self):
        self.nodes, self.steps = {}, set()
        self.strings = {}  # of the op log's numbers
        self.has_code = False
        self._covered = set()

    @property
    def coverage(self):
        """The part of the nodes that ran in some step."""
        return len(self._covered) / (len(self.nodes) + 1e-10)

    def add_graph(self, graph_def):
        """Adds the nodes of a GraphDef that are new."""
        for node in graph_def.node:
            if node.name not in self.nodes:
                self.nodes[node.name] = NodeStats.of_node_def(node, len(self.nodes))

    def add_run_metadata(self, step, run_metadata):
        """Adds what ran in a step."""
        if not run_metadata.HasField("step_stats"):
            sys.stderr.write(f"Invalid RunMetadata for step {step}\n")
            return
        self.steps.add(step)
        for device in run_metadata.step_stats.dev_stats:
            for stats in device.node_stats:
                name = stats.node_name.partition(":")[0]
                node = self.nodes.get(name)
                if node is not None:
                    self._covered.add(name)
                elif name in ("RecvTensor", "_SOURCE") or "MEMCPY" in name:
                    continue
                else:  # a node of the runtime's own
                    node = self.nodes[name] = NodeStats(name, name, len(self.nodes))
                node.add_step(step, device.device, stats)

    def add_op_log(self, op_log):
        """Adds an OpLogProto."""
        for number, text in op_log.id_to_string.items():
            self.strings.setdefault(number, text)
        for entry in op_log.log_entries:
            node = self.nodes.get(entry.name)
            if node is None:
                continue
            node.types.update(entry.types)
            node.float_ops = entry.float_ops or node.float_ops
            if entry.HasField("code_def"):
                self.has_code = True
                node.code = node.code or entry.code_def

    def code(self, node):
        """[(file, line, function, first line of the function)] of where a node was made, outermost first."""
        traces = node.code.traces if node.code is not None else ()
        return [(t.file or self.strings.get(t.file_id, ""), t.lineno, t.function or self.strings.get(t.function_id, ""),
                 t.func_start_line) for t in traces]

    def to_message(self):
        """As a ProfileProto."""
        profile = ProfileProto(has_trace=self.has_code, steps=sorted(self.steps), id_to_string=self.strings)
        for node in self.nodes.values():
            profile.nodes[node.number].CopyFrom(node.to_message(self.nodes))
        return profile

    @classmethod
    def of_file(cls, filename):
        """Read from a file that Profiler wrote. DataLossError if it is none."""
        profile = ProfileProto()
        with gfile.Open(filename, "rb") as file:
            try:
                profile.ParseFromString(file.read())
            except DecodeError:
                raise errors.DataLossError(None, None, f"{filename} is no profile") from None
        stats = cls()
        for node in profile.nodes.values():
            stats.nodes[node.name] = NodeStats.of_message(node, profile)
        stats.steps, stats.has_code = set(profile.steps), profile.has_trace
        stats.strings = dict(profile.id_to_string)
        return stats
