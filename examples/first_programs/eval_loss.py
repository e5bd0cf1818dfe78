"""Under `sess.as_default()` a tensor evaluates itself, and an operation runs itself."""
import numpy as np
import tensorflow.compat.v1 as tf

x = np.linspace(-1.0, 1.0, 21).astype(np.float32)
w = tf.Variable(0.0, name="w")
loss = tf.reduce_mean(tf.square(w * x - 2.0 * x), name="loss")
train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)

sess = tf.Session()
with sess.as_default():
    tf.global_variables_initializer().run()
    print("at first: loss %.4f" % loss.eval())
    for _ in range(30):
        train.run()
    print("at last:  loss %.4f, w %.3f" % (loss.eval(), w.eval()))
sess.close()
