"""Random programs with version 1's queues, barriers, staging areas, accumulators, tables, readers and input producers,
and what TensorFlow 1.15.5 makes of them: static types and shapes, values, and the classes of errors.

    python random_queues.py record     (with TensorFlow 1.15.5's Python: answers go to random_queues.json.gz)
    python random_queues.py compare    (with Penstock: prints the programs whose answers differ)

A program's lines use the methods of `Program` by their names; no line of theirs waits for ever.
"""
import gzip
import json
import os
import sys
import tempfile

import numpy as np

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "random_queues.json.gz")
tf = data_flow_ops = None  # the module that is tried, its data_flow_ops


def plain(x):
    """A value as what JSON holds."""
    if isinstance(x, dict):
        return {str(k): plain(v) for k, v in x.items()}
    if type(x).__name__ in ("SparseTensorValue", "IndexedSlicesValue"):
        return [type(x).__name__] + [plain(v) for v in x]
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    if isinstance(x, (np.ndarray, np.generic)):
        return [str(np.asarray(x).dtype), list(np.shape(x)), repr(np.asarray(x).tolist())]
    return None if x is None else repr(x)


def static(x):
    """What is known of tensors before they run."""
    if isinstance(x, tf.Tensor):
        return [x.dtype.name, str(x.shape)]
    if isinstance(x, (tf.SparseTensor, tf.IndexedSlices)):
        return [type(x).__name__, x.dtype.name]
    if isinstance(x, dict):
        return {str(k): static(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [static(v) for v in x]
    return "op" if isinstance(x, tf.Operation) else str(x)


def _class(error):
    """The first class of an error that programs can name."""
    return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins" or hasattr(tf.errors, c.__name__))


class Program:
    """Runs one program; `found` are its answers."""

    def __init__(self, folder):
        self.found, self._session, self._folder, self._files = [], None, folder, 0

    def _run(self, fetches, seconds=60):
        self._session = self._session or tf.Session()
        return self._session.run(fetches, options=tf.RunOptions(timeout_in_ms=1000 * seconds))

    def close(self):
        if self._session:
            self._session.close()

    def run(self, label, build, by_key=False):
        """Builds something and runs it. `by_key`: keys and values of a table, which come in any order."""
        try:
            made = build()
            self.found.append([label, "static", static(made)])
            value = None if made is None else self._run(made)
            if by_key:
                order = sorted(range(len(value[0])), key=lambda i: repr(value[0][i]))
                value = [np.asarray([v[i] for i in order]) for v in value]
            self.found.append([label, plain(value)])
        except Exception as e:
            self.found.append([label, "raises", _class(e)])

    def make(self, build):
        """Builds an object; the program ends if that fails."""
        try:
            return build()
        except Exception as e:
            self.found.append(["make", "raises", _class(e)])
            raise

    def note(self, *xs):
        self.found.append(["note", [static(x) for x in xs]])

    def write(self, text):
        """A file's name."""
        name = os.path.join(self._folder, "f%d" % self._files)
        self._files += 1
        with open(name, "w", newline="") as f:
            f.write(text)
        return name

    def records(self, records):
        """The name of a file of records."""
        name = self.write("")
        with tf.python_io.TFRecordWriter(name) as writer:
            for record in records:
                writer.write(record)
        return name

    def drain(self, build, rows=False):
        """Runs it with queue runners until it ends. `rows`: the rows of all batches, sorted."""
        try:
            made = build()
        except Exception as e:
            self.found.append(["drain", "raises", _class(e)])
            return
        self.found.append(["drain", static(made)])
        self._run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(self._session, coordinator)
        values = []
        try:
            while len(values) < 40:
                values.append(self._run(made))
            end = "more"
        except Exception as e:
            end = _class(e)
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=10)
        if rows:
            values = sorted(repr(plain(row)) for v in values
                            for row in zip(*[np.asarray(c) for c in (v if isinstance(v, list) else [v])]))
        self.found.append(["values", plain(values), end])


def answers(text):
    """What a program finds."""
    with tempfile.TemporaryDirectory(prefix="queues") as folder, tf.Graph().as_default():
        tf.set_random_seed(7)
        program = Program(folder)
        names = {name: getattr(program, name) for name in ("run", "make", "note", "write", "records", "drain")}
        try:
            exec(text, dict(names, tf=tf, np=np, data_flow_ops=data_flow_ops))
        except Exception as e:
            program.found.append(["ends", _class(e)])
        finally:
            program.close()
        return json.loads(json.dumps(program.found).replace(folder, "FOLDER"))


def load():
    """[{"program": text, "found": answers}]"""
    with gzip.open(FILE) as f:
        return json.loads(f.read().decode())


def main(what):
    global tf, data_flow_ops
    programs = load()
    if what == "record":
        import tensorflow as tf
        from tensorflow.python.ops import data_flow_ops
        for each in programs:
            each["found"] = answers(each["program"])
        with open(FILE, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as f:
            f.write(json.dumps(programs, indent=1).encode())
        return 0
    import penstock.v1 as tf
    from penstock._src.ops.queues import data_flow_ops
    wrong = 0
    for each in programs:
        found = answers(each["program"])
        if found == each["found"]:
            continue
        wrong += 1
        print(each["program"])
        for theirs, ours in zip(each["found"] + [None], found + [None]):
            if theirs != ours:
                print("  TensorFlow:", theirs, "\n  Penstock:  ", ours, "\n")
                break
    print("%d of %d differ" % (wrong, len(programs)))
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
