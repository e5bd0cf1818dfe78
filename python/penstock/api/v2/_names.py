"""tf, version 2."""
FROM = {
    "gradient.backprop": "GradientTape",
    "graph.context": "executing_eagerly",
    "tf_function.def_function": "function",
    "graph.constant_op": "constant",
    "graph.conversion": "convert_to_tensor=convert_to_tensor_v2",
    "graph.device": "DeviceSpec=DeviceSpecV2",
    "graph.dtypes": """
        DType QUANTIZED_DTYPES as_dtype bfloat16 bool complex128 complex64 double float16 float32 float64 half int16
        int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource string uint16 uint32 uint64 uint8 variant""",
    "graph.gen": """
        acos acosh as_string asin asinh atan atan2 atanh bitcast broadcast_to cos cosh dynamic_partition
        dynamic_stitch exp extract_volume_patches floor greater greater_equal guarantee_const identity_n less less_equal
        logical_and logical_not logical_or matrix_square_root maximum minimum no_op realdiv=real_div
        reverse=reverse_v2 scatter_nd sin sinh space_to_batch_nd stop_gradient tan
        tensor_scatter_nd_add=tensor_scatter_add tensor_scatter_nd_max=tensor_scatter_max
        tensor_scatter_nd_min=tensor_scatter_min tensor_scatter_nd_sub=tensor_scatter_sub tile timestamp
        truncatediv=truncate_div truncatemod=truncate_mod
        unravel_index""",
    "graph.defaults": "inside_function",
    "graph.graph": "Graph",
    "function.importer": "import_graph_def",
    "graph.indexed_slices": "IndexedSlices",
    "tools.load_library": "load_library load_op_library",
    "base.mode": "enable_v2_behavior",
    "graph.operation": "Operation",
    "graph.ops": """
        RegisterGradient control_dependencies device=device_v2 get_current_name_scope=get_name_scope init_scope
        name_scope=name_scope_v2 no_gradient=NotDifferentiable register_tensor_conversion_function""",
    "graph.sparse_tensor": "SparseTensor",
    "graph.tensor": "Tensor",
    "graph.tensor_shape": "TensorShape",
    "graph.tensor_spec": "TensorSpec",
    "data.ops.optional_ops": "OptionalSpec",
    "graph.tensor_util": "get_static_value is_symbolic_tensor is_tensor make_ndarray=MakeNdarray make_tensor_proto",
    "graph.composite_spec": "IndexedSlicesSpec SparseTensorSpec",
    "control_flow.tensor_array_spec": "TensorArraySpec",
    "data.util.structure": "NoneTensorSpec",
    "ops.ragged.ragged_tensor_spec": "RaggedTensorSpec",
    "graph.type_spec": "TypeSpec type_spec_from_value",
    "ops.state.module": "Module",
    "base.tf_logging": "get_logger",
    "ops.ragged.ragged_tensor": "RaggedTensor",
    "core_ops.array_ops": """
        batch_to_space=batch_to_space_v2 boolean_mask=boolean_mask_v2 broadcast_dynamic_shape broadcast_static_shape
        concat edit_distance expand_dims=expand_dims_v2 fill fingerprint gather=gather_v2 gather_nd=gather_nd_v2
        identity meshgrid one_hot ones ones_like=ones_like_v2 pad=pad_v2 parallel_stack rank repeat
        required_space_to_batch_paddings reshape reverse_sequence=reverse_sequence_v2 searchsorted sequence_mask
        shape=shape_v2 shape_n size=size_v2 slice space_to_batch=space_to_batch_v2 split squeeze=squeeze_v2 stack
        strided_slice tensor_scatter_nd_update transpose=transpose_v2 unique unique_with_counts unstack where=where_v2
        zeros
        zeros_like=zeros_like_v2""",
    "control_flow.check_ops": """
        assert_equal=assert_equal_v2 assert_greater=assert_greater_v2 assert_less=assert_less_v2
        assert_rank=assert_rank_v2 ensure_shape""",
    "tf_function.batch_ops": "nondifferentiable_batch_function=batch_function",
    "core_ops.clip_ops": "clip_by_global_norm clip_by_norm clip_by_value",
    "control_flow.cond": "case cond=cond_for_tf_v2",
    "control_flow.control_flow_ops": "Assert group tuple=tuple_v2",
    "gradient.custom_gradient": "custom_gradient grad_pass_through recompute_grad",
    "control_flow.functional_ops": "foldl foldr scan",
    "gradient.gradients_impl": "gradients=gradients_v2 hessians=HessiansV2",
    "gradient.gradients_util": "AggregationMethod",
    "ops.nn.histogram_ops": "histogram_fixed_width histogram_fixed_width_bins",
    "ops.state.init_ops_v2": """
        constant_initializer=Constant ones_initializer=Ones random_normal_initializer=RandomNormal
        random_uniform_initializer=RandomUniform zeros_initializer=Zeros""",
    "ops.state.critical_section_ops": "CriticalSection",
    "ops.linalg.linalg_ops": "eye norm=norm_v2",
    "ops.linalg.linalg_version_two": "eig eigvals",
    "ops.lookup.logging_ops": "print=print_v2",
    "core_ops.manip_ops": "roll",
    "control_flow.map_fn": "map_fn=map_fn_v2",
    "parallel_for.control_flow_ops": "vectorized_map",
    "core_ops.math_ops": """
        abs add add_n argmax=argmax_v2 argmin=argmin_v2 cast complex cumsum divide equal matmul multiply negative
        not_equal pow range reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod
        reduce_sum round saturate_cast scalar_mul sigmoid sign sqrt square subtract tanh tensordot truediv""",
    "core_ops.math_ranges": "linspace",
    "tf_function.script_ops": "numpy_function py_function",
    "core_ops.sort_ops": "argsort sort",
    "core_ops.einsum_v2": "einsum",
    "control_flow.switch_case": "switch_case",
    "control_flow.tensor_array_ops": "TensorArray",
    "gradient.unconnected_gradients": "UnconnectedGradients",
    "ops.state.variable_scope": "variable_creator_scope=variable_creator_scope_v1",
    "control_flow.while_loop": "while_loop=while_loop_v2",
    "ops.state.variables": "Variable VariableAggregation=VariableAggregationV2 VariableSynchronization",
}
NAMES = {
    "compat": "penstock.compat:",
    "errors": "graph.errors:",
    "nest": "base.nest:",
    "newaxis": "core_ops.array_ops:newaxis",
    "__version__": "graph.versions:VERSION_2",
    "__compiler_version__": "graph.versions:COMPILER_VERSION",
    "__cxx11_abi_flag__": "graph.versions:CXX11_ABI_FLAG",
    "__git_version__": "graph.versions:GIT_VERSION",
    "__monolithic_build__": "graph.versions:MONOLITHIC_BUILD",
    "raw_ops": "graph.raw_ops:",
    "sysconfig": "files.sysconfig:",
    "keras": "penstock.api.keras_packages:",
    "initializers": "penstock.api.keras_packages:_parts.initializers",
    "losses": "penstock.api.keras_packages:_parts.losses",
    "metrics": "penstock.api.keras_packages:_parts.metrics",
    "optimizers": "penstock.api.keras_packages:_parts.optimizers",
}
