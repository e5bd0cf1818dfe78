"""tf.__internal__: internal names that Keras and related libraries use."""
FROM = {
    "function.lift_to_graph": "lift_to_graph",
    "graph.composite_tensor": "CompositeTensor",
    "graph.eager_tensor": "EagerTensor",
    "function.func_graph": "FuncGraph",
    "graph.ops": "get_name_scope",
    "control_flow.switch_case": "execute_fn_for_device",
    "saved_model.load_context": "load_context",
    "penstock.api.keras_deps": """
        register_call_context_function register_clear_session_function register_get_session_function
        register_load_model_function""",
}
