"""tf.saved_model.load: models that TensorFlow and Penstock wrote give what they gave before."""
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from google.protobuf import text_format

sys.path.insert(0, str(Path(__file__).parent))

import penstock.v1 as v1  # noqa: E402  (first: the process' behaviour stays version 1's)
import penstock as tf  # noqa: E402
import recorded_models  # noqa: E402
from penstock._src.graph import context  # noqa: E402
from penstock._src.function import defun as v1_function  # noqa: E402
from penstock.proto import graph_pb2  # noqa: E402
from penstock._src.saved_model import fingerprinting  # noqa: E402
from penstock._src.saved_model import loader_impl  # noqa: E402
from penstock._src.data import nested_structure_coder  # noqa: E402
from tensorflow_files import check, files  # noqa: E402

X = [[1., 2.], [3., 4.]]


@pytest.fixture(autouse=True, scope="module")
def eager():
    with context.eager_mode():
        yield


@pytest.fixture(scope="module", params=["tensorflow", "penstock", "again"])
def saved(request, tmp_path_factory):
    """A function from a model's name to (its directory, what it answers)."""
    directory, answers = files()
    made = {}

    def get(name):
        if request.param == "tensorflow":
            return str(directory / name), answers[name]
        if name not in made:
            path = str(tmp_path_factory.mktemp("models") / name)
            if request.param == "again":  # loaded and saved once more
                loaded = tf.saved_model.load(str(directory / name))
                tf.saved_model.save(loaded, path, signatures=dict(loaded.signatures))
                made[name] = path, answers[name]
            else:
                made[name] = path, recorded_models.maker(name)(path)
                check_same(made[name][1], answers[name])
        return made[name]

    return get


def check_same(ours, theirs):
    """Penstock answers as TensorFlow did, before anything is saved."""
    if isinstance(theirs, dict):
        assert set(ours) == set(theirs)
        for key, value in theirs.items():
            check_same(ours[key], value)
    elif isinstance(theirs, list) and theirs and isinstance(theirs[0], str):
        assert ours == theirs
    elif isinstance(theirs, list):
        np.testing.assert_equal(np.shape(ours), np.shape(theirs)) if not any(
            isinstance(x, list) for x in theirs) else None
        for a, b in zip(ours, theirs):
            check_same(a, b)
    else:
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_functions_and_signatures(saved):
    path, answers = saved("signatures")
    model = tf.saved_model.load(path)
    x = tf.constant(X)
    check(model.serve(x), answers["serve"])
    check(model.signatures["serving_default"](inputs=x), answers["serve"])
    check(model.signatures["serving_default"](x), answers["serve"])
    check(model.signatures["loop"](n=tf.constant(7))["output_0"], answers["loop"])
    check(model.loop(7), answers["loop"])
    check(model.inner(x), answers["inner"])
    check(model.inner(x, double=True), answers["double"])
    check(model.nested((x, (x,))), answers["nested"])
    check(model.nested((x, (x,)), 3.0, more={"x": x}), answers["more"])
    with pytest.raises(ValueError, match="Could not find matching concrete function"):
        model.inner(tf.constant([1.]))
    assert model.parts[1]["b"][0].numpy() == 3. and isinstance(model.parts, list) and isinstance(model.parts[1], dict)
    assert model.bias.trainable and not model.count.trainable
    count = model.count.numpy()
    model.serve(x)
    assert model.count.numpy() == count + 1
    model.bias.assign([100., 0.])
    np.testing.assert_array_equal(model.serve(x)["scores"].numpy(), [[1, 0], [1, 0]])
    other = tf.saved_model.load(path)
    assert other.count.numpy() == 0  # each load has variables of its own


def test_tables_and_files(saved, tmp_path):
    path, answers = saved("tables")
    moved = str(tmp_path / "moved")
    shutil.copytree(path, moved)
    model = tf.saved_model.load(moved)
    check(model.find(tf.constant(["two", "k", "none", "one"])), answers["find"])
    assert model.contents().numpy() == b"one\ntwo\nthree\n"
    with v1.Session(graph=v1.Graph()) as sess:
        meta_graph = v1.saved_model.load(sess, ["serve"], moved)
        signature = meta_graph.signature_def["serving_default"]
        found = sess.run({key: info.name for key, info in signature.outputs.items()},
                         {signature.inputs["keys"].name: ["two", "k", "none", "one"]})
        assert list(found["ids"]) == answers["find"]["ids"]
        assert list(found["changing"]) == answers["find"]["changing"]


def test_gradients(saved):
    path, answers = saved("gradients")
    model = tf.saved_model.load(path)
    x = tf.constant([1., 2.])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        f, g = model.f(x), model.g(x)
    check(f, answers["f"])
    check(tape.gradient(f, x), answers["df"])  # 7, as the program says, not 2
    check(tape.gradient(f, model.v), answers["dv"])
    check(tape.gradient(g, x), answers["gx"])
    check(tape.gradient(g, model.v), answers["gv"])
    # The program's gradient is in the file too: another process has no other.
    library = loader_impl.parse_saved_model(path).meta_graphs[0].graph_def.library
    names = {function.signature.name for function in library.function}
    assert library.registered_gradients
    used = {node.attr["_gradient_op_type"].s.decode() for function in library.function for node in function.node_def
            if "_gradient_op_type" in node.attr}
    for gradient in library.registered_gradients:
        assert gradient.gradient_func in names and gradient.registered_op_type in used


def test_composite_arguments(saved):
    model = tf.saved_model.load(saved("structures")[0])
    ragged = model.ragged(tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 1, 3]))
    assert ragged.to_list() == [[2], [3, 4]]
    assert model.sparse(tf.SparseTensor([[0, 1]], [3.], [1, 2])).numpy().tolist() == [[0, 6]]


def test_types(saved):
    path, answers = saved("types")
    model = tf.saved_model.load(path)
    for name, expected in answers.items():
        value = getattr(model, name)
        check(tf.cast(value, tf.float32) if name in ("bfloat16", "half", "bool") else value.read_value(), expected)
    assert model.complex.numpy() == 1 + 2j and model.empty.shape == (0, 3) and model.bfloat16.dtype == tf.bfloat16


def test_session(saved):
    """A loader of version 1 takes a model of version 2."""
    path, answers = saved("signatures")
    with v1.Session(graph=v1.Graph()) as sess:
        meta_graph = v1.saved_model.load(sess, ["serve"], path)
        for key, feed, expected in (("serving_default", {"inputs": X}, answers["serve"]),
                                    ("loop", {"n": 7}, {"output_0": answers["loop"]})):
            signature = meta_graph.signature_def[key]
            found = sess.run({name: info.name for name, info in signature.outputs.items()},
                             {info.name: feed[name] for name, info in signature.inputs.items()})
            for name, value in expected.items():
                np.testing.assert_allclose(found[name], value, rtol=1e-5)


def test_keras():
    directory, answers = files()
    model = tf.saved_model.load(str(directory / "keras3"))
    x = tf.constant(answers["keras3"]["x"], tf.float32)
    check(model.serve(x), answers["keras3"]["y"])
    check(next(iter(model.signatures["serving_default"](x).values())), answers["keras3"]["y"])
    assert len(model.trainable_variables) == 6


def test_version_1_model():
    directory, answers = files()
    model = tf.saved_model.load(str(directory / "version1"))
    check(model.signatures["serving_default"](tf.constant([[1., 2., 3.]]))["y"], answers["version1"]["y"])
    check(model.signatures["lookup"](key=tf.constant(["b", "c", "a"]))["ids"], answers["version1"]["ids"])
    sparse = model.signatures["sparse"](
        sparse_indices=tf.constant([[0, 1], [1, 0]], tf.int64), sparse_values=tf.constant([1., 2.]),
        sparse_dense_shape=tf.constant([2, 2], tf.int64))
    assert sparse["total"].numpy() == 3
    pruned = model.prune("x:0", "add:0")
    check(pruned(tf.constant([[1., 2., 3.]])), answers["version1"]["y"])
    with pytest.raises(RuntimeError, match="could not be found in SavedModel"):
        tf.saved_model.load(str(directory / "version1"), tags=["train"])


def test_version_1_functions(tmp_path):
    """Functions that a graph of version 1 calls by their names, and that call others so."""
    @v1_function.Defun(v1.float32)
    def square(x):
        return x * x

    @v1_function.Defun(v1.float32)
    def twice(x):
        return square(x) * 2.0

    with v1.Graph().as_default(), v1.Session() as sess:
        x = v1.placeholder(v1.float32, [None])
        v1.saved_model.simple_save(sess, str(tmp_path / "model"), {"x": x}, {"y": twice(x)})
    # As TensorFlow's functions and calls of them say, whose version 2 fails without.
    graph_def = loader_impl.parse_saved_model(str(tmp_path / "model")).meta_graphs[0].graph_def
    calls = [node for node in graph_def.node if node.op.startswith("twice_")]
    assert calls and all(what.attr["_disable_call_shape_inference"].b for what in [*graph_def.library.function, *calls])
    model = tf.saved_model.load(str(tmp_path / "model"))
    again = str(tmp_path / "again")
    tf.saved_model.save(model, again, signatures=dict(model.signatures))
    for loaded in (model, tf.saved_model.load(again)):
        assert loaded.signatures["serving_default"](x=tf.constant([3.0]))["y"].numpy().tolist() == [18.0]


def test_aliases_and_tags():
    directory, _ = files()
    path = str(directory / "signatures")
    model = tf.saved_model.load(path, options=tf.saved_model.LoadOptions(experimental_load_function_aliases=True))
    check(model.function_aliases["alias"](tf.constant(X)), files()[1]["signatures"]["serve"])
    tf.saved_model.load(path, tags="serve")
    with pytest.raises(ValueError, match="incompatible argument to `tags`"):
        tf.saved_model.load(path, tags=["train"])
    with pytest.raises(OSError, match="does not exist"):
        tf.saved_model.load(str(directory / "nothing"))
    assert tf.saved_model.contains_saved_model(path) and not tf.saved_model.contains_saved_model(str(directory))


def test_without_checkpoint(tmp_path):
    directory, _ = files()
    path = str(tmp_path / "m")
    shutil.copytree(directory / "types", path)
    shutil.rmtree(os.path.join(path, "variables"))
    with pytest.raises(FileNotFoundError, match="no checkpoint of them"):
        tf.saved_model.load(path)
    model = tf.saved_model.load(path, options=tf.saved_model.LoadOptions(experimental_skip_checkpoint=True))
    with pytest.raises(tf.errors.FailedPreconditionError):
        model.float.read_value()


def test_fingerprints(saved):
    path, _ = saved("signatures")
    found = tf.saved_model.experimental.read_fingerprint(path)
    with open(os.path.join(path, "variables", "variables.index"), "rb") as f:
        assert found.checkpoint_hash == fingerprinting._hash(f.read())
    meta_graph = loader_impl.parse_saved_model(path).meta_graphs[0]
    assert found.signature_def_hash == fingerprinting._hash_of_signatures(meta_graph.signature_def)
    assert found.saved_object_graph_hash == fingerprinting._hash_of_functions(
        meta_graph.object_graph_def.concrete_functions)
    assert found.singleprint().count("/") == 3


def test_the_hash_of_a_graph_is_tensorflows():
    graph_def = text_format.Parse("""
        node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_STRING } }
               attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape {} string_val: "x" } } } }
        node { name: "p" op: "PartitionedCall" input: "c"
               attr { key: "f" value { func { name: "__inference_f_12" } } }
               attr { key: "config_proto" value { s: "abc" } } }
        versions { producer: 7 }
        library { function { signature { name: "__inference_f_12" } } }""", graph_pb2.GraphDef())
    assert fingerprinting._hash_of_graph(graph_def) == 4845784036647092038


@pytest.mark.parametrize("value", [
    None, 3, -1.5, True, "text", [1, (2,)], {"a": [None]}, tf.float16, tf.TensorShape([None, 2]), tf.TensorShape(None),
    tf.TensorSpec([None], tf.int8, "name"), tf.RaggedTensorSpec([None, None], tf.int32),
    tf.SparseTensorSpec([2, None], tf.string), (tf.TensorSpec(None), {"k": 0})])
def test_structures(value):
    message = nested_structure_coder.encode_structure(value)
    decoded = nested_structure_coder.decode_proto(type(message).FromString(message.SerializeToString()))
    assert repr(decoded) == repr(value)


def test_structures_that_have_no_message():
    with pytest.raises(nested_structure_coder.NotEncodableError, match="No encoder for object"):
        nested_structure_coder.encode_structure([object()])
    assert not nested_structure_coder.can_encode({1: 2}) and nested_structure_coder.can_encode({"1": 2})


def test_a_placeholder_that_a_signature_does_not_name(tmp_path):
    with v1.Graph().as_default(), v1.Session() as sess:
        y = v1.placeholder(v1.float32, [], name="x") * 2.0
        builder = v1.saved_model.Builder(str(tmp_path / "m"))
        builder.add_meta_graph_and_variables(sess, ["serve"], {"key": v1.saved_model.build_signature_def(
            {}, {"y": v1.saved_model.build_tensor_info(y)}, "method")})
        builder.save()
    with pytest.raises(Exception, match="(?s)signature needs an input for each placeholder.*Unable to lift tensor.*x"):
        tf.saved_model.load(str(tmp_path / "m"))


def test_a_reference_variable_as_a_result(tmp_path):
    with v1.Graph().as_default(), v1.Session() as sess:
        v = v1.get_variable("v", initializer=3.0, use_resource=False)
        x = v1.placeholder(v1.float32, [], name="x")
        sess.run(v.initializer)
        v1.saved_model.simple_save(sess, str(tmp_path / "m"), {"x": x}, {"v": v, "y": x + v})
    found = tf.saved_model.load(str(tmp_path / "m")).signatures["serving_default"](x=tf.constant(1.0))
    assert found["v"].numpy() == 3 and found["y"].numpy() == 4


def test_what_loaded_functions_give_is_told_by_specs(tmp_path):
    """As 2.21 names them, by their places."""
    x = tf.TensorSpec([None], tf.int32, "x")
    module = tf.Module()
    module.one = tf.function(lambda x: x + 1, input_signature=[x])
    module.several = tf.function(lambda x: [x, (x + 1, {"k": x})], input_signature=[x])
    module.named = tf.function(lambda x: {"a": x, "b": (x, [x])}, input_signature=[x])
    tf.saved_model.save(module, str(tmp_path / "first"), signatures=module.one)
    loaded = tf.saved_model.load(str(tmp_path / "first"))
    tf.saved_model.save(loaded, str(tmp_path / "second"))

    def spec(name):
        return tf.TensorSpec([None], tf.int32, name)

    for model in loaded, tf.saved_model.load(str(tmp_path / "second")):
        one, several, named = (f.concrete_functions[0] for f in (model.one, model.several, model.named))
        assert one.structured_outputs == spec("unknown") and one.output_shapes.as_list() == [None]
        assert several.structured_outputs == [spec("tensor_0"), (spec("tensor_1_0"), {"k": spec("tensor_1_1_k")})]
        assert named.structured_outputs == {"a": spec("a"), "b": (spec("b_0"), [spec("b_1_0")])}
        assert model.named(tf.constant([3]))["b"][1][0].numpy().tolist() == [3]
    assert loaded.signatures["serving_default"].structured_outputs == {"output_0": spec("output_0")}


def test_damage_is_told_as_such(tmp_path):
    model = tf.Module()
    model.f = tf.function(lambda x: x + 1., [tf.TensorSpec([], tf.float32)])
    tf.saved_model.save(model, str(tmp_path))
    path = tmp_path / "saved_model.pb"
    whole = path.read_bytes()
    for text, wrong in ((b"__inference_lambda", b"__interference_l"), (b"varkw", b"warkw")):
        at = whole.find(text)
        while at >= 0:
            wrong = wrong.ljust(len(text), b"_")
            path.write_bytes(whole[:at] + wrong + whole[at + len(text):])
            try:
                tf.saved_model.load(str(tmp_path))
            except (ValueError, OSError, tf.errors.OpError) as e:
                assert str(e)
            at = whole.find(text, at + 1)
