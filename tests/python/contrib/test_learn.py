"""tf.contrib.learn: experiments with estimators of tf.estimator."""
import json
import os

import numpy as np
import pytest

import penstock.v1 as tf

learn = tf.contrib.learn


def model(features, labels, mode):
    w = tf.get_variable("w", initializer=0.)
    loss = tf.reduce_mean(tf.square(features["x"] * w - labels))
    step = tf.train.GradientDescentOptimizer(.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step, predictions={"y": features["x"] * w},
                                      export_outputs={})


def data():
    dataset = tf.data.Dataset.from_tensors(({"x": [1., 2.]}, [3., 6.])).repeat()
    return dataset.make_one_shot_iterator().get_next()


def experiment(config, hparams=None, **kwargs):
    estimator = tf.estimator.Estimator(model, config=config)
    return learn.Experiment(estimator, data, data, **{"train_steps": 4, "eval_steps": 1, **kwargs})


def w_after(steps):
    w = 0.
    for _ in range(steps):
        w -= .1 * np.mean([2 * 1 * (w - 3), 2 * 2 * (2 * w - 6)])
    return w


@pytest.fixture
def config(tmp_path):
    return learn.RunConfig(model_dir=str(tmp_path), tf_random_seed=1, save_checkpoints_steps=2)


def test_a_configuration(config, tmp_path):
    assert isinstance(config, tf.estimator.RunConfig)
    assert (config.save_checkpoints_steps, config.save_checkpoints_secs) == (2, None)
    assert learn.RunConfig().save_checkpoints_secs == 600
    assert config.environment == "local" and config.is_chief and config.get_task_id() == 0
    same = learn.RunConfig(model_dir=str(tmp_path), save_summary_steps=7)
    assert same.uid() == config.uid() != learn.RunConfig(model_dir="/other").uid()
    assert learn.RunConfig(num_cores=3).tf_config.inter_op_parallelism_threads == 3


@pytest.mark.parametrize("task, environment, master, chief", [
    ({"type": "worker", "index": 1}, "local", "grpc://host4:4", False),
    ({"type": "worker", "index": 0}, "local", "grpc://host3:3", True),
    ({"type": "worker", "index": 0}, "cloud", "grpc://host3:3", False), ({}, "local", "", True)])
def test_a_task_of_a_cluster(monkeypatch, task, environment, master, chief):
    cluster = {"ps": ["host1:1", "host2:2"], "worker": ["host3:3", "host4:4", "host5:5"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task, "environment": environment}))
    config = learn.RunConfig()
    assert (config.master, config.is_chief, config.task_id) == (master, chief, task.get("index", 0))
    assert (config.num_ps_replicas, config.num_worker_replicas, config.evaluation_master) == (2, 3, "")
    assert learn.RunConfig(master="local", evaluation_master="e").master == "local"
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "worker", "index": 3}}))
    with pytest.raises(ValueError, match="3 is not a valid task_id for task_type worker"):
        learn.RunConfig()


def test_the_runner_trains_and_evaluates(config):
    metrics, exports = learn.learn_runner.run(experiment, run_config=config)
    assert metrics["global_step"] == 4 and exports == []
    np.testing.assert_allclose(metrics["loss"], 2.5 * (w_after(4) - 3) ** 2, rtol=1e-5)


def test_checkpoints_are_evaluated_on_the_way_and_exported(config, tmp_path):
    seen = []

    def export(estimator, export_path, checkpoint_path=None, eval_result=None):
        seen.append((os.path.basename(checkpoint_path or "none"), eval_result["global_step"]))
        return export_path

    strategy = learn.ExportStrategy("mine", export)
    made = experiment(config, export_strategies=strategy, checkpoint_and_export=True)
    metrics, exports = made.train_and_evaluate()
    assert seen[-1] == ("model.ckpt-4", 4) and metrics["global_step"] == 4
    assert exports == [os.fsencode(tmp_path / "export" / "mine")]
    assert made.reset_export_strategies() == (strategy,)
    looked = []
    made = experiment(config, train_steps=8, check_interval_secs=0)
    made.estimator.evaluate = lambda *_, checkpoint_path=None, **__: looked.append(checkpoint_path) or {}
    made.train_and_evaluate()
    assert looked == [None] * 4  # the latest, with 4, 6 and 8 steps, and at the end


def test_training_and_evaluating_in_turns(config):
    steps = []
    made = experiment(config, train_steps=6, train_steps_per_iteration=2)
    metrics, _ = made.continuous_train_and_eval(lambda result: steps.append(result and result["global_step"]) or True)
    assert steps == [None, 2, 4, 6] and metrics["global_step"] == 6
    assert made.test()["global_step"] == 7
    assert made.evaluate(delay_secs=0)["global_step"] == 7
    seen = []

    def goes_on(result, checkpoint_path):
        seen.append(checkpoint_path)
        return True

    made.continuous_eval(delay_secs=0, throttle_delay_secs=0, continuous_eval_predicate_fn=goes_on)
    assert len(seen) == 2


def test_mistakes(config, tmp_path):
    runner = learn.learn_runner
    for arguments, error in [
            (dict(run_config=config, output_dir="x"), ValueError), (dict(), ValueError),
            (dict(run_config=tf.estimator.RunConfig(str(tmp_path))), ValueError),
            (dict(run_config=learn.RunConfig()), ValueError), (dict(run_config=config, schedule="no"), ValueError)]:
        with pytest.raises(error):
            runner.run(experiment, **arguments)
    with pytest.raises(TypeError):
        runner.run(lambda output_dir: 3, output_dir="x")
    with pytest.raises(RuntimeError, match="expected to be used"):
        runner.run(lambda c, h: experiment(learn.RunConfig(model_dir=str(tmp_path / "other"))), run_config=config)
    with pytest.raises(ValueError, match="estimator"):
        learn.Experiment(3, data, data)
