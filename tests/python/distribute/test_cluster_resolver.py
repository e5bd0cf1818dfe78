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
