"""tf.contrib.training: batches of sequences of like lengths, and parameter servers by load."""
import numpy as np
import pytest

import penstock.v1 as tf

training = tf.contrib.training


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def sequences(num_epochs=None):
    number = tf.train.range_input_producer(21, num_epochs=num_epochs, shuffle=False).dequeue()
    length = number % 7 + 1
    return number, length, tf.fill([length], number)


@pytest.fixture
def session():
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()

        def started():
            session.run(tf.local_variables_initializer())
            tf.train.start_queue_runners(session, coordinator)
            return session

        yield started
        coordinator.request_stop()


def test_sequences_of_like_lengths_share_a_batch(session):
    _, length, sequence = sequences()
    lengths, (batch,) = training.bucket_by_sequence_length(length, [sequence], 2, [3, 5], dynamic_pad=True, capacity=8)
    assert lengths.shape == [2] and batch.shape.as_list() == [2, None]
    run = session()
    for _ in range(6):
        found, rows = run.run([lengths, batch])
        assert len({int(n >= 3) + int(n >= 5) for n in found}) == 1
        assert rows.shape == (2, max(found))
        assert [np.count_nonzero(row) for row in rows] in ([n if row[0] else 0 for n, row in zip(found, rows)],)


def test_a_bucket_has_its_own_batch_size_and_the_last_may_be_smaller(session):
    number, _, sequence = sequences(num_epochs=1)
    which, (numbers, rows) = training.bucket([number, sequence], number % 2, [1, 3], 2, dynamic_pad=True,
                                             allow_smaller_final_batch=True)
    run = session()
    seen = []
    with pytest.raises(tf.errors.OutOfRangeError):
        while True:
            bucket, found, _ = run.run([which, numbers, rows])
            assert all(n % 2 == bucket for n in found) and len(found) <= [1, 3][bucket]
            seen.extend(found)
    assert sorted(seen) == list(range(21))


def test_wrong_buckets_are_refused():
    x = tf.constant(1)
    with pytest.raises(ValueError, match="num_buckets elements"):
        training.bucket([x], 0, [1, 2], 3)
    with pytest.raises(ValueError, match="bucket_capacities"):
        training.bucket([x], 0, 1, 3, bucket_capacities=[1])
    with pytest.raises(ValueError, match="increasing"):
        training.bucket_by_sequence_length(x, [x], 1, [5, 3])
    with pytest.raises(TypeError, match="integers"):
        training.bucket_by_sequence_length(x, [x], 1, [1., 3])
    with pytest.raises(ValueError, match="empty"):
        training.bucket_by_sequence_length(x, [x], 1, [])


def test_variables_go_to_the_server_with_the_least_load():
    strategy = training.GreedyLoadBalancingStrategy(2, training.byte_size_load_fn)
    with tf.device(tf.train.replica_device_setter(2, ps_strategy=strategy)):
        variables = [tf.Variable(np.zeros(size, np.float32), name="v%d" % i) for i, size in enumerate((5, 3, 1, 4))]
    assert [v.device[-1] for v in variables] == ["0", "1", "1", "1"]
    assert [training.RandomStrategy(5, 1)(v.op) for v in variables[:2]] == [2, 0]
