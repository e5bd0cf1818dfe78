"""tf.contrib.slim: the names of tf.contrib.layers and of variables and arg_scope, and its own modules."""
from penstock.api.v1.contrib__layers import FROM as LAYERS

FROM = {
    **LAYERS,
    "contrib.framework.arg_scope": """
        add_arg_scope arg_scope arg_scope_func_key arg_scoped_arguments current_arg_scope has_arg_scope
        """,
    "contrib.framework.checkpoints": "assign_from_checkpoint assign_from_checkpoint_fn get_variable_full_name",
    "contrib.framework.variables": """
        VariableDeviceChooser add_model_variable assert_global_step assert_or_get_global_step assign_from_values
        assign_from_values_fn create_global_step filter_variables get_global_step get_local_variables
        get_model_variables get_or_create_global_step get_trainable_variables get_unique_variable get_variables
        get_variables_by_name get_variables_by_suffix get_variables_to_restore global_variable local_variable
        model_variable variable""",
    "contrib.layers.pooling": LAYERS["contrib.layers.pooling"] + " pool",
    "contrib.layers.summaries": LAYERS["contrib.layers.summaries"] + """
        summarize_biases summarize_variables summarize_weights""",
}
NAMES = {
    "data_decoder": "contrib.slim.data.data_decoder",
    "data_provider": "contrib.slim.data.data_provider",
    "dataset": "contrib.slim.data.dataset",
    "dataset_data_provider": "contrib.slim.data.dataset_data_provider",
    "encoders": "contrib.layers.encoders",
    "init_ops": "ops.state.init_ops",
    "initializers": "contrib.layers.initializers",
    "layers": "contrib.layers.layers",
    "normalization": "contrib.layers.normalization",
    "optimizers": "contrib.layers.optimizers",
    "parallel_reader": "contrib.slim.data.parallel_reader",
    "prefetch_queue": "contrib.slim.data.prefetch_queue",
    "queues": "contrib.slim.queues",
    "regularizers": "contrib.layers.regularizers",
    "summaries": "contrib.slim.summaries",
    "tfexample_decoder": "contrib.slim.data.tfexample_decoder",
    "utils": "contrib.layers.utils",
}
