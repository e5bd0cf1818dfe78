"""Programs that use tf.contrib, for the comparison of graphs."""


def contrib_dense(tf):
    layers = tf.contrib.layers
    x = tf.placeholder(tf.float32, [None, 6], name="x")
    h = layers.fully_connected(x, 5, weights_regularizer=layers.l2_regularizer(0.1))
    h = layers.fully_connected(h, 5, activation_fn=None, scope="named", outputs_collections="outputs",
                               variables_collections={"weights": ["w"], "biases": ["b"]},
                               weights_regularizer=layers.l1_l2_regularizer(0.1, 0.2))
    h = layers.fully_connected(h, 5, normalizer_fn=layers.batch_norm, normalizer_params={"is_training": True})
    h = layers.dropout(h, 0.5)
    h = layers.layer_norm(h)
    h = layers.bias_add(h)
    layers.stack(h, layers.fully_connected, [4, 3], scope="fc")
    layers.softmax(h)
    layers.flatten(tf.ones([2, 3, 4]))
    layers.one_hot_encoding(tf.constant([1, 2]), 3)
    tf.get_variable("xavier", [3, 4], initializer=layers.xavier_initializer())
    tf.get_variable("scaled", [3, 4], initializer=layers.variance_scaling_initializer())
    layers.apply_regularization(layers.l1_regularizer(0.5), tf.trainable_variables()[:2])


def contrib_convolutions(tf):
    slim = tf.contrib.slim
    x = tf.placeholder(tf.float32, [None, 16, 16, 3], name="x")
    with slim.arg_scope([slim.conv2d, slim.separable_conv2d], padding="SAME",
                        weights_initializer=tf.truncated_normal_initializer(stddev=0.01),
                        normalizer_fn=slim.batch_norm, normalizer_params={"decay": 0.9}):
        h = slim.conv2d(x, 8, [3, 3], scope="conv1")
        h = slim.conv2d(h, 8, 3, stride=2, normalizer_fn=None)
        h = slim.separable_conv2d(h, 8, 3, 1)
        h = slim.separable_conv2d(h, None, 3, 1)
        h = slim.repeat(h, 2, slim.conv2d, 4, [3, 3], scope="rep")
    h = slim.max_pool2d(h, 2)
    h = slim.avg_pool2d(h, [2, 2], scope="pool")
    slim.conv2d_transpose(h, 4, 3, 2)


def contrib_batch_norm(tf):
    batch_norm = tf.contrib.layers.batch_norm
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    training = tf.placeholder(tf.bool, [], name="training")
    h = batch_norm(x)
    h = batch_norm(h, is_training=training, scale=True, scope="named", center=False)
    h = batch_norm(h, updates_collections=None)
    h = batch_norm(h, updates_collections=None, is_training=training)
    h = batch_norm(h, fused=False, updates_collections=None)
    h = batch_norm(h, fused=False, updates_collections="mine", is_training=training, zero_debias_moving_mean=True)
    h = batch_norm(h, data_format="NCHW", fused=False, updates_collections="mine")
    flat = tf.contrib.layers.flatten(h)
    batch_norm(flat, activation_fn=tf.nn.relu)
    batch_norm(flat, is_training=False)


def contrib_optimizers(tf):
    w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
    r = tf.get_variable("r", [3], initializer=tf.ones_initializer(), use_resource=True)
    tf.contrib.opt.AdaMaxOptimizer().minimize(tf.reduce_sum(w * r))
    table = tf.get_variable("table", [5, 2], initializer=tf.ones_initializer())
    rows = tf.get_variable("rows", [5, 2], initializer=tf.ones_initializer(), use_resource=True)
    loss = tf.reduce_sum(tf.gather(table, [0, 2]) * tf.gather(rows, [0, 2]))
    tf.contrib.opt.AdaMaxOptimizer(name="sparse").minimize(loss, var_list=[table, rows])


def contrib_variables(tf):
    framework = tf.contrib.framework
    with tf.variable_scope("a"):
        framework.model_variable("v", [2], device="/cpu:0", initializer=tf.zeros_initializer())
        framework.variable("w", [2], initializer=tf.zeros_initializer())
    framework.local_variable(1.0)
    framework.get_or_create_global_step()
    assert [v.op.name for v in framework.get_variables("a")] == ["a/v", "a/w"]
    assert [v.op.name for v in framework.get_variables_by_name("w")] == ["a/w"]
    assert [v.op.name for v in framework.get_model_variables()] == ["a/v"]
    assert framework.get_unique_variable("a/v").op.name == "a/v"
