"""tf: graphs, tensors, types, sessions."""
FROM = {
    "tools.load_library": "load_file_system_library",
    "graph.ops": """
        Graph GraphKeys IndexedSlices NotDifferentiable NoGradient Operation Tensor add_to_collection
        add_to_collections colocate_with container convert_to_tensor convert_to_tensor_or_indexed_slices device
        get_collection get_collection_ref get_default_graph get_default_session name_scope op_scope
        reset_default_graph""",
    "graph.tensor_shape": "Dimension dimension_at_index dimension_value disable_v2_tensorshape enable_v2_tensorshape",
    "graph.errors": "OpError",
    "graph.constant_op": "constant=constant_v1",
    "graph.device": "DeviceSpec=DeviceSpecV1",
    "graph.random_seed": "get_seed set_random_seed",
    "graph.tensor_util": "MakeNdarray",
    "graph.sparse_tensor": "SparseTensorValue convert_to_tensor_or_sparse_tensor",
    "graph.versions": """
        COMPILER_VERSION CXX11_ABI_FLAG GIT_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER
        GRAPH_DEF_VERSION_MIN_PRODUCER MONOLITHIC_BUILD VERSION __compiler_version__ __cxx11_abi_flag__
        __git_version__ __monolithic_build__ __version__""",
    "session.session": "InteractiveSession Session",
    "function.defun": "Defun",
    "base.mode": """
        control_flow_v2_enabled disable_control_flow_v2 disable_resource_variables disable_tensor_equality
        disable_v2_behavior enable_control_flow_v2 enable_resource_variables enable_tensor_equality
        resource_variables_enabled""",
    "graph.defaults": "executing_eagerly_outside_functions",
    "graph.context": "disable_eager_execution enable_eager_execution",
    "tf_function.def_function": "function=function_v1",
    "tf_function.wrap_function": "wrap_function",
}
NAMES = {
    "app": "files.app:",
    "flags": "files.flags:",
    "logging": "base.tf_logging:",
    "gfile": "files.gfile:",
    "resource_loader": "files.resource_loader:",
    "test": "testing.test:",
}
