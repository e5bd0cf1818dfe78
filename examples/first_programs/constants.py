"""Constants and a session: a graph is built first, then run."""
import tensorflow.compat.v1 as tf

a = tf.constant(3.0, name="a")
b = tf.constant(4.0, name="b")
length = tf.sqrt(a * a + b * b, name="length")
print("before it runs:", length)

with tf.Session() as sess:
    print("after it ran: ", sess.run(length))
    squares, total = sess.run([[a * a, b * b], a + b])
    print("several at once:", squares, total)
