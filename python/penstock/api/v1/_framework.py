"""tf: graphs, tensors, types, sessions."""
FROM = {
    "framework.load_library": "load_file_system_library load_library load_op_library",
    "framework.ops": """
        Graph GraphKeys IndexedSlices NotDifferentiable NoGradient no_gradient=NotDifferentiable Operation
        RegisterGradient Tensor add_to_collection
        add_to_collections colocate_with container control_dependencies convert_to_tensor
        convert_to_tensor_or_indexed_slices device get_collection get_collection_ref get_default_graph
        get_default_session init_scope name_scope op_scope register_tensor_conversion_function reset_default_graph""",
    "framework.dtypes": """
        DType QUANTIZED_DTYPES as_dtype bfloat16 bool complex128 complex64 double float16 float32 float64 half int16
        int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource string uint16 uint32 uint64 uint8 variant""",
    "framework.tensor_shape": """
        Dimension TensorShape dimension_at_index dimension_value disable_v2_tensorshape enable_v2_tensorshape""",
    "framework.errors": "OpError",
    "framework.constant_op": "constant=constant_v1",
    "framework.device": "DeviceSpec=DeviceSpecV1",
    "framework.random_seed": "get_seed set_random_seed",
    "framework.importer": "import_graph_def",
    "framework.tensor_util": "MakeNdarray make_ndarray=MakeNdarray get_static_value is_symbolic_tensor "
                             "make_tensor_proto is_tensor",
    "framework.sparse_tensor": "SparseTensor SparseTensorValue convert_to_tensor_or_sparse_tensor",
    "framework.tensor_spec": "TensorSpec",
    "framework.composite_spec": "IndexedSlicesSpec SparseTensorSpec",
    "ops.tensor_array_spec": "TensorArraySpec",
    "ops.ragged.ragged_tensor_spec": "RaggedTensorSpec",
    "framework.type_spec": "TypeSpec type_spec_from_value",
    "framework.versions": """
        COMPILER_VERSION CXX11_ABI_FLAG GIT_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER
        GRAPH_DEF_VERSION_MIN_PRODUCER MONOLITHIC_BUILD VERSION __compiler_version__ __cxx11_abi_flag__ __git_version__
        __monolithic_build__ __version__""",
    "client.session": "InteractiveSession Session",
    "framework.function": "Defun",
    "framework.mode": """
        control_flow_v2_enabled disable_control_flow_v2 disable_resource_variables disable_tensor_equality
        disable_v2_behavior enable_control_flow_v2 enable_resource_variables enable_tensor_equality enable_v2_behavior
        resource_variables_enabled""",
    "framework.defaults": "executing_eagerly_outside_functions",
    "eager.context": "disable_eager_execution enable_eager_execution executing_eagerly",
    "data.ops.optional_ops": "OptionalSpec",
    "platform.tf_logging": "get_logger",
    "eager.backprop": "GradientTape",
    "eager.def_function": "function=function_v1",
    "eager.wrap_function": "wrap_function",
    "module.module": "Module",
}
NAMES = {
    "compat": "compat:",
    "raw_ops": "framework.raw_ops:",
    "app": "platform.app:",
    "flags": "platform.flags:",
    "logging": "platform.tf_logging:",
    "gfile": "platform.gfile:",
    "resource_loader": "platform.resource_loader:",
    "sysconfig": "platform.sysconfig:",
    "test": "platform.test:",
    "nest": "util.nest:",
}
