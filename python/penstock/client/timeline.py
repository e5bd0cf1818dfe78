"""Timeline: the steps of RunMetadata as a trace that Chrome's about:tracing shows."""
import json
import re


class Timeline:
    """Of a StepStats message."""

    def __init__(self, step_stats, graph=None):
        self._step_stats = step_stats
        self._graph = graph

    @staticmethod
    def _parse_label(label):
        """(name, op, inputs) of a label such as "name = Op(a, b)"."""
        found = re.match(r"(.*) = (.*)\((.*)\)", label)
        if found is None:
            return label, "unknown", []
        name, op, inputs = found.groups()
        return name, op, inputs.split(", ") if inputs else []

    def generate_chrome_trace_format(self, show_dataflow=True, show_memory=False, op_time="schedule"):
        """The trace as JSON text: a process for each device, a thread for each lane, an event for each node."""
        events, starts, flow = [], {}, 0
        for pid, device in enumerate(self._step_stats.dev_stats):
            events.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": device.device + " Compute"}})
            lanes = []  # when each lane is free again
            for node in sorted(device.node_stats, key=lambda n: n.all_start_micros):
                start, length = node.all_start_micros, max(node.all_end_rel_micros, 1)
                lane = next((i for i, free in enumerate(lanes) if free <= start), len(lanes))
                if lane == len(lanes):
                    lanes.append(0)
                lanes[lane] = start + length
                name, op, inputs = self._parse_label(node.timeline_label)
                args = {"name": node.node_name, "op": op}
                args.update({f"input{i}": text for i, text in enumerate(inputs)})
                events.append({"ph": "X", "cat": "Op", "name": op if op != "unknown" else name, "pid": pid, "tid": lane,
                               "ts": start, "dur": length, "args": args})
                starts[node.node_name] = (start + length, pid, lane)
                if show_dataflow:
                    flow = self._flow(events, inputs, starts, (start, pid, lane), flow)
        return json.dumps({"traceEvents": events}, indent=4)

    @staticmethod
    def _flow(events, inputs, starts, to, flow):
        """Arrows from the inputs, where they are known."""
        for text in inputs:
            source = starts.get(text.lstrip("^").partition(":")[0])
            if source is not None:
                for phase, (ts, pid, tid) in (("s", source), ("t", to)):
                    events.append({"ph": phase, "cat": "DataFlow", "name": text, "id": flow, "pid": pid, "tid": tid,
                                   "ts": ts})
                flow += 1
        return flow
