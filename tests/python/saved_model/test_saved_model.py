"""SavedModels: what the builder writes, the loader gives back."""
import os

import pytest

import penstock.v1 as tf
from penstock._src.base import tf2
from penstock._src.saved_model import loader_impl
from penstock._src.saved_model.model_utils import export_output, export_utils, mode_keys


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def build(directory, assets=None, **kwargs):
    x = tf.placeholder(tf.float32, [None], name="x")
    w = tf.get_variable("w", initializer=2.0)
    y = tf.multiply(x, w, name="y")
    signature = tf.saved_model.predict_signature_def({"x": x}, {"y": y})
    builder = tf.saved_model.Builder(str(directory))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        builder.add_meta_graph_and_variables(sess, ["serve"], {"serving_default": signature},
                                             assets_collection=assets, saver=tf.train.Saver(), **kwargs)
    return builder


def load(directory, tags=("serve",), **kwargs):
    sess = tf.Session(graph=tf.Graph())
    return sess, tf.saved_model.load(sess, list(tags), str(directory), **kwargs)


@pytest.mark.parametrize("as_text", [False, True])
def test_builder_and_loader(tmp_path, as_text):
    path = build(tmp_path / "m").save(as_text)
    assert os.path.basename(path).decode() == ("saved_model.pbtxt" if as_text else "saved_model.pb")
    assert tf.saved_model.contains_saved_model(str(tmp_path / "m"))
    sess, meta_graph = load(tmp_path / "m")
    signature = meta_graph.signature_def["serving_default"]
    assert tf.saved_model.is_valid_signature(signature)
    with sess:
        assert list(sess.run(signature.outputs["y"].name, {signature.inputs["x"].name: [1, 3]})) == [2, 6]
    sess, _ = load(tmp_path / "m", import_scope="in")
    with sess:
        assert list(sess.run("in/y:0", {"in/x:0": [1, 3]})) == [2, 6]
    with pytest.raises(RuntimeError, match="could not be found in SavedModel"):
        load(tmp_path / "m", ["train"])
    with pytest.raises(AssertionError, match="isn't empty"):
        tf.saved_model.Builder(str(tmp_path / "m"))


def test_defaults_are_left_out_and_filled_in(tmp_path):
    build(tmp_path / "m", strip_default_attrs=True).save()
    message = loader_impl.parse_saved_model(str(tmp_path / "m"))

    def variable(graph_def):
        return next(node for node in graph_def.node if node.name == "w")

    assert "container" not in variable(message.meta_graphs[0].graph_def).attr
    _, meta_graph = load(tmp_path / "m")
    assert variable(meta_graph.graph_def).attr["container"].s == b""
    assert "container" in variable(meta_graph.graph_def).attr


def test_simple_save(tmp_path):
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.Session() as sess:
        tf.saved_model.simple_save(sess, str(tmp_path / "m"), {"x": x}, {"y": x + 1})
    sess, meta_graph = load(tmp_path / "m")
    with sess:
        assert sess.run(meta_graph.signature_def["serving_default"].outputs["y"].name, {"x:0": 4}) == 5


def test_assets_and_the_main_op(tmp_path):
    for folder, text in ("a", "one"), ("b", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "words.txt").write_text(text)
    contents = tf.get_variable("contents", initializer=["", ""], trainable=False)
    paths = [tf.constant(str(tmp_path / folder / "words.txt")) for folder in "ab"]
    for path in paths:
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, path)
    read = contents.assign([tf.read_file(path) for path in paths]).op
    build(tmp_path / "m", tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS), main_op=read).save()
    assert sorted(os.listdir(tmp_path / "m" / "assets")) == ["words.txt", "words.txt_1"]
    sess, _ = load(tmp_path / "m")
    with sess:
        assert list(sess.run("contents:0")) == [b"one", b"two"]


def test_an_asset_cannot_leave_its_directory(tmp_path):
    build(tmp_path / "m").save()
    message = loader_impl.parse_saved_model(str(tmp_path / "m"))
    asset = message.meta_graphs[0].asset_file_def.add()
    asset.filename, asset.tensor_info.name = "../../secret", "x:0"
    (tmp_path / "m" / "saved_model.pb").write_bytes(message.SerializeToString())
    with pytest.raises(ValueError, match="outside of its assets"):
        load(tmp_path / "m")


def test_damaged_files(tmp_path):
    with pytest.raises(IOError, match="does not exist"):
        load(tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"\xff\xff\xff")
    with pytest.raises(IOError, match="Cannot parse file"):
        load(tmp_path)


def test_signatures_are_checked(tmp_path):
    x = tf.placeholder(tf.float32, [])
    with pytest.raises(ValueError, match="must be a string Tensor"):
        tf.saved_model.regression_signature_def(x, x)
    with pytest.raises(ValueError, match="cannot be None or empty"):
        tf.saved_model.predict_signature_def({}, {"y": x})
    strings = tf.placeholder(tf.string, [None])
    assert tf.saved_model.is_valid_signature(tf.saved_model.classification_signature_def(strings, strings, None))
    assert not tf.saved_model.is_valid_signature(tf.saved_model.build_signature_def(method_name="other"))
    with tf.Session() as sess, pytest.raises(AssertionError, match="must have the dtype field set"):
        info = tf.saved_model.build_tensor_info(x)
        info.ClearField("dtype")
        signature = tf.saved_model.build_signature_def({"x": info}, {})
        tf.saved_model.Builder(str(tmp_path / "m")).add_meta_graph_and_variables(sess, [], {"s": signature})


def test_infos_of_ragged_tensors():
    utils = tf.saved_model.utils
    with tf.Graph().as_default(), tf.Session() as sess:
        ragged = tf.ragged.constant([[1, 2], [3]])
        info = utils.build_tensor_info(ragged)
        assert [part.name for part in info.composite_tensor.components] == [ragged.flat_values.name,
                                                                            ragged.row_splits.name]
        again = utils.get_tensor_from_tensor_info(info)
        assert sess.run(again).to_list() == [[1, 2], [3]]


def test_modes_in_the_words_of_keras_and_of_estimators():
    modes = mode_keys.ModeKeyMap(predict=3, test=1)
    assert modes["infer"] == modes["predict"] == 3 and modes["eval"] == 1 and list(modes) == ["predict", "test"]
    with pytest.raises(KeyError):
        modes["train"]
    with pytest.raises(ValueError, match="Invalid mode"):
        modes["serve"]
    with pytest.raises(ValueError, match="Multiple keys/values"):
        mode_keys.ModeKeyMap(predict=3, infer=1)
    assert export_utils.SIGNATURE_KEY_MAP["eval"] == export_utils.SIGNATURE_KEY_MAP["test"] == "eval"


def test_the_version_is_that_of_the_api(tmp_path):
    with tf.Session():
        tf.saved_model.save(tf.Module(), str(tmp_path))
    assert loader_impl.parse_saved_model(str(tmp_path)).meta_graphs[0].meta_info_def.tensorflow_version == "1.15.5"


def test_defaults_of_a_signature_are_constants():
    signature = tf.saved_model.build_signature_def(defaults={"w": tf.constant([1., 2.])})
    assert tf.make_ndarray(signature.defaults["w"]).tolist() == [1., 2.]
    with pytest.raises(ValueError, match="Unable to convert object"):
        tf.saved_model.build_signature_def(defaults={"w": tf.placeholder(tf.float32)})


def test_signatures_that_read_what_is_not_fed_are_left_out_in_version_two(monkeypatch):
    x, other = tf.placeholder(tf.float32, name="x"), tf.placeholder(tf.float32, name="other")
    outputs = {"whole": export_output.PredictOutput({"y": x + 1.}),
               "lacking": export_output.PredictOutput({"y": x + other})}
    made = export_utils.build_all_signature_defs({"x": x}, outputs, {"both": {"x": x, "other": other}})
    assert set(made) == {"whole", "lacking", "both:whole", "both:lacking"}
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    made = export_utils.build_all_signature_defs({"x": x}, outputs, {"both": {"x": x, "other": other}})
    assert set(made) == {"whole", "both:whole", "both:lacking"}
