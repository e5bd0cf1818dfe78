"""Checkpoints spread over files by tf.train.experimental.ShardingCallback, read back whole."""
import os
import subprocess
import sys

import pytest

PROGRAM = """
import glob, os, sys
import numpy as np
import penstock as tf
prefix = os.path.join(sys.argv[1], "m")
weights = np.arange(60, dtype=np.float32).reshape(12, 5)
model = tf.Module()
model.w, model.b = tf.Variable(weights), tf.Variable(np.arange(7, dtype=np.int64))
model.s = tf.Variable(3.5)
checkpoint = tf.train.Checkpoint(model=model)
def files():
    return sorted(os.path.getsize(f) for f in glob.glob(prefix + "-*data*"))
def restore(path):
    for v in (model.w, model.b, model.s):
        v.assign(tf.zeros_like(v))
    checkpoint.restore(path).assert_consumed()
    np.testing.assert_array_equal(model.w.numpy(), weights)
    np.testing.assert_array_equal(model.b.numpy(), np.arange(7))
    assert model.s.numpy() == 3.5
def refuses(error, function, text):
    try:
        function()
    except error as e:
        assert text in str(e), e
    else:
        raise SystemExit("not refused: " + text)
"""


def run(tmp_path, program):
    done = subprocess.run([sys.executable, "-c", PROGRAM + program, str(tmp_path)], capture_output=True, text=True,
                          timeout=100, env=os.environ)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("size, most", [(100, 100), (64, 64), (40, 40), (10**6, 10**6)])
def test_files_of_a_greatest_size(tmp_path, size, most):
    run(tmp_path, f"""
options = tf.train.CheckpointOptions(experimental_sharding_callback=tf.train.experimental.MaxShardSizePolicy({size}))
path = checkpoint.save(prefix, options)
restore(path)
sizes = files()
values = 60 * 4 + 7 * 8 + 4 + 8  # with the counter of saves
assert len(sizes) >= max(1, values // {size})
# All but the one with the object graph, which has some hundred bytes.
assert all(s <= {most} for s in sizes[:-1]), sizes
assert not glob.glob(prefix + "*_temp*")
reader = tf.train.load_checkpoint(path)
assert dict(tf.train.list_variables(path))["model/w/.ATTRIBUTES/VARIABLE_VALUE"] == [12, 5]
""")


def test_shards_of_a_program(tmp_path):
    run(tmp_path, """
class OneEach(tf.train.experimental.ShardingCallback):
    @property
    def description(self):
        return "one file for each tensor"
    def __call__(self, tensors):
        assert all(isinstance(t, tf.train.experimental.ShardableTensor) and t.slice_spec == "" for t in tensors)
        return [{t.checkpoint_key: {t.slice_spec: t.tensor}} for t in tensors]
options = tf.train.CheckpointOptions(experimental_sharding_callback=OneEach())
restore(checkpoint.save(prefix, options))
assert len(files()) == 5
restore(checkpoint.save(prefix, tf.train.CheckpointOptions(
    experimental_sharding_callback=tf.train.experimental.ShardByTaskPolicy())))
assert len(glob.glob(prefix + "-2.data*")) == 1
asynchronous = tf.train.CheckpointOptions(experimental_sharding_callback=OneEach(), enable_async=True)
path = checkpoint.save(prefix, asynchronous)
checkpoint.sync()
restore(path)
assert len(glob.glob(prefix + "-3.data*")) == 5
""")


def test_shards_that_are_wrong(tmp_path):
    run(tmp_path, """
def policy(change):
    class Wrong(tf.train.experimental.ShardingCallback):
        description = "wrong"
        def __call__(self, tensors):
            shard = {t.checkpoint_key: {t.slice_spec: t.tensor} for t in tensors}
            key = next(k for k in shard if "model/w" in k)
            return change(shard, key)
    options = tf.train.CheckpointOptions(experimental_sharding_callback=Wrong())
    return lambda: checkpoint.save(prefix, options)
refuses(RuntimeError, policy(lambda s, k: [{x: v for x, v in s.items() if x != k}]), "were not found")
refuses(RuntimeError, policy(lambda s, k: [s, {k: s[k]}]), "multiple tensors")
refuses(RuntimeError, policy(lambda s, k: [{**s, "new": s[k]}]), "not originally in the object graph")
refuses(RuntimeError, policy(lambda s, k: [{**s, k: {"": tf.zeros([3])}}]), "altered shape")
refuses(RuntimeError, policy(lambda s, k: [{**s, k: {"": tf.zeros([12, 5], tf.int32)}}]), "altered dtype")
refuses(ValueError, lambda: tf.train.CheckpointOptions(experimental_sharding_callback=len), "ShardingCallback")
""")
