"""arg_scope and HParams."""
import pytest

import penstock.v1 as tf
from penstock._src.distribute.tpu import tpu_function

arg_scope = tf.contrib.framework.arg_scope
add_arg_scope = tf.contrib.framework.add_arg_scope


@add_arg_scope
def one(x, a=1, b=2):
    return x, a, b


@add_arg_scope
def two(a=1, c=3):
    return a, c


def plain(a=1):
    return a


def test_arg_scope_nests_and_ends():
    with arg_scope([one, two], a=10):
        assert one(0) == (0, 10, 2) and two() == (10, 3)
        with arg_scope([one], b=20) as inner:
            assert one(0) == (0, 10, 20) and one(0, a=5) == (0, 5, 20)
        assert one(0) == (0, 10, 2)
    assert one(0) == (0, 1, 2)
    with arg_scope(inner):
        assert one(0) == (0, 10, 20)
    assert tf.contrib.framework.arg_scoped_arguments(one) == ("a", "b")


def test_arg_scope_refuses():
    with pytest.raises(ValueError, match="add_arg_scope"):
        with arg_scope([plain], a=1):
            pass
    with pytest.raises(TypeError):
        with arg_scope(one, a=1):
            pass
    with pytest.raises(ValueError):
        with arg_scope({}, a=1):
            pass
    assert tf.contrib.framework.current_arg_scope() == {}


def test_hparams():
    h = tf.contrib.training.HParams(rate=0.1, layers=3, name="net", on=True, sizes=[4, 5])
    h.parse("rate=0.5,layers=7,name=other,on=false,sizes=[1,2,3]")
    assert h.values() == {"rate": 0.5, "layers": 7, "name": "other", "on": False, "sizes": [1, 2, 3]}
    h.parse("sizes[1]=9")
    assert h.sizes == [1, 9, 3] and "rate" in h and h.get("nothing", 4) == 4
    h.set_hparam("rate", 2)
    assert h.rate == 2.0 and isinstance(h.rate, float)
    h.parse_json('{"layers": 8}')
    assert h.layers == 8 and '"layers": 8' in h.to_json()


@pytest.mark.parametrize("text", ["unknown=1", "layers=1.5", "rate=fast", "on=maybe", "layers", "sizes[0]=[1]",
                                  "layers=1,layers=2"])
def test_hparams_refuse(text):
    h = tf.contrib.training.HParams(rate=0.1, layers=3, on=True, sizes=[4, 5])
    with pytest.raises(ValueError):
        h.parse(text)


def test_hparams_refuse_values():
    h = tf.contrib.training.HParams(layers=3, sizes=[4, 5])
    for name, value in (("layers", 1.5), ("layers", True), ("layers", [1]), ("sizes", 3)):
        with pytest.raises(ValueError):
            h.set_hparam(name, value)
    with pytest.raises(ValueError):
        h.add_hparam("layers", 4)
    with pytest.raises(ValueError):
        h.add_hparam("empty", [])


def test_embeddings_are_named_for_the_projector(tmp_path):
    projector = tf.contrib.tensorboard.plugins.projector
    config = projector.ProjectorConfig()
    embedding = config.embeddings.add(tensor_name="w", metadata_path="words.tsv")
    embedding.sprite.MergeFrom(projector.SpriteMetadata(image_path="all.png", single_image_dim=[8, 8]))
    with tf.Graph().as_default(), tf.summary.FileWriter(str(tmp_path)) as writer:
        projector.visualize_embeddings(writer, config)
    assert (tmp_path / "projector_config.pbtxt").read_text() == (
        'embeddings {\n  tensor_name: "w"\n  metadata_path: "words.tsv"\n  sprite {\n    image_path: "all.png"\n'
        '    single_image_dim: 8\n    single_image_dim: 8\n  }\n}\n')


def test_modes_of_contrib_learn():
    modes = tf.contrib.learn.ModeKeys
    assert (modes.TRAIN, modes.EVAL, modes.INFER) == ("train", "eval", "infer")
    modes.validate("infer")
    with pytest.raises(ValueError, match="predict"):
        modes.validate("predict")


def test_functions_have_the_arguments_of_contrib():
    lookup, framework = tf.contrib.lookup, tf.contrib.framework
    with tf.Graph().as_default(), tf.Session() as sess:
        index = lookup.index_table_from_tensor(mapping=["a", "b"], num_oov_buckets=1).lookup(tf.constant(["b", "c"]))
        words = lookup.index_to_string_table_from_tensor(mapping=["a", "b"], default_value="?").lookup(
            tf.constant([1, 2], tf.int64))
        sess.run(tf.tables_initializer())
        assert sess.run(index).tolist() == [1, 2] and sess.run(words).tolist() == [b"b", b"?"]
        sums = framework.py_func(lambda x, *, y: {"sum": x + y["a"], "both": (x, y["a"])}, [tf.constant([1.0])],
                                 {"y": {"a": tf.constant([2.0])}},
                                 {"sum": tf.float32, "both": (tf.float32, tf.float32)},
                                 {"sum": [1], "both": ([1], None)})
        assert sums["sum"].shape == [1] and sums["both"][1].shape.rank is None
        assert sess.run(sums["sum"]).tolist() == [3.0] and sess.run(sums["both"][0]).tolist() == [1.0]
        x = tf.constant(3.0)
        y = tf.contrib.eager.py_func(lambda x: x * x, [x], tf.float32, "square")
        assert y.op.name == "square" and sess.run(tf.gradients(y, x)) == [6.0]
    with pytest.raises(ValueError, match="mapping must be specified"):
        lookup.index_table_from_tensor(mapping=None)
    with pytest.raises(TypeError, match="args must be list"):
        framework.py_func(abs, tf.constant(1.0))


def test_checkpoints_are_read_by_the_names_of_contrib(tmp_path):
    framework = tf.contrib.framework
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        sess.run(v.initializer)
        path = tf.train.Saver().save(sess, str(tmp_path / "model"))
    assert framework.list_variables(checkpoint_dir=str(tmp_path)) == [("v", [2])]
    assert framework.load_variable(checkpoint_dir=path, name="v").tolist() == [1.0, 2.0]
    assert framework.load_checkpoint(filepattern=path).has_tensor("v")
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("w", [2])
        framework.init_from_checkpoint(checkpoint_dir=path, assignment_map={"v": w})
        sess.run(w.initializer)
        assert sess.run(w).tolist() == [1.0, 2.0]


def test_contrib_autograph_is_the_internal_package():
    def clipped(x):
        if x > 3:
            x = 3
        return x

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.int32, [])
        y = tf.contrib.autograph.to_graph(clipped)(x)
        assert [session.run(y, {x: v}) for v in (2, 7)] == [2, 3]
    assert tf.contrib.autograph.utils and issubclass(tf.contrib.autograph.AutoGraphError, Exception)


def test_number_of_shards():
    context = tpu_function.get_tpu_context()
    assert context.number_of_shards is None
    with tpu_function.tpu_shard_context(4):
        assert context.number_of_shards == 4
        with pytest.raises(NotImplementedError, match="cannot be nested"), tpu_function.tpu_shard_context(2):
            pass
    assert context.number_of_shards is None
