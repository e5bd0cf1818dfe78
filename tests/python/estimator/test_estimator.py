"""Estimators of model functions: training, evaluation, prediction, export, and what surrounds them."""
import glob
import json
import os

import numpy as np
import pytest

import penstock.v1 as tf

X = np.random.RandomState(0).rand(40, 3).astype(np.float32)
Y = (X @ np.array([[1.], [-2.], [.5]])).astype(np.float32)
MODES = tf.estimator.ModeKeys


@pytest.fixture(autouse=True)
def quiet():
    before = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.ERROR)
    yield
    tf.logging.set_verbosity(before)
    tf.summary.FileWriterCache.clear()


def model_fn(features, labels, mode, params):
    z = tf.layers.dense(features["x"], 1, kernel_initializer=tf.zeros_initializer(), name="out")
    if mode == MODES.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"z": z, "double": 2 * z})
    loss = tf.losses.mean_squared_error(labels, z)
    train = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train,
                                      eval_metric_ops={"error": tf.metrics.mean_absolute_error(labels, z)})


def inputs(epochs=None, y=Y, batch_size=10):
    return tf.estimator.inputs.numpy_input_fn({"x": X}, y, batch_size=batch_size, num_epochs=epochs, shuffle=False)


@pytest.fixture
def make(tmp_path):
    def made(fn=model_fn, name="model", config=None, warm_start_from=None, **params):
        config = config or tf.estimator.RunConfig(tf_random_seed=1, save_checkpoints_steps=4)
        given = {"rate": .1, **params} if fn is model_fn else params or None
        return tf.estimator.Estimator(fn, str(tmp_path / name), config, given, warm_start_from)
    return made


def by_hand(steps, rate=.1):
    """The same training in NumPy: weights and bias."""
    w, b = np.zeros((3, 1)), np.zeros(1)
    for step in range(steps):
        x, y = (a[10 * step % 40:10 * step % 40 + 10] for a in (X, Y))
        error = x @ w + b - y
        w, b = w - rate * 2 * x.T @ error / 10, b - rate * 2 * error.mean(0)
    return w, b


def receiver():
    return tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None, 3])})()


def test_training_is_that_of_its_formula(make):
    est = make().train(inputs(), steps=6)
    w, b = by_hand(6)
    np.testing.assert_allclose(est.get_variable_value("out/kernel"), w, rtol=1e-5)
    metrics = est.evaluate(inputs(1))
    assert metrics["global_step"] == 6
    np.testing.assert_allclose(metrics["loss"], ((X @ w + b - Y) ** 2).mean(), rtol=1e-5)
    np.testing.assert_allclose(metrics["error"], np.abs(X @ w + b - Y).mean(), rtol=1e-5)
    predictions = list(est.predict(inputs(1, None)))
    np.testing.assert_allclose([p["z"] for p in predictions], X @ w + b, rtol=1e-5)
    assert len(predictions) == 40 and sorted(predictions[0]) == ["double", "z"]


def test_steps_add_up_and_max_steps_do_not(make):
    est = make()
    est.train(inputs(), steps=3)
    est.train(inputs(), max_steps=3)
    assert est.get_variable_value("global_step") == 3
    est.train(inputs(), max_steps=5)
    est.train(inputs(1), steps=100)  # the input ends after four batches
    assert est.get_variable_value("global_step") == 9


def test_a_training_goes_on_where_it_was(make):
    est = make()
    for _ in range(3):
        est.train(inputs(), steps=4)
    np.testing.assert_allclose(est.get_variable_value("out/kernel"), by_hand(12)[0], rtol=1e-5)


def test_files_and_summaries(make):
    est = make(config=tf.estimator.RunConfig(save_summary_steps=2, save_checkpoints_steps=4, keep_checkpoint_max=2,
                                             log_step_count_steps=4))
    est.train(inputs(), steps=12)
    assert sorted(f for f in os.listdir(est.model_dir) if f.endswith(".index")) == [
        "model.ckpt-12.index", "model.ckpt-8.index"]
    events = [e for path in glob.glob(est.model_dir + "/events*") for e in tf.train.summary_iterator(path)]
    losses = {e.step: v.simple_value for e in events for v in e.summary.value if v.tag == "loss"}
    assert sorted(losses) == [1, 3, 5, 7, 9, 11]
    assert {v.tag for e in events for v in e.summary.value} >= {"loss", "global_step/sec"}


def test_only_some_predictions_and_batches(make):
    est = make().train(inputs(), steps=1)
    assert sorted(next(est.predict(inputs(1, None), predict_keys=["z"]))) == ["z"]
    batches = list(est.predict(inputs(1, None), yield_single_examples=False))
    assert [b["z"].shape for b in batches] == [(10, 1)] * 4
    with pytest.raises(ValueError, match="Expected to run at least one output"):
        next(est.predict(inputs(1, None), predict_keys=["other"]))


def test_export(make):
    est = make().train(inputs(), steps=2)
    path = est.export_saved_model(est.model_dir + "/export", receiver, assets_extra={"a/b.txt": __file__})
    assert os.path.basename(path).isdigit() and os.path.exists(os.path.join(path, b"assets.extra/a/b.txt"))
    with tf.Session(graph=tf.Graph()) as sess:
        signature = tf.saved_model.loader.load(sess, ["serve"], path.decode()).signature_def["serving_default"]
        got = sess.run(signature.outputs["z"].name, {signature.inputs["x"].name: X})
    np.testing.assert_allclose(got, X @ by_hand(2)[0] + by_hand(2)[1], rtol=1e-5)


def test_export_of_all_modes(make):
    est = make().train(inputs(), steps=2)
    supervised = tf.estimator.experimental.build_raw_supervised_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None, 3])}, tf.placeholder(tf.float32, [None, 1]))
    path = est.experimental_export_all_saved_models(
        est.model_dir + "/export", {MODES.TRAIN: supervised, MODES.EVAL: supervised, MODES.PREDICT: receiver})
    for tags, key in ((["train"], "train"), (["eval"], "eval"), (["serve"], "serving_default")):
        with tf.Session(graph=tf.Graph()) as sess:
            assert key in tf.saved_model.loader.load(sess, tags, path.decode()).signature_def


def test_train_and_evaluate_with_exporters(make):
    est = make()
    exporters = [tf.estimator.FinalExporter("final", receiver), tf.estimator.LatestExporter("latest", receiver),
                 tf.estimator.BestExporter("best", receiver),
                 tf.contrib.estimator.StepsExporter([3, 9], "steps", receiver)]
    metrics, exports = tf.estimator.train_and_evaluate(
        est, tf.estimator.TrainSpec(inputs(), max_steps=12),
        tf.estimator.EvalSpec(inputs(1), steps=None, exporters=exporters, throttle_secs=0))
    assert metrics["global_step"] == 12 and len(exports) == 4
    found = {name: len(os.listdir(est.model_dir + "/export/" + name)) for name in os.listdir(est.model_dir + "/export")}
    # What is in the event files counts as exported before, and the first evaluation is there already.
    assert found == {"final": 1, "latest": 3, "best": 2, "steps": 1}
    assert len(tf.contrib.estimator.read_eval_metrics(est.eval_dir())) == 3


def test_warm_start(make, tmp_path):
    first = make().train(inputs(), steps=5)
    for source in (first.model_dir, tf.estimator.WarmStartSettings(first.model_dir, "out/kernel"),
                   first.export_saved_model(str(tmp_path / "export"), receiver)):
        est = make(name="second" + str(abs(hash(str(source)))), warm_start_from=source, rate=1e-9)
        est.train(inputs(), steps=1)
        np.testing.assert_allclose(est.get_variable_value("out/kernel"), first.get_variable_value("out/kernel"),
                                   rtol=1e-5)
        assert est.get_variable_value("global_step") == 1


def test_hooks_and_listeners_are_called(make):
    calls = []

    class Hook(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            calls.append("run")

    class Listener(tf.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            calls.append(int(global_step_value))

    make().train(inputs(), hooks=[Hook()], steps=5, saving_listeners=[Listener()])
    assert calls == [0, "run", "run", "run", "run", 4, "run", 5] or calls.count("run") == 5 and calls[-1] == 5


def test_early_stopping(make):
    est = make()
    hook = tf.estimator.experimental.make_early_stopping_hook(est, lambda: True, run_every_secs=None, run_every_steps=3)
    est.train(inputs(), hooks=[hook], steps=50)
    assert est.get_variable_value("global_step") < 6
    for make_hook, threshold, stops in ((tf.estimator.experimental.stop_if_lower_hook, 100., True),
                                        (tf.estimator.experimental.stop_if_higher_hook, 100., False),
                                        (tf.estimator.experimental.stop_if_no_decrease_hook, 1000, False)):
        est.evaluate(inputs(1))
        hook = make_hook(est, "loss", threshold, run_every_secs=None, run_every_steps=1)
        assert hook._should_stop_fn() is stops


def test_in_memory_evaluator(make):
    est = make()

    def from_queues():  # begins anew with each session
        x, y = tf.train.batch(tf.train.slice_input_producer([X, Y], num_epochs=1, shuffle=False), 10)
        return {"x": x}, y

    hook = tf.estimator.experimental.InMemoryEvaluatorHook(est, from_queues, every_n_iter=2)
    est.train(inputs(), hooks=[hook], steps=4)
    found = tf.contrib.estimator.read_eval_metrics(est.eval_dir())
    assert sorted(found) == [0, 2, 4]
    w, b = by_hand(4)
    np.testing.assert_allclose(found[4]["loss"], ((X @ w + b - Y) ** 2).mean(), rtol=1e-5)


def test_added_metrics_and_forwarded_features(make):
    est = make().train(inputs(), steps=1)
    more = tf.estimator.add_metrics(est, lambda labels, features: {"mean": tf.metrics.mean(labels)})
    np.testing.assert_allclose(more.evaluate(inputs(1))["mean"], Y.mean(), rtol=1e-5)
    with_x = tf.contrib.estimator.forward_features(est, "x")
    np.testing.assert_allclose(next(with_x.predict(inputs(1, None)))["x"], X[0])


def test_clipped_gradients(make):
    def clipped(features, labels):
        w = tf.get_variable("w", initializer=[3., 4.])
        optimizer = tf.contrib.estimator.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(1.), .5)
        loss = tf.reduce_sum(w * [30., 40.])
        return tf.estimator.EstimatorSpec(MODES.TRAIN, loss=loss,
                                          train_op=optimizer.minimize(loss, tf.train.get_global_step()))
    est = make(clipped).train(inputs(), steps=1)
    np.testing.assert_allclose(est.get_variable_value("w"), [3 - .3, 4 - .4], rtol=1e-5)


def spec_error(make, fn, match, error=ValueError, act=lambda est: est.train(inputs(), steps=1)):
    with pytest.raises(error, match=match):
        act(make(fn))


@pytest.mark.parametrize("kwargs, match", [
    (dict(loss=None), "Missing loss"), (dict(train_op=None), "Missing train_op"),
    (dict(loss=[1., 2.]), "Loss must be scalar"), (dict(eval_metric_ops={"a": 1}), "eval_metric_ops"),
    (dict(training_hooks=[1]), "SessionRunHook"), (dict(scaffold=1), "Scaffold")])
def test_bad_specs(make, kwargs, match):
    def fn(features, labels):
        given = {"loss": tf.constant(1.), "train_op": tf.no_op(), **kwargs}
        given["loss"] = None if given["loss"] is None else tf.convert_to_tensor(given["loss"])
        return tf.estimator.EstimatorSpec(MODES.TRAIN, **given)
    spec_error(make, fn, match, (ValueError, TypeError))


def test_bad_calls(make, tmp_path):
    spec_error(make, lambda features: None, "does not take labels")
    spec_error(make, lambda features, labels: None, "should return an EstimatorSpec")
    with pytest.raises(ValueError, match="must include features"):
        make(lambda labels: None)
    with pytest.raises(ValueError, match="not expected args"):
        make(lambda features, other: None)
    est = make()
    for kwargs, match in ((dict(steps=1, max_steps=1), "both steps"), (dict(steps=0), "steps > 0")):
        with pytest.raises(ValueError, match=match):
            est.train(inputs(), **kwargs)
    with pytest.raises(ValueError, match="Couldn't find trained model"):
        est.export_saved_model(str(tmp_path), receiver)
    with pytest.raises(ValueError, match="Could not find trained model"):
        est.get_variable_names()
    with pytest.raises(ValueError, match="cannot override members"):
        type("Other", (tf.estimator.Estimator,), {"train": 1})(model_fn)
    with pytest.raises(TypeError, match="Hooks must be a SessionRunHook"):
        est.train(inputs(), hooks=[1])


def test_loss_that_is_no_number(make):
    def fn(features, labels):
        return tf.estimator.EstimatorSpec(MODES.TRAIN, loss=tf.log(-1.),
                                          train_op=tf.assign_add(tf.train.get_global_step(), 1))
    spec_error(make, fn, "NaN loss", tf.train.NanLossDuringTrainingError)


def test_config(monkeypatch):
    config = tf.estimator.RunConfig()
    assert (config.save_checkpoints_secs, config.save_checkpoints_steps, config.task_type) == (600, None, "worker")
    config = config.replace(save_checkpoints_steps=5)
    assert (config.save_checkpoints_secs, config.save_checkpoints_steps) == (None, 5)
    with pytest.raises(ValueError, match="cannot be both set"):
        tf.estimator.RunConfig(save_checkpoints_steps=1, save_checkpoints_secs=1)
    with pytest.raises(ValueError, match="not supported"):
        config.replace(master="x")
    for bad in (dict(keep_checkpoint_max=-1), dict(tf_random_seed=1.), dict(device_fn=lambda x: x), dict(model_dir="")):
        with pytest.raises(ValueError):
            tf.estimator.RunConfig(**bad)
    cluster = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}
    for task, (is_chief, number, master) in {
            ("chief", 0): (True, 0, "grpc://a:1"), ("worker", 1): (False, 2, "grpc://c:1"),
            ("ps", 0): (False, 3, "grpc://d:1"), ("evaluator", 0): (False, None, "")}.items():
        monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": task[0], "index": task[1]}}))
        config = tf.estimator.RunConfig()
        assert (config.is_chief, config.global_id_in_cluster, config.master) == (is_chief, number, master)
        assert config.num_ps_replicas == (0 if task[0] == "evaluator" else 1)
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "worker", "index": 2}}))
    with pytest.raises(ValueError, match="not a valid task_id"):
        tf.estimator.RunConfig()


def test_specs_are_checked():
    for make, match in ((lambda: tf.estimator.TrainSpec(1), "callable"),
                        (lambda: tf.estimator.TrainSpec(inputs(), max_steps=0), "max_steps > 0"),
                        (lambda: tf.estimator.EvalSpec(inputs(), steps=0), "steps > 0"),
                        (lambda: tf.estimator.EvalSpec(inputs(), exporters=[1]), "must be an Exporter"),
                        (lambda: tf.estimator.EvalSpec(inputs(), exporters=[
                            tf.estimator.FinalExporter("a", receiver)] * 2), "unique names"),
                        (lambda: tf.estimator.EvalSpec(inputs(), throttle_secs=-1), "throttle_secs")):
        with pytest.raises((TypeError, ValueError), match=match):
            make()


def test_inputs_may_be_datasets(make, tmp_path):
    (tmp_path / "words").write_text("a\nb\n")

    def dataset(epochs):
        table = tf.contrib.lookup.index_table_from_file(str(tmp_path / "words"))
        rows = tf.data.Dataset.from_tensor_slices(({"x": X, "word": ["b", "a"] * 20}, Y))
        rows = rows.map(lambda x, y: ({"x": x["x"], "id": table.lookup(x["word"])}, y))
        return rows.repeat(epochs).batch(10)

    est = make().train(lambda: dataset(None), steps=6)
    np.testing.assert_allclose(est.get_variable_value("out/kernel"), by_hand(6)[0], rtol=1e-5)
    assert est.evaluate(lambda: dataset(1))["global_step"] == 6
    assert len(list(est.predict(lambda: dataset(1)))) == 40
    hook = tf.estimator.experimental.InMemoryEvaluatorHook(est, lambda: dataset(1), every_n_iter=2)
    est.train(lambda: dataset(None), hooks=[hook], steps=4)
    losses = [m["loss"] for m in tf.contrib.estimator.read_eval_metrics(est.eval_dir()).values()]
    assert losses == sorted(losses, reverse=True) and losses[-1] > 0


def test_strategies_of_one_replica_train_as_none_does(make):
    strategy, seen = tf.distribute.MirroredStrategy(), []

    def watched(features, labels, mode, params):
        seen.append((mode, tf.distribute.has_strategy(), tf.distribute.in_cross_replica_context()))
        return model_fn(features, labels, mode, params)

    def input_fn(input_context=None):
        seen.append(input_context and input_context.num_input_pipelines)
        return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat().batch(10)

    config = tf.estimator.RunConfig(train_distribute=strategy, save_checkpoints_steps=4)
    assert config.train_distribute is strategy and config.eval_distribute is None
    estimator = make(watched, config=config, rate=.1).train(input_fn, steps=3)
    w, b = by_hand(3)
    np.testing.assert_allclose(estimator.get_variable_value("out/kernel"), w, rtol=1e-4)
    estimator.evaluate(input_fn, steps=1)
    assert seen == [1, (MODES.TRAIN, True, False), None, (MODES.EVAL, False, False)]


def test_input_goes_on_where_the_model_was_saved(tmp_path):
    """Whenever training stops, also between the saving of iterators and of the model."""
    seen = []

    def input_fn():
        return tf.data.Dataset.range(1000).shuffle(50, seed=3).map(lambda i: {"x": tf.cast([i], tf.float32)}).batch(2)

    def fn(features, mode):
        w = tf.get_variable("w", initializer=0.0)
        noted = tf.py_func(lambda x: seen.append(x.tolist()), [features["x"]], [])
        with tf.control_dependencies([noted]):
            train = tf.train.GradientDescentOptimizer(.1).minimize(w * w, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=w * w, train_op=train)

    class Stopped(Exception):
        pass

    class Stop(tf.train.CheckpointSaverListener):
        def __init__(self, at):
            self.at = at

        def before_save(self, session, step):
            if step == self.at:
                raise Stopped

        def after_save(self, session, step):
            if step == -self.at:
                raise Stopped

    def train(name, steps, stop=None):
        model = tf.estimator.Estimator(fn, str(tmp_path / name), tf.estimator.RunConfig(save_checkpoints_steps=4))
        model.train(input_fn, max_steps=steps, hooks=[tf.data.experimental.CheckpointInputPipelineHook(model)],
                    saving_listeners=stop and [Stop(stop)])

    train("whole", 14)
    whole, seen = seen, []
    for stop, begun, done in ((8, 0, 8), (-8, 4, 8), (12, 8, 12), (None, 8, 14)):
        del seen[:]
        if stop:
            with pytest.raises(Stopped):
                train("parts", 14, stop)
        else:
            train("parts", 14)
        assert seen == whole[begun:done]
