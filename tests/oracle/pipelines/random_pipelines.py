"""Random pipelines: programs of a few lines each, and what TensorFlow 2.21 makes of them.

    python random_pipelines.py record     (with TensorFlow 2.21's Python: answers go to random_pipelines.json.gz)
    python random_pipelines.py compare    (with Penstock: prints the programs whose answers differ)

A program's lines define d1, d2, ... and `result` by the names of this file. What a line raises is part of the answer;
its name stands for the last dataset then.
"""
import gzip
import json
import os
import sys
import tempfile

import numpy as np

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "random_pipelines.json.gz")
LIMIT = 40
tf = D = None  # the module that is tried, its Dataset


# What programs use.


def _one(part):
    if isinstance(part, tf.SparseTensor):
        return _one(part.values) + tf.cast(tf.reduce_sum(part.dense_shape), tf.int64)
    if isinstance(part, tf.RaggedTensor):
        return _one(part.flat_values) + tf.cast(part.nrows(), tf.int64)
    if isinstance(part, tf.experimental.Optional):
        return tf.cast(part.has_value(), tf.int64)
    if isinstance(part, tf.data.Dataset):
        return part.reduce(np.int64(0), lambda s, *x: s + tot(*x))
    part = tf.convert_to_tensor(part)
    if part.dtype == tf.string:
        return tf.reduce_sum(tf.cast(tf.strings.length(part), tf.int64))
    return tf.reduce_sum(tf.cast(part, tf.int64))


def tot(*element):
    """A number of any element: the sum of all that is in it."""
    total = tf.constant(0, tf.int64)
    for part in tf.nest.flatten(element):
        total += _one(part)
    return total


def pack(element):
    """An element of the arguments of a function."""
    return element[0] if len(element) == 1 else element


def _bumped(part):
    if isinstance(part, tf.SparseTensor):
        return tf.SparseTensor(part.indices, _bumped(part.values), part.dense_shape)
    if isinstance(part, tf.RaggedTensor):
        return part.with_flat_values(_bumped(part.flat_values))
    if isinstance(part, (tf.experimental.Optional, tf.data.Dataset)):
        return part
    if part.dtype == tf.string:
        return tf.strings.join([part, "+"])
    return tf.logical_not(part) if part.dtype == tf.bool else part * 2 + 1


def bump(*element):
    """An element of the same structure with other values."""
    return tf.nest.map_structure(_bumped, pack(element))


def to_sparse(n):
    """A sparse vector."""
    n = tf.cast(n, tf.int64)
    return tf.sparse.from_dense(tf.stack([n % 3, 0, n % 2, n]))


def to_sparse2(n):
    """A sparse matrix."""
    n = tf.cast(n, tf.int64) % 4
    return tf.SparseTensor(tf.stack([[0, n], [1, n]]), tf.stack([n, -n]), [2, 5])


def to_ragged(n):
    """A ragged matrix."""
    n = tf.cast(n, tf.int64) % 4
    return tf.RaggedTensor.from_row_lengths(tf.range(n + 1), tf.stack([n, 0, 1]))


def to_optional(n):
    """An optional value, which some numbers do not have."""
    optional = tf.experimental.Optional
    return tf.cond(n % 3 > 0, lambda: optional.from_value(n), lambda: optional.empty(tf.TensorSpec([], tf.int64)))


def check(n, m):
    """n, unless m divides it."""
    with tf.control_dependencies([tf.debugging.Assert(n % m > 0, [n])]):
        return tf.identity(n)


def odd(n):
    """A function with a condition."""
    if n % 2 == 0:
        y = n * 10
    else:
        y = n
    return y


def loop(n):
    """A function with a loop that is left."""
    total = tf.constant(0, tf.int64)
    for i in tf.range(n % 5):
        if i == 3:
            break
        total += i
    return total


def g_plain(n):
    """A generator of numbers."""
    return lambda: iter(range(n))


def g_raise(n, kind):
    """A generator that fails."""
    def generate():
        yield from range(n)
        raise kind("generator stops")
    return generate


def g_pairs(n):
    """A generator of structures."""
    def generate():
        for i in range(n):
            yield {"a": i, "b": [float(j) for j in range(i % 3)]}, str(i)
    return generate


def g_any(values):
    """A generator of these values."""
    return lambda: iter(values)


def g_ragged(n):
    """A generator of ragged tensors."""
    def generate():
        for i in range(n):
            yield tf.ragged.constant([[i] * (i % 3), [1]], dtype=tf.int32)
    return generate


def g_sparse(n):
    """A generator of sparse tensors."""
    def generate():
        for i in range(n):
            yield tf.SparseTensor([[i % 4]], [i], [4])
    return generate


def tmp():
    """A new directory."""
    return tempfile.mkdtemp()


def saved(dataset):
    """The dataset, written and read again."""
    path = tmp()
    dataset.save(path)
    return D.load(path)


# Answers.


def _plain(value):
    if isinstance(value, tf.SparseTensor):
        return ["sparse", _plain(value.indices), _plain(value.values), _plain(value.dense_shape)]
    if isinstance(value, tf.RaggedTensor):
        return ["ragged", str(value.dtype), str(value.row_splits.dtype), str(value.to_list())]
    if isinstance(value, tf.experimental.Optional):
        return ["optional", _plain(value.get_value()) if value.has_value() else None]
    if isinstance(value, tf.data.Dataset):
        return ["dataset", str(value.element_spec), [_plain(element) for element in value.take(9)]]
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(part) for part in value]
    array = value.numpy()
    kind = np.asarray(array).dtype.kind
    shown = array if kind not in "fcV" else np.asarray(array, np.complex128 if kind == "c" else np.float64).round(4)
    return [value.dtype.name, list(value.shape), repr(np.asarray(shown).tolist())]


def _error(error):
    return "raises " + type(error).__name__


def _drain(iterator, most=LIMIT):
    found = []
    while len(found) < most and found.count("end") == 0 and sum(isinstance(x, str) for x in found) < 4:
        try:
            found.append(_plain(next(iterator)))
        except StopIteration:
            found.append("end")
        except Exception as e:  # its class is compared
            found.append(_error(e))
    return found


def _resumed(dataset, position):
    """What comes behind `position`, after another checkpointed iterator was restored there."""
    iterator = iter(dataset)
    _drain(iterator, position)
    path = tf.train.Checkpoint(it=iterator).save(os.path.join(tmp(), "c"))
    other = iter(dataset)
    tf.train.Checkpoint(it=other).restore(path)
    return _drain(other)


def _attempt(function, *args):
    try:
        return function(*args)
    except Exception as e:  # its class is compared
        return _error(e)


def answers(lines, seed, position):
    """What the program gives."""
    names = {name: value for name, value in globals().items() if not name.startswith("_")}
    tf.random.set_seed(seed)
    last, found = "D.range(3)", {}
    for line in lines:
        name = line.split(" = ")[0]
        try:
            exec(line, names)
        except Exception as e:  # its class is compared
            found[name] = _error(e)
        if isinstance(names.get(name), tf.data.Dataset):
            last = name
        else:
            exec(f"{name} = {last}", names)
    dataset = names["result"]
    found["repr"] = _attempt(repr, dataset)
    found["cardinality"] = _attempt(lambda: int(dataset.cardinality()))
    found["elements"] = _attempt(lambda: _drain(iter(dataset)))
    found["again"] = _attempt(lambda: _drain(iter(dataset)))
    if position is not None:
        found["resumed"] = _attempt(_resumed, dataset, position)
    return json.loads(json.dumps(found))


def main(what):
    global tf, D
    if what == "record":
        import tensorflow as tf
    else:
        import penstock as tf
    D = tf.data.Dataset
    with gzip.open(FILE) as f:
        programs = json.loads(f.read())
    different = 0
    for program in programs:
        found = answers(program["lines"], program["seed"], program["position"])
        if what == "record":
            program["answers"] = found
        elif found != program["answers"]:
            different += 1
            print("\n".join(program["lines"]))
            for key, answer in program["answers"].items():
                if found.get(key) != answer:
                    print(f"  {key}: TensorFlow gives {answer}, Penstock {found.get(key)}")
    if what == "record":
        with gzip.GzipFile(FILE, "wb", mtime=0) as f:
            f.write(json.dumps(programs, separators=(",", ":")).encode())
    print(len(programs), "pipelines,", different, "differ")
    return different > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
