"""Tells two spirals apart with a small network, trained three times from the same start: op by op, by a tf.function,
and with Newton's idea of curvature along the gradient, which needs a gradient of a gradient.

    python -m penstock examples/eager_spirals.py --steps 300

It is a program of TensorFlow 2: it knows nothing of Penstock, and runs under TensorFlow 2 just the same.
"""
import argparse
import math
import time

import numpy as np
import tensorflow as tf


def spirals(count, seed=0):
    """Points of two spirals, and which of the two each is of."""
    random = np.random.RandomState(seed)
    turns = np.sqrt(random.rand(count)) * 2.5 * np.pi
    which = np.arange(count) % 2
    angle = turns + np.pi * which
    points = np.stack([turns * np.cos(angle), turns * np.sin(angle)], 1) / 8.0 + random.randn(count, 2) * 0.01
    return points.astype(np.float32), which.astype(np.int32)


class Network(tf.Module):
    """Layers of tanh with a linear one at the end."""

    def __init__(self, sizes, seed=1):
        super().__init__()
        random = np.random.RandomState(seed)
        self.weights = [tf.Variable((random.randn(a, b) / np.sqrt(a)).astype(np.float32))
                        for a, b in zip(sizes, sizes[1:])]
        self.biases = [tf.Variable(tf.zeros([b])) for b in sizes[1:]]

    def __call__(self, x):
        for w, b in zip(self.weights[:-1], self.biases[:-1]):
            x = tf.tanh(tf.matmul(x, w) + b)
        return tf.matmul(x, self.weights[-1]) + self.biases[-1]


def loss_of(network, points, which):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=which, logits=network(points))
    return tf.reduce_mean(losses)


def adam(variables, rate=0.01, beta1=0.9, beta2=0.999):
    """A function that applies gradients to the variables."""
    means = [tf.Variable(tf.zeros(v.shape)) for v in variables]
    squares = [tf.Variable(tf.zeros(v.shape)) for v in variables]
    count = tf.Variable(0.0)

    def apply(gradients):
        count.assign_add(1.0)
        step = rate * tf.sqrt(1.0 - beta2 ** count) / (1.0 - beta1 ** count)
        for v, g, m, s in zip(variables, gradients, means, squares):
            m.assign(beta1 * m + (1.0 - beta1) * g)
            s.assign(beta2 * s + (1.0 - beta2) * g * g)
            v.assign_sub(step * m / (tf.sqrt(s) + 1e-7))
    return apply


def training_step(network, points, which):
    apply = adam(network.trainable_variables)

    def step():
        with tf.GradientTape() as tape:
            loss = loss_of(network, points, which)
        apply(tape.gradient(loss, network.trainable_variables))
        return loss
    return step


def curvature_step(network, points, which):
    """Goes down along the gradient as far as the curvature in its direction says, but not farther than one."""
    variables = network.trainable_variables

    def step():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                loss = loss_of(network, points, which)
            gradients = inner.gradient(loss, variables)
            squared = tf.add_n([tf.reduce_sum(tf.stop_gradient(g) * g) for g in gradients])
        products = outer.gradient(squared, variables)
        curvature = tf.add_n([tf.reduce_sum(g * p) for g, p in zip(gradients, products)])
        rate = 1.0
        if curvature > squared:
            rate = squared / curvature
        for v, g in zip(variables, gradients):
            v.assign_sub(rate * g)
        return loss
    return step


def train(name, step, network, points, which, steps):
    started, loss = time.perf_counter(), math.nan
    for _ in range(steps):
        loss = step()
    seconds = time.perf_counter() - started
    right = np.mean(np.argmax(network(points).numpy(), 1) == which)
    print(f"{name:24} loss {float(loss):.4f}  {100 * right:5.1f} % right  {1e6 * seconds / steps:7.0f} us a step")
    return float(loss)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300)
    steps = parser.parse_args().steps
    points, which = spirals(256)
    sizes = [2, 32, 32, 2]
    losses = []
    for name, make in (("op by op", lambda s: s), ("tf.function", tf.function)):
        network = Network(sizes)
        losses.append(train(name, make(training_step(network, points, which)), network, points, which, steps))
    print(f"largest difference of the losses: {abs(losses[0] - losses[1]):.1e}")
    network = Network(sizes)
    train("along the curvature", tf.function(curvature_step(network, points, which)), network, points, which, steps)


if __name__ == "__main__":
    main()
