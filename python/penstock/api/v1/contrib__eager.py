"""tf.contrib.eager."""
FROM = {
    "graph.context": """
        async_clear_error async_wait enable_eager_execution executing_eagerly execution_mode in_eager_mode num_gpus
        list_devices
        DEVICE_PLACEMENT_EXPLICIT DEVICE_PLACEMENT_WARN DEVICE_PLACEMENT_SILENT SYNC ASYNC""",
    "gradient.backprop": """
        GradientTape gradients_function implicit_gradients=implicit_grad
        implicit_value_and_gradients=implicit_val_and_grad make_vjp
        value_and_gradients_function=val_and_grad_function""",
    "data.ops.iterator_ops": "Iterator=IteratorV2",
    "tf_function.def_function": "function=function_v1",
    "tf_function.function": "defun",
    "graph.tensor_spec": "TensorSpec",
    "testing.test_modes": """
        run_all_tests_in_graph_and_eager_modes=run_all_in_graph_and_eager_modes
        run_test_in_graph_and_eager_modes=run_in_graph_and_eager_modes""",
    "checkpoint.template": "make_template=make_template_internal",
    "gradient.custom_gradient": "custom_gradient",
    "tf_function.script_ops": "py_func=py_function",
    "ops.state.resource_variable_ops": "Variable=ResourceVariable",
    "graph.ops": "init_scope",
    "ops.state.variable_scope": "EagerVariableStore",
    "ops.state.tracking": "Checkpointable=AutoTrackable",
    "checkpoint.util": "Checkpoint",
}
