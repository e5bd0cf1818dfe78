"""tf: variables, scopes, initializers."""
FROM = {
    "ops.state.variables": """
        Variable=VariableV1 VariableAggregation all_variables assert_variables_initialized global_variables
        global_variables_initializer initialize_all_variables initialize_local_variables initialize_variables
        is_variable_initialized local_variables local_variables_initializer model_variables
        moving_average_variables report_uninitialized_variables trainable_variables variables_initializer""",
    "ops.state.variable_scope": """
        AUTO_REUSE VariableScope disable_resource_variables enable_resource_variables get_local_variable
        get_variable get_variable_scope no_regularizer resource_variables_enabled variable_op_scope
        variable_scope""",
    "ops.state.partitioned_variables": """
        create_partitioned_variables fixed_size_partitioner min_max_variable_partitioner
        variable_axis_size_partitioner""",
    "ops.state.state_ops": """
        assign assign_add assign_sub batch_scatter_update count_up_to scatter_add scatter_div scatter_max
        scatter_min scatter_mul scatter_nd_add scatter_nd_sub scatter_nd_update scatter_sub scatter_update""",
    "ops.state.init_ops": """
        constant_initializer glorot_normal_initializer glorot_uniform_initializer ones_initializer
        orthogonal_initializer random_normal_initializer random_uniform_initializer truncated_normal_initializer
        uniform_unit_scaling_initializer variance_scaling_initializer zeros_initializer""",
    "checkpoint.template": "make_template",
}
