"""penstock records: counts, shows, converts and shards files of records."""
import argparse
import csv
import json
import os
import random
import sys
import time

from penstock import proto
from penstock._src.graph import errors
from penstock._src.files import tf_record

_DESCRIPTION = """\
FILE is a TFRecord file; one that ends in .gz or .zlib is compressed. convert also reads .csv (with a header), .jsonl
(one object a line) and .npz (arrays of as many rows) and makes an Example of each row, and writes .jsonl.
"""


def _compression(path):
    return "GZIP" if path.endswith(".gz") else "ZLIB" if path.endswith(".zlib") else ""


class Progress:
    """A bar on the terminal, or nothing if there is none: how many records so far, and how much of the input."""

    def __init__(self, total_bytes, out=None):
        self._out = sys.stderr if out is None else out
        self._total, self._count, self._shown = total_bytes, 0, 0.0
        self._on = self._out.isatty()
        self._begun = time.monotonic()

    def step(self, done_bytes):
        """One record more; so many bytes of the input lie behind."""
        self._count += 1
        now = time.monotonic()
        if self._on and now - self._shown > 0.1:
            self._shown = now
            share = min(1.0, done_bytes / self._total) if self._total else 1.0
            bar = ("#" * int(share * 30)).ljust(30)
            self._out.write("\r[%s] %3d%%  %d records  %d/s" % (
                bar, share * 100, self._count, self._count / max(now - self._begun, 1e-9)))
            self._out.flush()

    def close(self):
        """Clears the line."""
        if self._on and self._shown:
            self._out.write("\r" + " " * 78 + "\r")


def _records(paths, progress=None):
    """The records of several files, one after the other."""
    behind = 0
    for path in paths:
        size = os.path.getsize(path)
        read = 0
        for record in tf_record.tf_record_iterator(path, _compression(path)):
            read += len(record) + 16
            if progress is not None:
                progress.step(behind + min(read, size))
            yield record
        if size > 0 and read == 0 and not _compression(path):
            raise ValueError("%s: no complete record (is this a TFRecord file?)" % path)
        behind += size


def _progress(paths):
    return Progress(sum(os.path.getsize(path) for path in paths))


def count(arguments, out):
    """How many records, and bytes in them, each file has."""
    progress = _progress(arguments.file)
    total = total_bytes = 0
    lines = []
    for path in arguments.file:
        number = size = 0
        for record in _records([path], progress):
            number += 1
            size += len(record)
        lines.append("%s: %d records, %d bytes" % (path, number, size))
        total += number
        total_bytes += size
    progress.close()
    if len(arguments.file) > 1:
        lines.append("total: %d records, %d bytes" % (total, total_bytes))
    print("\n".join(lines), file=out)


# Examples


def _values(feature):
    kind = feature.WhichOneof("kind")
    return kind, list(getattr(feature, kind).value) if kind else []


def _example(record):
    """The Example in a record, or None if there is none."""
    try:
        example = proto.message("tensorflow.Example").FromString(record)
    except Exception:  # what the parser raises depends on protobuf's implementation
        return None
    return example if example.features.feature else None


def _feature(values):
    made = proto.message("tensorflow.Feature")()
    values = values if isinstance(values, (list, tuple)) else [values]
    if all(isinstance(v, (bool, int)) for v in values) and values:
        made.int64_list.value.extend(int(v) for v in values)
    elif all(isinstance(v, (int, float)) for v in values) and values:
        made.float_list.value.extend(values)
    else:
        made.bytes_list.value.extend(v if isinstance(v, bytes) else str(v).encode() for v in values)
    return made


def _serialized(row):
    example = proto.message("tensorflow.Example")()
    for name, values in row.items():
        example.features.feature[name].CopyFrom(_feature(values))
    return example.SerializeToString(deterministic=True)


def _shortened(values, most=8):
    shown = [repr(v[:40] + b"..." if isinstance(v, bytes) and len(v) > 40 else v) for v in values[:most]]
    return "[%s%s]" % (", ".join(shown), ", ... %d in all" % len(values) if len(values) > most else "")


def show(arguments, out):
    """Prints the first records: features of Examples, or bytes."""
    for number, record in enumerate(_records(arguments.file)):
        if number < arguments.skip:
            continue
        if number >= arguments.skip + arguments.n:
            break
        example = None if arguments.raw else _example(record)
        print("record %d: %d bytes" % (number, len(record)), file=out)
        if example is None:
            print("  %r" % (record[:60] + b"..." if len(record) > 60 else record), file=out)
            continue
        for name in sorted(example.features.feature):
            kind, values = _values(example.features.feature[name])
            print("  %s (%s): %s" % (name, (kind or "nothing").replace("_list", ""), _shortened(values)), file=out)


# Converting


def _number(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _csv_rows(path):
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            yield {name: [_number(text)] for name, text in row.items() if name is not None and text not in (None, "")}


def _json_rows(path):
    with open(path) as f:
        for line in f:
            if line.strip():
                yield json.loads(line)


def _npz_rows(path):
    import numpy as np
    with np.load(path) as arrays:
        columns = {name: arrays[name] for name in arrays.files}
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1:
        raise ValueError("the arrays of %s do not have as many rows: %s" % (path, sorted(lengths)))
    for i in range(lengths.pop()):
        # Bytes of images stay together.
        yield {name: [column[i].tobytes()] if column.dtype == np.uint8 and column.ndim > 1 else
               np.ravel(column[i]).tolist() for name, column in columns.items()}


_READERS = {".csv": _csv_rows, ".jsonl": _json_rows, ".npz": _npz_rows}


def _sources(paths, progress):
    for path in paths:
        reader = _READERS.get(os.path.splitext(path)[1])
        if reader is None:
            yield from _records([path], progress)
            continue
        for row in reader(path):
            progress.step(0)
            yield _serialized(row)


def _as_json(record):
    example = _example(record)
    if example is None:
        raise ValueError("a record is no Example, so it cannot be written as JSON")
    return json.dumps({name: [v.decode(errors="surrogateescape") if isinstance(v, bytes) else v
                              for v in _values(feature)[1]]
                       for name, feature in sorted(example.features.feature.items())})


def convert(arguments, out):
    """Writes all records of several files, or Examples of their rows, into one."""
    progress = _progress(arguments.file)
    number = 0
    if arguments.to.endswith(".jsonl"):
        with open(arguments.to, "w") as f:
            for record in _sources(arguments.file, progress):
                f.write(_as_json(record) + "\n")
                number += 1
    else:
        with tf_record.TFRecordWriter(arguments.to, _compression(arguments.to)) as writer:
            for record in _sources(arguments.file, progress):
                writer.write(record)
                number += 1
    progress.close()
    print("%s: %d records" % (arguments.to, number), file=out)


def shard_names(prefix, shards, suffix=""):
    """PREFIX-00000-of-00003 and so on."""
    return ["%s-%05d-of-%05d%s" % (prefix, i, shards, suffix) for i in range(shards)]


def shard(arguments, out):
    """Deals records out to several files; to a random one each with --shuffle."""
    suffix = next((end for end in (".gz", ".zlib") if arguments.to.endswith(end)), "")
    names = shard_names(arguments.to[:len(arguments.to) - len(suffix)], arguments.shards, suffix)
    writers = [tf_record.TFRecordWriter(name, _compression(name)) for name in names]
    draw = None if arguments.shuffle is None else random.Random(arguments.shuffle)
    progress = _progress(arguments.file)
    number = 0
    try:
        for record in _sources(arguments.file, progress):
            writers[number % len(writers) if draw is None else draw.randrange(len(writers))].write(record)
            number += 1
    finally:
        for writer in writers:
            writer.close()
        progress.close()
    print("%s ... %s: %d records" % (names[0], names[-1], number), file=out)


def _positive(text):
    number = int(text)
    if number <= 0:
        raise argparse.ArgumentTypeError("must be positive")
    return number


def _parser():
    parser = argparse.ArgumentParser(prog="penstock records", description=__doc__.split(": ", 1)[1],
                                     epilog=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)

    def add(function):
        command = commands.add_parser(function.__name__, help=function.__doc__, description=function.__doc__)
        command.add_argument("file", nargs="+")
        command.set_defaults(run=function)
        return command

    add(count)
    shown = add(show)
    shown.add_argument("-n", type=_positive, default=3, help="how many records (3)")
    shown.add_argument("--skip", type=int, default=0, help="how many to pass over")
    shown.add_argument("--raw", action="store_true", help="bytes, also of Examples")
    add(convert).add_argument("--to", required=True, help="the file to write")
    sharded = add(shard)
    sharded.add_argument("--to", required=True, help="what the files' names begin with; they end in .gz if this does")
    sharded.add_argument("--shards", type=_positive, required=True, help="how many files")
    sharded.add_argument("--shuffle", type=int, metavar="SEED", help="deal records out at random")
    return parser


def main(arguments, out=None):
    """The command line behind `penstock records`; returns the exit status."""
    out = sys.stdout if out is None else out
    try:
        parsed = _parser().parse_args(arguments)
    except SystemExit as e:
        return e.code or 0
    try:
        parsed.run(parsed, out)
    except (OSError, ValueError, errors.OpError) as e:
        print("penstock records: %s" % e, file=sys.stderr)
        return 1
    return 0
