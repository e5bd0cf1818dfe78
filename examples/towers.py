"""Data-parallel training: parameters on CPU:0, a tower on each of CPU:1...N, each with its share of the batch.

The mean of the towers' gradients is the gradient of the whole batch, so the losses are those of one device.
"""
import argparse

import numpy as np
import tensorflow.compat.v1 as tf


def batches(count, size):
    random = np.random.RandomState(0)
    x = random.normal(size=[count, size, 20]).astype(np.float32)
    return x, np.tanh(x[..., :3]).dot([[1.0], [2.0], [-1.0]]).astype(np.float32)


def loss_of(x, y):
    hidden = tf.layers.dense(x, 32, tf.nn.tanh, name="hidden", kernel_initializer=tf.glorot_uniform_initializer(seed=1))
    output = tf.layers.dense(hidden, 1, name="output", kernel_initializer=tf.glorot_uniform_initializer(seed=2))
    return tf.losses.mean_squared_error(y, output)


def on_cpu_0(op):
    """Device function of parameters and what updates them."""
    return "/cpu:0" if op.type.startswith("Variable") or op.type in ("VarHandleOp", "Assign") else op.device


def mean_gradients(towers):
    """[(gradient, variable)] of the means over all towers' [(gradient, variable)]."""
    return [(tf.add_n([gradient for gradient, _ in pairs]) / len(pairs), pairs[0][1]) for pairs in zip(*towers)]


def train(towers, steps, size, rate=0.05):
    """The loss at each step, with so many towers (0: all on one device, without towers)."""
    data_x, data_y = batches(steps, size)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [size, 20])
        y = tf.placeholder(tf.float32, [size, 1])
        optimizer = tf.train.MomentumOptimizer(rate, 0.9)
        if towers == 0:
            loss = loss_of(x, y)
            step = optimizer.minimize(loss)
        else:
            losses, gradients = [], []
            with tf.variable_scope(tf.get_variable_scope()) as scope:
                shares = zip(tf.split(x, towers), tf.split(y, towers))
                for i, (share_x, share_y) in enumerate(shares, 1):
                    with tf.device("/cpu:%d" % i), tf.device(on_cpu_0), tf.name_scope("tower%d" % i):
                        losses.append(loss_of(share_x, share_y))
                        scope.reuse_variables()
                        gradients.append(optimizer.compute_gradients(losses[-1]))
            with tf.device("/cpu:0"):
                loss = tf.add_n(losses) / towers
                step = optimizer.apply_gradients(mean_gradients(gradients))
        config = tf.ConfigProto(device_count={"CPU": towers + 1})
        with tf.Session(config=config) as sess:
            sess.run(tf.global_variables_initializer())
            return [sess.run([loss, step], {x: data_x[i], y: data_y[i]})[0] for i in range(steps)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--towers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch", type=int, default=120, help="a multiple of --towers")
    arguments = parser.parse_args()
    alone = train(0, arguments.steps, arguments.batch)
    together = train(arguments.towers, arguments.steps, arguments.batch)
    for i in range(0, arguments.steps, max(1, arguments.steps // 10)):
        print("step %3d  one device %.6f  %d towers %.6f" % (i, alone[i], arguments.towers, together[i]))
    difference = np.max(np.abs(np.array(alone) - together) / np.array(alone))
    print("largest relative difference: %.1e" % difference)
    if difference > 1e-3:
        raise SystemExit("the losses differ")


if __name__ == "__main__":
    main()
