"""Reads damaged files of elements and damaged states of iterators: python fuzz_pipelines.py SEED SECONDS [PART...]"""

import os
import random
import shutil
import sys
import tempfile

import forked
import numpy as np

import penstock as tf

Dataset = tf.data.Dataset
_ALLOWED = (tf.errors.OpError, TypeError, ValueError, KeyError)
_MOST = 50  # elements to read
_INTS = (0, 1, -1, 2, 3, 7, 100, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63))


# --- files: each writes some and gives what reads them again


def _records(compression):
    def write(folder):
        path = os.path.join(folder, "records")
        with tf.io.TFRecordWriter(path, compression) as writer:
            for i in range(5):
                writer.write(b"record" * i)
        return lambda: tf.data.TFRecordDataset(path, compression)

    return write


def _text(read, text):
    def write(folder):
        path = os.path.join(folder, "text")
        with open(path, "w") as file:
            file.write(text)
        return lambda: read(path)

    return write


def _elements():
    return Dataset.range(6).map(lambda x: (x, tf.strings.as_string(x), tf.fill([3], x)))


def _saved(compression):
    def write(folder):
        _elements().save(folder, compression=compression)
        return lambda: Dataset.load(folder, compression=compression)

    return write


def _snapshot(folder):
    list(_elements().snapshot(folder))
    return lambda: _elements().snapshot(folder)


def _cache(folder):
    path = os.path.join(folder, "cache")
    list(_elements().cache(path))
    return lambda: _elements().cache(path)


def _examples(folder):
    path = os.path.join(folder, "examples")
    feature, features = tf.train.Feature, tf.train.Features
    example = tf.train.Example(
        features=features(
            feature={
                "i": feature(int64_list=tf.train.Int64List(value=[1, 2])),
                "f": feature(float_list=tf.train.FloatList(value=[0.5])),
                "s": feature(bytes_list=tf.train.BytesList(value=[b"a", b"bc"])),
            }
        )
    )
    with open(path, "wb") as file:
        file.write(example.SerializeToString())
    spec = {
        "i": tf.io.FixedLenFeature([2], tf.int64),
        "f": tf.io.VarLenFeature(tf.float32),
        "s": tf.io.RaggedFeature(tf.string),
    }

    def read():
        with open(path, "rb") as file:
            return Dataset.from_tensors([file.read()]).map(lambda x: tf.io.parse_example(x, spec))

    return read


_FILES = {
    "records": _records(""),
    "records_gzip": _records("GZIP"),
    "records_zlib": _records("ZLIB"),
    "lines": _text(tf.data.TextLineDataset, "one\ntwo\r\n\nfour"),
    "pieces": _text(lambda path: tf.data.FixedLengthRecordDataset(path, 4, 2, 1), "ab12341234z"),
    "csv": _text(
        lambda path: tf.data.experimental.CsvDataset(path, [tf.int64, 0.5, ""], header=True),
        'a,b,c\n1,2.5,"x ""y"", z"\n-3,,\r\n4,1e3,"two\nlines"\n',
    ),
    "saved": _saved(None),
    "saved_gzip": _saved("GZIP"),
    "saved_snappy": _saved("SNAPPY"),
    "snapshot": _snapshot,
    "cache": _cache,
    "examples": _examples,
}


def _files_below(folder):
    return [os.path.join(where, name) for where, _, names in os.walk(folder) for name in sorted(names)]


def _read(elements):
    for _, element in zip(range(_MOST), elements):
        tf.nest.flatten(element)


def _try_file(chance, part, folder):
    read = _FILES[part](folder)
    forked.damage(chance, chance.choice(_files_below(folder)))
    _read(read())


# --- states of iterators


_ITERATORS = {
    "slices": lambda: Dataset.from_tensor_slices(np.arange(10)),
    "sparse_slices": lambda: Dataset.from_tensor_slices(tf.sparse.from_dense(np.eye(4))),
    "range": lambda: Dataset.range(10).take(8).skip(1).shard(2, 0).repeat(2),
    "concatenate": lambda: Dataset.range(5).concatenate(Dataset.range(5)),
    "zip": lambda: Dataset.zip((Dataset.range(5), Dataset.range(9))),
    "shuffle": lambda: Dataset.range(10).shuffle(4, seed=1).repeat(2),
    "batch": lambda: Dataset.range(10).batch(3).unbatch().padded_batch(2, []),
    "rebatch": lambda: Dataset.range(10).batch(3).rebatch([2, 1]),
    "window": lambda: Dataset.range(10).window(3, 2).flat_map(lambda w: w.batch(3)),
    "interleave": lambda: Dataset.range(4).interleave(lambda x: Dataset.range(x, x + 3), 2, 2),
    "parallel_interleave": lambda: Dataset.range(4).interleave(
        lambda x: Dataset.range(x, x + 3), 2, 2, num_parallel_calls=2
    ),
    "parallel_map": lambda: Dataset.range(10).map(lambda x: x + 1, num_parallel_calls=2).prefetch(2),
    "groups": lambda: Dataset.range(20).group_by_window(lambda x: x % 3, lambda _, w: w.batch(4), 4),
    "scan": lambda: Dataset.range(10).scan(np.int64(0), lambda state, x: (state + x, state)),
    "unique": lambda: Dataset.range(10).map(lambda x: x % 4).unique(),
    "cache": lambda: Dataset.range(10).cache(),
    "sampled": lambda: Dataset.sample_from_datasets([Dataset.range(5), Dataset.range(9)], [0.5, 0.5], seed=1),
    "chosen": lambda: Dataset.choose_from_datasets(
        [Dataset.range(5), Dataset.range(9)], Dataset.range(8).map(lambda x: x % 2)
    ),
    "random": lambda: Dataset.random(seed=3).take(9),
    "files": lambda: Dataset.list_files(os.path.join(os.path.dirname(__file__), "*.py"), shuffle=False),
    "lines": lambda: tf.data.TextLineDataset([__file__, forked.__file__]),
}


def _damage_tensor(chance, tensor):
    how = chance.randrange(6)
    if how == 0:
        tensor.CopyFrom(tf.make_tensor_proto(chance.choice(([1, 2], [[1.5]], b"text", True, 3, np.int64(2), []))))
    elif how == 1 and tensor.tensor_shape.dim:
        tensor.tensor_shape.dim[0].size = chance.choice((0, 1, 5))
    else:
        tensor.CopyFrom(tf.make_tensor_proto(np.int64(chance.choice(_INTS))))


def _damage_state(chance, bytes_):
    proto = tf.make_tensor_proto(0)
    proto.ParseFromString(bytes_)
    state = proto.variant_val[0]
    names = state.metadata.split(b"\n")
    for _ in range(chance.choice((1, 1, 1, 3))):
        at = chance.randrange(len(state.tensors))
        if chance.random() < 0.8:
            _damage_tensor(chance, state.tensors[at])
        elif chance.random() < 0.5:
            other = chance.randrange(len(state.tensors))
            state.tensors[at].CopyFrom(state.tensors[other])
        else:
            names[at] = names[chance.randrange(len(names))] + chance.choice((b"", b"/size", b"x"))
    state.metadata = b"\n".join(names)
    return proto.SerializeToString()


def _try_state(chance, part):
    raw = tf.raw_ops
    dataset = _ITERATORS[part]()
    iterator = iter(dataset)
    for _ in range(chance.randrange(4)):
        next(iterator)
    handle = iterator._iterator_resource
    saved = tf.io.serialize_tensor(raw.SerializeIterator(resource_handle=handle)).numpy()
    damaged = tf.io.parse_tensor(_damage_state(chance, saved), tf.variant)
    raw.DeserializeIterator(resource_handle=handle, serialized=damaged)
    _read(iterator)


def call(part, seed):
    """One damaged file or state: None, or a line about an exception that it should not have made."""
    chance = random.Random(f"{part}{seed}")
    folder = tempfile.mkdtemp()
    try:
        if part in _FILES:
            _try_file(chance, part, folder)
        else:
            _try_state(chance, part.removeprefix("state_"))
    except _ALLOWED as error:
        return forked.confused(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        shutil.rmtree(folder)
    return None


if __name__ == "__main__":
    parts = sys.argv[3:] or [*_FILES, *(f"state_{name}" for name in _ITERATORS)]
    sys.exit(forked.main(call, int(sys.argv[1]), float(sys.argv[2]), parts))
