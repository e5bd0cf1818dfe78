"""Programs made of layers, for the comparison of graphs."""


def dense_layers(tf):
    x = tf.placeholder(tf.float32, [None, 7], name="x")
    h = tf.layers.dense(x, 5, activation=tf.nn.relu)
    h = tf.layers.dense(h, 5, use_bias=False, name="named", kernel_regularizer=lambda v: 0.1 * tf.nn.l2_loss(v))
    h = tf.layers.dense(h, 5, name="named2", activity_regularizer=tf.nn.l2_loss)
    h = tf.layers.dropout(h, 0.4, training=True)
    h = tf.layers.dropout(h, 0.4, training=tf.placeholder_with_default(False, [], name="training"))
    h = tf.layers.dropout(h)
    layer = tf.layers.Dense(3, kernel_initializer=tf.zeros_initializer(), bias_initializer=tf.ones_initializer())
    layer(h)
    layer(h)
    with tf.variable_scope("scope", reuse=tf.AUTO_REUSE):
        tf.layers.dense(x, 2, name="shared")
        tf.layers.dense(x, 2, name="shared")
        tf.layers.dense(x, 2)
    tf.layers.dense(tf.ones([2, 3, 4]), 5)
    tf.layers.dense(tf.ones([2, 3], tf.float64), 5)
    tf.layers.dense(x, 7, name="named", use_bias=False, reuse=None) if False else None
    tf.global_variables_initializer()


def convolution_layers(tf):
    x = tf.placeholder(tf.float32, [None, 16, 16, 3], name="x")
    h = tf.layers.conv2d(x, 8, 3, activation=tf.nn.relu)
    h = tf.layers.conv2d(h, 8, [3, 3], strides=2, padding="same", name="named")
    h = tf.layers.conv2d(h, 8, 3, dilation_rate=2, padding="same", use_bias=False)
    h = tf.layers.max_pooling2d(h, 2, 2)
    h = tf.layers.average_pooling2d(h, 2, 1, padding="same")
    h = tf.layers.separable_conv2d(h, 4, 3, depth_multiplier=2, padding="same")
    h = tf.layers.conv2d_transpose(h, 5, 3, strides=2, padding="same", activation=tf.nn.tanh)
    h = tf.layers.conv2d_transpose(h, 5, 3)
    h = tf.layers.flatten(h)
    tf.layers.dense(h, 10) if h.shape[1].value else None
    y = tf.placeholder(tf.float32, [4, 12, 3], name="y")
    y = tf.layers.conv1d(y, 6, 3)
    y = tf.layers.conv1d(y, 6, 2, padding="causal" if False else "same", dilation_rate=2)
    y = tf.layers.separable_conv1d(y, 6, 2)
    y = tf.layers.max_pooling1d(y, 2, 2)
    y = tf.layers.average_pooling1d(y, 2, 1)
    tf.layers.flatten(y)
    z = tf.placeholder(tf.float32, [2, 6, 6, 6, 2], name="z")
    z = tf.layers.conv3d(z, 4, 2)
    z = tf.layers.max_pooling3d(z, 2, 1)
    z = tf.layers.average_pooling3d(z, 2, 1)
    tf.layers.conv3d_transpose(z, 2, 2)
    c = tf.placeholder(tf.float32, [None, 3, 8, 8], name="c")
    c = tf.layers.conv2d(c, 4, 3, data_format="channels_first")
    tf.layers.max_pooling2d(c, 2, 2, data_format="channels_first")
    tf.layers.flatten(c, data_format="channels_first")


def batch_normalization(tf):
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    training = tf.placeholder(tf.bool, [], name="training")
    h = tf.layers.batch_normalization(x, training=True)
    h = tf.layers.batch_normalization(h, training=training)
    h = tf.layers.batch_normalization(h)
    h = tf.layers.batch_normalization(h, fused=False, training=True)
    h = tf.layers.batch_normalization(h, fused=False, training=training, name="named")
    h = tf.layers.batch_normalization(h, scale=False, training=True)
    h = tf.layers.batch_normalization(h, center=False, axis=1, training=True, momentum=0.9)
    h = tf.layers.batch_normalization(h, center=False, fused=False, training=True)
    h = tf.layers.batch_normalization(h, renorm=True, training=True,
                                      renorm_clipping={"rmin": 0.3, "rmax": 3.0, "dmax": 5.0})
    h = tf.layers.batch_normalization(h, axis=[1, 3], training=True)
    flat = tf.layers.flatten(h)
    flat.set_shape([None, 192])
    tf.layers.batch_normalization(flat, training=True)
    tf.layers.batch_normalization(flat, virtual_batch_size=2, training=True)
    layer = tf.layers.BatchNormalization(gamma_regularizer=tf.nn.l2_loss)
    layer(flat, training=True)
    layer(flat, training=False)


def recurrent_cells(tf):
    x = tf.placeholder(tf.float32, [4, 3], name="x")
    cell = tf.nn.rnn_cell.BasicRNNCell(5)
    cell(x, cell.zero_state(4, tf.float32))
    cell = tf.nn.rnn_cell.GRUCell(5, name="gru")
    _, state = cell(x, cell.zero_state(4, tf.float32))
    cell(x, state)
    cell = tf.nn.rnn_cell.BasicLSTMCell(5)
    cell(x, cell.zero_state(4, tf.float32), scope="named")
    cell = tf.nn.rnn_cell.LSTMCell(5, use_peepholes=True, num_proj=2, cell_clip=1.0)
    cell(x, cell.zero_state(4, tf.float32))
    stacked = tf.nn.rnn_cell.MultiRNNCell([
        tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicLSTMCell(5), input_keep_prob=0.5, output_keep_prob=0.5,
                                      state_keep_prob=0.5, seed=3),
        tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.GRUCell(5)),
        tf.nn.rnn_cell.DeviceWrapper(tf.nn.rnn_cell.GRUCell(2), "/cpu:1")])
    batch = tf.placeholder(tf.int32, [], name="batch")
    stacked(x, stacked.zero_state(4, tf.float32))
    stacked.zero_state(batch, tf.float32)


def templates(tf):
    def scaled(x, factor):
        w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
        return x * w * factor

    double = tf.make_template("double", scaled, factor=2.0)
    double(tf.constant([1.0, 2.0, 3.0]))
    double(tf.constant([1.0, 2.0, 3.0]))
    tf.make_template("double", scaled, create_scope_now_=True, factor=3.0)(tf.zeros([3]))


def layers_by_name(tf):
    x = tf.placeholder(tf.float32, [None, 4, 4, 3], name="x")
    h = tf.layers.conv2d(x, 2, 3, activation="relu", kernel_initializer="he_normal", bias_initializer="ones")
    h = tf.layers.batch_normalization(h, gamma_initializer="zeros")
    h = tf.layers.dense(tf.layers.flatten(h), 3, activation="tanh", kernel_initializer="random_normal")
    h = tf.layers.dense(h, 3, activation="softmax", kernel_initializer=tf.zeros_initializer)
    tf.layers.dense(h, 3, activation="linear")
