"""tf.contrib.slim: layers, losses' names, variables and arg_scope in one place."""
FROM = {
    "contrib.framework.arg_scope": """
        add_arg_scope arg_scope arg_scope_func_key arg_scoped_arguments current_arg_scope has_arg_scope
        """,
    "contrib.framework.checkpoints": "assign_from_checkpoint assign_from_checkpoint_fn get_variable_full_name",
    "contrib.framework.variables": """
        add_model_variable assign_from_values
        assert_global_step create_global_step filter_variables get_global_step get_local_variables get_model_variables
        get_or_create_global_step get_trainable_variables get_unique_variable get_variables get_variables_by_name
        get_variables_by_suffix get_variables_to_restore global_variable local_variable model_variable variable""",
    "contrib.layers.encoders": "embed_sequence embedding_lookup_unique",
    "contrib.layers.initializers": "variance_scaling_initializer xavier_initializer xavier_initializer_conv2d",
    "contrib.layers.layers": """
        avg_pool2d batch_norm bias_add conv1d conv2d conv2d_transpose conv3d convolution convolution1d convolution2d
        convolution2d_transpose convolution3d dropout flatten fully_connected layer_norm linear max_pool2d
        one_hot_encoding repeat separable_conv2d separable_convolution2d softmax stack""",
    "contrib.layers.normalization": "group_norm instance_norm",
    "contrib.layers.optimizers": "OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES adaptive_clipping_fn optimize_loss",
    "contrib.layers.regularizers": """
        apply_regularization l1_l2_regularizer l1_regularizer l2_regularizer sum_regularizer""",
    "contrib.layers.summaries": """
        summarize_activation summarize_activations summarize_biases summarize_collection summarize_tensor
        summarize_tensors summarize_variables summarize_weights""",
    "ops.nn": "elu relu relu6",
}
