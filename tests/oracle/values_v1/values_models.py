"""Initializers, layers, losses and metrics, by numbers."""
import numpy as np


def _variables(tf, sess):
    return {v.op.name: sess.run(v) for v in tf.global_variables()}


def initializers(tf):
    tf.set_random_seed(7)
    cases = [tf.random_uniform_initializer(-1, 1), tf.random_normal_initializer(), tf.truncated_normal_initializer(),
             tf.uniform_unit_scaling_initializer(), tf.variance_scaling_initializer(),
             tf.variance_scaling_initializer(2.0, "fan_out", "uniform"),
             tf.variance_scaling_initializer(1.0, "fan_avg", "untruncated_normal"), tf.glorot_uniform_initializer(),
             tf.glorot_normal_initializer(seed=5), tf.initializers.he_normal(), tf.initializers.lecun_uniform(),
             tf.contrib.layers.xavier_initializer(), tf.contrib.layers.variance_scaling_initializer(),
             tf.constant_initializer([1.0, 2.0]), tf.initializers.identity(2.0)]
    for i, case in enumerate(cases):
        tf.get_variable("v%d" % i, [4, 3], initializer=case)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return _variables(tf, sess)


def _data(*shape):
    return np.random.RandomState(3).randn(*shape).astype(np.float32)


def network(tf):
    tf.set_random_seed(11)
    x = tf.constant(_data(4, 8, 8, 3))
    h = tf.layers.conv2d(x, 4, 3, activation=tf.nn.relu, padding="same")
    h = tf.layers.batch_normalization(h, training=True)
    h = tf.layers.max_pooling2d(h, 2, 2)
    h = tf.layers.separable_conv2d(h, 5, 3)
    h = tf.layers.conv2d_transpose(h, 2, 3)
    h = tf.layers.flatten(h)
    h = tf.layers.dense(h, 6, activation=tf.nn.tanh)
    logits = tf.layers.dense(h, 3)
    loss = tf.losses.sparse_softmax_cross_entropy([0, 1, 2, 1], logits)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        losses = []
        for _ in range(3):
            losses.append(sess.run(loss))
            sess.run(train)
        return {"losses": losses, "logits": sess.run(logits),
                "mean": sess.run("batch_normalization/moving_mean:0")}


def batch_normalizations(tf):
    x = tf.constant(_data(6, 4))
    image = tf.constant(_data(2, 3, 3, 4))
    outputs = {
        "training": tf.layers.batch_normalization(x, training=True),
        "inference": tf.layers.batch_normalization(x),
        "fused": tf.layers.batch_normalization(image, training=True),
        "channels_first": tf.layers.batch_normalization(image, axis=1, training=True, fused=False),
        "renorm": tf.layers.batch_normalization(x, training=True, renorm=True),
        "virtual": tf.layers.batch_normalization(x, training=True, virtual_batch_size=2),
        "contrib": tf.contrib.layers.batch_norm(x, updates_collections=None),
        "layer_norm": tf.contrib.layers.layer_norm(x),
    }
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        values = sess.run(outputs)
        sess.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        for v in tf.global_variables():
            if "moving" in v.op.name:
                values[v.op.name] = sess.run(v)
        return values


def losses(tf):
    labels = tf.constant((_data(4, 3) > 0).astype(np.float32))
    predictions = tf.constant(1 / (1 + np.exp(-_data(4, 3)[::-1])))
    weights = tf.constant([[1.0], [0.0], [2.0], [0.5]])
    made = {}
    reductions = tf.losses.Reduction
    for name in ("absolute_difference", "mean_squared_error", "huber_loss", "log_loss", "hinge_loss"):
        function = getattr(tf.losses, name)
        made[name] = function(labels, predictions)
        for reduction in (reductions.NONE, reductions.SUM, reductions.MEAN, reductions.SUM_OVER_BATCH_SIZE,
                          reductions.SUM_BY_NONZERO_WEIGHTS):
            made["%s_%s" % (name, reduction)] = function(labels, predictions, weights=weights, reduction=reduction)
    made["cosine"] = tf.losses.cosine_distance(labels, predictions, axis=1)
    made["pairwise"] = tf.losses.mean_pairwise_squared_error(labels, predictions, weights=weights)
    made["sigmoid"] = tf.losses.sigmoid_cross_entropy(labels, predictions, label_smoothing=0.1)
    made["softmax"] = tf.losses.softmax_cross_entropy(labels, predictions, label_smoothing=0.1)
    made["sparse"] = tf.losses.sparse_softmax_cross_entropy([0, 1, 2, 0], predictions, weights=[1.0, 2.0, 0.0, 1.0])
    with tf.Session() as sess:
        return sess.run(made)


def metrics(tf):
    r = np.random.RandomState(5)
    labels = tf.placeholder(tf.float32, [None])
    scores = tf.placeholder(tf.float32, [None])
    classes = tf.placeholder(tf.int64, [None])
    guesses = tf.placeholder(tf.int64, [None])
    m = tf.metrics
    made = {
        "mean": m.mean(scores), "weighted": m.mean(scores, weights=labels),
        "tensor": m.mean_tensor(tf.reshape(scores, [6])), "accuracy": m.accuracy(classes, guesses),
        "mae": m.mean_absolute_error(labels, scores), "mse": m.mean_squared_error(labels, scores),
        "rmse": m.root_mean_squared_error(labels, scores), "relative": m.mean_relative_error(labels, scores, scores),
        "below": m.percentage_below(scores, 0.5), "per_class": m.mean_per_class_accuracy(classes, guesses, 4),
        "iou": m.mean_iou(classes, guesses, 4), "tp": m.true_positives(labels, tf.round(scores)),
        "fn": m.false_negatives(labels, tf.round(scores), weights=scores),
        "precision": m.precision(labels, tf.round(scores)),
        "recall": m.recall(labels, tf.round(scores)),
        "precision_at": m.precision_at_thresholds(labels, scores, [0.2, 0.6]),
        "recall_at": m.recall_at_thresholds(labels, scores, [0.2, 0.6]),
        "auc": m.auc(labels, scores), "pr": m.auc(labels, scores, curve="PR", summation_method="careful_interpolation"),
        "minoring": m.auc(labels, scores, summation_method="minoring", num_thresholds=11),
        "sensitivity": m.sensitivity_at_specificity(labels, scores, 0.7),
        "specificity": m.specificity_at_sensitivity(labels, scores, 0.7),
    }
    values = {}
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        for _ in range(3):
            feeds = {labels: r.randint(0, 2, 6), scores: r.rand(6), classes: r.randint(0, 4, 6),
                     guesses: r.randint(0, 4, 6)}
            updates = sess.run({name: update for name, (_, update) in made.items()}, feeds)
        for name, value in updates.items():
            values[name + "_update"] = value
        for name, (value, _) in made.items():
            values[name] = sess.run(value)
    return values


def ranking_metrics(tf):
    scores = tf.constant(_data(5, 6))
    labels = tf.constant([0, 3, 2, 5, 1], tf.int64)
    made = {"recall": tf.metrics.recall_at_k(labels, scores, 2),
            "precision": tf.metrics.precision_at_k(labels, scores, 2),
            "average": tf.metrics.average_precision_at_k(labels, scores, 3)}
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        sess.run({name: update for name, (_, update) in made.items()})
        return {name: sess.run(value) for name, (value, _) in made.items()}


def cells(tf):
    tf.set_random_seed(2)
    x = tf.constant(_data(3, 4))
    outputs = {}
    for name, cell in (("rnn", tf.nn.rnn_cell.BasicRNNCell(5)), ("gru", tf.nn.rnn_cell.GRUCell(5)),
                       ("basic_lstm", tf.nn.rnn_cell.BasicLSTMCell(5)),
                       ("lstm", tf.nn.rnn_cell.LSTMCell(5, use_peepholes=True, num_proj=3))):
        with tf.variable_scope(name):
            state = cell.zero_state(3, tf.float32)
            for _ in range(2):
                outputs[name], state = cell(x, state)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(outputs)
