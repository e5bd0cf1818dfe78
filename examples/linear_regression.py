"""Linear regression by gradient descent, beside the solution in closed form."""
import argparse

import numpy as np
import tensorflow.compat.v1 as tf


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500)
    arguments = parser.parse_args()

    random = np.random.RandomState(0)
    data_x = random.uniform(-1.0, 1.0, [200, 3]).astype(np.float32)
    data_y = data_x.dot([[2.0], [-3.0], [0.5]]) + 4.0 + random.normal(0.0, 0.1, [200, 1])

    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    weights = tf.get_variable("weights", [3, 1], initializer=tf.zeros_initializer())
    bias = tf.get_variable("bias", [1], initializer=tf.zeros_initializer())
    loss = tf.losses.mean_squared_error(y, tf.matmul(x, weights) + bias)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

    feed = {x: data_x, y: data_y}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(1, arguments.steps + 1):
            _, value = sess.run([train, loss], feed)
            if step % 100 == 0 or step == arguments.steps:
                print("step %d  loss %.5f" % (step, value))
        found = np.append(*[v.ravel() for v in sess.run([weights, bias])])
    exact = np.linalg.lstsq(np.hstack([data_x, np.ones([200, 1])]), data_y, rcond=None)[0].ravel()
    print("found:", np.round(found, 3))
    print("exact:", np.round(exact, 3))


if __name__ == "__main__":
    main()
