"""A placeholder is fed at each run; a variable keeps its value from run to run."""
import tensorflow.compat.v1 as tf

amount = tf.placeholder(tf.float32, [], name="amount")
total = tf.Variable(0.0, name="total")
deposit = tf.assign_add(total, amount)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for value in (10.0, 5.5, -2.0):
        print("%+5.1f gives %5.1f" % (value, sess.run(deposit, feed_dict={amount: value})))
    print("kept:", sess.run(total))
