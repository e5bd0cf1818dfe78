"""Optimizers, schedules and moving averages, by numbers."""
import numpy as np

_OPTIMIZERS = {
    "gradient_descent": lambda tf: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda tf: tf.train.AdamOptimizer(0.1),
    "adagrad": lambda tf: tf.train.AdagradOptimizer(0.1),
    "adadelta": lambda tf: tf.train.AdadeltaOptimizer(1.0),
    "rmsprop": lambda tf: tf.train.RMSPropOptimizer(0.1, momentum=0.5),
    "rmsprop_centered": lambda tf: tf.train.RMSPropOptimizer(0.1, centered=True),
    "ftrl": lambda tf: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02),
    "ftrl_shrinkage": lambda tf: tf.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.01),
    "proximal_gradient_descent": lambda tf: tf.train.ProximalGradientDescentOptimizer(
        0.1, l1_regularization_strength=0.05, l2_regularization_strength=0.1),
    "proximal_adagrad": lambda tf: tf.train.ProximalAdagradOptimizer(
        0.1, l1_regularization_strength=0.05, l2_regularization_strength=0.1),
    "adagrad_da": lambda tf: tf.train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step()),
    "adamax": lambda tf: tf.contrib.opt.AdaMaxOptimizer(0.1),
}


def _make(name, sparse, resource):

    def program(tf):
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", initializer=np.array([[1.0, -2.0], [0.5, 3.0], [0.0, 1.0]], np.float32),
                            use_resource=resource)
        optimizer = _OPTIMIZERS[name](tf)
        if sparse:
            rows = tf.gather(w, [0, 2, 0])
            loss = tf.reduce_sum(tf.square(rows - [[3.0, 1.0], [1.0, 1.0], [-1.0, 0.0]]))
        else:
            loss = tf.reduce_sum(tf.square(w - 1.0) * [[1.0, 2.0]])
        train = optimizer.minimize(loss, global_step=step)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            losses = []
            for _ in range(4):
                losses.append(sess.run(loss))
                sess.run(train)
            slots = {slot: sess.run(optimizer.get_slot(w, slot)) for slot in optimizer.get_slot_names()}
            return dict(slots, w=sess.run(w), losses=losses, step=sess.run(step))

    return program


for _name in _OPTIMIZERS:
    for _sparse in (False, True):
        for _resource in (False, True):
            _key = "%s_%s_%s" % (_name, "sparse" if _sparse else "dense", "resource" if _resource else "ref")
            globals()[_key] = _make(_name, _sparse, _resource)


def schedules(tf):
    step = tf.placeholder(tf.int64, [])
    rates = {
        "exponential": tf.train.exponential_decay(0.1, step, 10, 0.5),
        "staircase": tf.train.exponential_decay(0.1, step, 10, 0.5, staircase=True),
        "natural": tf.train.natural_exp_decay(0.1, step, 10, 0.5),
        "inverse": tf.train.inverse_time_decay(0.1, step, 10, 0.5, staircase=True),
        "polynomial": tf.train.polynomial_decay(0.1, step, 10, power=0.5),
        "cycle": tf.train.polynomial_decay(0.1, step, 10, cycle=True),
        "piecewise": tf.train.piecewise_constant(step, [5, 10, 20], [1.0, 0.5, 0.25, 0.1]),
        "cosine": tf.train.cosine_decay(0.1, step, 10, alpha=0.1),
        "restarts": tf.train.cosine_decay_restarts(0.1, step, 5),
        "linear_cosine": tf.train.linear_cosine_decay(0.1, step, 10),
    }
    with tf.Session() as sess:
        return {name: [sess.run(rate, {step: s}) for s in (0, 1, 5, 6, 10, 17, 25)] for name, rate in rates.items()}


def moving_averages(tf):
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    step = tf.get_variable("step", initializer=0)
    ema = tf.train.ExponentialMovingAverage(0.9, num_updates=step)
    debiased = tf.train.ExponentialMovingAverage(0.9, zero_debias=True)
    total = tf.reduce_sum(v)
    assign = tf.assign_add(v, [1.0, 1.0])
    with tf.control_dependencies([assign]):
        count = tf.assign_add(step, 1)
    apply_v, apply_total = ema.apply([v]), debiased.apply([total])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        rows = []
        for _ in range(5):
            sess.run(count)
            sess.run(apply_v)
            sess.run(apply_total)
            rows.append(np.concatenate([sess.run(ema.average(v)), [sess.run(debiased.average(total))]]))
        return {"rows": rows}


def constraints(tf):
    w = tf.get_variable("w", initializer=[1.0, -2.0], constraint=lambda v: tf.clip_by_value(v, 0.0, 1.5))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(tf.square(w - 5.0)))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        return {"w": sess.run(w)}
