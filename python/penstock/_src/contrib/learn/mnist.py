"""MNIST and data sets in its format, from local files: tf.examples.tutorials.mnist.input_data.

Nothing is downloaded. A directory holds the four files, packed with gzip or not; Debian's package
`dataset-fashion-mnist` has such files in /usr/share/datasets/fashion-mnist.
"""
import collections
import gzip
import os

import numpy as np

from penstock._src.graph import dtypes
from penstock._src.graph import random_seed

Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])

TRAIN_IMAGES = "train-images-idx3-ubyte.gz"
TRAIN_LABELS = "train-labels-idx1-ubyte.gz"
TEST_IMAGES = "t10k-images-idx3-ubyte.gz"
TEST_LABELS = "t10k-labels-idx1-ubyte.gz"


def _content(f):
    data = f.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def _idx(f, magic, what):
    """The array in an IDX file of bytes."""
    data = _content(f)
    name = getattr(f, "name", "the file")
    found = int.from_bytes(data[:4], "big")
    if found != magic:
        raise ValueError("Invalid magic number %d in MNIST %s file: %s" % (found, what, name))
    rank = magic & 0xff
    shape = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(rank)]
    values = np.frombuffer(data, np.uint8, offset=4 + 4 * rank)
    if values.size != int(np.prod(shape)):
        raise ValueError("MNIST %s file %s is cut short: %d bytes of %d" % (what, name, values.size, np.prod(shape)))
    return values.reshape(shape)


def extract_images(f):
    """[number, rows, columns, 1] bytes of an open file of images."""
    return _idx(f, 2051, "image")[..., np.newaxis]


def dense_to_one_hot(labels_dense, num_classes):
    """[number, num_classes] with a one for each label."""
    one_hot = np.zeros((labels_dense.shape[0], num_classes))
    one_hot[np.arange(labels_dense.shape[0]), labels_dense.ravel()] = 1
    return one_hot


def extract_labels(f, one_hot=False, num_classes=10):
    """The labels of an open file: [number] bytes, or one-hot rows."""
    labels = _idx(f, 2049, "label")
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


class DataSet(object):
    """Images and labels, handed out in batches, shuffled anew in each epoch."""

    def __init__(self, images, labels, fake_data=False, one_hot=False, dtype=dtypes.float32, reshape=True, seed=None):
        seed1, seed2 = random_seed.get_seed(seed)
        # NumPy's own generator, as programs expect: with a seed the same batches in each run.
        np.random.seed(seed1 if seed is None else seed2)
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError("Invalid image dtype %r, expected uint8 or float32" % dtype)
        self.one_hot = one_hot
        if fake_data:
            self._num_examples = 10000
        else:
            assert images.shape[0] == labels.shape[0], (
                "images.shape: %s labels.shape: %s" % (images.shape, labels.shape))
            self._num_examples = images.shape[0]
            if reshape:
                assert images.shape[3] == 1
                images = images.reshape(images.shape[0], images.shape[1] * images.shape[2])
            if dtype == dtypes.float32:
                images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._fake_data = fake_data
        self._images = images
        self._labels = labels
        self._epochs_completed = 0
        self._index_in_epoch = 0

    @property
    def images(self):
        return self._images

    @property
    def labels(self):
        return self._labels

    @property
    def num_examples(self):
        return self._num_examples

    @property
    def epochs_completed(self):
        return self._epochs_completed

    def next_batch(self, batch_size, fake_data=False, shuffle=True):
        """The next `batch_size` images and labels; a batch may end one epoch and begin the next."""
        if fake_data or self._fake_data:
            label = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784 for _ in range(batch_size)], [label for _ in range(batch_size)]
        start = self._index_in_epoch
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle(self._images, self._labels)
        if start + batch_size <= self._num_examples:
            self._index_in_epoch += batch_size
            return self._images[start:self._index_in_epoch], self._labels[start:self._index_in_epoch]
        self._epochs_completed += 1
        rest = self._num_examples - start
        images_rest, labels_rest = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle(self.images, self.labels)
        self._index_in_epoch = batch_size - rest
        return (np.concatenate((images_rest, self._images[:self._index_in_epoch]), axis=0),
                np.concatenate((labels_rest, self._labels[:self._index_in_epoch]), axis=0))

    def _shuffle(self, images, labels):
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images = images[order]
        self._labels = labels[order]


def _open(directory, name):
    for candidate in (name, name[:-len(".gz")]):
        path = os.path.join(directory, candidate)
        if os.path.exists(path):
            return open(path, "rb")
    raise FileNotFoundError("%s is not in %s; Penstock downloads nothing. Put the four files of the data set there." %
                            (name, directory))


def read_data_sets(train_dir, fake_data=False, one_hot=False, dtype=dtypes.float32, reshape=True,
                   validation_size=5000, seed=None, source_url=None):
    """Datasets(train, validation, test) of the files in `train_dir`."""
    if fake_data:
        def fake():
            return DataSet([], [], fake_data=True, one_hot=one_hot, dtype=dtype, seed=seed)
        return Datasets(train=fake(), validation=fake(), test=fake())
    with _open(train_dir, TRAIN_IMAGES) as f:
        train_images = extract_images(f)
    with _open(train_dir, TRAIN_LABELS) as f:
        train_labels = extract_labels(f, one_hot=one_hot)
    with _open(train_dir, TEST_IMAGES) as f:
        test_images = extract_images(f)
    with _open(train_dir, TEST_LABELS) as f:
        test_labels = extract_labels(f, one_hot=one_hot)
    if not 0 <= validation_size <= len(train_images):
        raise ValueError("Validation size should be between 0 and {}. Received: {}.".format(
            len(train_images), validation_size))
    options = dict(dtype=dtype, reshape=reshape, seed=seed, one_hot=one_hot)
    return Datasets(
        train=DataSet(train_images[validation_size:], train_labels[validation_size:], **options),
        validation=DataSet(train_images[:validation_size], train_labels[:validation_size], **options),
        test=DataSet(test_images, test_labels, **options))


def load_mnist(train_dir="MNIST-data"):
    """`read_data_sets` of the directory that TensorFlow's tutorials use."""
    return read_data_sets(train_dir)
