"""TPUEstimator and what surrounds it, on the CPU."""
import json

import numpy as np
import pytest

import penstock.v1 as tf

X = np.random.RandomState(0).rand(64, 3).astype("f")
Y = (X.sum(1, keepdims=True) > 1.5).astype("f")
tpu = tf.contrib.tpu


@pytest.fixture(autouse=True)
def quiet():
    before = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.ERROR)
    yield
    tf.logging.set_verbosity(before)
    tf.summary.FileWriterCache.clear()


def estimator(directory, sizes, **kwargs):
    def model_fn(features, labels, mode, params):
        params = params if isinstance(params, dict) else params.values()
        sizes.append((mode, params.get("batch_size"), params["use_tpu"]))
        z = tf.layers.dense(features["x"], 1, name="z")
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tpu.TPUEstimatorSpec(mode, predictions={"z": z})
        loss = tf.losses.sigmoid_cross_entropy(labels, z)
        optimizer = tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(.5))

        def host_call(step, loss):
            with tf.contrib.summary.create_file_writer(str(directory / "host")).as_default():
                with tf.contrib.summary.always_record_summaries():
                    tf.contrib.summary.scalar("host_loss", loss[0], step=step[0])
                    return tf.contrib.summary.all_summary_ops()

        step = tf.reshape(tf.train.get_global_step(), [1])
        return tpu.TPUEstimatorSpec(
            mode, loss=loss, train_op=optimizer.minimize(loss, tf.train.get_global_step()),
            eval_metrics=(lambda labels, z: {"right": tf.metrics.accuracy(labels, tf.to_float(z > 0))}, [labels, z]),
            host_call=(host_call, [step, tf.reshape(loss, [1])]) if mode == "train" else None)

    config = tpu.RunConfig(model_dir=str(directory), tf_random_seed=1, log_step_count_steps=4,
                           tpu_config=tpu.TPUConfig(iterations_per_loop=2, num_shards=8))
    return tpu.TPUEstimator(model_fn, config=config, train_batch_size=8, eval_batch_size=16, predict_batch_size=4,
                            **kwargs)


def input_fn(params, mode):
    rows = tf.train.slice_input_producer([X, Y], num_epochs=None if mode == "train" else 1, shuffle=False)
    size = params["batch_size"] if isinstance(params, dict) else params.batch_size
    features, labels = tf.train.batch(rows, size)
    return {"x": features}, labels


def tags(directory):
    return {value.tag for path in directory.glob("events*") for event in tf.train.summary_iterator(str(path))
            for value in event.summary.value}


@pytest.mark.parametrize("use_tpu", [False, True])
def test_trains_evaluates_predicts_exports(use_tpu, tmp_path):
    sizes = []
    est = estimator(tmp_path, sizes, use_tpu=use_tpu)
    est.train(input_fn, max_steps=12)
    metrics = est.evaluate(input_fn)
    assert metrics["global_step"] == 12 and sorted(metrics) == ["global_step", "loss", "right"]
    assert len(list(est.predict(input_fn))) == 64
    est.export_saved_model(str(tmp_path / "export"), tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None, 3])}))
    assert sizes == [("train", 8, False), ("eval", 16, False), ("infer", 4, False), ("infer", None, False)]
    assert {"examples/sec", "global_step/sec", "loss"} <= tags(tmp_path)
    assert tags(tmp_path / "host") == {"host_loss"}


def test_parameters_may_be_hparams(tmp_path):
    sizes = []
    estimator(tmp_path, sizes, params=tf.contrib.training.HParams(depth=3)).train(input_fn, max_steps=1)
    assert sizes == [("train", 8, False)]


def test_errors(tmp_path):
    with pytest.raises(ValueError, match="reserved keys"):
        estimator(tmp_path, [], params={"batch_size": 1})
    with pytest.raises(ValueError, match="does not include params"):
        estimator(tmp_path, []).train(lambda: None, max_steps=1)
    for kwargs, error in ((dict(iterations_per_loop=0), ValueError), (dict(num_shards=-1), ValueError),
                          (dict(num_cores_per_replica=3), ValueError), (dict(iterations_per_loop="5x"), ValueError)):
        with pytest.raises(error):
            tpu.TPUConfig(**kwargs)
    with pytest.raises(RuntimeError, match="does not match"):
        tpu.TPUEstimatorSpec("eval", loss=1, eval_metrics=(lambda a: a, [1, 2]))


def test_one_shard():
    with tf.Graph().as_default(), tf.Session() as sess:
        assert sess.run(tpu.cross_replica_sum(tf.constant([1., 2.]))).tolist() == [1, 2]
        with tpu.bfloat16_scope():
            v = tf.get_variable("v", [2], tf.bfloat16)
        assert v.dtype == tf.bfloat16 and tf.global_variables()[0].dtype.base_dtype == tf.float32


def test_resolvers(monkeypatch):
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver("grpc://10.0.0.1:8470")
    assert resolver.master() == "grpc://10.0.0.1:8470"
    assert resolver.cluster_spec().as_dict() == {"worker": ["10.0.0.1:8470"]}
    config = tpu.RunConfig(cluster=resolver)
    assert config.master == config.evaluation_master == "grpc://10.0.0.1:8470"
    assert tf.contrib.cluster_resolver.TPUClusterResolver("").master() == ""
    with pytest.raises(ValueError, match="Could not lookup"):
        tf.contrib.cluster_resolver.TPUClusterResolver("my-tpu")
    simple = tf.distribute.cluster_resolver.SimpleClusterResolver
    spec = tf.train.ClusterSpec
    both = tf.distribute.cluster_resolver.UnionResolver(
        simple(spec({"ps": ["a:1"], "worker": ["b:1"]}), "b:1", rpc_layer="grpc"), simple(spec({"worker": ["c:1"]})))
    assert both.cluster_spec().as_dict() == {"ps": ["a:1"], "worker": ["b:1", "c:1"]}
    assert both.master() == "grpc://b:1" and both.master("worker", 1) == "grpc://c:1"
    cluster = {"worker": ["a:1", "b:1"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "worker", "index": 1}}))
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver(rpc_layer="grpc")
    assert (resolver.task_type, resolver.task_id, resolver.master()) == ("worker", 1, "grpc://b:1")
    monkeypatch.setenv("SLURM_PROCID", "2")
    monkeypatch.setenv("SLURM_NTASKS", "3")
    slurm = tf.distribute.cluster_resolver.SlurmClusterResolver({"worker": 2, "ps": 1}, tasks_per_node=1,
                                                                auto_set_gpu=False)
    slurm._resolve_hostnames = lambda: ["x", "y", "z"]
    assert slurm.cluster_spec().as_dict() == {"ps": ["x:8888"], "worker": ["y:8888", "z:8888"]}
    assert slurm.get_task_info() == ("worker", 1) and slurm.master() == "grpc://z:8888"
