"""Trains a network on Fashion-MNIST, saves it, and tests what was saved.

    python -m penstock examples/fashion_mnist.py --model cnn              trains and saves
    python -m penstock examples/fashion_mnist.py --model cnn --evaluate   loads what was saved, prints its accuracy

The images are those of Debian's package dataset-fashion-mnist: 60,000 to train on, 10,000 to test on. It is a program
of TensorFlow 1: it knows nothing of Penstock, and runs under TensorFlow 1.15 just the same.
"""
import argparse
import gzip
import os
import sys
import time
import typing

import numpy as np
import tensorflow.compat.v1 as tf

BATCH = 128
TRAIN_IMAGES = 60000


def read_idx(directory, name):
    """The array of bytes in a file of MNIST's format: 2 zero bytes, type, rank, the dimensions, then the elements."""
    with gzip.open(os.path.join(directory, name + "-ubyte.gz")) as f:
        data = f.read()
    shape = np.frombuffer(data, ">i4", count=data[3], offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


def mlp(images):
    hidden = tf.layers.dense(tf.layers.flatten(images), 256, tf.nn.relu, name="hidden1")
    hidden = tf.layers.dense(hidden, 128, tf.nn.relu, name="hidden2")
    return tf.layers.dense(hidden, 10, name="logits")


def cnn(images):
    x = tf.layers.conv2d(images, 32, 3, padding="same", activation=tf.nn.relu, name="conv1")
    x = tf.layers.max_pooling2d(x, 2, 2)
    x = tf.layers.conv2d(x, 64, 3, padding="same", activation=tf.nn.relu, name="conv2")
    x = tf.layers.max_pooling2d(x, 2, 2)
    x = tf.layers.dense(tf.layers.flatten(x), 128, tf.nn.relu, name="hidden")
    return tf.layers.dense(x, 10, name="logits")


def build(model, steps):
    """The graph: placeholders "images" and "labels", and tensors and operations by the names that are used below."""
    images = tf.placeholder(tf.uint8, [None, 28, 28], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    logits = model(tf.expand_dims(tf.cast(images, tf.float32) / 255.0, -1))
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    tf.identity(loss, name="mean_loss")
    tf.reduce_sum(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.int64), name="correct")
    step = tf.train.get_or_create_global_step()
    # Large steps first, then ever smaller ones: the last epoch settles.
    rate = tf.train.polynomial_decay(0.002, step, steps, end_learning_rate=0.00002)
    tf.train.AdamOptimizer(rate).minimize(loss, global_step=step, name="train")


def show_progress(step, steps, loss, started):
    seconds = time.time() - started
    left = seconds / step * (steps - step)
    done = 24 * step // steps
    line = "[%s%s] step %*d/%d  loss %.3f  %6.0f images/s  %d:%02d left" % (
        "#" * done, "." * (24 - done), len(str(steps)), step, steps, loss, step * BATCH / seconds,
        left // 60, left % 60)
    # On a terminal the line is overwritten; in a file each tenth is kept.
    if sys.stdout.isatty():
        print("\r" + line, end="" if step < steps else "\n", flush=True)
    elif step == steps or step * 10 // steps != (step - 20) * 10 // steps:
        print(line, flush=True)


def train(arguments, path):
    images = read_idx(arguments.data, "train-images-idx3")
    labels = read_idx(arguments.data, "train-labels-idx1").astype(np.int64)
    steps = arguments.steps
    tf.set_random_seed(1)
    build({"mlp": mlp, "cnn": cnn}[arguments.model], steps)
    order = np.random.RandomState(1)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        started = time.time()
        batches: typing.Iterator[np.ndarray] = iter(())
        for step in range(1, steps + 1):
            rows = next(batches, None)
            if rows is None:  # a new epoch, in a new order
                shuffled = order.permutation(TRAIN_IMAGES)
                batches = (shuffled[i:i + BATCH] for i in range(0, TRAIN_IMAGES - BATCH + 1, BATCH))
                rows = next(batches)
            _, loss = sess.run(["train", "mean_loss:0"], {"images:0": images[rows], "labels:0": labels[rows]})
            if step % 20 == 0 or step == steps:
                show_progress(step, steps, loss, started)
        tf.train.write_graph(sess.graph.as_graph_def(), arguments.directory, arguments.model + ".pbtxt")
        saver.save(sess, path)
    print("trained for %.0f s; saved %s.{meta,index,data-00000-of-00001} and its graph %s.pbtxt" % (
        time.time() - started, path, path))


def evaluate(arguments, path):
    images = read_idx(arguments.data, "t10k-images-idx3")
    labels = read_idx(arguments.data, "t10k-labels-idx1").astype(np.int64)
    # Nothing of the network is built here: its graph and its values come from the files.
    saver = tf.train.import_meta_graph(path + ".meta")
    with tf.Session() as sess:
        saver.restore(sess, path)
        correct = sum(sess.run("correct:0", {"images:0": images[i:i + 500], "labels:0": labels[i:i + 500]})
                      for i in range(0, len(images), 500))
    print("test accuracy of the saved %s: %.2f %%" % (arguments.model, 100.0 * correct / len(images)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=["mlp", "cnn"], default="mlp")
    parser.add_argument("--steps", type=int, help="batches of %d images to train on" % BATCH)
    parser.add_argument("--evaluate", action="store_true", help="test what was saved instead of training")
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist", help="directory of the four files")
    parser.add_argument("--directory", default=os.path.join("build", "demo"), help="where models are saved")
    arguments = parser.parse_args()
    if arguments.steps is None:
        arguments.steps = {"mlp": 3000, "cnn": 2400}[arguments.model]
    os.makedirs(arguments.directory, exist_ok=True)
    path = os.path.join(arguments.directory, arguments.model)
    if arguments.evaluate:
        evaluate(arguments, path)
    else:
        train(arguments, path)


if __name__ == "__main__":
    main()
