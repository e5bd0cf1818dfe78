"""tf.__internal__: what Keras and other libraries of the family take from inside TensorFlow."""
FROM = {
    "eager.lift_to_graph": "lift_to_graph",
    "framework.composite_tensor": "CompositeTensor",
    "framework.eager_tensor": "EagerTensor",
    "framework.func_graph": "FuncGraph",
    "framework.ops": "get_name_scope",
    "ops.switch_case": "execute_fn_for_device",
    "saved_models.load_context": "load_context",
    "util.keras_deps": """
        register_call_context_function register_clear_session_function register_get_session_function
        register_load_model_function""",
}
