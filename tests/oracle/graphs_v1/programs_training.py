"""Programs that train, for the comparison of graphs."""


def _loss(tf, resource=False, dtype=None):
    with tf.variable_scope("model", use_resource=resource):
        w = tf.get_variable("w", [3, 2], dtype or tf.float32, initializer=tf.ones_initializer())
        b = tf.get_variable("b", [2], dtype or tf.float32, initializer=tf.zeros_initializer())
    x = tf.placeholder(dtype or tf.float32, [None, 3], name="x")
    return tf.reduce_mean(tf.square(tf.matmul(x, w) + b)), w, b


def _sparse_loss(tf, resource=False):
    table = tf.get_variable("table", [5, 2], initializer=tf.ones_initializer(), use_resource=resource)
    ids = tf.placeholder(tf.int32, [None], name="ids")
    return tf.reduce_sum(tf.square(tf.gather(table, ids)))


def _optimizers(tf):
    return {
        "gradient_descent": lambda: tf.train.GradientDescentOptimizer(0.1),
        "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
        "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True, use_locking=True),
        "adam": lambda: tf.train.AdamOptimizer(),
        "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
        "adadelta": lambda: tf.train.AdadeltaOptimizer(0.1),
        "rmsprop": lambda: tf.train.RMSPropOptimizer(0.1),
        "rmsprop_centered": lambda: tf.train.RMSPropOptimizer(0.1, centered=True, momentum=0.5),
        "ftrl": lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
        "ftrl_shrinkage": lambda: tf.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.01),
        "proximal_gradient_descent": lambda: tf.train.ProximalGradientDescentOptimizer(0.1),
        "proximal_adagrad": lambda: tf.train.ProximalAdagradOptimizer(0.1),
        "adagrad_da": lambda: tf.train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step()),
    }


def _make(name, kind):
    def program(tf):
        optimizer = _optimizers(tf)[name]()
        if kind == "dense":
            loss = _loss(tf)[0]
        elif kind == "dense_resource":
            loss = _loss(tf, True)[0]
        elif kind == "dense_double":
            loss = _loss(tf, dtype=tf.float64)[0]
        else:
            loss = _sparse_loss(tf, kind == "sparse_resource")
        optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
        tf.global_variables_initializer()

    return program


def _add():
    # Names only; the optimizers are made with the module that the program is given.
    names = ("gradient_descent momentum nesterov adam adagrad adadelta rmsprop rmsprop_centered ftrl ftrl_shrinkage "
             "proximal_gradient_descent proximal_adagrad adagrad_da").split()
    for name in names:
        for kind in ("dense", "dense_resource", "dense_double", "sparse", "sparse_resource"):
            if name.startswith("proximal") and kind == "dense_double":
                continue  # TensorFlow refuses it: the learning rate stays float32
            if name == "gradient_descent" and kind == "dense_double":
                continue
            globals()["%s_%s" % (name, kind)] = _make(name, kind)


_add()


def clipped_and_gated(tf):
    loss, w, b = _loss(tf)
    optimizer = tf.train.GradientDescentOptimizer(tf.train.exponential_decay(
        0.1, tf.train.get_or_create_global_step(), 100, 0.96, staircase=True))
    pairs = optimizer.compute_gradients(loss, [w, b], gate_gradients=optimizer.GATE_GRAPH)
    grads, norm = tf.clip_by_global_norm([g for g, _ in pairs], 5.0)
    optimizer.apply_gradients(zip(grads, [w, b]), name="train")
    tf.summary.scalar("norm", norm)


def constrained(tf):
    w = tf.get_variable("w", [3], constraint=lambda v: tf.clip_by_value(v, 0.0, 1.0))
    r = tf.get_variable("r", [3], constraint=tf.abs, use_resource=True)
    tf.train.AdamOptimizer(name="mine").minimize(tf.reduce_sum(w * r))


def partitioned_slots(tf):
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        v = tf.get_variable("v", [4, 2], initializer=tf.ones_initializer())
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    optimizer.minimize(tf.reduce_sum(tf.convert_to_tensor(v)))
    tf.train.Saver()


def schedules(tf):
    step = tf.train.get_or_create_global_step()
    tf.train.exponential_decay(0.1, step, 10, 0.5)
    tf.train.natural_exp_decay(0.1, step, 10, 0.5, staircase=True)
    tf.train.inverse_time_decay(0.1, step, 10, 0.5)
    tf.train.inverse_time_decay(0.1, step, 10, 0.5, staircase=True, name="mine")
    tf.train.polynomial_decay(0.1, step, 10, power=0.5)
    tf.train.polynomial_decay(0.1, step, 10, cycle=True)
    tf.train.piecewise_constant(step, [5, 10, 20], [1.0, 0.5, 0.25, 0.1])
    tf.train.cosine_decay(0.1, step, 10)
    tf.train.cosine_decay_restarts(0.1, step, 10)
    tf.train.linear_cosine_decay(0.1, step, 10)
    tf.train.noisy_linear_cosine_decay(0.1, step, 10)


def moving_averages(tf):
    loss, w, b = _loss(tf)
    ema = tf.train.ExponentialMovingAverage(0.9, num_updates=tf.train.get_or_create_global_step())
    ema.apply([w, b])
    ema.apply([loss])
    debiased = tf.train.ExponentialMovingAverage(0.9, zero_debias=True, name="debiased")
    debiased.apply([loss])
    r = tf.get_variable("r", [2], use_resource=True)
    tf.train.ExponentialMovingAverage(0.5).apply([r])


def saver_graph(tf):
    tf.get_variable("b", [2])
    tf.get_variable("a", [2], use_resource=True)
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        tf.get_variable("v", [4], initializer=tf.zeros_initializer())
    tf.train.Saver()
    tf.train.Saver(reshape=True, name="again")


def saver_sharded(tf):
    with tf.device("/cpu:0"):
        a = tf.get_variable("a", [2])
    with tf.device("/cpu:1"):
        b = tf.get_variable("b", [2])
    tf.train.Saver(sharded=True)
    tf.train.Saver({"x": a, "y": b})
