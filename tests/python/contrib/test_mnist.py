"""Reading data sets in MNIST's format."""
import gzip
import os

import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.contrib.learn import mnist

FASHION = "/usr/share/datasets/fashion-mnist"


def write_idx(path, values, packed=True):
    magic = 2048 + values.ndim
    header = b"".join(int(n).to_bytes(4, "big") for n in (magic,) + values.shape)
    data = header + values.astype(np.uint8).tobytes()
    with (gzip.open(path, "wb") if packed else open(path, "wb")) as f:
        f.write(data)


@pytest.fixture
def directory(tmp_path):
    r = np.random.RandomState(0)
    for prefix, count in (("train", 50), ("t10k", 20)):
        write_idx(tmp_path / (prefix + "-images-idx3-ubyte.gz"), r.randint(0, 256, (count, 4, 3)))
        write_idx(tmp_path / (prefix + "-labels-idx1-ubyte"), np.arange(count) % 10, packed=False)
    return str(tmp_path)


def test_read_data_sets(directory):
    data = tf.examples.tutorials.mnist.input_data.read_data_sets(directory, one_hot=True, validation_size=10)
    assert (data.train.num_examples, data.validation.num_examples, data.test.num_examples) == (40, 10, 20)
    assert data.train.images.shape == (40, 12) and data.train.images.dtype == np.float32
    assert 0 <= data.train.images.min() and data.train.images.max() <= 1
    np.testing.assert_array_equal(data.validation.labels.argmax(1), np.arange(10))


def test_batches_go_through_all_examples_once_an_epoch(directory):
    data = mnist.read_data_sets(directory, validation_size=0, dtype=tf.uint8, reshape=False, seed=3).train
    assert data.images.shape == (50, 4, 3, 1)
    seen = [data.next_batch(20) for _ in range(5)]
    assert data.epochs_completed == 1 or data.epochs_completed == 2
    first = np.concatenate([images for images, _ in seen])[:50].reshape(50, -1)
    assert sorted(map(tuple, first)) == sorted(map(tuple, data.images.reshape(50, -1)))
    assert all(len(images) == len(labels) == 20 for images, labels in seen)


def test_without_shuffling(directory):
    data = mnist.read_data_sets(directory, validation_size=0).train
    _, labels = data.next_batch(12, shuffle=False)
    np.testing.assert_array_equal(labels, np.arange(12) % 10)


def test_fake_data():
    data = mnist.read_data_sets("/nowhere", fake_data=True, one_hot=True)
    images, labels = data.train.next_batch(3)
    assert np.shape(images) == (3, 784) and np.shape(labels) == (3, 10)


def test_bad_files(directory):
    with pytest.raises(FileNotFoundError, match="train-images"):
        mnist.read_data_sets(os.path.join(directory, "nothing"))
    with pytest.raises(ValueError, match="Validation size"):
        mnist.read_data_sets(directory, validation_size=51)
    path = os.path.join(directory, "t10k-labels-idx1-ubyte")
    with open(path, "r+b") as f:
        f.truncate(15)
    with pytest.raises(ValueError, match="cut short"):
        mnist.read_data_sets(directory, validation_size=5)
    with open(path, "wb") as f:
        f.write(b"not an idx file")
    with pytest.raises(ValueError, match="magic"):
        mnist.read_data_sets(directory, validation_size=5)


@pytest.mark.skipif(not os.path.isdir(FASHION), reason="Debian's package dataset-fashion-mnist is not installed")
def test_fashion_mnist():
    data = mnist.read_data_sets(FASHION)
    assert (data.train.num_examples, data.validation.num_examples, data.test.num_examples) == (55000, 5000, 10000)
    np.testing.assert_array_equal(np.bincount(data.test.labels), [1000] * 10)
