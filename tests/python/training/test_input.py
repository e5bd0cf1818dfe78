"""Input queues: examples in batches, in order and shuffled; the input ends after its epochs."""
import pytest

import penstock.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def drain(fetches):
    """All that the queues give."""
    results = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        try:
            while True:
                results.append(sess.run(fetches))
        except tf.errors.OutOfRangeError:
            pass
        coord.request_stop()
        coord.join(threads)
    return results


def test_batches_in_order():
    number = tf.train.range_input_producer(5, num_epochs=2, shuffle=False).dequeue()
    batch = tf.train.batch({"n": number, "square": number * number}, 4, allow_smaller_final_batch=True)
    results = drain(batch)
    assert [list(r["n"]) for r in results] == [[0, 1, 2, 3], [4, 0, 1, 2], [3, 4]]
    assert list(results[1]["square"]) == [16, 0, 1, 4]
    assert batch["n"].name == "batch:0" and batch["square"].name == "batch:1"


def test_shuffled_batches_hold_every_example():
    name, index = tf.train.slice_input_producer([["a", "b", "c", "d"], [0, 1, 2, 3]], num_epochs=3, seed=1)
    batch = tf.train.shuffle_batch([name, index], 6, capacity=20, min_after_dequeue=5, seed=2)
    results = drain(batch)
    assert len(results) == 2
    pairs = [(n, i) for names, indices in results for n, i in zip(names, indices)]
    assert sorted(pairs) == sorted([(b"a", 0), (b"b", 1), (b"c", 2), (b"d", 3)] * 3)


def test_joined_batches():
    sources = [[tf.train.range_input_producer(4, num_epochs=1).dequeue() + 10 * i] for i in range(2)]
    results = drain(tf.train.batch_join(sources, 2))
    assert sorted(x for r in results for x in r) == [0, 1, 2, 3, 10, 11, 12, 13]


def test_padding_and_whole_batches():
    number = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
    padded = tf.train.batch([tf.fill([number], number)], 2, dynamic_pad=True, shapes=[[None]])
    assert [r.tolist() for r in drain(padded)] == [[[0], [1]], [[2, 2, 0], [3, 3, 3]]]


def test_kept_examples():
    number = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
    batch = tf.train.maybe_batch([tf.stack([number, number + 10])], tf.stack([number > 2, False]), 1,
                                 enqueue_many=True)
    assert [r.tolist() for r in drain(batch)] == [[3], [4], [5]]


def test_bad_arguments():
    with pytest.raises(ValueError, match="requires a non-null input tensor"):
        tf.train.string_input_producer([])
    with pytest.raises(ValueError, match="num_epochs must be > 0"):
        tf.train.limit_epochs(tf.constant(1), 0)
    with pytest.raises(ValueError, match="must be bigger than min_after_dequeue"):
        tf.train.shuffle_batch([tf.constant(1)], 1, 10, 10)
    with pytest.raises(ValueError, match="Cannot infer Tensor's rank"):
        tf.train.batch([tf.placeholder(tf.float32)], 1)
    with pytest.raises(TypeError, match="types to be consistent"):
        tf.train.batch_join([[tf.constant(1)], [tf.constant(1.0)]], 1)
