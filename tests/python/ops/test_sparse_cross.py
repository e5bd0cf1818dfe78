"""Every combination of the features of each row, as text and as hashes."""
import numpy as np
import pytest

import penstock.v1 as tf

MASK = (1 << 64) - 1


def join(a, b):
    """The hash of two hashes, by its formula."""
    mul = 0xc6a4a7935bd1e995

    def mix(v):
        return v ^ (v >> 47)

    both = ((a ^ mul) ^ ((mix((b * mul) & MASK) * mul) & MASK)) * mul & MASK
    return mix((mix(both) * mul) & MASK)


def run(fetches):
    with tf.Session() as sess:
        return sess.run(fetches)


def sparse(indices, values, shape):
    return tf.SparseTensor(np.array(indices, np.int64).reshape(-1, 2), values, shape)


def test_texts_of_sparse_and_dense():
    words = sparse([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [3, 2])
    numbers = tf.constant([[1, 2], [3, 4], [5, 6]], tf.int64)
    value = run(tf.sparse.cross([words, numbers]))
    assert value.values.tolist() == [b"a_X_1", b"a_X_2", b"b_X_3", b"b_X_4", b"c_X_3", b"c_X_4"]
    assert value.indices.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [1, 3]]
    assert value.dense_shape.tolist() == [3, 4]  # the last row has no word


def test_separator_of_version_2():
    value = run(tf.raw_ops.SparseCrossV2(indices=[], values=[], shapes=[], sep="/",
                                         dense_inputs=[tf.constant([["a", "b"]]), tf.constant([["c"]])]))
    assert value.output_values.tolist() == [b"a/c", b"b/c"]


@pytest.mark.parametrize("buckets", [0, 100])
@pytest.mark.parametrize("key", [None, 7])
def test_hashes_follow_their_formula(buckets, key):
    a, b = np.array([[1], [-5]]), np.array([[7, 8], [9, 10]])
    value = run(tf.sparse.cross_hashed([tf.constant(a, tf.int64), tf.constant(b, tf.int64)], buckets, key))
    start = 0xDECAFCAFFE if key is None else key
    expected = [join(join(start, int(x) & MASK), int(y)) % (buckets or (1 << 63) - 1)
                for row_a, row_b in zip(a, b) for x in row_a for y in row_b]
    assert value.values.tolist() == expected


def test_words_are_hashed_as_buckets_are():
    most = (1 << 63) - 1
    one = run(tf.sparse.cross_hashed([tf.constant([["word"]]), tf.constant([[3]], tf.int64)])).values[0]
    bucket = int(run(tf.strings.to_hash_bucket_fast(["word"], most))[0])
    # A bucket is the hash of 64 bits modulo `most`.
    assert one in {join(join(0xDECAFCAFFE, bucket + i * most), 3) % most for i in range(3)}


@pytest.mark.parametrize("indices, shape, message", [
    ([[0, 0], [3, 0]], [3, 2], "out of range"), ([[1, 0], [0, 0]], [3, 2], "out of order"),
    ([[-1, 0], [0, 0]], [3, 2], "out of order"), ([[0, 0], [1, 0]], [4, 2], "Expected batch size")])
def test_bad_input(indices, shape, message):
    words = tf.SparseTensor(tf.placeholder_with_default(np.array(indices, np.int64), None), ["a", "b"],
                            tf.placeholder_with_default(np.array(shape, np.int64), None))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.sparse.cross([tf.constant([["x"], ["y"], ["z"]]), words]))


def test_no_input():
    with pytest.raises(tf.errors.InvalidArgumentError, match="At least one input"):
        run(tf.raw_ops.SparseCrossV2(indices=[], values=[], shapes=[], sep="/", dense_inputs=[]))
