"""A program that uses every kind of edge between two tasks. `tf` is version 1's module; argv: the session's target,
and "loops" for a loop over both tasks.

Prints results that do not depend on the library.
"""
import sys

import numpy as np

tf = globals()["tf"]
target = sys.argv[1]
if hasattr(tf, "disable_eager_execution"):
    tf.disable_eager_execution()
ps, worker = "/job:ps/task:0", "/job:worker/task:0"
rng = np.random.RandomState(0)

x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
with tf.device(tf.train.replica_device_setter(ps_tasks=1, worker_device=worker)):
    w1 = tf.get_variable("w1", initializer=rng.randn(4, 8).astype(np.float32), use_resource=False)
    b1 = tf.get_variable("b1", [8], initializer=tf.zeros_initializer(), use_resource=True)
    w2 = tf.get_variable("w2", initializer=rng.randn(8, 1).astype(np.float32), use_resource=True)
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_mean((tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2) - y) ** 2)
    train = tf.train.AdamOptimizer(0.05).minimize(loss, global_step=step)

with tf.device(ps):
    queue = tf.FIFOQueue(10, [tf.float32, tf.string], shapes=[[2], []], shared_name="queue")
    table = tf.get_variable("table", initializer=np.arange(12.).reshape(6, 2), use_resource=False)
    choose = tf.placeholder(tf.bool, [])
    branch = tf.cond(choose, lambda: w1[0, 0], lambda: tf.constant(2.))
    values = [tf.constant(value, dtype) for value, dtype in (
        (1, tf.int8), (2, tf.uint16), (True, tf.bool), (1 + 2j, tf.complex64), (3, tf.int64), (1.5, tf.float16),
        (2.5, tf.bfloat16), (9, tf.float64), (["a", "", "c" * 30], tf.string), (np.zeros([0, 3]), tf.float32))]
    big = tf.fill([5, 1000, 1000], 2.0)
with tf.device(worker):
    enqueue, dequeue = queue.enqueue(([1., 2.], "h\u00e9llo")), queue.dequeue()
    rows = tf.nn.embedding_lookup(table, [4, 1, 4])
    sparse_update = tf.scatter_sub(table, [0, 5], np.ones([2, 2]))
    received = [tf.identity(value) for value in values]
    after = branch + 1
    big_sum = tf.reduce_sum(big)
    size = tf.shape(w1)[0]


def body(i, total):
    with tf.device(ps):
        square = tf.cast(i * i, tf.float32) * w1[0, 0]
    with tf.device(worker):
        return i + 1, total + square


loop = tf.while_loop(lambda i, _: i < 10, body, [tf.constant(0), tf.constant(0.)])
loop_gradient, = tf.gradients(loop[1], w1)

features = rng.randn(64, 4).astype(np.float32)
batch = {x: features, y: features.sum(1, keepdims=True)}
with tf.Session(target) as sess:
    sess.run(tf.global_variables_initializer())
    first = sess.run(w1)[0, 0]
    if "loops" in sys.argv:
        print("loop", np.allclose(sess.run(loop), [10, 285 * first]), np.asarray(sess.run(loop_gradient))[0, 0])
    for _ in range(50):
        _, last = sess.run([train, loss], batch)
    print("loss %.4f, step %d" % (last, sess.run(step)))
    sess.run(enqueue)
    print("queue", [np.asarray(part).tolist() for part in sess.run(dequeue)])
    sess.run(sparse_update)
    print("rows", sess.run(rows).tolist(), sess.run(table)[5].tolist())
    print("values", [np.asarray(value).tolist() if value.dtype.name != "bfloat16" else float(value)
                     for value in sess.run(received)], float(sess.run(big_sum)))
    print("branch", float(sess.run(after, {choose: False})),
          round(float(sess.run(after, {choose: True}) - sess.run(w1)[0, 0]), 5))
    print("size", int(sess.run(size)))
    for what in (lambda: sess.run(loss, {x: features}),
                 lambda: sess.run(tf.check_numerics(tf.log(w1 * 0. - 1.), "BAD"))):
        try:
            what()
        except tf.errors.InvalidArgumentError as e:
            print("error", "You must feed a value" in str(e) or "BAD" in str(e), "/job:" in str(e))
    print("devices", sorted(device.name for device in sess.list_devices() if "XLA" not in device.name))
    metadata = tf.RunMetadata()
    sess.run(train, batch, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True), metadata)
    print("trace", sorted({stats.device for stats in metadata.step_stats.dev_stats if "/job:" in stats.device}),
          len(metadata.partition_graphs))
with tf.Session(target) as sess:
    print("again", int(sess.run(step)))
