"""Programs made of loops and conditionals, for the comparison of graphs."""


def loops(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    n = tf.constant(5, name="n")
    tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * x + 1.0), (0, x))
    tf.while_loop(lambda a: tf.reduce_sum(a) < 100.0, lambda a: a * 2.0, [x], maximum_iterations=7, name="bounded")
    tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.concat([v, v], 0)), (0, x), parallel_iterations=3,
                  shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])), back_prop=False, name="growing")
    tf.while_loop(lambda i: i < n, lambda i: [i + tf.constant(2)], [tf.constant(0)], swap_memory=True)


def nested(tf):
    x = tf.placeholder(tf.float32, [2], name="x")

    def body(i, a):
        _, b = tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b * x + a), (0, a), parallel_iterations=3)
        return i + 1, tf.cond(b[0] > 3.0, lambda: b * x + tf.constant(1.0), lambda: a * 2.0 + 1.0)

    tf.while_loop(lambda i, a: i < 3, body, (tf.constant(0), x), name="outer")
    tf.cond(x[0] > 1.0, lambda: tf.while_loop(lambda i: i < 4, lambda i: i + 2, [tf.constant(0)]),
            lambda: tf.constant(7))


def dependencies(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    before = tf.identity(x, name="before")
    v = tf.get_variable("v", initializer=1.0)
    with tf.control_dependencies([before]):
        tf.while_loop(lambda i: i < 4.0, lambda i: i + 2.0, [1.0], name="after")

    def body(i):
        with tf.control_dependencies([before, v.assign_add(i)]):
            return i + tf.constant(1.0)

    tf.while_loop(lambda i: i < x, body, [0.0], name="inside")

    def branch():
        with tf.control_dependencies([before]):
            return tf.constant(3.0)

    tf.cond(x > 1.0, branch, lambda: v.assign(2.0))


def arrays(tf):
    x = tf.placeholder(tf.float32, [3, 2], name="x")
    source = tf.TensorArray(tf.float32, size=3).unstack(x)
    target = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False, element_shape=[2])
    _, target = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t.write(i, source.read(i) * 2.0)), (0, target))
    target.stack()
    target.gather([0, 2])
    target.concat()
    target.size()
    tf.TensorArray(tf.float32, size=2).split(x, [1, 2]).read(0)
    tf.TensorArray(tf.float32, size=3).scatter([2, 0, 1], x).identity().close()


def composites(tf):
    values = tf.placeholder(tf.float32, [2, 3], name="values")
    slices = tf.IndexedSlices(values, tf.constant([0, 2]), tf.constant([4, 3]))
    tf.while_loop(lambda i, s: i < 2,
                  lambda i, s: (i + 1, tf.IndexedSlices(s.values * 2.0, s.indices, s.dense_shape)), (0, slices))
    sparse = tf.SparseTensor(tf.constant([[0, 1]], tf.int64), [1.0], tf.constant([2, 2], tf.int64))
    tf.cond(tf.reduce_sum(values) > 0.0, lambda: sparse, lambda: sparse * 2.0)


def functional(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    known = tf.constant([[1.0, 2.0], [3.0, 4.0]], name="known")
    tf.map_fn(lambda a: a * 2.0, x)
    tf.map_fn(lambda a: (a[0] + a[1], tf.cast(a[0], tf.int32)), (known, known), dtype=(tf.float32, tf.int32))
    tf.foldl(lambda a, b: a + b, known)
    tf.foldl(lambda a, b: a + b, x, initializer=tf.zeros([2]), name="fl")
    tf.foldr(lambda a, b: a - b, known)
    tf.foldr(lambda a, b: a + b, x, initializer=tf.zeros([2]), back_prop=False)
    tf.scan(lambda a, b: a + b, x)
    tf.scan(lambda a, b: a * b, known, initializer=tf.ones([2]), reverse=True)


def networks(tf):
    x = tf.placeholder(tf.float32, [None, None, 3], name="x")
    known = tf.placeholder(tf.float32, [5, 2, 3], name="known")
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(4), x, dtype=tf.float32, scope="plain")
    tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(4, use_peepholes=True, num_proj=2), x, sequence_length=lengths,
                      dtype=tf.float32, scope="lstm")
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(3)])
    tf.nn.dynamic_rnn(cell, known, initial_state=cell.zero_state(2, tf.float32), time_major=True, swap_memory=True)
    tf.nn.bidirectional_dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(4), x, lengths, dtype=tf.float32)


def raw_network(tf):
    x = tf.placeholder(tf.float32, [5, 2, 3], name="x")
    cell = tf.nn.rnn_cell.BasicRNNCell(4)
    source = tf.TensorArray(tf.float32, size=5).unstack(x)

    def step(time, output, state, loop_state):
        state = cell.zero_state(2, tf.float32) if output is None else state
        finished = tf.fill([2], time >= 5)
        following = tf.cond(tf.reduce_all(finished), lambda: tf.zeros([2, 3]), lambda: source.read(time))
        return finished, following, state, output, None

    outputs, _, _ = tf.nn.raw_rnn(cell, step)
    outputs.stack()
