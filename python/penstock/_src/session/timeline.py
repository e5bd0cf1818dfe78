"""Timeline: the steps of RunMetadata as a trace that Chrome's about:tracing shows."""
import collections
import json
import re

# The most bytes that one allocator had out, when that was, and the names of the tensors.
AllocationMaximum = collections.namedtuple("AllocationMaximum", ["timestamp", "num_bytes", "tensors"])
# A trace, and allocator -> AllocationMaximum.
StepStatsAnalysis = collections.namedtuple("StepStatsAnalysis", ["chrome_trace", "allocator_maximums"])


class ChromeTrace:
    """Events in Chrome's form."""

    def __init__(self):
        self._processes, self._events = [], []

    def process(self, pid, name):
        """Names a process."""
        self._processes.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}})

    def add(self, phase, category, name, pid, tid, timestamp, **more):
        """Adds an event."""
        event = {"ph": phase, "cat": category, "name": name, "pid": pid, "tid": tid, "ts": timestamp}
        self._events.append({**event, **more})

    def format_to_string(self, pretty=False):
        """As JSON text."""
        trace = {"traceEvents": self._processes + self._events}
        return json.dumps(trace, indent=4) if pretty else json.dumps(trace, separators=(",", ":"))


class _Made:
    """A tensor of the step: who made it where and when, and when it was last read."""

    __slots__ = ("key", "start", "end", "pid", "tid", "tensors_pid", "allocator", "num_bytes", "last")

    def __init__(self, key, node, pid, tid, tensors_pid, allocation):
        self.key = key
        self.start = node.all_start_micros
        self.end = self.last = node.all_start_micros + node.all_end_rel_micros
        self.pid, self.tid, self.tensors_pid = pid, tid, tensors_pid
        self.allocator, self.num_bytes = allocation.allocator_name, allocation.requested_bytes


class Timeline:
    """Of a StepStats message."""

    def __init__(self, step_stats, graph=None):
        self._step_stats = step_stats
        self._graph = graph

    def analyze_step_stats(self, show_dataflow=True, show_memory=True):
        """The trace and the most memory that each allocator had out; see generate_chrome_trace_format."""
        trace = ChromeTrace()
        trace.process(0, "Allocators")
        devices = []  # (pid of its work, pid of its tensors, [(node, lane)])
        for i, device in enumerate(self._step_stats.dev_stats):
            work, data = 2 * i + 1, 2 * i + 2
            trace.process(work, device.device + " Compute")
            trace.process(data, device.device + " Tensors")
            devices.append((work, data, _lanes(device.node_stats)))
        made = _outputs(devices)
        if show_memory:
            self._snapshots(trace, made, devices)
        flow = 0
        for work, _, nodes in devices:
            for node, lane in nodes:
                flow = self._node(trace, node, work, lane, made, show_dataflow, flow)
        return StepStatsAnalysis(trace, _memory(trace, made) if show_memory else {})

    def generate_chrome_trace_format(self, show_dataflow=True, show_memory=False):
        """The trace as JSON text: a process for each device, a thread for each lane, an event for each node.

        show_dataflow: arrows from where a tensor was made to where it is read. show_memory: tensors' lives, and a
        counter for each allocator.
        """
        return self.analyze_step_stats(show_dataflow, show_memory).chrome_trace.format_to_string(pretty=True)

    @staticmethod
    def _node(trace, node, pid, lane, made, show_dataflow, flow):
        """The event of a node; its inputs live until then. Returns the number of arrows so far."""
        name, op, inputs = _parse_label(node.timeline_label)
        args = {"name": node.node_name or name, "op": op, **{f"input{i}": text for i, text in enumerate(inputs)}}
        start = node.all_start_micros
        trace.add("X", "Op", op if op != "unknown" else name, pid, lane, start, dur=node.all_end_rel_micros, args=args)
        for text in inputs:
            tensor = made.get(text) or made.get(text.rpartition("/_")[0])  # behind a receiver: the tensor that was sent
            if tensor is None:
                continue
            tensor.last = max(tensor.last, start + node.all_end_rel_micros - 1)
            if show_dataflow and (tensor.pid, tensor.tid) != (pid, lane):
                trace.add("s", "DataFlow", text, tensor.pid, tensor.tid, tensor.end, id=flow)
                trace.add("t", "DataFlow", text, pid, lane, start, id=flow)
                flow += 1
        return flow

    @staticmethod
    def _snapshots(trace, made, devices):
        outputs = {_output_name(node, i): output for _, _, nodes in devices for node, _ in nodes
                   for i, output in enumerate(node.output)}
        for name, tensor in made.items():
            trace.add("N", "Tensor", name, tensor.tensors_pid, tensor.tid, tensor.start, id=tensor.key)
            text = str(outputs[name].tensor_description).replace('"', "")
            trace.add("O", "Tensor", name, tensor.tensors_pid, tensor.tid, tensor.end - 1, id=tensor.key,
                      args={"snapshot": {"tensor_description": text}})


def _parse_label(label):
    """(name, op, inputs) of a label such as "name = Op(a, b)"."""
    found = re.match(r"(.*) = (.*)\((.*)\)", label)
    if found is None:
        return label or "unknown", "unknown", []
    name, op, inputs = found.groups()
    return name, op, inputs.split(", ") if inputs else []


def _lanes(nodes):
    """[(node, lane)]: nodes that overlap in time are in different lanes."""
    free, result = [], []  # when each lane is free again
    for node in sorted(nodes, key=lambda n: n.all_start_micros):
        start = node.all_start_micros
        lane = next((i for i, end in enumerate(free) if end < start), len(free))
        free[lane:lane + 1] = [start + node.all_end_rel_micros]
        result.append((node, lane))
    return result


def _output_name(node, index):
    return f"{node.node_name}:{index}" if index else node.node_name


def _outputs(devices):
    """name -> _Made of all tensors of the step."""
    made = {}
    for work, data, nodes in devices:
        for node, lane in nodes:
            for i, output in enumerate(node.output):
                allocation = output.tensor_description.allocation_description
                made[_output_name(node, i)] = _Made(len(made), node, work, lane, data, allocation)
    return made


def _memory(trace, made):
    """A counter for each allocator; returns allocator -> AllocationMaximum."""
    changes = collections.defaultdict(list)
    for name, tensor in made.items():
        trace.add("D", "Tensor", name, tensor.tensors_pid, 0, tensor.last, id=tensor.key)
        changes[tensor.allocator] += [(tensor.start, tensor.num_bytes, name), (tensor.last, -tensor.num_bytes, name)]
    maximums = {}
    for allocator, times in changes.items():
        maximums[allocator] = AllocationMaximum(0, 0, set())
        total, alive = 0, set()
        for timestamp, change, name in sorted(times):
            total += change
            alive = alive - {name} if change < 0 else alive | {name}
            if total > maximums[allocator].num_bytes:
                maximums[allocator] = AllocationMaximum(timestamp, total, alive)
            trace.add("C", "Memory", allocator, 0, 0, timestamp, args={allocator: total})
    return maximums
