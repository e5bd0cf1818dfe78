"""Functions on the parameter server. Their bodies are optimized with each step, so they differ from step to step."""
import sys

import tensorflow as tf2
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
tf.enable_control_flow_v2()


@tf2.function
def f(a, n):
    t = a
    for i in tf.range(n):
        if t[0] > 10.0:
            t = t - 1.0
        else:
            t = t * 2.0 + tf.cast(i, tf.float32) + 0.0 * tf.random.uniform([])
    return t


x = tf.placeholder(tf.float32, [2], name="x")
with tf.device("/job:ps/task:0"):
    v = tf.get_variable("v", initializer=tf.constant([2.0, 3.0]), use_resource=True)
    of_x, of_v, of_constant = f(x, 5), f(v, 3), f(tf.constant([1.0, 2.0]), 4)
    gradient = tf.gradients(of_x, x)[0]
    dataset = tf.data.Dataset.range(10).map(
        lambda i: i * 2 + tf.cast(tf.reduce_sum(f(tf.cast(tf.stack([i, i]), tf.float32), 2)), tf.int64))
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
with tf.device("/job:worker/task:0"):
    both = of_x + of_v
with tf.Session(sys.argv[1]) as sess:
    sess.run([v.initializer, iterator.initializer])
    for fetch in (of_x, gradient, both, [of_x, of_v, of_constant], of_constant, element, element,
                  [element, of_constant]):
        values = sess.run(fetch if isinstance(fetch, list) else [fetch], {x: [1, 1]})
        print([value.tolist() for value in values])
