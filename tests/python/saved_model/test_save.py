"""tf.saved_model.save: what it refuses and notes, and that TensorFlow runs what it writes."""
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import penstock.v1 as v1  # noqa: E402  (first: the process' behaviour stays version 1's)
import penstock as tf  # noqa: E402
import recorded_models  # noqa: E402
from penstock._src.graph import context  # noqa: E402
from penstock._src.saved_model import loader_impl  # noqa: E402
from tensorflow_files import run_tensorflow  # noqa: E402


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


class Doubler(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable(2.)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def call(self, x):
        return x * self.v


def save(path, obj, *args, **kwargs):
    tf.saved_model.save(obj, str(path), *args, **kwargs)
    return loader_impl.parse_saved_model(str(path)).meta_graphs[0]


def test_the_only_function_becomes_the_signature(tmp_path):
    meta_graph = save(tmp_path, Doubler())
    assert set(meta_graph.signature_def) == {"serving_default", "__saved_model_init_op"}
    signature = meta_graph.signature_def["serving_default"]
    assert signature.inputs["x"].name == "serving_default_x:0"
    assert list(signature.outputs) == ["output_0"] and signature.method_name == "tensorflow/serving/predict"
    assert list(meta_graph.meta_info_def.tags) == ["serve"]


def test_options(tmp_path):
    model = Doubler()
    meta_graph = save(tmp_path / "a", model, signatures={}, options=tf.saved_model.SaveOptions(
        function_aliases={"twice": model.call}, extra_tags=["more"], experimental_skip_saver=True,
        experimental_variable_policy="save_variable_devices"))
    assert list(meta_graph.meta_info_def.tags) == ["serve", "more"]
    assert list(meta_graph.meta_info_def.function_aliases.values()) == ["twice"]
    assert not meta_graph.HasField("saver_def")
    assert set(meta_graph.signature_def) == {"__saved_model_init_op"}
    with pytest.raises(ValueError, match="invalid VariablePolicy"):
        tf.saved_model.SaveOptions(experimental_variable_policy="all")


def test_values_are_spread_over_files_as_asked(tmp_path):
    model = tf.Module()
    model.v, model.w = tf.Variable([1., 2.]), tf.Variable(3.)
    policy = tf.train.experimental.MaxShardSizePolicy(max_shard_size=4)
    save(tmp_path, model, options=tf.saved_model.SaveOptions(experimental_sharding_callback=policy))
    assert len(list((tmp_path / "variables").glob("variables.data*"))) >= 3
    loaded = tf.saved_model.load(str(tmp_path))
    assert (loaded.v.numpy() == [1., 2.]).all() and loaded.w.numpy() == 3.


def test_assertions_and_printing_are_stripped_if_asked(tmp_path):
    model = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def f(x):
        tf.debugging.Assert(x > 0., [x])
        tf.print("x", x)
        return tf.debugging.check_numerics(x, "bad") + 1.

    model.f = f
    options = tf.saved_model.SaveOptions(experimental_debug_stripper=True)
    meta_graph = save(tmp_path, model, options=options)
    used = {node.op for function in meta_graph.graph_def.library.function for node in function.node_def}
    assert not used & {"Assert", "PrintV2", "CheckNumerics"} and {"NoOp", "Identity"} <= used
    assert tf.saved_model.load(str(tmp_path)).f(-1.).numpy() == 0.


def test_a_file_tells_where_nodes_were_made(tmp_path):
    model = tf.Module()
    model.f = tf.function(lambda x: tf.multiply(2., x, name="doubled"), [tf.TensorSpec([], tf.float32)])
    save(tmp_path, model, options=tf.saved_model.SaveOptions(save_debug_info=True))
    info = tf.saved_model.load(str(tmp_path)).graph_debug_info
    trace, = (trace for name, trace in info.name_to_trace_id.items() if name.startswith("doubled@"))
    frame = info.frames_by_id[info.traces_by_id[trace].frame_id[0]]
    assert info.files[frame.file_index] == __file__ and "doubled" in open(__file__).readlines()[frame.line - 1]


def test_functions_may_refuse_to_be_saved(tmp_path):
    model = tf.Module()

    @tf.function(input_signature=[])
    def inner():
        v1.get_default_graph().mark_as_unsaveable("of this process only")
        return 1.

    model.f = tf.function(lambda: inner(), [])
    with pytest.raises(ValueError, match="Unable to save function.*\n.*of this process only"):
        save(tmp_path, model)


def test_default_of_an_argument(tmp_path):
    model = tf.Module()
    default = tf.constant(5.)
    model.f = tf.function(lambda x=default: x + 1., input_signature=[tf.TensorSpec([], tf.float32, name="x")])
    meta_graph = save(tmp_path, model, signatures={"f": model.f})
    assert meta_graph.signature_def["f"].defaults["x"].float_val[0] == 5
    with v1.Session(graph=v1.Graph()) as sess:
        loaded = v1.saved_model.load(sess, ["serve"], str(tmp_path))
        assert sess.run(loaded.signature_def["f"].outputs["output_0"].name) == 6


def test_refused(tmp_path):
    model = Doubler()
    with pytest.raises(ValueError, match="Expected an object of type `Trackable`"):
        tf.saved_model.save(3, str(tmp_path / "m"))
    with pytest.raises(ValueError, match="Expected a TensorFlow function"):
        tf.saved_model.save(model, str(tmp_path / "m"), signatures=lambda x: x)
    model.signatures = tf.Module()
    with pytest.raises(ValueError, match="reserved attribute"):
        tf.saved_model.save(model, str(tmp_path / "m"))
    outside = tf.Variable(1.)
    model = tf.Module()
    model.f = tf.function(lambda x: x + outside, input_signature=[tf.TensorSpec([], tf.float32)])
    with pytest.raises(AssertionError, match="'untracked' resource"):
        tf.saved_model.save(model, str(tmp_path / "m"))
    assert not (tmp_path / "m").exists()


def test_custom_gradient_that_captures(tmp_path):
    model = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def f(x):
        squared = x * x

        @tf.custom_gradient
        def odd(y):
            return y * 2., lambda dy: dy * squared
        return odd(x + 1.)

    model.f = f
    tf.saved_model.save(model, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    x = tf.constant(3.)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loaded.f(x)
    assert y.numpy() == 8 and tape.gradient(y, x).numpy() == 9


PROGRAM = """
import json, sys
import numpy as np
import tensorflow as tf
out = {}
root = sys.argv[1]
x = tf.constant([[1., 2.], [3., 4.]])
def encoded(v):
    if isinstance(v, dict):
        return {k: encoded(p) for k, p in v.items()}
    v = np.asarray(v.numpy())
    return [str(t, "latin-1") for t in v.ravel()] if v.dtype.kind in "OS" else v.tolist()
m = tf.saved_model.load(root + "/signatures")
out["signatures"] = {"serve": encoded(m.serve(x)), "again": encoded(m.signatures["serving_default"](inputs=x)),
    "loop": encoded(m.loop(7)), "inner": encoded(m.inner(x)), "double": encoded(m.inner(x, double=True)),
    "part": encoded(m.parts[1]["b"][0])}
m = tf.saved_model.load(root + "/tables")
out["tables"] = {"find": encoded(m.find(tf.constant(["two", "k", "none", "one"]))), "contents": encoded(m.contents())}
m = tf.saved_model.load(root + "/gradients")
g = tf.constant([1., 2.])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(g)
    f, s = m.f(g), m.g(g)
out["gradients"] = {"f": encoded(f), "df": encoded(tape.gradient(f, g)), "gv": encoded(tape.gradient(s, m.v))}
m = tf.saved_model.load(root + "/types")
out["types"] = {k: encoded(tf.cast(getattr(m, k), tf.float32) if k in ("bfloat16", "half") else
    getattr(m, k).read_value()) for k in ("float", "double", "empty", "int8", "uint16", "scalar", "string", "bfloat16")}
m = tf.saved_model.load(root + "/structures")
out["structures"] = {"ragged": encoded(m.ragged(tf.ragged.constant([[1], [2, 3]])).flat_values)}
v1 = tf.compat.v1
with v1.Session(graph=tf.Graph()) as sess:
    signature = v1.saved_model.load(sess, ["serve"], root + "/tables").signature_def["serving_default"]
    found = sess.run(signature.outputs["ids"].name, {signature.inputs["keys"].name: ["two", "one"]})
    out["session"] = found.tolist()
print(json.dumps(out))
"""


def compare(value, wanted):
    if isinstance(value, dict):
        for key, part in value.items():
            compare(part, wanted[key])
    elif np.asarray(value).dtype.kind == "U":
        assert value == wanted
    else:
        np.testing.assert_allclose(value, np.reshape(wanted, np.shape(value)), rtol=1e-5)


def test_tensorflow_runs_it(tmp_path):
    answers = {}
    for name in ("signatures", "tables", "gradients", "types", "structures"):
        answers[name] = recorded_models.maker(name)(os.path.join(str(tmp_path), name))
    found = json.loads(run_tensorflow(PROGRAM, tmp_path).splitlines()[-1])
    assert found["session"] == [1, 0] and found["signatures"].pop("part") == 3
    np.testing.assert_allclose(found["signatures"].pop("again")["scores"], answers["signatures"]["serve"]["scores"])
    for name, parts in found.items():
        for key, value in parts.items() if isinstance(parts, dict) else ():
            wanted = answers[name][key]
            compare(value, wanted)


def test_a_dense_table(tmp_path):
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1., empty_key=-1, deleted_key=-2)
            self.table.insert(tf.constant([1, 5], tf.int64), tf.constant([10., 50.]))

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
        def find(self, keys):
            return self.table.lookup(keys)

    meta_graph = save(tmp_path, Model())
    # Who restores the table does not export it, and takes tensors of any shape: TensorFlow traces the function again.
    restoring, = (f for f in meta_graph.graph_def.library.function
                  if f.signature.name.startswith("__inference_restore_"))
    assert not any(node.op == "LookupTableExportV2" for node in restoring.node_def)
    signature = meta_graph.object_graph_def.concrete_functions[restoring.signature.name].canonicalized_input_signature
    specs = signature.tuple_value.values[0].tuple_value.values
    assert [value.tensor_spec_value.shape.unknown_rank for value in specs] == [True, True]
    # They are traces, not functions that could be traced again: TensorFlow saves the loaded model again.
    nodes = meta_graph.object_graph_def.nodes
    assert {nodes[number].WhichOneof("kind") for node in nodes for saved in node.saveable_objects.values()
            for number in (saved.save_function, saved.restore_function)} == {"bare_concrete_function"}
    found = tf.saved_model.load(str(tmp_path)).find(tf.constant([5, 2, 1], tf.int64))
    assert found.numpy().tolist() == [50., -1., 10.]


def test_parts_in_plain_lists_and_dictionaries(tmp_path):
    class Layers(tf.Module):
        """As Keras 3 does it: collections of its own, told as plain ones."""

        def _trackable_children(self, save_type="checkpoint", **kwargs):
            found = super()._trackable_children(save_type, **kwargs)
            if save_type == "savedmodel":
                found |= {"listed": list(self.hidden[0]), "named": dict(self.hidden[1])}
            return found

        @tf.function(input_signature=[tf.TensorSpec([])])
        def total(self, x):
            return x + self.hidden[0][0] * self.hidden[1]["b"]

    with context.eager_mode():
        model = Layers()
        hidden = ([tf.Variable(2.0)], {"b": tf.Variable(5.0)})
        object.__setattr__(model, "hidden", hidden)
        tf.saved_model.save(model, str(tmp_path))
        loaded = tf.saved_model.load(str(tmp_path))
        assert loaded.total(tf.constant(1.0)).numpy() == 11
        assert loaded.listed[0].numpy() == 2 and loaded.named["b"].numpy() == 5
