"""tf.profiler.advise: what a profile says about a model."""
import sys

from penstock._src.profiler.internal import report
from penstock._src.profiler.internal.node_stats import on_accelerator
from penstock._src.profiler.internal.options import Options
from penstock._src.profiler.internal.views import CodeView, OpView, ScopeView
from penstock.proto import AdviceProto


def advise(stats, checkers):
    """An AdviceProto of the checkers that are asked for, by name; prints it."""
    advice = AdviceProto()
    for name, check in _CHECKERS.items():
        if name in checkers:
            advice.checkers[name].reports.extend(check(stats))
            print(f"\n{name}:", *advice.checkers[name].reports, sep="\n", flush=True)
    return advice


def _accelerator_utilization(stats):
    """The part of the time in which each accelerator was busy."""
    spans = {}  # device -> (start, end, busy)
    for node in stats.nodes.values():
        if not node.steps or not on_accelerator(node.device):
            continue
        run = node.steps[max(node.steps)]
        start, end, busy = spans.get(node.device, (0, 0, 0))
        began = run.message.all_start_micros
        spans[node.device] = (min(start, began) if start and began else start or began,
                              max(end, run.message.latest_end_micros), busy + run.count("accelerator_exec_micros"))
    for device, (start, end, busy) in sorted(spans.items()):
        if end > start:
            used = busy / (end - start)
            yield f"device: {device} {'' if used >= 0.5 else 'low '}utilization: {used:.2f}"


def _operations(stats):
    """Ops for which there are better ones."""
    nodes = stats.nodes.values()
    if any("BatchNorm" in node.name for node in nodes) and not any("FusedBatchNorm" in node.types for node in nodes):
        yield "Maybe use faster FusedBatchNorm instead of BatchNorm"
    if any("data_format" in node.attrs and node.attrs["data_format"].s == b"NHWC" and on_accelerator(node.device)
           for node in nodes):
        yield "Found operation using NHWC data_format on GPU. Maybe NCHW is faster."


def _by_time(least, depth):
    return Options({"max_depth": depth, "min_micros": least, "order_by": "micros", "account_type_regexes": [".*"],
                    "start_name_regexes": [".*"], "show_name_regexes": [".*"], "output": "none"})


def _expensive_operations(stats):
    """The op types, nodes and lines that take most time."""
    if not stats.steps:
        sys.stderr.write("Missing RunMetadata info. Skip ExpensiveOperationChecker\n")
        return
    lines, root = [], OpView(stats).show(_by_time(1, 3))
    row = root
    while row.below and len(lines) < 3:
        row = row.below[0]
        share = 100.0 * row.own["exec_micros"] / (root.total["exec_micros"] + 1e-10)
        lines.append(f"top {len(lines) + 1} operation type: {row.name}, {_times(row.own)} ({share:.2f}%)")
    if lines:
        yield "\n".join(lines)
    nodes = ScopeView(stats).show(_by_time(100, 100)).below[:3]
    if nodes:
        yield "\n".join(f"top {i + 1} graph node: {row.name}, {_times(row.own)}" for i, row in enumerate(nodes))
    if not stats.has_code:
        sys.stderr.write("Missing op_log (code traces) for ExpensiveOperationChecker\n")
        return
    row = CodeView(stats).show(_by_time(1, 100))
    while len(row.below) == 1:
        row = row.below[0]
    if row.below:
        yield "\n".join(_lines_of_code(row, 0))


def _lines_of_code(row, depth):
    if len(row.below) <= 1 or depth > 3:
        return
    for child in row.below[:3]:
        if child.total["exec_micros"] >= 1000:
            yield f"{' ' * 2 * depth}{child.name}, {_times(child.total)}"
            yield from _lines_of_code(child, depth + 1)


def _times(counters):
    return (f"cpu: {report.time(counters['cpu_exec_micros'])}, accelerator: "
            f"{report.time(counters['accelerator_exec_micros'])}, total: {report.time(counters['exec_micros'])}")


_CHECKERS = {
    "AcceleratorUtilizationChecker": _accelerator_utilization,
    "OperationChecker": _operations,
    "ExpensiveOperationChecker": _expensive_operations,
}
