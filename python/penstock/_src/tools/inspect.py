"""penstock inspect FILE: what is in a checkpoint, graph, SavedModel, event or record file, in a table."""
import argparse
import os
import sys

import numpy as np

from penstock import _core
from penstock._src.graph import dtypes
from penstock._src.graph import errors
from penstock._src.files import gfile
from penstock._src.graph import tensor_util
from penstock._src.tools import keras_files, models


def _table(rows, out):
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip(), file=out)


def _dtype(number):
    try:
        return dtypes.as_dtype(number).name
    except TypeError:
        return "type %d" % number


def _bytes(dtype, shape):
    size = 0 if dtype == "string" or dtype.startswith("type ") else dtypes.as_dtype(dtype).size
    for dim in shape:
        size *= dim
    return size


def _shape_text(shape):
    if shape.unknown_rank:
        return "?"
    return "[%s]" % ", ".join("?" if dim.size < 0 else str(dim.size) for dim in shape.dim)


def checkpoint(prefix, out):
    """Names, types, shapes and sizes of tensors."""
    reader = _core.CheckpointReader(prefix)
    rows, total = [], 0
    for key in reader.names():
        dtype, shape = _dtype(reader.dtype(key)), list(reader.shape(key))
        size = _bytes(dtype, shape)
        total += size
        rows.append([key.decode(errors="backslashreplace"), dtype, shape, size or ""])
    print("checkpoint of version %d: %d tensors, %d bytes" % (reader.version(), len(rows), total), file=out)
    _table([["name", "type", "shape", "bytes"]] + rows, out)


def graph(graph_def, out):
    """How many nodes of each op, and the placeholders."""
    counts = {}
    for node in graph_def.node:
        counts[node.op] = counts.get(node.op, 0) + 1
    print("graph: %d nodes, %d functions, version %d" % (len(graph_def.node), len(graph_def.library.function),
                                                         graph_def.versions.producer), file=out)
    _table([["op", "nodes"]] + sorted(counts.items(), key=lambda item: (-item[1], item[0])), out)
    inputs = [n for n in graph_def.node if n.op in ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault")]
    names = set(models.ends(graph_def))
    outputs = [node for node in graph_def.node if node.name in names]
    if outputs:
        print(file=out)
        _table([["output", "op"]] + [[node.name, node.op] for node in outputs[:20]], out)
        if len(outputs) > 20:
            print("and %d more" % (len(outputs) - 20), file=out)
    if inputs:
        print(file=out)
        _table([["input", "type", "shape"]] +
               [[n.name, _dtype(n.attr["dtype"].type), _shape_text(n.attr["shape"].shape)] for n in inputs], out)


def _signatures(meta_graph, out):
    for key, signature in sorted(meta_graph.signature_def.items()):
        print("signature %s (%s)" % (key, signature.method_name or "no method"), file=out)
        rows = [["", kind, name, _dtype(info.dtype), _shape_text(info.tensor_shape), info.name]
                for kind, infos in (("input", signature.inputs), ("output", signature.outputs))
                for name, info in sorted(infos.items())]
        _table(rows, out)


def saved_model(directory, out):
    """Graphs by tags, their signatures, and the variables."""
    from penstock._src.saved_model import loader_impl
    from penstock._src.saved_model import utils_impl
    message = loader_impl.parse_saved_model(directory)
    if not message.meta_graphs:
        raise ValueError("a SavedModel without graphs")
    for meta_graph in message.meta_graphs:
        print("SavedModel with tags: %s" % ", ".join(meta_graph.meta_info_def.tags), file=out)
        _signatures(meta_graph, out)
        graph(meta_graph.graph_def, out)
        print(file=out)
    prefix = utils_impl.get_variables_path(directory)
    if gfile.Exists(prefix + ".index"):
        checkpoint(prefix, out)


def meta_graph(message, out):
    """Collections and the graph."""
    print("MetaGraph written by %s" % (message.meta_info_def.tensorflow_version or "an unknown version"), file=out)
    rows = [[key, kind or "empty", len(getattr(c, kind).value) if kind else 0]
            for key, c in sorted(message.collection_def.items()) for kind in [c.WhichOneof("kind")]]
    if rows:
        _table([["collection", "kind", "items"]] + rows, out)
    graph(message.graph_def, out)


def _event_row(event):
    kind = event.WhichOneof("what") or "nothing"
    detail = ""
    if kind == "summary":
        detail = ", ".join("%s=%g" % (v.tag, v.simple_value) if v.WhichOneof("value") == "simple_value" else
                           "%s (%s)" % (v.tag or v.node_name, v.WhichOneof("value")) for v in event.summary.value)
    elif kind in ("graph_def", "meta_graph_def"):
        detail = "%d bytes" % len(getattr(event, kind))
    elif kind == "file_version":
        detail = event.file_version
    return [event.step, "%.3f" % event.wall_time, kind, detail]


def _collect(event, tags):
    """Adds an event's scalars to {tag: values}."""
    for value in event.summary.value if event.WhichOneof("what") == "summary" else ():
        kind = value.WhichOneof("value")
        if kind == "simple_value":
            tags.setdefault(value.tag, []).append(value.simple_value)
        elif kind == "tensor" and not value.tensor.tensor_shape.dim and value.tensor.dtype in (1, 2):
            tags.setdefault(value.tag, []).append(float(tensor_util.MakeNdarray(value.tensor)))


def sparkline(values, width=32):
    """A line of blocks as high as the values, each the mean of its part."""
    parts = [part for part in np.array_split(np.asarray(values, float), min(width, len(values)))]
    means = [part[np.isfinite(part)].mean() if np.isfinite(part).any() else np.nan for part in parts]
    low, high = np.nanmin(means), np.nanmax(means)
    if not low < high:
        return "▄" * len(means)
    return "".join(" " if np.isnan(mean) else "▁▂▃▄▅▆▇█"[int((mean - low) / (high - low) * 7.999)] for mean in means)


def records(path, out, most=1000):
    """Events if it is an event file; sizes, and features of the first Example, otherwise."""
    from penstock.proto import event_pb2, example_pb2
    from google.protobuf.message import DecodeError
    reader = _core.RecordReader(path)
    rows, sizes, first, problem, tags = [], [], None, None, {}
    is_events = "tfevents" in os.path.basename(path)
    try:
        while True:
            record = reader.next()
            if record is None:
                break
            first = record if first is None else first
            sizes.append(len(record))
            if is_events and len(rows) < most:
                rows.append(_event_row(event_pb2.Event.FromString(record)))
            if is_events:
                _collect(event_pb2.Event.FromString(record), tags)
    except (errors.OpError, DecodeError) as e:
        problem = "after %d records, at byte %d: %s" % (len(sizes), reader.offset(), e)
    print("%d %s, %d bytes" % (len(sizes), "events" if is_events else "records", sum(sizes)), file=out)
    if is_events:
        _table([["step", "time", "kind", "what"]] + rows, out)
        if tags:
            print(file=out)
            _table([["tag", "values", "first", "last", "least", "most", ""]] + [
                [tag, len(v), *("%g" % x for x in (v[0], v[-1], min(v), max(v))), sparkline(v)]
                for tag, v in sorted(tags.items())], out)
    elif first is not None:
        try:
            features = example_pb2.Example.FromString(first).features.feature
            _table([["feature of the first", "kind", "values"]] + [
                [name, f.WhichOneof("kind"), len(getattr(f, f.WhichOneof("kind")).value) if f.WhichOneof("kind") else 0]
                for name, f in sorted(features.items())], out)
        except DecodeError:
            print("the first is no Example", file=out)
    if problem:
        print("damaged %s" % problem, file=out)
        return 1
    return 0


def _is_records(path):
    try:
        return _core.RecordReader(path).next() is not None
    except errors.OpError:
        return False


def main(arguments):
    """The command line; the exit status: 1 if a file cannot be read."""
    parser = argparse.ArgumentParser(prog="penstock inspect", description=__doc__.partition(": ")[2])
    parser.add_argument("files", nargs="+", metavar="FILE", help="a file, or a directory of a model or of checkpoints")
    files = parser.parse_args(arguments).files
    status = 0
    for number, path in enumerate(files):
        if len(files) > 1:
            print("%s==> %s <==" % ("\n" if number else "", path))
        status = max(status, inspect(path, sys.stdout))
    return status


def inspect(path, out):
    """Prints what a file or directory holds, or what is wrong with it; the exit status."""
    try:
        return _inspect(path, out)
    except (errors.OpError, OSError, ValueError) as e:
        print("%s: %s" % (path, getattr(e, "message", None) or e), file=out)
        return 1


def _inspect(path, out):
    from penstock._src.saved_model import loader_impl
    from penstock._src.tools import graph_files
    from penstock._src.checkpoint import checkpoint_management
    if gfile.IsDirectory(path):
        if loader_impl.maybe_saved_model_directory(path):
            saved_model(path, out)
            return 0
        latest = checkpoint_management.latest_checkpoint(path)
        if latest is None:
            print("%s: neither a SavedModel nor a directory of checkpoints" % path, file=out)
            return 1
        print(latest, file=out)
        checkpoint(latest, out)
        return 0
    prefix = path[:-len(".index")] if path.endswith(".index") else path.partition(".data-0")[0]
    if gfile.Exists(prefix + ".index"):
        checkpoint(prefix, out)
        return 0
    if not gfile.Exists(path):
        print("%s: no such file" % path, file=out)
        return 1
    name = os.path.basename(path)
    if name.endswith((".keras", ".h5", ".hdf5")):
        return keras_files.inspect(path, out)
    if name == "checkpoint":
        state = checkpoint_management.get_checkpoint_state(os.path.dirname(path) or ".")
        if state is not None:
            for each in state.all_model_checkpoint_paths:
                print("%s%s" % (each, " (latest)" if each == state.model_checkpoint_path else ""), file=out)
            return _inspect(state.model_checkpoint_path, out)
    if name in ("saved_model.pb", "saved_model.pbtxt"):
        saved_model(os.path.dirname(path) or ".", out)
        return 0
    if "tfevents" in name or _is_records(path):
        return records(path, out)
    try:
        checkpoint(path, out)
        return 0
    except errors.OpError:
        pass  # no table
    with gfile.GFile(path, "rb") as f:
        contents = f.read()
    message = graph_files.parse_graph(contents)
    if message is not None:
        (meta_graph if hasattr(message, "graph_def") else graph)(message, out)
        return 0
    print("%s: no checkpoint, graph, SavedModel, event or record file" % path, file=out)
    return 1
