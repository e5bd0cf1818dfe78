"""Trains on Fashion-MNIST from files, with an input pipeline that goes on at the exact element after it was killed.

    python -m penstock examples/input_pipeline.py                  converts the images to records, trains, tests
    python -m penstock examples/input_pipeline.py --kill-at 500    ... but dies at step 500, as if power had failed
    python -m penstock examples/input_pipeline.py                  goes on from the last checkpoint

A checkpoint holds the pipeline's state beside the network's: which records of which files have been read, what is in
the buffer of the shuffle, which elements were made ahead. With --log FILE each step notes a checksum of its batch and
its loss, so that an interrupted run can be compared with one that was not. It is a program of TensorFlow 1.
"""
import argparse
import glob
import gzip
import os
import signal
import zlib

import numpy as np
import tensorflow.compat.v1 as tf

BATCH = 128
SHARDS = 12


def read_idx(directory, name):
    """The array of bytes in a file of MNIST's format: 2 zero bytes, type, rank, the dimensions, then the elements."""
    with gzip.open(os.path.join(directory, name + "-ubyte.gz")) as f:
        data = f.read()
    shape = np.frombuffer(data, ">i4", count=data[3], offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


def convert(source, directory, most):
    """Writes the training images as Examples, the i-th one to file i modulo SHARDS."""
    images = read_idx(source, "train-images-idx3")[:most]
    labels = read_idx(source, "train-labels-idx1")[:most]
    os.makedirs(directory, exist_ok=True)
    for shard in range(SHARDS):
        path = os.path.join(directory, "train-%05d-of-%05d.tfrecord" % (shard, SHARDS))
        with tf.python_io.TFRecordWriter(path + ".part") as writer:
            for i in range(shard, len(images), SHARDS):
                writer.write(tf.train.Example(features=tf.train.Features(feature={
                    "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[images[i].tobytes()])),
                    "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[labels[i]])),
                })).SerializeToString())
        os.rename(path + ".part", path)
    print("wrote %d images to %d files in %s" % (len(images), SHARDS, directory))


def parse(record):
    features = tf.parse_single_example(record, {
        "image": tf.FixedLenFeature([], tf.string), "label": tf.FixedLenFeature([], tf.int64)})
    image = tf.reshape(tf.decode_raw(features["image"], tf.uint8), [28, 28, 1])
    return tf.cast(image, tf.float32) / 255.0, features["label"]


def augment(number, image, label):
    """The image, mirrored or not and a little brighter or darker. The random numbers follow from the element's number
    in the whole training, so that they are the same after a restart."""
    mirror, light = tf.unstack(tf.random.stateless_uniform([2], seed=[number, tf.constant(7, tf.int64)]))
    image = tf.cond(mirror < 0.5, lambda: tf.image.flip_left_right(image), lambda: image)
    return tf.clip_by_value(image + 0.2 * (light - 0.5), 0.0, 1.0), label


def pipeline(directory):
    names = tf.data.Dataset.list_files(os.path.join(directory, "*.tfrecord"), shuffle=True, seed=1)
    records = names.apply(tf.data.experimental.parallel_interleave(
        tf.data.TFRecordDataset, cycle_length=4, block_length=16))
    examples = records.shuffle(4096, seed=2).repeat().map(parse, num_parallel_calls=tf.data.experimental.AUTOTUNE)
    numbered = tf.data.Dataset.zip((tf.data.experimental.Counter(), examples))
    augmented = numbered.map(lambda number, example: augment(number, *example), num_parallel_calls=2)
    return augmented.batch(BATCH, drop_remainder=True).prefetch(2)


def network(images):
    hidden = tf.layers.dense(tf.layers.flatten(images), 256, tf.nn.relu, name="hidden1")
    hidden = tf.layers.dense(hidden, 128, tf.nn.relu, name="hidden2")
    return tf.layers.dense(hidden, 10, name="logits")


def train(arguments, records):
    tf.set_random_seed(1)
    iterator = tf.data.make_initializable_iterator(pipeline(records))
    images, labels = iterator.get_next()
    with tf.variable_scope("network"):
        logits = network(images)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    step = tf.train.get_or_create_global_step()
    minimize = tf.train.AdamOptimizer(0.001).minimize(loss, global_step=step)
    # The iterator is saved, and restored, with the variables.
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, tf.data.experimental.make_saveable_from_iterator(iterator))
    saver = tf.train.Saver(max_to_keep=2)
    path = os.path.join(arguments.directory, "model")
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), iterator.initializer])
        last = tf.train.latest_checkpoint(arguments.directory)
        if last:
            saver.restore(sess, last)
            print("going on from %s" % last)
        log = open(arguments.log, "a") if arguments.log else None
        for at in range(sess.run(step) + 1, arguments.steps + 1):
            seen, answers, value, _ = sess.run([images, labels, loss, minimize])
            if log:
                log.write("%d %08x %r\n" % (at, zlib.crc32(seen.tobytes() + answers.tobytes()), float(value)))
                log.flush()
            if at == arguments.kill_at:
                print("killed at step %d" % at, flush=True)
                os.kill(os.getpid(), signal.SIGKILL)
            if at % arguments.save_every == 0 or at == arguments.steps:
                saver.save(sess, path, global_step=at)
                print("step %d of %d: loss %.3f, saved" % (at, arguments.steps, value), flush=True)


def evaluate(arguments):
    images = read_idx(arguments.data, "t10k-images-idx3")
    labels = read_idx(arguments.data, "t10k-labels-idx1")
    with tf.Graph().as_default(), tf.Session() as sess:
        shown = tf.placeholder(tf.float32, [None, 28, 28, 1])
        with tf.variable_scope("network"):
            guess = tf.argmax(network(shown), 1)
        tf.train.Saver().restore(sess, tf.train.latest_checkpoint(arguments.directory))
        right = np.sum(sess.run(guess, {shown: images[..., None] / 255.0}) == labels)
    print("test accuracy: %.2f %%" % (100.0 * right / len(labels)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1400, help="batches of %d images to train on" % BATCH)
    parser.add_argument("--save-every", type=int, default=200, help="steps between checkpoints")
    parser.add_argument("--kill-at", type=int, default=0, help="the step at which the process kills itself")
    parser.add_argument("--log", help="a file to which each step adds a line about its batch")
    parser.add_argument("--images", type=int, default=60000, help="how many training images are used")
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist", help="directory of the four files")
    parser.add_argument("--directory", default=os.path.join("build", "demo", "pipeline"),
                        help="where records and checkpoints are")
    arguments = parser.parse_args()
    records = os.path.join(arguments.directory, "records")
    if len(glob.glob(os.path.join(records, "*.tfrecord"))) < SHARDS:
        convert(arguments.data, records, arguments.images)
    train(arguments, records)
    evaluate(arguments)


if __name__ == "__main__":
    main()
