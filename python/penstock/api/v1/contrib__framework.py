"""tf.contrib.framework."""
FROM = {
    "contrib.framework.arg_scope": """
        add_arg_scope arg_scope arg_scope_func_key arg_scoped_arguments current_arg_scope has_arg_scope""",
    "contrib.framework.checkpoints": "assign_from_checkpoint assign_from_checkpoint_fn get_variable_full_name",
    "contrib.framework.variables": """
        VariableDeviceChooser add_model_variable assert_global_step assert_or_get_global_step assign_from_values
        assign_from_values_fn create_global_step filter_variables get_global_step get_local_variables
        get_model_variables get_or_create_global_step get_trainable_variables get_unique_variable
        get_variables get_variables_by_name get_variables_by_suffix get_variables_to_restore global_variable
        local_variable model_variable variable""",
    "contrib.framework.tensor_util": """
        assert_scalar_int reduce_sum_n remove_squeezable_dimensions with_same_shape with_shape""",
    "graph.ops": """
        get_graph_from_inputs get_name_scope prepend_name_scope strip_name_scope""",
    "graph.sparse_tensor": "convert_to_tensor_or_sparse_tensor",
    "contrib.framework.graph_util": "get_placeholders",
    "contrib.framework.checkpoint_utils": "init_from_checkpoint list_variables load_checkpoint load_variable",
    "control_flow.smart_cond": "smart_case smart_cond smart_constant_value",
    "graph.tensor_spec": "BoundedTensorSpec TensorSpec",
    "graph.tensor_util": "is_tensor",
    "control_flow.check_ops": "assert_same_float_dtype assert_scalar",
    "contrib.framework.script_ops": "py_func",
    "core_ops.sort_ops": "argsort sort",
    "base.deprecation": "deprecated deprecated_arg_values deprecated_args",
}
NAMES = {"nest": "base.nest:"}
