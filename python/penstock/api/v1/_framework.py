"""tf: graphs, tensors, types, sessions."""
FROM = {
    "tools.load_library": "load_file_system_library load_library load_op_library",
    "graph.ops": """
        Graph GraphKeys IndexedSlices NotDifferentiable NoGradient no_gradient=NotDifferentiable Operation
        RegisterGradient Tensor add_to_collection
        add_to_collections colocate_with container control_dependencies convert_to_tensor
        convert_to_tensor_or_indexed_slices device get_collection get_collection_ref get_default_graph
        get_default_session init_scope name_scope op_scope register_tensor_conversion_function reset_default_graph""",
    "graph.dtypes": """
        DType QUANTIZED_DTYPES as_dtype bfloat16 bool complex128 complex64 double float16 float32 float64 half int16
        int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource string uint16 uint32 uint64 uint8 variant""",
    "graph.tensor_shape": """
        Dimension TensorShape dimension_at_index dimension_value disable_v2_tensorshape enable_v2_tensorshape""",
    "graph.errors": "OpError",
    "graph.constant_op": "constant=constant_v1",
    "graph.device": "DeviceSpec=DeviceSpecV1",
    "graph.random_seed": "get_seed set_random_seed",
    "function.importer": "import_graph_def",
    "graph.tensor_util": "MakeNdarray make_ndarray=MakeNdarray get_static_value is_symbolic_tensor "
                             "make_tensor_proto is_tensor",
    "graph.sparse_tensor": "SparseTensor SparseTensorValue convert_to_tensor_or_sparse_tensor",
    "graph.tensor_spec": "TensorSpec",
    "graph.composite_spec": "IndexedSlicesSpec SparseTensorSpec",
    "control_flow.tensor_array_spec": "TensorArraySpec",
    "ops.ragged.ragged_tensor_spec": "RaggedTensorSpec",
    "graph.type_spec": "TypeSpec type_spec_from_value",
    "graph.versions": """
        COMPILER_VERSION CXX11_ABI_FLAG GIT_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER
        GRAPH_DEF_VERSION_MIN_PRODUCER MONOLITHIC_BUILD VERSION __compiler_version__ __cxx11_abi_flag__ __git_version__
        __monolithic_build__ __version__""",
    "session.session": "InteractiveSession Session",
    "function.function": "Defun",
    "base.mode": """
        control_flow_v2_enabled disable_control_flow_v2 disable_resource_variables disable_tensor_equality
        disable_v2_behavior enable_control_flow_v2 enable_resource_variables enable_tensor_equality enable_v2_behavior
        resource_variables_enabled""",
    "graph.defaults": "executing_eagerly_outside_functions",
    "graph.context": "disable_eager_execution enable_eager_execution executing_eagerly",
    "data.ops.optional_ops": "OptionalSpec",
    "base.tf_logging": "get_logger",
    "gradient.backprop": "GradientTape",
    "tf_function.def_function": "function=function_v1",
    "tf_function.wrap_function": "wrap_function",
    "ops.state.module": "Module",
}
NAMES = {
    "compat": "penstock.compat:",
    "raw_ops": "graph.raw_ops:",
    "app": "files.app:",
    "flags": "files.flags:",
    "logging": "base.tf_logging:",
    "gfile": "files.gfile:",
    "resource_loader": "files.resource_loader:",
    "sysconfig": "files.sysconfig:",
    "test": "testing.test:",
    "nest": "base.nest:",
}
