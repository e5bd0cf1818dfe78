"""Where modules stand that programs know by TensorFlow's places, and by the places that Penstock had before its layers.

`alias/table.py` names modules by TensorFlow's places (`framework.ops` is `tensorflow.python.framework.ops`). Modules
in a different folder of `penstock/_src` have a row here, `name=other` if their name is different too. Pickles
and programs that name `penstock.framework.ops` find it through the same rows.
"""
from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util

TYPE_CHECKING = False  # as typing has it, whose import would take longer than that of the package
if TYPE_CHECKING:
    from typing import Any

MOVED = {
    "": {
        "api": "keras=keras_packages",
    },
    "autograph": {
        "alias": "experimental=autograph_experimental",
    },
    "client": {
        "graph": "device_lib",
        "session": "feeds fetches session tensor_handle timeline",
    },
    "compiler": {
        "distribute.compiler": "jit xla xla_ops",
    },
    "data.experimental.ops": {
        "alias": "testing=data_testing",
        "data.ops": "random_ops=sources",
    },
    "eager": {
        "core_ops": "dlpack",
        "function": """
            atomic_function attributes function_binding function_cache function_spec function_text function_type
            graph graph_collection lift_to_graph trace_type""",
        "gradient": "backprop backprop_util forwardprop graph_tape record",
        "graph": "cancellation context execute graph_only_ops monitoring",
        "parallel_for": "jacobian=jacobians",
        "tf_function": "def_function function function_gradient function_types=public_types retracing wrap_function",
    },
    "estimator": {
        "alias": "mode_keys",
    },
    "estimator.export": {
        "alias": "export_lib",
    },
    "feature_column": {
        "alias": "feature_column_lib",
    },
    "framework": {
        "alias": "op_library",
        "base": "mode tf2",
        "checkpoint": "graph_io meta_graph",
        "control_flow": "smart_cond",
        "graph.definitions": "attr_values default_types op_def_library",
        "function": """
            auto_control_deps frozen_functions func_graph function=defun function_def_to_graph function_definition
            function_errors graph_to_function_def graph_util importer""",
        "gradient": "composite_tensor_gradient",
        "graph": """
            common_shapes composite_spec composite_tensor config constant_op conversion core
            defaults device device_numbers device_spec dispatch dtypes eager_tensor errors
            extension_type fetch_conversions forward_compat gen graph graph_keys indexed_slices numpy_sequences
            op_callbacks op_def_registry operation ops random_seed raw_ops registry scopes
            sparse_tensor stack tapes tensor tensor_like tensor_shape tensor_spec tensor_util tensor_values
            traceable_stack type_dispatch type_spec type_spec_registry types versions""",
        "testing": "test_assertions test_conditions test_modes test_util",
        "tools": "convert_to_constants load_library subscribe",
    },
    "keras.v1": {
        "layers": "initializers",
    },
    "layers": {
        "alias": "layers",
    },
    "lib.io": {
        "files": "file_io tf_record",
    },
    "module": {
        "ops.state": "module",
    },
    "ops": {
        "": "parallel_for",
        "alias": "gradients image_ops metrics nn nn_ops",
        "checkpoint": "template",
        "control_flow": """
            check_ops check_shapes cond cond_context cond_v2 control_flow_ops control_flow_util_v2 functional_calls
            functional_ops list_ops map_fn numerics switch_case tensor_array_eager tensor_array_lists
            tensor_array_ops tensor_array_spec while_context while_loop while_v2""",
        "core_ops": """
            arguments array_blocks array_create array_join array_ops array_shape array_slice clip_ops einsum_v2
            linalg_ops_impl manip_ops math_arith math_matmul math_operators math_ops math_ranges math_reduce
            math_slices math_unary sort_ops special_math_ops""",
        "function": "control_flow_context gradient_context loop_levels",
        "gradient": """
            cudnn_rnn_grad custom_gradient gradients_impl gradients_util outer_gradients
            unconnected_gradients""",
        "graph": "control_flow_util variable_spec",
        "layers.rnn": "rnn rnn_cell_impl rnn_cell_wrappers rnn_dynamic",
        "ops.image": "image_boxes image_checks image_color image_files image_quality image_shape",
        "ops.linalg": "linalg_functions linalg_ops linalg_version_two",
        "ops.lookup": "logging_ops lookup_ops parsing_config parsing_ops parsing_ragged tables_initializer",
        "ops.metrics": """
            confusion_matrix metrics_at_k metrics_base metrics_counts metrics_means weights_broadcast_ops""",
        "ops.nn": """
            candidate_sampling_ops ctc_dense ctc_ops embedding_ops histogram_ops nn_activation nn_conv nn_impl
            nn_loss nn_pool nn_sampled nn_version_two""",
        "ops.queues": "accumulators data_flow_ops inplace_ops io_ops nccl_ops op_selector record_input staging_area",
        "ops.ragged": "bincount_ops",
        "ops.random": "random_algorithms=algorithms random_ops stateless_random_ops",
        "ops.sparse": "sets_impl sparse_math sparse_ops",
        "ops.state": """
            critical_section_ops init_ops init_ops_convolutional init_ops_v2 initial_value_guard partitioned_variable
            partitioned_variables ref_variable resource_variable_ops resources state_ops stateful_random_ops
            variable_scope variable_store variable_utils variables""",
        "ops.strings": "string_ops",
        "parallel_for": "gradient_checker gradient_checker_v2",
        "session": "session_ops",
        "summary": "summary_op_util summary_ops_v2",
        "tf_function": "batch_ops script_ops",
    },
    "ops.linalg": {
        "ops.linear_operators": """
            base block_triangular blocks circulant composite dense diagonal linear_operator_addition
            linear_operator_util operator_dispatch permutation products tridiagonal updates""",
    },
    "ops.distributions": {
        "alias": "distributions",
    },
    "ops.losses": {
        "alias": "losses",
        "ops.metrics": "losses_impl util",
    },
    "ops.numpy_ops": {
        "ops.numpy": "np_array_ops np_arrays np_config np_dtypes np_indexing np_math_ops np_random np_utils",
    },
    "ops.parallel_for": {
        "parallel_for": "calls control_flow_ops conversion converters gradients lists more_converters",
    },
    "platform": {
        "base": "tf_logging",
        "files": "app build_info flags gfile own_flags remote_files resource_loader sysconfig",
        "testing": "benchmark googletest test",
    },
    "saved_models": {
        "checkpoint": "constants",
        "data": "nested_structure_coder",
        "ops.state": "revived_types",
        "saved_model": """
            builder_impl custom_gradients debug_info fingerprinting function_deserialization function_serialization
            load load_context load_options load_v1_in_v2 loader_impl main_op_impl method_name_updater model_utils
            save save_options saveable_view signature_constants signature_def_utils_impl signature_serialization
            simple_save tag_constants utils_impl""",
    },
    "saved_models.model_utils": {
        "saved_model.model_utils": "export_output export_utils mode_keys",
    },
    "summaries": {
        "summary": "plugin_asset summary summary_iterator summary_v2",
    },
    "summaries.writer": {
        "summary": "event_file_writer event_file_writer_v2 events_writer writer writer_cache",
    },
    "tools": {
        "alias": "doctor",
    },
    "tpu": {
        "distribute.tpu": "bfloat16 topology tpu_function tpu_ops tpu_optimizer",
    },
    "training": {
        "alias": "summary_io",
        "checkpoint": """
            checkpoint_management checkpoint_ops checkpoint_utils py_checkpoint_reader saver saver_builder
            training_util warm_starting_util""",
        "session": "server_lib",
    },
    "training.saving": {
        "checkpoint": "functional_saver saveable_object_util sharding",
        "ops.state": "registered_saveable saveable_object trackable_saveable",
    },
    "training.tracking": {
        "checkpoint": """
            base_delegate checkpoint checkpoint_options graph_view load_status python_state restore util views""",
        "ops.state": "base data_structures registration tracking",
        "summary": "summary_writer",
    },
    "util": {
        "alias": "tf_export",
        "api": "keras_deps",
        "base": """
            all_util compat decorator_utils deprecation foreign_names function_config function_utils hooks
            keyword_args lazy_loader lock_util locks nest object_identity tf_contextlib tf_decorator tf_inspect
            tf_stack traceback_utils""",
        "graph": "dispatch=dispatchers serialization",
    },
}
_OUTSIDE = ("alias", "api", "compat", "proto", "v1", "v2")  # modules and packages beside `_src`
_rows: dict[str, str] = {}


def place(name):
    """The dotted name below `penstock` of the module with a name of TensorFlow's, or an older one, below it."""
    if not _rows:
        for package, folders in MOVED.items():
            for folder, names in folders.items():
                for row in names.split():
                    old, _, new = row.partition("=")
                    _rows[f"{package}.{old}".strip(".")] = f"{folder}.{new or old}".strip(".")
    found = _rows.get(name, name)
    return found if found.partition(".")[0] in _OUTSIDE else "_src." + found


class _Loader:
    """Gives a module that exists under another name."""

    def __init__(self, name):
        self._name = name
        self._spec = None

    def create_module(self, spec):
        module = importlib.import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = self._spec


def _package(name, loader: Any):
    return importlib.machinery.ModuleSpec(name, loader, is_package=True)


def spec(name):
    """The ModuleSpec of another name below `penstock`, a moved module's or a namespace's of version 2; else None."""
    inner = name.partition(".")[2]
    if inner.partition(".")[0] in ("_src", *_OUTSIDE):
        return None
    from penstock.api import version_two
    namespace = version_two.root
    for part in inner.split("."):
        namespace = namespace if part.startswith("_") else getattr(namespace, part, None)
    if isinstance(namespace, type(version_two.root)):
        version_two.switch()
        return _package(name, _Loader(namespace.__name__))
    target = "penstock." + place(inner)
    try:
        found = importlib.util.find_spec(target)
    except ModuleNotFoundError:
        found = None
    if found is not None:
        return _package(name, _Loader(target))
    if any(package == inner or package.startswith(inner + ".") for package in MOVED):
        return importlib.machinery.ModuleSpec(name, None, is_package=True)  # a folder whose modules were moved
    return None
