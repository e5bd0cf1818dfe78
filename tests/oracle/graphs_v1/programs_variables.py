"""Programs that make variables, for the comparison of graphs."""


def plain_variables(tf):
    a = tf.Variable([1.0, 2.0], name="a")
    b = tf.Variable(a * 2.0, name="b")
    c = tf.Variable(lambda: tf.zeros([3]), dtype=tf.float32, name="c", trainable=False)
    tf.Variable(3)
    tf.Variable("s", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    tf.assign(a, [3.0, 4.0])
    a.assign_add([1.0, 1.0])
    a.assign_sub([1.0, 1.0], use_locking=True, name="down")
    d = a + b
    d = d * c[0] - a[1]
    tf.scatter_add(a, [0], [5.0])
    a.scatter_sub(tf.IndexedSlices(tf.constant([1.0]), tf.constant([1])))
    a[0].assign(7.0)
    a.read_value()
    tf.count_up_to(tf.Variable(0), 3)
    tf.global_variables_initializer()
    tf.local_variables_initializer()
    tf.report_uninitialized_variables()
    tf.assert_variables_initialized()


def initialized_value(tf):
    a = tf.Variable(tf.random_normal([2]), name="a")
    tf.Variable(a.initialized_value() + 1.0, name="b")
    with tf.name_scope("outer"):
        tf.Variable(tf.exp(a) * 3.0)
        tf.Variable(1.0)


def resource_variables(tf):
    a = tf.Variable([1.0, 2.0], name="a", use_resource=True)
    b = tf.get_variable("b", [2], use_resource=True)
    with tf.variable_scope("s", use_resource=True):
        c = tf.get_variable("c", initializer=tf.constant(1.0))
    tf.Variable(a * 2.0, use_resource=True, name="d")
    a.assign(b)
    a.assign_add([1.0, 1.0], read_value=False)
    a.assign_sub(b * c)
    tf.scatter_update(a, [0], [5.0])
    a.scatter_nd_add([[1]], [2.0])
    a.sparse_read([0])
    a.read_value()
    a[0:1].assign([4.0])
    tf.identity(a) + a * b
    tf.global_variables_initializer()
    tf.report_uninitialized_variables()


def get_variable_scopes(tf):
    with tf.variable_scope("a"):
        v = tf.get_variable("v", [2, 3])
        with tf.variable_scope("b", initializer=tf.zeros_initializer(), dtype=tf.float64):
            tf.get_variable("v", [4])
            tf.constant(1.0, name="c")
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("v", [2, 3]) is v
        tf.constant(1.0, name="c")
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE) as scope:
        tf.get_variable("v", [2, 3])
        tf.get_variable("w", [], tf.int32)
    for _ in range(2):
        with tf.variable_scope(None, default_name="layer"):
            tf.get_variable("w", [1], initializer=tf.constant_initializer(5.0))
    with tf.variable_scope(scope):
        with tf.name_scope("inner"):
            tf.get_variable("x", [2], initializer=tf.random_normal_initializer(seed=3))
            tf.identity(v)
    with tf.variable_scope(scope, auxiliary_name_scope=False):
        tf.get_variable("y", initializer=[1.0, 2.0])
        tf.constant(2.0)
    with tf.variable_scope("a/b/c"), tf.variable_scope("d"):
        tf.get_variable("z", [1], tf.string)
    tf.get_local_variable("local", [1])
    tf.global_variables_initializer()


def getters_and_regularizers(tf):
    def getter(getter, name, *args, **kwargs):
        return tf.identity(getter(name, *args, **kwargs), name="got")

    with tf.variable_scope("a", custom_getter=getter, regularizer=lambda v: 0.5 * tf.reduce_sum(v * v)):
        tf.get_variable("v", [2])
        with tf.variable_scope("b", regularizer=tf.no_regularizer):
            tf.get_variable("v", [2])
    with tf.variable_scope("c", caching_device="/cpu:0"):
        tf.get_variable("v", [2])
    with tf.device("/cpu:1"), tf.variable_scope("d"):
        tf.get_variable("v", [2], constraint=tf.abs)

    def creator(next_creator, **kwargs):
        kwargs["name"] = "made_" + kwargs["name"]
        return next_creator(**kwargs)

    with tf.variable_creator_scope(creator):
        tf.Variable(1.0, name="x")
        tf.get_variable("y", [1])


def partitioned(tf):
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(3)):
        v = tf.get_variable("v", [10, 4], initializer=tf.random_uniform_initializer(seed=1))
        w = tf.get_variable("w", initializer=tf.ones([6]))
    tf.nn.embedding_lookup(v, [1, 2])
    tf.identity(w)
    w.assign(tf.zeros([6]))
    tf.get_variable("m", [8, 8], partitioner=tf.min_max_variable_partitioner(2, min_slice_size=16))
    tf.get_variable("s", [8, 8], partitioner=tf.variable_axis_size_partitioner(64))
    tf.create_partitioned_variables([4, 2], [2, 1], tf.zeros_initializer(), name="old")


def initializers(tf):
    tf.set_random_seed(7)
    shape = [6, 4]
    cases = [tf.zeros_initializer(), tf.ones_initializer(), tf.constant_initializer(2.5),
             tf.constant_initializer([1.0, 2.0]), tf.random_uniform_initializer(-1, 1), tf.random_normal_initializer(),
             tf.truncated_normal_initializer(stddev=0.1), tf.uniform_unit_scaling_initializer(),
             tf.variance_scaling_initializer(), tf.variance_scaling_initializer(2.0, "fan_out", "uniform"),
             tf.variance_scaling_initializer(1.0, "fan_avg", "untruncated_normal"), tf.glorot_uniform_initializer(),
             tf.glorot_normal_initializer(seed=5), tf.initializers.he_normal(), tf.initializers.he_uniform(3),
             tf.initializers.lecun_normal(), tf.initializers.lecun_uniform(), tf.orthogonal_initializer(),
             tf.initializers.identity(gain=2.0)]
    for i, case in enumerate(cases):
        tf.get_variable("v%d" % i, shape, initializer=case)
    tf.get_variable("conv", [3, 3, 2, 8], initializer=tf.glorot_uniform_initializer())
    tf.get_variable("wide", [2, 5], initializer=tf.orthogonal_initializer(gain=0.5))
    tf.get_variable("ints", [3], tf.int32, initializer=tf.random_uniform_initializer(0, 9, dtype=tf.int32))
    tf.get_variable("class", [3], initializer=tf.zeros_initializer)
