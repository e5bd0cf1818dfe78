"""Where TensorFlow's internal modules are to be found here: names below `tensorflow.` to names below `penstock.`."""

GENERATED = "framework.gen"

# Whole packages: tensorflow.python.ops.X is penstock.ops.X unless MODULES says otherwise.
PACKAGES = {
    "contrib.graph_editor": "contrib.graph_editor",
    "contrib.nn.python.ops": "contrib.nn",
    "contrib.quantize.python": "contrib.quantize",
    "contrib.slim.nets": "contrib.slim.nets",
    "contrib.slim.python.slim.data": "contrib.slim.data",
    "contrib.slim.python.slim.nets": "contrib.slim.nets",
    "python.autograph": "autograph",
    "python.autograph.core": "autograph.core",
    "python.autograph.converters": "autograph.converters",
    "python.autograph.pyct": "autograph.pyct",
    "python.autograph.pyct.common_transformers": "autograph.pyct.common_transformers",
    "python.autograph.pyct.static_analysis": "autograph.pyct.static_analysis",
    "python.autograph.impl": "autograph.impl",
    "python.autograph.lang": "autograph.lang",
    "python.autograph.operators": "autograph.operators",
    "python.autograph.utils": "autograph.utils",
    "python.client": "client",
    "python.data": "data",
    "python.data.experimental": "data.experimental",
    "python.data.experimental.ops": "data.experimental.ops",
    "python.data.ops": "data.ops",
    "python.data.util": "data.util",
    "python.debug": "debug",
    "python.debug.cli": "debug.cli",
    "python.debug.lib": "debug.lib",
    "python.debug.wrappers": "debug.wrappers",
    "python.distribute": "distribute",
    "python.distribute.cluster_resolver": "distribute.cluster_resolver",
    "python.eager": "eager",
    "python.estimator": "estimator",
    "python.estimator.canned": "estimator.canned",
    "python.estimator.export": "estimator.export",
    "python.estimator.hooks": "estimator.hooks",
    "python.estimator.inputs": "estimator.inputs",
    "python.estimator.inputs.queues": "estimator.inputs.queues",
    "python.feature_column": "feature_column",
    "python.framework": "framework",
    "python.keras": "keras.v1",
    "python.keras.engine": "keras.engine",
    "python.layers": "layers",
    "python.lib.io": "lib.io",
    "python.module": "module",
    "python.ops": "ops",
    "python.ops.distributions": "ops.distributions",
    "python.ops.linalg": "ops.linalg",
    "python.ops.losses": "ops.losses",
    "python.ops.numpy_ops": "ops.numpy_ops",
    "python.ops.ragged": "ops.ragged",
    "python.ops.signal": "ops.signal",
    "python.platform": "platform",
    "python.profiler": "profiler",
    "python.profiler.internal": "profiler.internal",
    "python.saved_model": "saved_models",
    "python.saved_model.model_utils": "saved_models.model_utils",
    "python.summary": "summaries",
    "python.summary.writer": "summaries.writer",
    "python.tools": "tools",
    "python.tpu": "tpu",
    "python.training": "training",
    "python.training.experimental": "training.experimental",
    "python.training.saving": "training.saving",
    "python.training.tracking": "training.tracking",
    "python.util": "util",
    "tools.graph_transforms": "tools.graph_transforms",
}

# Names that programs know of a module here and that another one has: {module: {module that has them: names}}.
BESIDE = {
    "autograph.core.converter": {"autograph.core.converter_base": "Base"},
    "autograph.impl.api": {"autograph.impl.py_to_tf": "PyToTF"},
    "data.ops.dataset_ops": {
        "data.ops.batching": """
            BatchDataset PaddedBatchDataset WindowDataset _padded_shape_to_tensor _padding_value_to_tensor""",
        "data.ops.from_generator_op": "_GeneratorDataset",
        "data.ops.mapping": """
            FilterDataset FlatMapDataset InterleaveDataset MapDataset ParallelInterleaveDataset ParallelMapDataset""",
        "data.ops.simple": """
            CacheDataset ConcatenateDataset PrefetchDataset RepeatDataset ShardDataset ShuffleDataset SkipDataset
            TakeDataset ZipDataset _OptionsDataset _RestructuredDataset""",
        "data.ops.sources": "RangeDataset SparseTensorSliceDataset TensorDataset TensorSliceDataset",
        "data.ops.structured_function": "StructuredFunctionWrapper",
        "data.ops.tuning": """
            _MaxIntraOpParallelismDataset _ModelDataset _OptimizeDataset _PrivateThreadPoolDataset
            _SetStatsAggregatorDataset""",
    },
    "eager.def_function": {"graph.config": "RUN_FUNCTIONS_EAGERLY=_functions_run_eagerly"},
    "eager.function": {"tf_function.function": "Function=TracingCompiler"},
    "framework.indexed_slices": {"graph.composite_spec": "IndexedSlicesSpec"},
    "framework.ops": {"graph.eager_tensor": "EagerTensor"},
    "framework.sparse_tensor": {"graph.composite_spec": "SparseTensorSpec"},
    "framework.tensor": {"graph.tensor_spec": "BoundedTensorSpec DenseSpec TensorSpec"},
    "layers.convolutional": {
        "layers.convolutional_separable": """
            SeparableConv1D SeparableConv2D SeparableConvolution2D separable_conv1d separable_conv2d""",
        "layers.convolutional_transpose": """
            Conv2DTranspose Conv3DTranspose Convolution2DTranspose Convolution3DTranspose Deconv2D Deconv3D
            Deconvolution2D Deconvolution3D conv2d_transpose conv3d_transpose""",
    },
    "ops.control_flow_ops": {
        "control_flow.cond": "case cond",
        "control_flow.cond_context": "CondContext",
        "function.control_flow_context": "ControlFlowContext XLAControlFlowContext from_control_flow_context_def",
        "control_flow.switch_case": "switch_case",
        "control_flow.while_context": "WhileContext _Enter=enter _NextIteration=next_iteration",
        "control_flow.while_loop": "while_loop while_loop_v2",
    },
    "ops.functional_ops": {"control_flow.functional_calls": "For Gradient If While partitioned_call"},
    "ops.gradients": {"gradient.backprop": "GradientTape"},
    "ops.init_ops": {"ops.state.init_ops_convolutional": """
        ConvolutionDeltaOrthogonal ConvolutionOrthogonal ConvolutionOrthogonal1D ConvolutionOrthogonal2D
        ConvolutionOrthogonal3D convolutional_delta_orthogonal=ConvolutionDeltaOrthogonal
        convolutional_orthogonal_1d=ConvolutionOrthogonal1D convolutional_orthogonal_2d=ConvolutionOrthogonal2D
        convolutional_orthogonal_3d=ConvolutionOrthogonal3D"""},
    "ops.linalg_ops": {"ops.linalg.linalg_version_two": "eig eigvals"},
    "ops.math_ops": {
        "graph.gen": """
            _bucketize=bucketize floormod=floor_mod linspace=lin_space mod=floor_mod nextafter=next_after
            realdiv=real_div sparse_matmul=sparse_mat_mul truncatediv=truncate_div truncatemod=truncate_mod""",
        "core_ops.math_ranges": "linspace_nd=linspace sobol_sample",
        "core_ops.special_math_ops": "erfcinv",
    },
    "ops.nn_ops": {
        "graph.gen": "local_response_normalization=lrn",
        "ops.nn.nn_impl": "gelu",
        "ops.nn.nn_version_two": "approx_max_k approx_min_k general_dropout isotonic_regression stateless_dropout",
    },
    "ops.nn": {
        "graph.gen": "local_response_normalization=lrn",
        "ops.nn.nn_version_two": "approx_max_k approx_min_k general_dropout isotonic_regression stateless_dropout",
    },
    "ops.ragged.ragged_tensor": {
        "ops.ragged.ragged_map_ops": "RaggedTensorType",
        "ops.ragged.ragged_tensor_spec": "RaggedTensorSpec",
    },
    "ops.random_ops": {"ops.random.stateless_random_ops": "stateless_random_crop"},
    "ops.rnn_cell_impl": {"layers.rnn.rnn_cell_wrappers": "DeviceWrapper DropoutWrapper ResidualWrapper"},
    "ops.sparse_ops": {"ops.ragged.bincount_ops": "bincount sparse_bincount"},
    "ops.variables": {
        "ops.state.initial_value_guard": "_try_guard_against_uninitialized_dependencies=guarded_initial_value",
        "ops.state.partitioned_variable": "PartitionedVariable",
        "ops.state.ref_variable": "RefVariable",
    },
    "util.dispatch": {"graph.type_dispatch": """
        dispatch_for_api dispatch_for_binary_elementwise_apis dispatch_for_binary_elementwise_assert_apis
        dispatch_for_unary_elementwise_apis unregister_dispatch_for"""},
}

# Names that the versions use for different things: {module: names}, found with the suffix of the version in use:
# "V1" or "V2" for classes, "_v1" or "_v2" for functions.
BY_VERSION = {
    "data.experimental.ops.counter": "Counter",
    "data.experimental.ops.interleave_ops": "choose_from_datasets sample_from_datasets",
    "data.experimental.ops.readers": "CsvDataset SqlDataset make_batched_features_dataset make_csv_dataset",
    "data.experimental.ops.stats_aggregator": "StatsAggregator",
    "data.ops.dataset_ops": "Dataset",
    "data.ops.sources": "RandomDataset",
    "data.ops.readers": "FixedLengthRecordDataset TFRecordDataset TextLineDataset",
    "distribute.cluster_resolver": "SlurmClusterResolver",
    "ops.summary_ops_v2": "graph should_record_summaries",
}

# Modules that have the functions made from op definitions besides their own.
WITH_GENERATED = frozenset(f"ops.{name}" for name in """
    array_ops control_flow_ops data_flow_ops functional_ops image_ops io_ops linalg_ops list_ops logging_ops lookup_ops
    math_ops nn nn_impl nn_ops parsing_ops random_ops resource_variable_ops script_ops sparse_ops special_math_ops
    state_ops stateless_random_ops string_ops""".split())

MODULES = {
    "compiler.tf2xla.python.xla": "compiler.xla_ops",
    "python.data.ops.from_sparse_tensor_slices_op": "data.ops.sources",
    "python.data.ops.from_tensor_slices_op": "data.ops.sources",
    "python.data.ops.from_tensors_op": "data.ops.sources",
    "python.data.ops.range_op": "data.ops.sources",
    "python.distribute.cluster_resolver.cluster_resolver": "distribute.cluster_resolver",
    "python.distribute.cluster_resolver.gce_cluster_resolver": "distribute.cluster_resolver",
    "python.distribute.cluster_resolver.kubernetes_cluster_resolver": "distribute.cluster_resolver",
    "python.distribute.cluster_resolver.slurm_cluster_resolver": "distribute.cluster_resolver",
    "python.distribute.cluster_resolver.tfconfig_cluster_resolver": "distribute.cluster_resolver",
    "python.distribute.cluster_resolver.tpu_cluster_resolver": "distribute.cluster_resolver",
    "python.dlpack.dlpack": "eager.dlpack",
    "python.distribute.distribute_utils": "distribute.distribute_types",
    "python.distribute.input_lib": "distribute.distribute_types",
    "python.distribute.input_ops": "distribute.distribute_types",
    "python.ops.ragged.ragged_batch_gather_ops": "ops.ragged.ragged_gather_ops",
    "python.ops.ragged.ragged_squeeze_op": "ops.ragged.ragged_array_ops",
    "python.ops.linalg.linear_operator": "ops.linalg.base",
    "python.ops.ragged.ragged_util": "ops.ragged.ragged_checks",
    "python.ops.ragged.segment_id_ops": "ops.ragged.ragged_checks",
    "python.pywrap_tfe": "alias.pywrap_tensorflow",
    "python.trackable.resource": "training.tracking.tracking",
    "python.util.variable_utils": "ops.variable_utils",
    "tools.docs.doc_controls": "tools.doc_controls",
    "contrib.compiler.jit": "compiler.jit",
    "contrib.compiler.xla": "compiler.xla",
    "contrib.image.python.ops.dense_image_warp": "contrib.image.dense_image_warp",
    "contrib.image.python.ops.image_ops": "contrib.image",
    "contrib.saved_model.python.saved_model.reader": "tools.saved_model_utils",
    "python.checkpoint.checkpoint": "training.tracking.checkpoint",
    "python.checkpoint.checkpoint_management": "training.checkpoint_management",
    "python.checkpoint.checkpoint_options": "training.tracking.checkpoint_options",
    "python.checkpoint.checkpoint_view": "training.tracking.views",
    "python.checkpoint.functional_saver": "training.saving.functional_saver",
    "python.checkpoint.graph_view": "training.tracking.graph_view",
    "python.checkpoint.sharding.sharding_policies": "training.saving.sharding",
    "python.checkpoint.sharding.sharding_util": "training.saving.sharding",
    "python.checkpoint.trackable_view": "training.tracking.views",
    "python.saved_model.registration": "training.tracking.registration",
    "python.saved_model.registration.registration": "training.tracking.registration",
    "python.data.experimental.ops.distribute_options": "data.ops.options",
    "python.data.experimental.ops.enumerate_ops": "data.experimental.ops.simple",
    "python.data.experimental.ops.error_ops": "data.experimental.ops.simple",
    "python.data.experimental.ops.from_list": "data.ops.sources",
    "python.data.experimental.ops.get_single_element": "data.experimental.ops.simple",
    "python.data.experimental.ops.optimization_options": "data.ops.options",
    "python.data.experimental.ops.pad_to_cardinality": "data.experimental.ops.cardinality",
    "python.data.experimental.ops.random_ops": "data.ops.sources",
    "python.data.experimental.ops.scan_ops": "data.experimental.ops.simple",
    "python.data.experimental.ops.shuffle_ops": "data.experimental.ops.simple",
    "python.data.experimental.ops.stats_options": "data.ops.options",
    "python.data.experimental.ops.take_while_ops": "data.experimental.ops.simple",
    "python.data.experimental.ops.threading_options": "data.ops.options",
    "python.data.experimental.ops.unique": "data.experimental.ops.simple",
    "contrib.metrics.python.ops.set_ops": "ops.sets_impl",
    "python.autograph.core.naming": "autograph.pyct.naming",
    "python.compat.compat": "framework.forward_compat",
    "python.compat.v2_compat": "framework.mode",
    "python.compiler.xla.jit": "compiler.jit",
    "python.compiler.xla.xla": "compiler.xla",
    "python.distribute.summary_op_util": "ops.summary_op_util",
    "python.feature_column.feature_column_v2_types": "feature_column.base",
    "python.framework.errors_impl": "framework.errors",
    "python.framework.graph_util_impl": "framework.graph_util",
    "python.framework.tensor_conversion": "framework.ops",
    "python.framework.tensor_conversion_registry": "framework.ops",
    "python.lib.io.file_io": "lib.io.file_io",
    "python.lib.io.python_io": "lib.io.tf_record",
    "python.framework.test_ops": GENERATED,
    "python.ops.array_ops_stack": "ops.array_ops",
    "python.ops.audio_ops": GENERATED,
    "python.ops.bitwise_ops": GENERATED,
    "python.ops.clustering_ops": "contrib.factorization.clustering_ops",
    "python.ops.cond": "ops.cond",
    "python.ops.control_flow_assert": "ops.control_flow_ops",
    "python.ops.control_flow_case": "ops.cond",
    "python.ops.control_flow_switch_case": "ops.switch_case",
    "python.ops.control_flow_v2_toggles": "framework.mode",
    "python.ops.image_ops_impl": "ops.image_ops",
    "python.ops.linalg.linear_operator_adjoint": "ops.linalg.products",
    "python.ops.linalg.linear_operator_block_diag": "ops.linalg.blocks",
    "python.ops.linalg.linear_operator_block_lower_triangular": "ops.linalg.block_triangular",
    "python.ops.linalg.linear_operator_circulant": "ops.linalg.circulant",
    "python.ops.linalg.linear_operator_composition": "ops.linalg.products",
    "python.ops.linalg.linear_operator_diag": "ops.linalg.diagonal",
    "python.ops.linalg.linear_operator_full_matrix": "ops.linalg.dense",
    "python.ops.linalg.linear_operator_householder": "ops.linalg.updates",
    "python.ops.linalg.linear_operator_identity": "ops.linalg.diagonal",
    "python.ops.linalg.linear_operator_inversion": "ops.linalg.products",
    "python.ops.linalg.linear_operator_kronecker": "ops.linalg.blocks",
    "python.ops.linalg.linear_operator_low_rank_update": "ops.linalg.updates",
    "python.ops.linalg.linear_operator_lower_triangular": "ops.linalg.dense",
    "python.ops.linalg.linear_operator_permutation": "ops.linalg.permutation",
    "python.ops.linalg.linear_operator_toeplitz": "ops.linalg.circulant",
    "python.ops.linalg.linear_operator_tridiag": "ops.linalg.tridiagonal",
    "python.ops.linalg.linear_operator_zeros": "ops.linalg.diagonal",
    "python.ops.metrics_impl": "ops.metrics",
    "python.ops.random_crop_ops": "ops.random_ops",
    "python.ops.resource_variables_toggle": "framework.mode",
    "python.ops.rnn_cell": "ops.rnn_cell_impl",
    "python.ops.rnn_cell_wrapper_impl": "ops.rnn_cell_wrappers",
    "python.ops.sets": "ops.sets_impl",
    "python.ops.tensor_getitem_override": "ops.array_ops",
    "python.ops.standard_ops": "alias.standard_ops",
    "python.ops.variable_v1": "ops.variables",
    "python.ops.while_loop": "ops.control_flow_ops",
    "python.eager.polymorphic_function.concrete_function": "eager.function",
    "python.eager.polymorphic_function.eager_function_run": "eager.def_function",
    "python.eager.polymorphic_function.polymorphic_function": "eager.def_function",
    "python.eager.test": "platform.test",
    "python.estimator.export.export_output": "saved_models.model_utils.export_output",
    "python.estimator.export.export_utils": "saved_models.model_utils.export_utils",
    "python.platform.flags": "platform.flags",
    "python.platform.logging": "platform.tf_logging",
    "python.pywrap_tensorflow": "alias.pywrap_tensorflow",
    "python.trackable.autotrackable": "training.tracking.tracking",
    "python.trackable.asset": "training.tracking.tracking",
    "python.trackable.base": "training.tracking.base",
    "python.trackable.base_delegate": "training.tracking.base_delegate",
    "python.trackable.data_structures": "training.tracking.data_structures",
    "python.trackable.python_state": "training.tracking.python_state",
    "python.saved_model.builder": "saved_models.builder_impl",
    "python.saved_model.loader": "saved_models.loader_impl",
    "python.saved_model.main_op": "saved_models.main_op_impl",
    "python.saved_model.signature_def_utils": "saved_models.signature_def_utils_impl",
    "python.saved_model.utils": "saved_models.utils_impl",
    "python.tf2": "framework.tf2",
    "python.tpu.ops.tpu_ops": "tpu.tpu_ops",
    "python.tpu.tpu_config": "estimator.tpu.tpu_config",
    "python.tpu.tpu_estimator": "estimator.tpu.tpu_estimator",
    "python.types.core": "eager.function_types",
    "python.training.training": "alias.training",
    "python.training.queue_runner_impl": "training.queue_runner",
    "contrib.checkpoint.python.containers": "training.tracking.data_structures",
    "contrib.cluster_resolver.python.training.cluster_resolver": "distribute.cluster_resolver",
    "contrib.cluster_resolver.python.training.tpu_cluster_resolver": "distribute.cluster_resolver",
    "contrib.losses.python.metric_learning.metric_loss_ops": "contrib.losses.metric_learning",
    "contrib.opt.python.training.adamax": "contrib.opt.adamax",
    "contrib.opt.python.training.external_optimizer": "contrib.opt.external",
    "contrib.opt.python.training.lazy_adam_optimizer": "contrib.opt.lazy_adam",
    "contrib.opt.python.training.moving_average_optimizer": "contrib.opt.moving_average",
    "contrib.opt.python.training.nadam_optimizer": "contrib.opt.nadam",
    "contrib.opt.python.training.variable_clipping_optimizer": "contrib.opt.variable_clipping",
    "contrib.opt.python.training.weight_decay_optimizers": "contrib.opt.weight_decay",
    "contrib.predictor.predictor_factories": "contrib.predictor",
    "contrib.tpu.python.ops.tpu_ops": "tpu.tpu_ops",
    "contrib.crf.python.ops.crf": "contrib.crf.crf",
    "contrib.distributions.python.ops.distribution_util": "ops.distributions.util",
    "contrib.distributions.python.ops.mvn_linear_operator": "contrib.distributions.transformed",
    "contrib.distributions.python.ops.vector_exponential_linear_operator": "contrib.distributions.transformed",
    "contrib.distributions.python.ops.vector_laplace_linear_operator": "contrib.distributions.transformed",
    "contrib.factorization.python.ops.clustering_ops": "contrib.factorization.clustering_ops",
    "contrib.framework.python.ops.audio_ops": GENERATED,
    "contrib.framework.python.ops.arg_scope": "contrib.framework.arg_scope",
    "contrib.framework.python.framework.checkpoint_utils": "contrib.framework.checkpoint_utils",
    "contrib.framework.python.framework.tensor_util": "contrib.framework.tensor_util",
    "contrib.framework.python.framework.graph_util": "contrib.framework.graph_util",
    "contrib.framework.python.ops.script_ops": "contrib.framework.script_ops",
    "contrib.framework.python.ops.variables": "contrib.framework.variables",
    "contrib.tpu.python.tpu.bfloat16": "tpu.bfloat16",
    "contrib.tpu.python.tpu.tpu_config": "estimator.tpu.tpu_config",
    "contrib.tpu.python.tpu.tpu_estimator": "estimator.tpu.tpu_estimator",
    "contrib.tpu.python.tpu.tpu_optimizer": "tpu.tpu_optimizer",
    "contrib.layers.python.layers.encoders": "contrib.layers.encoders",
    "contrib.layers.python.layers.initializers": "contrib.layers.initializers",
    "contrib.layers.python.layers.layers": "contrib.layers.layers",
    "contrib.layers.python.layers.normalization": "contrib.layers.normalization",
    "contrib.layers.python.layers.optimizers": "contrib.layers.optimizers",
    "contrib.layers.python.layers.regularizers": "contrib.layers.regularizers",
    "contrib.layers.python.layers.summaries": "contrib.layers.summaries",
    "contrib.layers.python.layers.utils": "contrib.layers.utils",
    "contrib.legacy_seq2seq.python.ops.seq2seq": "contrib.legacy_seq2seq.seq2seq",
    "contrib.losses.python.losses.loss_ops": "contrib.losses.loss_ops",
    "contrib.lookup.lookup_ops": "ops.lookup_ops",
    "contrib.learn.python.learn.datasets.mnist": "contrib.learn.mnist",
    "contrib.learn.python.learn.estimators.run_config": "contrib.learn.run_config",
    "contrib.learn.python.learn.experiment": "contrib.learn.experiment",
    "contrib.learn.python.learn.learn_runner": "contrib.learn.learn_runner",
    "contrib.learn.python.learn.preprocessing.categorical_vocabulary":
        "contrib.learn.preprocessing.categorical_vocabulary",
    "contrib.learn.python.learn.preprocessing.text": "contrib.learn.preprocessing.text",
    "contrib.seq2seq.python.ops.attention_wrapper": "contrib.seq2seq.attention_wrapper",
    "contrib.cudnn_rnn.python.ops.cudnn_rnn_ops": "contrib.cudnn_rnn.cells",
    "contrib.nn.python.ops.alpha_dropout": "contrib.nn.activations",
    "contrib.nn.python.ops.scaled_softplus": "contrib.nn.activations",
    "contrib.rnn.python.ops.core_rnn_cell": "alias.core_rnn_cell",
    "contrib.rnn.python.ops.rnn": "contrib.rnn.networks",
    "contrib.seq2seq.python.ops.beam_search_ops": "contrib.seq2seq.beam_search_ops",
    "contrib.seq2seq.python.ops.basic_decoder": "contrib.seq2seq.basic_decoder",
    "contrib.seq2seq.python.ops.beam_search_decoder": "contrib.seq2seq.beam_search_decoder",
    "contrib.seq2seq.python.ops.decoder": "contrib.seq2seq.decoder",
    "contrib.seq2seq.python.ops.helper": "contrib.seq2seq.helper",
    "contrib.seq2seq.python.ops.loss": "contrib.seq2seq.loss",
    "contrib.slim.python.slim.evaluation": "contrib.slim.evaluation",
    "contrib.slim.python.slim.learning": "contrib.slim.learning",
    "contrib.slim.python.slim.model_analyzer": "contrib.slim.model_analyzer",
    "contrib.slim.python.slim.queues": "contrib.slim.queues",
    "contrib.slim.python.slim.summaries": "contrib.slim.summaries",
    "contrib.training.python.training.evaluation": "contrib.training.evaluation",
    "contrib.training.python.training.hparam": "contrib.training.hparam",
    "contrib.training.python.training.training": "contrib.training.training",
    "examples.tutorials.mnist.input_data": "contrib.learn.mnist",
}

MODULES.update((f"python.ops.{subject}_grad", "alias.registered_gradients") for subject in """
    array control_flow data_flow image linalg manip math nn optional random rnn sparse state tensor_array""".split())

# Internal packages and modules that have the names of a public namespace, besides what is below them.
NAMESPACES = {
    "contrib.distributions.python.ops": "contrib.distributions",
    "contrib.distributions.python.ops.bijectors": "contrib.distributions.bijectors",
    "contrib.eager.python.tfe": "contrib.eager",
    "contrib.framework.python.ops": "contrib.framework",
    "contrib.layers.python.layers": "contrib.layers",
    "contrib.learn.python.learn": "contrib.learn",
    "contrib.metrics.python.ops.metric_ops": "contrib.metrics",
    "contrib.rnn.python.ops.gru_ops": "contrib.rnn",
    "contrib.rnn.python.ops.lstm_ops": "contrib.rnn",
    "contrib.rnn.python.ops.rnn_cell": "contrib.rnn",
    "contrib.slim.python.slim": "contrib.slim",
    "contrib.training.python.training": "contrib.training",
    "python.ops.linalg.linalg": "linalg",
    "python.ops.linalg.linalg_impl": "linalg",
    "python.ops.signal.signal": "signal",
}

# More modules of contrib that have the names of their package: {package: (where in it, modules)}.
_CONTRIB = {
    "contrib.cluster_resolver": ("python.training", "slurm_cluster_resolver tfconfig_cluster_resolver"),
    "contrib.cudnn_rnn": ("python", "layers"),
    "contrib.data": ("python.ops", "batching counter enumerate_ops error_ops get_single_element grouping "
                     "interleave_ops iterator_ops parsing_ops prefetching_ops random_ops readers resampling scan_ops "
                     "shuffle_ops sliding unique writers"),
    "contrib.distribute": ("python", "mirrored_strategy one_device_strategy"),
    "contrib.distributions": ("python.ops", "autoregressive batch_reshape binomial cauchy chi2 "
                              "conditional_distribution conditional_transformed_distribution deterministic "
                              "geometric half_normal independent "
                              "inverse_gamma kumaraswamy logistic mixture mixture_same_family moving_stats mvn_diag "
                              "mvn_diag_plus_low_rank mvn_full_covariance mvn_tril negative_binomial "
                              "normal_conjugate_posteriors onehot_categorical poisson quantized_distribution "
                              "relaxed_bernoulli relaxed_onehot_categorical sample_stats seed_stream sinh_arcsinh "
                              "vector_exponential_diag vector_laplace_diag vector_sinh_arcsinh_diag wishart"),
    "contrib.eager": ("python", "datasets"),
    "contrib.feature_column": ("python.feature_column", "sequence_feature_column"),
    "contrib.framework": ("python.ops", "ops sort_ops"),
    "contrib.layers": ("python.layers", "embedding_ops"),
    "contrib.learn": ("python.learn", "export_strategy estimators.model_fn"),
    "contrib.metrics": ("python", "metrics.classification ops.confusion_matrix_ops"),
    "contrib.rnn": ("python.ops", "fused_rnn_cell"),
    "contrib.sparsemax": ("python.ops", "sparsemax sparsemax_loss"),
    "contrib.testing": ("python.framework", "fake_summary_writer util_test"),
    "contrib.training": ("python.training", "bucket_ops device_setter"),
}
NAMESPACES.update((".".join(filter(None, (package, inside, module))), package)
                  for package, (inside, modules) in _CONTRIB.items() for module in modules.split())

# tensorflow.python.ops.gen_math_ops and its kin all lead to the functions made from definitions.
GENERATED_PREFIX = "gen_"
GENERATED_MODULES = frozenset(["python.training.training_ops", "python.ops.linalg.sparse.sparse_csr_matrix_ops"])


def target(name):
    """The module below `penstock.` that stands for `tensorflow.NAME`, or None if the table has no row for it."""
    if name in MODULES:
        return MODULES[name]
    package, _, last = name.rpartition(".")
    if name in GENERATED_MODULES or (package.startswith("python.") and last.startswith(GENERATED_PREFIX)):
        return GENERATED
    if package in PACKAGES and name not in PACKAGES:
        return PACKAGES[package] + "." + last
    return None


def in_keras(name):
    """The module of the package tf_keras that TensorFlow had as `tensorflow.NAME` while Keras was its own, or None."""
    inside = (name + ".").removeprefix("python.keras.")
    if inside == name + ".":
        return None
    if inside.startswith("saving."):
        inside = inside.replace("saving.", "saving.legacy.", 1)  # the package's newer format came later
    return ("tf_keras.src." + inside).rstrip(".")


def is_package(name):
    """Whether `tensorflow.NAME` is a package on the way to some module of the table."""
    inside = name + "."
    return any(known == name or known.startswith(inside)
               for known in [*PACKAGES, *MODULES, *NAMESPACES, *GENERATED_MODULES])
