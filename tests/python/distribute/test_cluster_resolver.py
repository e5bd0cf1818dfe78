"""Cluster resolvers: what TF_CONFIG says, and what the program says instead."""
import json
import os
import subprocess
import sys

import pytest

import penstock.v1 as tf

Resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver


@pytest.fixture
def config(monkeypatch):
    def set_to(**parts):
        monkeypatch.setenv("TF_CONFIG", json.dumps(parts))
    return set_to


def test_parts_of_a_task_may_be_given(config):
    config(cluster={"worker": ["w0:1", "w1:1"], "ps": ["p0:1"]}, task={"type": "worker", "index": "0"})
    for given, found in (({}, ("worker", 0)), ({"task_id": 1}, ("worker", 1)), ({"task_type": "ps"}, ("ps", 0))):
        resolver = Resolver(**given)
        assert (resolver.task_type, resolver.task_id) == found
    assert Resolver(task_id=1, rpc_layer="grpc").master() == "grpc://w1:1"


def test_a_job_without_some_of_its_tasks(config):
    config(cluster={"worker": {"1": "w1:1"}, "ps": ["p0:1"]}, task={"type": "worker", "index": 1})
    spec = Resolver().cluster_spec()
    assert spec.as_dict() == {"worker": {1: "w1:1"}, "ps": ["p0:1"]} and spec.task_address("worker", 1) == "w1:1"
    with pytest.raises(TypeError, match="from integers to strings"):
        tf.train.ClusterSpec({"worker": {"a": "w1:1"}})


def test_modules_of_their_own():
    subprocess.run([sys.executable, "-c", """
from penstock import alias
alias.install("v2")
import tensorflow as tf
from tensorflow.python.distribute.cluster_resolver import TFConfigClusterResolver, cluster_resolver
from tensorflow.python.distribute.cluster_resolver.tpu_cluster_resolver import TPUClusterResolver
assert TFConfigClusterResolver is tf.distribute.cluster_resolver.TFConfigClusterResolver
assert cluster_resolver.SimpleClusterResolver is tf.distribute.cluster_resolver.SimpleClusterResolver
"""], check=True, timeout=100, env=dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p)))


STEP = {"PROCID": "3", "STEP_NUM_TASKS": "5", "STEP_NODELIST": "b,n[08-09]", "STEP_TASKS_PER_NODE": "1,2(x2)"}


def test_slurm_says_what_is_left_out(monkeypatch):
    from penstock.compat import v2
    resolver = v2.distribute.cluster_resolver.SlurmClusterResolver
    for name in STEP:
        monkeypatch.delenv("SLURM_" + name, raising=False)
    with pytest.raises(RuntimeError, match="SLURM_PROCID"):
        resolver()
    for name, value in STEP.items():
        monkeypatch.setenv("SLURM_" + name, value)
    slurm = resolver(auto_set_gpu=False)
    assert slurm.cluster_spec().as_dict() == {"worker": ["b:8888", "n08:8888", "n08:8889", "n09:8888", "n09:8889"]}
    assert slurm.get_task_info() == ("worker", 3)
    slurm = resolver({"worker": 4, "ps": 1}, 1000, gpus_per_node=4, tasks_per_node={"b": 1, "a": 4})
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert slurm.cluster_spec().as_dict() == {"ps": ["a:1000"], "worker": ["a:1001", "a:1002", "a:1003", "b:1000"]}
    assert slurm.get_task_info() == ("worker", 2) and os.environ["CUDA_VISIBLE_DEVICES"] == "3"
    with pytest.raises(RuntimeError, match="4 tasks but only 3"):
        resolver({"worker": 4}, tasks_per_node=1)
    with pytest.raises(RuntimeError, match="more GPUs per node"):
        resolver({"worker": 3}, gpus_per_node=1, gpus_per_task=2, tasks_per_node=1)
