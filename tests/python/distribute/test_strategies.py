"""Strategies of one replica. Expected values are TensorFlow's."""
import json
import threading

import numpy as np
import pytest

import penstock.v1 as v1
from penstock.compat import v2 as tf
from penstock._src.graph import context

D = tf.distribute
STRATEGIES = {"one_device": lambda: v1.distribute.OneDeviceStrategy("/cpu:0"),
              "mirrored": lambda: v1.distribute.MirroredStrategy()}


@pytest.fixture(params=STRATEGIES)
def strategy(request):
    return STRATEGIES[request.param]()


@pytest.fixture
def eager():
    with context.eager_mode():
        yield


def state():
    d = v1.distribute
    replica = d.get_replica_context()
    return d.has_strategy(), d.in_cross_replica_context(), replica and replica.num_replicas_in_sync


def test_without_a_strategy_there_is_one_replica(eager):
    d = v1.distribute
    assert state() == (False, False, 1) and d.get_strategy().num_replicas_in_sync == 1
    replica = d.get_replica_context()
    assert replica.replica_id_in_sync_group == 0 and replica.strategy is d.get_strategy()
    assert replica.merge_call(lambda strategy, x: (strategy is d.get_strategy(), x, state()), args=(3,)) == (
        True, 3, (False, True, None))
    assert replica.all_reduce(d.ReduceOp.SUM, tf.constant(2.0)).numpy() == 2
    with d.get_strategy().scope():
        assert state() == (False, False, 1)
    assert d.get_strategy().run(lambda x: x + 1, args=(1,)) == 2
    assert d.get_strategy().reduce(d.ReduceOp.MEAN, tf.constant([1.0, 3.0]), axis=0).numpy() == 2


def test_scopes_and_replicas(eager, strategy):
    with strategy.scope() as entered:
        assert entered is strategy is v1.distribute.get_strategy() and state() == (True, True, None)
        v = tf.Variable(1.0)
        with strategy.scope():
            assert state() == (True, True, None)
        with pytest.raises(RuntimeError, match="Mixing different"), v1.distribute.OneDeviceStrategy("/cpu:0").scope():
            pass
    assert strategy.extended.variable_created_in_scope(v)
    assert not strategy.extended.variable_created_in_scope(tf.Variable(1.0))
    assert v.device == "/job:localhost/replica:0/task:0/device:CPU:0" == strategy.extended.worker_devices[0]
    assert strategy.run(lambda x, k: (x * k, state()), args=(3,), kwargs={"k": 2}) == (6, (True, False, 1))

    def merged():
        return v1.distribute.get_replica_context().merge_call(lambda s, x: (s is strategy, x, state()), args=(5,))

    assert strategy.run(merged) == (True, 5, (True, True, None)) and state() == (False, False, 1)
    for inside in (lambda: strategy.run(lambda: 1), lambda: strategy.scope().__enter__()):
        with pytest.raises(RuntimeError, match="requires being in cross-replica context"):
            strategy.run(inside)
    seen = []
    with strategy.scope():
        thread = threading.Thread(target=lambda: seen.append(v1.distribute.has_strategy()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_reductions(eager, strategy):
    x = tf.constant([1.0, 3.0])
    made = [strategy.reduce(op, x, axis=axis).numpy().tolist() for op in ("SUM", "mean") for axis in (None, 0)]
    assert made == [[1, 3], 4, [1, 3], 2]
    with pytest.raises(ValueError, match="'MAX' is not a valid ReduceOp"):
        strategy.reduce("max", x, axis=None)
    assert strategy.experimental_local_results((1, 2)) == ((1, 2),) and strategy.unwrap(3) == [3]
    assert strategy.extended.reduce_to(v1.distribute.ReduceOp.SUM, x, "/cpu:0") is x
    with strategy.scope():
        v = tf.Variable(1.0)
        strategy.extended.update(v, lambda v, y: v.assign_add(y), args=(4.0,))
    assert v.numpy() == 5


def test_a_training_step(eager, strategy):
    with strategy.scope():
        v = tf.Variable(2.0)

    @tf.function
    def step(x):
        def one(x):
            with tf.GradientTape() as tape:
                loss = v * v * x
            if x > 0:  # the function is converted, as the one that calls it is
                v.assign_sub(0.1 * tape.gradient(loss, v))
            return loss
        return strategy.reduce("SUM", strategy.run(one, args=(x,)), axis=None)

    assert step(tf.constant(1.0)).numpy() == 4 and abs(v.numpy() - 1.6) < 1e-6


def test_datasets(eager, strategy):
    batches = v1.data.Dataset.range(4).batch(2)
    assert [x.numpy().tolist() for x in strategy.experimental_distribute_dataset(batches)] == [[0, 1], [2, 3]]
    made = strategy.distribute_datasets_from_function(
        lambda c: v1.data.Dataset.range(c.get_per_replica_batch_size(6)).shard(c.num_input_pipelines,
                                                                               c.input_pipeline_id))
    assert [int(x) for x in made] == [0, 1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="7 is not divisible by `num_replicas_in_sync` 2"):
        v1.distribute.InputContext(num_replicas_in_sync=2).get_per_replica_batch_size(7)
    values = strategy.experimental_distribute_values_from_function(lambda c: c.replica_id_in_sync_group)
    assert values == 0


def test_graphs(strategy):
    with v1.Graph().as_default():
        with strategy.scope():
            w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
            numbers = v1.data.Dataset.range(6).map(lambda x: v1.cast(x, v1.float32)).batch(2, drop_remainder=True)
            iterator = strategy.make_dataset_iterator(numbers)
            optimizer = v1.train.GradientDescentOptimizer(0.1)

            def step(x):
                loss = v1.reduce_sum(w * x)
                return loss, optimizer.minimize(loss)

            loss, train = strategy.experimental_run(step, iterator)
        assert w.dtype == v1.float32  # of a resource, not a reference
        with v1.Session(config=strategy.update_config_proto(v1.ConfigProto())) as sess:
            sess.run([iterator.initialize(), v1.global_variables_initializer()])
            losses = [sess.run([strategy.reduce("SUM", loss, axis=None), train])[0] for _ in range(3)]
            np.testing.assert_allclose(losses, [1, 4.7, 6.2], rtol=1e-6)
            np.testing.assert_allclose(sess.run(w), [0.4, 0.1], rtol=1e-5)


def test_a_strategy_for_good(eager):
    d = v1.distribute
    chosen = d.OneDeviceStrategy("/cpu:0")
    d.experimental_set_strategy(chosen)
    try:
        assert d.get_strategy() is chosen and state() == (True, True, None)
    finally:
        d.experimental_set_strategy(None)
    assert state() == (False, False, 1)
    with chosen.scope(), pytest.raises(RuntimeError, match="Must not be called inside"):
        d.experimental_set_strategy(None)


def test_what_mirrored_strategies_refuse():
    make = v1.distribute.MirroredStrategy
    with pytest.raises(v1.errors.UnimplementedError, match="one replica; it was asked for 2"):
        make(["/cpu:0", "/cpu:1"])
    with pytest.raises(ValueError, match="No duplicates"):
        make(["/cpu:0", "CPU:0"])
    with pytest.raises(ValueError, match="empty `devices`"):
        make([])


def test_further_strategies_of_one_replica(eager, monkeypatch):
    d = v1.distribute
    monkeypatch.delenv("TF_CONFIG", raising=False)
    for strategy in (d.experimental.CentralStorageStrategy(), tf.distribute.MultiWorkerMirroredStrategy(),
                     d.experimental.MultiWorkerMirroredStrategy(d.experimental.CollectiveCommunication.RING),
                     d.MirroredStrategy(cross_device_ops=d.HierarchicalCopyAllReduce(num_packs=2))):
        assert strategy.run(lambda: d.get_replica_context().all_reduce("sum", tf.constant(3))).numpy() == 3
    cluster = {"worker": ["a:1", "b:2"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "worker", "index": 0}}))
    with pytest.raises(v1.errors.UnimplementedError, match="has 2: a:1, b:2"):
        d.experimental.MultiWorkerMirroredStrategy()


def test_reductions_over_one_device():
    d = v1.distribute
    for made in (d.ReductionToOneDevice(), d.NcclAllReduce()):
        assert made.reduce("sum", 3, "/cpu:0") == 3 and made.broadcast(4, "/cpu:0") == 4
        assert made.batch_reduce(d.ReduceOp.MEAN, [(1, "/cpu:0"), (2, "/cpu:0")]) == [1, 2]
    with pytest.raises(ValueError, match="num_packs >= 0, but -1"):
        d.NcclAllReduce(-1)


def test_first_names():
    c = v1.contrib.distribute
    strategy = c.MirroredStrategy(num_gpus=1, cross_device_ops=c.AllReduceCrossDeviceOps("nccl", num_packs=2))
    with strategy.scope():
        assert c.get_distribution_strategy() is strategy is c.get_cross_replica_context()
        assert c.has_distribution_strategy()
    assert strategy.run(lambda: c.require_replica_context(c.get_replica_context())) is None
    with pytest.raises(RuntimeError, match="inside a replica"), strategy.scope():
        c.require_replica_context(strategy.extended._replica_context)
    with pytest.raises(v1.errors.UnimplementedError, match="asked for 2"):
        c.MirroredStrategy(num_gpus=2)
    with pytest.raises(ValueError, match="only specify one"):
        c.MirroredStrategy(["/cpu:0"], num_gpus=1)
    assert c.DistributeConfig(strategy).eval_distribute is None


def test_sparse_gradients_stay_sparse(eager):
    slices = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([3]), tf.constant([4, 2]))
    total = D.get_replica_context().all_reduce("SUM", slices)
    assert isinstance(total, tf.IndexedSlices)
    np.testing.assert_array_equal(total.indices, [3])


def test_merging_where_it_is_asked_for(strategy):
    inside = tf.__internal__.distribute
    assert inside.strategy_supports_no_merge_call()
    assert inside.interim.maybe_merge_call(lambda s, x: (s, x), "any", 3) == ("any", 3)
    with strategy.scope():
        assert not inside.strategy_supports_no_merge_call()
        merged = strategy.run(lambda: inside.interim.maybe_merge_call(
            lambda s, x: (s is strategy, D.in_cross_replica_context(), x), strategy, 3))
    assert merged == (True, True, 3)


def test_devices_may_be_given_as_they_are_listed():
    devices = v1.config.list_logical_devices("CPU")
    assert v1.distribute.MirroredStrategy(devices[:1]).num_replicas_in_sync == 1
    assert v1.distribute.OneDeviceStrategy(devices[0]).extended.worker_devices[0].endswith("device:CPU:0")


def test_a_function_of_values_can_be_called_with_a_context_of_the_program():
    made = tf.distribute.experimental.ValueContext(replica_id_in_sync_group=2, num_replicas_in_sync=4)
    assert (made.replica_id_in_sync_group, made.num_replicas_in_sync) == (2, 4)


def test_slices_may_have_a_shape_that_is_no_tensor(eager):
    slices = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([3]), dense_shape=(4, 2))
    total = D.get_replica_context().all_reduce("SUM", [slices])[0]
    np.testing.assert_array_equal(total.values, [[1, 1]])
    assert total.dense_shape == (4, 2)
