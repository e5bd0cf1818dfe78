"""Profiles for other programs: a timeline for chrome://tracing, samples for pprof."""
import gzip
import os

from penstock._src.session.timeline import ChromeTrace
from penstock._src.files import gfile
from penstock._src.profiler.internal.options import COLUMNS
from penstock.proto import message

# --- Timelines


def nested_timeline(root):
    """Rows as bars of their total time, one level below the other."""
    trace = ChromeTrace()
    todo, levels = [(root, 0, 0)], 0
    while todo:
        row, start, depth = todo.pop()
        if depth == levels:
            trace.process(depth, f"Scope:{depth}")
            levels += 1
        trace.add("X", "Op", row.name, depth, 0, start, dur=row.total["exec_micros"],
                  args={"name": row.name, "op": row.name})
        for child in row.below:
            if child.total["exec_micros"] > 0:
                todo.append((child, start, depth + 1))
                start += child.total["exec_micros"]
    return trace


def graph_timeline(root, step):
    """When each node ran in a step, by device; nodes that ran at the same time lie in different lanes."""
    runs, todo = {}, [root]  # device -> [(start, micros, name)]
    while todo:
        row = todo.pop()
        todo.extend(row.below)
        if row.node is None or not row.node.runs_in(step):
            continue
        for accelerator in (False, True):
            for device, times in row.node.steps[step].times(accelerator).items():
                runs.setdefault(device, []).extend((start, micros, row.name) for start, micros in times)
    trace = ChromeTrace()
    for pid, device in enumerate(sorted(runs)):
        kind = "execution" if "stream" in device else "scheduling"
        trace.process(pid, f"Op {kind} threads: {device}")
        free = []  # when each lane is free again
        for start, micros, name in sorted(runs[device]):
            lane = next((i for i, end in enumerate(free) if end <= start), len(free))
            free[lane:lane + 1] = [start + micros]
            trace.add("X", "Op", name, pid, lane, start, dur=micros, args={"name": name})
    return trace


def write_timeline(trace, outfile, step):
    """Writes a trace to `outfile` with the step's number, and says so."""
    path = f"{outfile}_{step}"
    gfile.write_atomically(path, trace.format_to_string())
    print(f"Timeline file is written to {path}. Load it in chrome://tracing.", flush=True)


# --- pprof


class _Numbers:
    """Numbers for keys from `first` on, in the order in which they come."""

    def __init__(self, first):
        self._first, self.known = first, {}

    def __call__(self, key):
        return self.known.setdefault(key, self._first + len(self.known))


def pprof_profile(root, column, step):
    """A Profile message of a code view: a sample for each node, with the lines that led to it."""
    profile = message("tensorflow.tfprof.pprof.Profile")()
    strings, functions, locations = _Numbers(0), _Numbers(1), _Numbers(1)
    strings("")
    counter, _ = COLUMNS[column]
    profile.sample_type.add(type=strings("count"), unit=strings("count"))
    unit = "microseconds" if column.endswith("micros") else "bytes" if column.endswith("bytes") else "count"
    profile.sample_type.add(type=strings(column), unit=strings(unit))
    todo = [(row, None, ()) for row in reversed(root.below)]
    while todo:
        row, caller, calls = todo.pop()
        if caller is not None:
            function = functions((row.trace[0], row.trace[2], row.trace[3]))
            calls = (locations((caller.trace[0], caller.trace[1], function)),) + calls
        todo.extend((child, row, calls) for child in reversed(row.below))
        if row.below:
            continue
        for node in _members(row):
            sample = profile.sample.add(location_id=calls, value=[1, node.count(counter, step)])
            sample.label.add(key=strings("graph node:"), str=strings(node.name))
    for (file, name, first), number in functions.known.items():
        title = f"{os.path.splitext(os.path.basename(file))[0]}:{name}"
        profile.function.add(id=number, name=strings(title), filename=strings(file), start_line=max(first, 0))
    for (_, line, function), number in locations.known.items():
        profile.location.add(id=number).line.add(function_id=function, line=line)
    profile.string_table.extend(strings.known)
    return profile


def _members(row):
    """The nodes that a line and those below it made."""
    todo, members = [row], []
    while todo:
        row = todo.pop()
        members += [member.node for member in row.rows]
        todo.extend(row.children)
    return members


def write_pprof(profile, outfile):
    """Writes it compressed."""
    gfile.write_atomically(outfile, gzip.compress(profile.SerializeToString()))
    print(f"Run pprof -png --nodecount=100 --sample_index=1 {outfile}", flush=True)
