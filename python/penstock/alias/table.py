"""Where TensorFlow's internal modules are to be found here: names below `tensorflow.` to names below `penstock.`."""

# Whole packages: tensorflow.python.ops.X is penstock.ops.X unless MODULES says otherwise.
PACKAGES = {
    "contrib.graph_editor": "contrib.graph_editor",
    "contrib.nn.python.ops": "contrib.nn",
    "contrib.slim.nets": "contrib.slim.nets",
    "contrib.slim.python.slim.data": "contrib.slim.data",
    "contrib.slim.python.slim.nets": "contrib.slim.nets",
    "python.autograph": "autograph",
    "python.autograph.core": "autograph.core",
    "python.autograph.impl": "autograph.impl",
    "python.autograph.lang": "autograph.lang",
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
    "python.eager": "eager",
    "python.estimator": "estimator",
    "python.estimator.canned": "estimator.canned",
    "python.estimator.export": "estimator.export",
    "python.estimator.hooks": "estimator.hooks",
    "python.estimator.inputs": "estimator.inputs",
    "python.estimator.inputs.queues": "estimator.inputs.queues",
    "python.feature_column": "feature_column",
    "python.framework": "framework",
    "python.keras": "keras",
    "python.keras.engine": "keras.engine",
    "python.layers": "layers",
    "python.lib.io": "lib.io",
    "python.module": "module",
    "python.ops": "ops",
    "python.ops.distributions": "ops.distributions",
    "python.ops.linalg": "ops.linalg",
    "python.ops.losses": "ops.losses",
    "python.ops.ragged": "ops.ragged",
    "python.platform": "platform",
    "python.profiler": "profiler",
    "python.profiler.internal": "profiler.internal",
    "python.saved_model": "saved_models",
    "python.summary": "summaries",
    "python.summary.writer": "summaries.writer",
    "python.tools": "tools",
    "python.training": "training",
    "python.training.experimental": "training.experimental",
    "python.training.saving": "training.saving",
    "python.training.tracking": "training.tracking",
    "python.util": "util",
    "tools.graph_transforms": "tools.graph_transforms",
}

MODULES = {
    "contrib.compiler.jit": "compiler.jit",
    "contrib.compiler.xla": "compiler.xla",
    "contrib.image.python.ops.image_ops": "contrib.image",
    "contrib.saved_model.python.saved_model.reader": "tools.saved_model_utils",
    "python.checkpoint.checkpoint": "training.tracking.util",
    "python.checkpoint.checkpoint_management": "training.checkpoint_management",
    "python.data.experimental.ops.distribute_options": "data.ops.options",
    "python.data.experimental.ops.enumerate_ops": "data.experimental.ops.simple",
    "python.data.experimental.ops.error_ops": "data.experimental.ops.simple",
    "python.data.experimental.ops.get_single_element": "data.experimental.ops.simple",
    "python.data.experimental.ops.optimization_options": "data.ops.options",
    "python.data.experimental.ops.scan_ops": "data.experimental.ops.simple",
    "python.data.experimental.ops.shuffle_ops": "data.experimental.ops.simple",
    "python.data.experimental.ops.stats_options": "data.ops.options",
    "python.data.experimental.ops.take_while_ops": "data.experimental.ops.simple",
    "python.data.experimental.ops.threading_options": "data.ops.options",
    "python.data.experimental.ops.unique": "data.experimental.ops.simple",
    "python.compiler.xla.jit": "compiler.jit",
    "python.compiler.xla.xla": "compiler.xla",
    "python.framework.errors_impl": "framework.errors",
    "python.framework.graph_util_impl": "framework.graph_util",
    "python.lib.io.file_io": "lib.io.file_io",
    "python.ops.array_ops_stack": "ops.array_ops",
    "python.ops.cond": "ops.cond",
    "python.ops.control_flow_assert": "ops.control_flow_ops",
    "python.ops.control_flow_case": "ops.cond",
    "python.ops.gradients": "ops.gradients_impl",
    "python.ops.metrics_impl": "ops.metrics",
    "python.ops.resource_variables_toggle": "framework.mode",
    "python.ops.rnn_cell": "ops.rnn_cell_impl",
    "python.ops.variable_v1": "ops.variables",
    "python.ops.while_loop": "ops.control_flow_ops",
    "python.platform.flags": "platform.flags",
    "python.platform.logging": "platform.tf_logging",
    "python.pywrap_tensorflow": "pywrap_tensorflow",
    "python.trackable.autotrackable": "training.tracking.tracking",
    "python.trackable.base": "training.tracking.base",
    "python.trackable.data_structures": "training.tracking.data_structures",
    "python.saved_model.builder": "saved_models.builder_impl",
    "python.saved_model.loader": "saved_models.loader_impl",
    "python.saved_model.main_op": "saved_models.main_op_impl",
    "python.saved_model.signature_def_utils": "saved_models.signature_def_utils_impl",
    "python.saved_model.utils": "saved_models.utils_impl",
    "python.tf2": "framework.tf2",
    "python.types.core": "eager.function_types",
    "python.training.queue_runner_impl": "training.queue_runner",
    "contrib.crf.python.ops.crf": "contrib.crf.crf",
    "contrib.distributions.python.ops.distribution_util": "ops.distributions.util",
    "contrib.framework.python.ops.audio_ops": "ops.audio_ops",
    "contrib.framework.python.ops.arg_scope": "contrib.framework.arg_scope",
    "contrib.framework.python.framework.checkpoint_utils": "contrib.framework.checkpoint_utils",
    "contrib.framework.python.framework.tensor_util": "contrib.framework.tensor_util",
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
    "contrib.learn.python.learn.preprocessing.categorical_vocabulary":
        "contrib.learn.preprocessing.categorical_vocabulary",
    "contrib.learn.python.learn.preprocessing.text": "contrib.learn.preprocessing.text",
    "contrib.seq2seq.python.ops.attention_wrapper": "contrib.seq2seq.attention_wrapper",
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

# Internal packages and modules that have the names of a public namespace, besides what is below them.
NAMESPACES = {
    "contrib.distributions.python.ops": "contrib.distributions",
    "contrib.eager.python.tfe": "contrib.eager",
    "contrib.framework.python.ops": "contrib.framework",
    "contrib.layers.python.layers": "contrib.layers",
    "contrib.metrics.python.ops.metric_ops": "contrib.metrics",
    "contrib.rnn.python.ops.core_rnn_cell": "contrib.rnn",
    "contrib.rnn.python.ops.gru_ops": "contrib.rnn",
    "contrib.rnn.python.ops.lstm_ops": "contrib.rnn",
    "contrib.rnn.python.ops.rnn_cell": "contrib.rnn",
    "contrib.slim.python.slim": "contrib.slim",
    "contrib.training.python.training": "contrib.training",
}

# tensorflow.python.ops.gen_math_ops and its kin all lead to the functions made from definitions.
GENERATED_PREFIX = "gen_"
GENERATED = "framework.gen"
GENERATED_MODULES = frozenset(["python.training.training_ops"])


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


def is_package(name):
    """Whether `tensorflow.NAME` is a package on the way to some module of the table."""
    inside = name + "."
    return any(known == name or known.startswith(inside) for known in [*PACKAGES, *MODULES, *NAMESPACES])
