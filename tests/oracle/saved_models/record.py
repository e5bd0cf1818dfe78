"""Writes files.tar.xz: SavedModels and checkpoints written by TensorFlow, and what they answer (answers.json).

Run with TensorFlow 2.21 and Keras 3: python record.py
"""
import json
import os
import shutil
import sys
import tarfile
import tempfile

import numpy as np
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
answers = {}


def encoded(value):
    """A result as JSON holds it."""
    if isinstance(value, dict):
        return {key: encoded(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [encoded(part) for part in value]
    value = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if value.dtype == object or value.dtype.kind == "S":
        return [str(v, "latin-1") if isinstance(v, bytes) else v for v in np.ravel(value)]
    return np.asarray(value, np.float64).tolist()


def signatures(directory):
    x = tf.constant([[1., 2.], [3., 4.]])

    class Inner(tf.Module):
        def __init__(self):
            super().__init__(name="inner")
            self.w = tf.Variable([[1., -1.], [0.5, 2.]], name="w")

        @tf.function
        def __call__(self, value, double=False):
            out = tf.matmul(value, self.w)
            return out * 2. if double else out

    class Model(tf.Module):
        def __init__(self):
            super().__init__(name="model")
            self.inner = Inner()
            self.bias = tf.Variable([0.25, -0.25], name="bias")
            self.count = tf.Variable(0, dtype=tf.int64, trainable=False, name="count")
            self.parts = [tf.Variable(1.), {"a": tf.Variable(2.), "b": [tf.Variable(3.)]}]
            self.table = tf.constant(np.arange(300, dtype=np.float32), name="table")

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="inputs")])
        def serve(self, inputs):
            self.count.assign_add(1)
            return {"scores": tf.nn.softmax(self.inner(inputs) + self.bias), "sum": tf.reduce_sum(self.table)}

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32, name="n")])
        def loop(self, n):
            total = tf.constant(0.)
            for i in tf.range(n):
                if i % 2 == 0:
                    total += self.parts[0] * tf.cast(i, tf.float32)
                else:
                    total -= self.parts[1]["a"]
            return total

        @tf.function
        def nested(self, value, factor=2.0, *, more=None):
            first, (second,) = value
            return [first * factor, (second if more is None else second + more["x"],)]

    model = Model()
    model.inner(x)
    model.inner(x, double=True)
    model.nested((x, (x,)))
    model.nested((x, (x,)), 3.0, more={"x": x})
    tf.saved_model.save(model, directory, signatures={"serving_default": model.serve, "loop": model.loop},
                        options=tf.saved_model.SaveOptions(function_aliases={"alias": model.serve}))
    return {"serve": encoded(model.serve(x)), "loop": encoded(model.loop(7)), "inner": encoded(model.inner(x)),
            "double": encoded(model.inner(x, double=True)),
            "nested": encoded(model.nested((x, (x,)))),
            "more": encoded(model.nested((x, (x,)), 3.0, more={"x": x}))}


def tables(directory):
    vocabulary = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(vocabulary, "w") as f:
        f.write("one\ntwo\nthree\n")

    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.words = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
                vocabulary, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER), -1)
            self.names = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
                tf.constant([0, 1], tf.int64), tf.constant(["zero", "uno"])), "?")
            self.changing = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, -2.)
            self.changing.insert(tf.constant(["k", "l"]), tf.constant([5., 6.]))
            self.asset = tf.saved_model.Asset(vocabulary)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="keys")])
        def find(self, keys):
            ids = self.words.lookup(keys)
            return {"ids": ids, "names": self.names.lookup(ids), "changing": self.changing.lookup(keys)}

        @tf.function(input_signature=[])
        def contents(self):
            return tf.io.read_file(self.asset.asset_path)

    model = Model()
    tf.saved_model.save(model, directory, signatures=model.find)
    return {"find": encoded(model.find(tf.constant(["two", "k", "none", "one"]))),
            "contents": encoded(model.contents())}


def gradients(directory):
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = tf.Variable(3.)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def f(self, x):
            @tf.custom_gradient
            def odd(y):
                return y * 2., lambda dy: dy * 7.
            return odd(x) * self.v

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def g(self, x):
            return tf.reduce_sum(tf.sin(x) * self.v * self.v)

    model = Model()
    tf.saved_model.save(model, directory)
    x = tf.constant([1., 2.])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        f, g = model.f(x), model.g(x)
    return {"f": encoded(f), "df": encoded(tape.gradient(f, x)), "dv": encoded(tape.gradient(f, model.v)),
            "gx": encoded(tape.gradient(g, x)), "gv": encoded(tape.gradient(g, model.v))}


def structures(directory):
    class Model(tf.Module):
        @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
        def ragged(self, x):
            return x.with_flat_values(x.flat_values + 1)

        @tf.function(input_signature=[tf.SparseTensorSpec([None, None], tf.float32)])
        def sparse(self, x):
            return tf.sparse.to_dense(x) * 2.

    model = Model()
    tf.saved_model.save(model, directory, signatures={})
    return {"ragged": encoded(model.ragged(tf.ragged.constant([[1], [2, 3]])).flat_values)}


def types(directory):
    """Variables of all types, empty and large, by one function."""
    model = tf.Module()
    rng = np.random.RandomState(1)
    values = {
        "float": rng.randn(3, 4).astype(np.float32), "double": rng.randn(5), "empty": np.zeros((0, 3), np.float32),
        "int8": np.array([-128, 127], np.int8), "uint16": np.array([0, 65535], np.uint16),
        "bool": np.array([True, False]), "complex": np.array([1 + 2j], np.complex64), "scalar": np.int64(-7)}
    for name, value in values.items():
        setattr(model, name, tf.Variable(value))
    model.bfloat16 = tf.Variable(tf.constant([1.5, -2.25], tf.bfloat16))
    model.half = tf.Variable(tf.constant([0.5], tf.float16))
    model.string = tf.Variable(tf.constant([["a", ""], ["\x00\xff", "long" * 50]]))
    tf.saved_model.save(model, directory)
    out = {name: encoded(value) for name, value in values.items() if name != "complex"}
    out.update(bfloat16=encoded(tf.cast(model.bfloat16, tf.float32)), half=encoded(tf.cast(model.half, tf.float32)),
               string=[str(v, "latin-1") for v in np.ravel(model.string.numpy())])
    return out


def version1(directory):
    vocabulary = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(vocabulary, "w") as f:
        f.write("a\nb\n")
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        key = v1.placeholder(tf.string, [None], name="key")
        part = v1.get_variable("part", [4, 2], partitioner=v1.fixed_size_partitioner(2), use_resource=False,
                               initializer=v1.random_uniform_initializer(seed=1))
        w = v1.get_variable("w", [3, 4], use_resource=True, initializer=v1.ones_initializer())
        b = v1.get_variable("b", [2], use_resource=False, initializer=v1.constant_initializer([10., 20.]))
        y = tf.matmul(tf.matmul(x, w), tf.concat(list(part), 0)) + b
        path = tf.constant(vocabulary)
        v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, path)
        table = v1.lookup.StaticHashTable(v1.lookup.TextFileInitializer(path, tf.string, -2, tf.int64, -1), -1)
        ids = table.lookup(key)
        sparse = v1.sparse_placeholder(tf.float32, name="sparse")
        total = tf.sparse.reduce_sum(sparse)
        with v1.Session() as sess:
            sess.run([v1.global_variables_initializer(), v1.tables_initializer()])
            builder = v1.saved_model.Builder(directory)
            builder.add_meta_graph_and_variables(
                sess, ["serve"], {
                    "serving_default": v1.saved_model.predict_signature_def({"x": x}, {"y": y}),
                    "lookup": v1.saved_model.predict_signature_def({"key": key}, {"ids": ids}),
                    "sparse": v1.saved_model.predict_signature_def({"sparse": sparse}, {"total": total})},
                assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS), main_op=v1.tables_initializer())
            builder.save()
            return {"y": encoded(sess.run(y, {x: [[1., 2., 3.]]})),
                    "ids": encoded(sess.run(ids, {key: ["b", "c", "a"]}))}


def keras3(directory):
    import keras
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(5, activation="gelu"),
                              keras.layers.BatchNormalization(), keras.layers.Dropout(0.5), keras.layers.Dense(2)])
    model.export(directory, verbose=False)
    x = np.linspace(-1, 1, 12).reshape(3, 4).astype(np.float32)
    return {"x": encoded(x), "y": encoded(model(x))}


def sharded(directory):
    """A checkpoint of tf.compat.v1.train.Saver: sharded over devices, partitioned, of several types."""
    v1 = tf.compat.v1
    os.makedirs(directory)
    with tf.Graph().as_default():
        with tf.device("/cpu:0"):
            a = v1.get_variable("a", initializer=np.arange(6, dtype=np.float32).reshape(2, 3), use_resource=False)
        with tf.device("/cpu:1"):
            v1.get_variable("b", initializer=tf.constant(["x", "yz"]), use_resource=False)
            part = v1.get_variable("part", [6, 2], partitioner=v1.fixed_size_partitioner(3), use_resource=False,
                                   initializer=v1.random_uniform_initializer(seed=2))
            v1.get_variable("h", initializer=tf.constant([1.5, 2.5], tf.bfloat16), use_resource=False)
            v1.get_variable("e", initializer=np.zeros((0, 2), np.float32), use_resource=True)
        with v1.Session(config=v1.ConfigProto(device_count={"CPU": 2})) as sess:
            sess.run(v1.global_variables_initializer())
            v1.train.Saver(sharded=True).save(sess, os.path.join(directory, "model"), global_step=7)
            v1.train.Saver([a], write_version=v1.train.SaverDef.V1).save(sess, os.path.join(directory, "old"),
                                                                        write_meta_graph=False, write_state=False)
            return {"files": sorted(os.listdir(directory)), "part": encoded(sess.run(part.as_tensor()))}


def objects(directory):
    """A checkpoint of tf.train.Checkpoint."""
    model = tf.Module()
    model.v = tf.Variable([1., 2.])
    model.parts = [tf.Variable(3.), {"k": tf.Variable(4.)}]
    checkpoint = tf.train.Checkpoint(model, step=tf.Variable(5, dtype=tf.int64))
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=2)
    for _ in range(3):
        manager.save()
    return {"latest": os.path.basename(manager.latest_checkpoint)}


def main():
    root = tempfile.mkdtemp()
    for make in (signatures, tables, gradients, structures, types, version1, keras3, sharded, objects):
        answers[make.__name__] = make(os.path.join(root, make.__name__))
        print(make.__name__, file=sys.stderr)
    with open(os.path.join(root, "answers.json"), "w") as f:
        json.dump({"tensorflow": tf.__version__, "answers": answers}, f, indent=1)
    with tarfile.open(os.path.join(HERE, "files.tar.xz"), "w:xz") as archive:
        for name in sorted(os.listdir(root)):
            archive.add(os.path.join(root, name), name)
    shutil.rmtree(root)


if __name__ == "__main__":
    main()
