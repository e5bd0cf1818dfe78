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


def sequences(tf):
    """An encoder, and decoders with attention that train and that infer."""
    seq2seq = tf.contrib.seq2seq
    source = tf.placeholder(tf.float32, [2, 5, 3], name="source")
    target = tf.placeholder(tf.float32, [2, None, 4], name="target")
    lengths = tf.placeholder(tf.int32, [2], name="lengths")
    memory, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(6), source, lengths, dtype=tf.float32)
    with tf.variable_scope("decode") as scope:
        attention = seq2seq.BahdanauAttention(6, memory, memory_sequence_length=lengths, normalize=True)
        cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(6), attention, attention_layer_size=7,
                                        alignment_history=True)
        first = cell.zero_state(2, tf.float32).clone(cell_state=state)
        layer = tf.layers.Dense(9, name="classes")
        decoder = seq2seq.BasicDecoder(cell, seq2seq.TrainingHelper(target, lengths), first, layer)
        outputs, _, _ = seq2seq.dynamic_decode(decoder, impute_finished=True)
        seq2seq.sequence_loss(outputs.rnn_output, outputs.sample_id, tf.ones([2, 5]))
        scope.reuse_variables()
        embedding = tf.ones([9, 4])
        helper = seq2seq.GreedyEmbeddingHelper(embedding, [1, 1], 2)
        seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, first, layer), maximum_iterations=6, scope="decoder")


def more_attention(tf):
    seq2seq = tf.contrib.seq2seq
    memory = tf.placeholder(tf.float32, [2, 5, 3], name="memory")
    query = tf.placeholder(tf.float32, [2, 4], name="query")
    lengths = tf.constant([3, 5])
    for make in (seq2seq.LuongAttention, seq2seq.BahdanauAttention, seq2seq.LuongMonotonicAttention,
                 seq2seq.BahdanauMonotonicAttention):
        mechanism = make(4, memory, lengths)
        mechanism(query, mechanism.initial_state(2, tf.float32))
    mechanisms = [seq2seq.LuongAttention(4, memory, scale=True),
                  seq2seq.LuongMonotonicAttention(4, memory, mode="hard")]
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.BasicRNNCell(4), mechanisms, output_attention=False)
    cell(query, cell.zero_state(2, tf.float32))
    seq2seq.hardmax(query)
    helper = seq2seq.ScheduledOutputTrainingHelper(memory, lengths, 0.5, seed=3)
    finished, first = helper.initialize()
    helper.next_inputs(0, memory[:, 0], first, helper.sample(0, memory[:, 0], first))
    seq2seq.sequence_loss(memory, tf.ones([2, 5], tf.int32), tf.ones([2, 5]), average_across_batch=False)
