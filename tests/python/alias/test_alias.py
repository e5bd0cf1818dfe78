"""`import tensorflow` with the alias, and python -m penstock: each in a process of its own."""
import importlib.util
import os
import subprocess
import sys

import pytest

from penstock.alias import choice


def run(*arguments, **environment):
    """The finished process `python ARGUMENTS`."""
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p), **environment))


def python(source):
    """The output of a program of version 1."""
    done = run("-c", "import penstock.as_tensorflow\n" + source, PENSTOCK_TENSORFLOW="1")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_module_and_its_namespaces():
    out = python("""
import tensorflow as tf, penstock.v1
import tensorflow.compat.v1 as tf1
import tensorflow.layers
from tensorflow.train import AdamOptimizer
assert tf is penstock.v1 and tf1.train is tf.train and tensorflow.layers is tf.layers
assert AdamOptimizer is tf.train.AdamOptimizer
assert tf.__spec__ is None or tf.__spec__.name != "tensorflow"
print(tf.__version__)
""")
    assert out == "1.15.5\n"


def test_the_module_has_a_file():
    """Programs look for what is installed beside it."""
    assert python("""
import os, penstock, penstock.v1, penstock.v2, tensorflow as tf
folder = os.path.dirname(penstock.__file__)
print(all(os.path.isfile(m.__file__) and os.path.dirname(m.__file__) == folder for m in (tf, penstock.v1, penstock.v2)))
""") == "True\n"


def test_version_numbers_are_those_of_the_program():
    assert python("import tensorflow as tf\ntf.enable_v2_behavior()\nprint(tf.__version__, tf.version.VERSION)") \
        == "1.15.5 1.15.5\n"
    done = run("-c", """
import penstock as tf
from penstock._src.graph import versions
print(tf.version.VERSION, tf.compat.v1.__version__, versions.VERSION)
print(tf.compat.v1.train.export_meta_graph(graph=tf.Graph()).meta_info_def.tensorflow_version)
""")
    assert done.stdout == "2.21.0 2.21.0 2.21.0\n2.21.0\n", done.stderr


def test_the_alias_may_come_after_the_package():
    done = run("-c", "import penstock.v1 as first\nimport penstock.as_tensorflow\n"
                     "import tensorflow as tf\nfrom tensorflow.python.framework import ops\n"
                     "assert tf is first and ops.Graph is first.Graph")
    assert done.returncode == 0, done.stderr


def test_version_twos_functions_have_the_parameters_of_that_time():
    python("""
import inspect
import tensorflow as tf
found = {name: list(inspect.signature(getattr(tf.compat.v2, name)).parameters)
         for name in "fill ones ones_like shape size zeros zeros_like".split()}
assert found == {"fill": ["dims", "value", "name"], "ones": ["shape", "dtype", "name"],
                 "ones_like": ["input", "dtype", "name"], "shape": ["input", "out_type", "name"],
                 "size": ["input", "out_type", "name"], "zeros": ["shape", "dtype", "name"],
                 "zeros_like": ["input", "dtype", "name"]}, found
assert tf.compat.v2.size([[1, 2]]).dtype == tf.compat.v2.shape([1]).dtype == tf.int32
results = [tf.compat.v2.fill([2], 3), tf.compat.v2.ones([2], tf.int32), tf.compat.v2.ones_like([5, 5]),
           tf.compat.v2.zeros([2], tf.int32), tf.compat.v2.zeros_like([5, 5]), tf.compat.v2.shape([[1, 2]]),
           tf.compat.v2.size([1, 2], tf.int64)]
with tf.Session() as session:
    assert [x.tolist() for x in session.run(results)] == [[3, 3], [1, 1], [1, 1], [0, 0], [0, 0], [1, 2], 2]
""")


def test_modules_that_programs_import_from_the_inside():
    python("""
import tensorflow as tf
from tensorflow.contrib.compiler import jit, xla
from tensorflow.contrib.nn.python.ops import cross_entropy
from tensorflow.python.compiler.xla import xla as core_xla
from tensorflow.python.framework import graph_util_impl
from tensorflow.python.ops import nccl_ops
from tensorflow.python.pywrap_tensorflow import EventsWriter, NewCheckpointReader
assert jit.experimental_jit_scope is tf.contrib.compiler.jit.experimental_jit_scope and xla is core_xla
assert graph_util_impl.convert_variables_to_constants is tf.graph_util.convert_variables_to_constants
with tf.device("/gpu:0"):
    x = tf.constant([1.0])
y, z = nccl_ops.all_sum([x, x])
assert y.op.type == "NcclAllReduce" and y.op.get_attr("num_devices") == 2 and y.device == x.device
assert y.op.get_attr("shared_name") == z.op.get_attr("shared_name") and y.op.get_attr("reduction") == b"sum"
try:
    nccl_ops.broadcast(tf.constant(1.0))
except ValueError as e:
    assert "Device assignment required" in str(e)
""")


def test_internal_modules():
    python("""
import tensorflow as tf
from tensorflow.python.autograph.impl import api
from tensorflow.python.eager import backprop, context, def_function, wrap_function
from tensorflow.python.eager.polymorphic_function import concrete_function, polymorphic_function
assert polymorphic_function.function is def_function.function and concrete_function.ConcreteFunction
assert context.LogicalDeviceConfiguration is tf.config.LogicalDeviceConfiguration
from tensorflow.python.framework import indexed_slices, sparse_tensor
from tensorflow.python.ops.ragged import ragged_tensor
assert indexed_slices.IndexedSlicesSpec and sparse_tensor.SparseTensorSpec is tf.SparseTensorSpec
assert ragged_tensor.RaggedTensorSpec is tf.RaggedTensorSpec
from tensorflow.python.framework import composite_tensor, func_graph, op_def_library, subscribe, traceable_stack
from tensorflow.python.module import module
from tensorflow.python.ops import resources
from tensorflow.python.ops.gen_math_ops import _op_def_lib
from tensorflow.python.ops.variable_scope import _PartitionInfo, _get_default_variable_store
from tensorflow.python.training import server_lib
from tensorflow.python.util import decorator_utils, keyword_args, lock_util, serialization, tf_stack
assert backprop.GradientTape is tf.GradientTape and server_lib.Server is tf.train.Server
assert not context.executing_eagerly() and _PartitionInfo([4, 2], [2, 0]).single_offset([2, 2]) == 2
assert _op_def_lib.apply_op("Add", x=1.0, y=2.0, name="sum").name == "sum:0"
tf.get_variable("v", [])
assert list(_get_default_variable_store()._vars) == ["v"]
from tensorflow.python.framework import ops
from tensorflow.python.ops import variable_scope, gen_math_ops
from tensorflow.python.training import optimizer, training_ops
import tensorflow.python.ops.init_ops as init_ops
assert ops.Graph is tf.Graph and optimizer.Optimizer is tf.train.Optimizer
assert variable_scope.get_variable is tf.get_variable and init_ops.Zeros is tf.zeros_initializer
assert callable(gen_math_ops.mat_mul) and callable(training_ops.apply_adam)
assert tf.python.ops.init_ops is init_ops
""")


def test_modules_of_later_versions():
    done = run("-c", """
from penstock import alias
alias.install("v2")
import tensorflow as tf
from tensorflow.python.ops import (array_ops, control_flow_switch_case, gen_math_ops, gen_nn_ops, image_ops_impl, nn,
                                   nn_ops, random_crop_ops, sets, special_math_ops, tensor_getitem_override)
from tensorflow.python.ops.linalg import linalg, linear_operator_diag, linear_operator_lower_triangular
from tensorflow.python.ops.signal import dct_ops, fft_ops, window_ops
assert linalg.LinearOperatorDiag is linear_operator_diag.LinearOperatorDiag is tf.linalg.LinearOperatorDiag
assert linear_operator_lower_triangular.LinearOperatorLowerTriangular is tf.linalg.LinearOperatorLowerTriangular
assert dct_ops.dct is tf.signal.dct and callable(window_ops.hann_window) and callable(fft_ops.fftshift)
assert image_ops_impl.convert_image_dtype and sets.set_union and control_flow_switch_case.switch_case
assert tensor_getitem_override._slice_helper and random_crop_ops.random_crop and special_math_ops.bessel_i0e
assert array_ops.gen_array_ops.tile and nn_ops.gen_nn_ops is gen_nn_ops and nn.local_response_normalization
assert nn_ops.approx_max_k is tf.math.approx_max_k
assert gen_math_ops.Add(x=1, y=2).dtype == tf.int32
try:
    gen_math_ops.Add(1, 2)
except TypeError:
    pass
else:
    raise AssertionError("a raw op takes keywords only")
""")
    assert done.returncode == 0, done.stderr


def test_messages():
    python("""
import tensorflow as tf
from tensorflow.core.framework import graph_pb2, attr_value_pb2
from tensorflow.core.protobuf.config_pb2 import ConfigProto
assert graph_pb2.GraphDef is tf.GraphDef and ConfigProto is tf.ConfigProto
""")


@pytest.mark.parametrize("name", ["tensorflow.python.ops.no_such_ops", "tensorflow.nothing", "tensorflow.core.x_pb2",
                                  "tensorflow.python.nothing.at_all"])
def test_an_absent_module_is_named(name):
    done = run("-c", "import penstock.as_tensorflow\nimport %s" % name)
    assert done.returncode == 1
    assert name.rpartition(".")[0].split(".")[0] in done.stderr and "ModuleNotFoundError" in done.stderr


def test_an_absent_name_is_named():
    done = run("-c", "import penstock.as_tensorflow\nfrom tensorflow import nonsense")
    assert "nonsense" in done.stderr and "ImportError" in done.stderr


def test_installed_version():
    out = python("import importlib.metadata as m\n"
                 "print(m.version('tensorflow'), m.distribution('numpy').metadata['Name'])")
    assert out.split() == ["1.15.5", "numpy"]


def test_too_late(tmp_path):
    (tmp_path / "tensorflow.py").write_text("")
    source = "import sys; sys.path.insert(0, %r)\nimport tensorflow\nimport penstock.as_tensorflow"
    done = run("-c", source % str(tmp_path))
    assert "RuntimeError" in done.stderr and "imported already" in done.stderr


def test_the_alias_wins_over_what_is_installed(tmp_path):
    (tmp_path / "tensorflow.py").write_text("raise AssertionError('the installed one')")
    python("import sys; sys.path.insert(0, %r)\nimport tensorflow as tf\nassert tf.__name__ == 'penstock.v1'" %
           str(tmp_path))


def test_internal_packages_have_public_names():
    python("""
import tensorflow as tf
from tensorflow.contrib.framework.python.ops import add_arg_scope, arg_scope, variables
from tensorflow.contrib.layers.python.layers import batch_norm, utils
from tensorflow.contrib.slim.python.slim import learning
from tensorflow.contrib.eager.python import tfe
from tensorflow.contrib.rnn.python.ops import core_rnn_cell
from tensorflow.contrib.framework.python.ops import audio_ops
from tensorflow.contrib.losses.python.metric_learning import metric_loss_ops
from tensorflow.contrib.testing.python.framework import fake_summary_writer
from tensorflow.contrib.opt.python.training.lazy_adam_optimizer import LazyAdamOptimizer
from tensorflow.contrib.opt.python.training.weight_decay_optimizers import AdamWOptimizer
from tensorflow.python.summary import summary
assert fake_summary_writer.FakeSummaryWriter is tf.contrib.testing.FakeSummaryWriter
assert audio_ops.mfcc and audio_ops.decode_wav is tf.audio.decode_wav
assert summary.FileWriter is tf.summary.FileWriter and summary.FileWriterCache is tf.summary.FileWriterCache
assert add_arg_scope is tf.contrib.framework.add_arg_scope
assert metric_loss_ops.npairs_loss is tf.contrib.losses.metric_learning.npairs_loss
assert (LazyAdamOptimizer, AdamWOptimizer) == (tf.contrib.opt.LazyAdamOptimizer, tf.contrib.opt.AdamWOptimizer)
assert variables.model_variable is tf.contrib.slim.model_variable
assert batch_norm is tf.contrib.layers.batch_norm and utils.collect_named_outputs
assert learning.train is tf.contrib.slim.learning.train and tfe.GradientTape is tf.GradientTape
assert core_rnn_cell.EmbeddingWrapper is tf.contrib.rnn.EmbeddingWrapper
try:
    from tensorflow.contrib.layers.python.layers import absent
except ImportError:
    pass
""")


def test_modules_of_contrib_have_the_names_of_their_package():
    python("""
import tensorflow as tf
from tensorflow.contrib.data.python.ops import batching, grouping, unique
from tensorflow.contrib.framework.python.ops import variables
from tensorflow.contrib.layers.python.layers import layers
from tensorflow.contrib.rnn.python.ops import fused_rnn_cell
from tensorflow.contrib.sparsemax.python.ops import sparsemax
from tensorflow.contrib.summary import summary
from tensorflow.contrib.training.python.training.device_setter import GreedyLoadBalancingStrategy
assert batching.map_and_batch is tf.contrib.data.map_and_batch
assert grouping.bucket_by_sequence_length is tf.contrib.data.bucket_by_sequence_length
assert unique.unique is tf.contrib.data.unique and sparsemax.sparsemax is tf.contrib.sparsemax.sparsemax
assert variables.assign_from_checkpoint_fn is tf.contrib.framework.assign_from_checkpoint_fn
assert variables.get_or_create_global_step is tf.contrib.framework.get_or_create_global_step
assert layers.max_pool2d is tf.contrib.layers.max_pool2d and layers.conv2d is tf.contrib.layers.conv2d
assert fused_rnn_cell.FusedRNNCell is tf.contrib.rnn.FusedRNNCell and summary.scalar is tf.contrib.summary.scalar
assert GreedyLoadBalancingStrategy is tf.contrib.training.GreedyLoadBalancingStrategy
try:
    from tensorflow.contrib.data.python.ops import absent
    raise AssertionError
except ImportError:
    pass
""")


def test_internal_modules_give_all_their_names():
    python("""
from tensorflow.python.ops.array_ops import *
from tensorflow.contrib.framework.python.ops.variables import *
assert callable(concat) and callable(zeros_like) and callable(get_or_create_global_step)
""")


def test_internal_packages_have_names_of_their_own():
    python("""
from tensorflow.python import debug as tf_debug
from tensorflow.python.debug import DumpingDebugHook
from tensorflow.tools.graph_transforms import TransformGraph
from tensorflow.contrib.saved_model.python.saved_model import reader
assert callable(reader.get_saved_model_tag_sets)
assert tf_debug.LocalCLIDebugWrapperSession.__name__ == "LocalCLIDebugWrapperSession"
assert tf_debug.DumpingDebugHook is DumpingDebugHook and callable(TransformGraph)
assert tf_debug.lib.debug_data.DebugDumpDir is tf_debug.DebugDumpDir
""")


def test_a_script_runs(tmp_path):
    script = tmp_path / "program.py"
    script.write_text("""
import sys
import tensorflow as tf
import helper

def main(argv):
    print(argv[1:], helper.WHAT, __name__, __file__ == argv[0])

if __name__ == "__main__":
    tf.app.run()
""")
    (tmp_path / "helper.py").write_text("WHAT = 'helped'")
    done = run("-m", "penstock", str(script), "--x", "y")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['--x', 'y'] helped __main__ True\n"
    assert "1.15.5" in done.stderr and "tf.app" in done.stderr


def test_a_module_runs_whose_packages_import_tensorflow(tmp_path, monkeypatch):
    package = tmp_path / "program"
    package.mkdir()
    (package / "__init__.py").write_text("import tensorflow as tf\nVERSION = tf.__version__\n")
    (package / "helper.py").write_text("WHAT = 'helped'\n")
    (package / "main.py").write_text("""
import sys
import tensorflow as tf
from . import VERSION, helper

def main(argv):
    print(argv[1:], helper.WHAT, VERSION, __name__, sys.modules["__main__"].main is main)

if __name__ == "__main__":
    tf.app.run()
""")
    monkeypatch.chdir(tmp_path)
    done = run("-m", "penstock", "-m", "program.main", "a", "--b")
    assert done.returncode == 0, done.stderr
    assert "program.main runs as TensorFlow 1.15.5 (it uses tf.app" in done.stderr
    assert done.stdout.strip() == "['a', '--b'] helped 1.15.5 __main__ True"
    done = run("-m", "penstock", "--v1", "-m", "program.absent")
    assert done.returncode == 1 and "No module named 'program.absent'" in done.stderr
    assert "No code of module 'program'" in run("-m", "penstock", "-m", "program").stderr


def test_a_script_that_fails(tmp_path):
    script = tmp_path / "program.py"
    script.write_text("import tensorflow as tf\n\n\nraise SystemExit(7)\n")
    assert run("-m", "penstock", "--v1", str(script)).returncode == 7
    script.write_text("def f(:\n")
    done = run("-m", "penstock", "--v1", str(script))
    assert done.returncode == 1 and "SyntaxError" in done.stderr and "program.py" in done.stderr


@pytest.mark.parametrize("source, version", [
    ("import tensorflow as tf\ntf.Session()", "v1"),
    ("import tensorflow as tf\nfrom tensorflow.contrib import slim", "v1"),
    ("import tensorflow.contrib.slim as slim", "v1"),
    ("import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()", "v1"),
    ("from tensorflow import placeholder", "v1"),
    ("import tensorflow\nprint(tensorflow.placeholder)", "v1"),
    ("import tensorflow as tf\nprint tf.Session()", "v1"),
    ("import tensorflow as tf\n@tf.function\ndef f(): pass", "v2"),
    ("import tensorflow as tf\ntf.keras.Model", "v2"),
    ("class A:\n  Session = 1\nA.Session", "v2"),
])
def test_which_version_a_script_is_written_for(source, version):
    assert choice.decide(source)[0] == version


def test_command_line():
    assert run("-m", "penstock", "--version").stdout.startswith("penstock ")
    assert "usage" in run("-m", "penstock", "--help").stdout
    assert run("-m", "penstock").returncode == 2
    assert run("-m", "penstock", "--nonsense").returncode == 2
    missing = run("-m", "penstock", "/no/such/file.py")
    assert missing.returncode == 2 and "/no/such/file.py" in missing.stderr


def test_doctor():
    out = run("-m", "penstock", "doctor").stdout
    for word in ("penstock", "numpy", "processor", "device", "CPU", "mode"):
        assert word in out


def test_the_installed_command_takes_its_arguments_from_the_process(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["penstock", "--version"])
    # An installed script calls the entry point with nothing.
    assert importlib.import_module("penstock.__main__").main() == 0
    assert capsys.readouterr().out.startswith("penstock ")


def test_the_alias_comes_after_the_module_that_it_stands_for():
    done = run("-c", "import penstock.v1\nimport penstock.as_tensorflow\nimport tensorflow\n"
                     "assert tensorflow is penstock.v1")
    assert done.returncode == 0, done.stderr


def test_the_graph_editors_modules():
    python("""
import tensorflow.contrib.graph_editor as ge
from tensorflow.contrib.graph_editor import select, util
from tensorflow.python.ops import op_selector
assert ge.sgv is ge.subgraph.make_view and ge.ph is util.make_placeholder_from_dtype_and_shape
assert op_selector.make_list_of_op is util.make_list_of_op and select.select_ops is ge.select_ops
""")


def test_private_names_of_the_metrics_that_other_packages_use():
    python("""
import tensorflow as tf
from tensorflow.python.ops import metrics_impl
values, updates = metrics_impl._confusion_matrix_at_thresholds(
    tf.constant([True, False]), tf.constant([0.9, 0.6]), [0.5], includes=("tp", "fp"))
average, update = metrics_impl._streaming_sparse_average_precision_at_top_k(tf.constant([[1], [0]], tf.int64),
                                                                            tf.constant([[0, 1], [0, 1]], tf.int64))
total, matrix = metrics_impl._streaming_confusion_matrix(tf.constant([0, 1]), tf.constant([1, 1]), 2)
copy = metrics_impl._aggregate_variable(values["tp"], ["kept"])
assert tf.get_collection("kept") == [copy]
doubled = metrics_impl._aggregate_across_replicas(["kept"], lambda _, value: value * 2, values["tp"])
assert tf.get_collection("kept") == [copy, doubled] and metrics_impl._at_k_name("p", 3, class_id=1) == "p_at_3_class1"
count = metrics_impl._count_condition(tf.constant([True, False, True]), weights=tf.constant([1., 2., 3.]))
with tf.Session() as session:
    session.run(tf.local_variables_initializer())
    assert session.run(updates) == {"tp": [1.0], "fp": [1.0]} and session.run(copy) == [1.0]
    assert session.run([doubled, count[1]]) == [2.0, 4.0]
    assert session.run(update) == 0.75 and session.run(matrix).tolist() == [[0, 1], [0, 1]]
    assert session.run(metrics_impl._safe_scalar_div(tf.constant(1.0), tf.constant(0.0), "x")) == 0
""")


def test_the_estimators_package():
    python("""
import tensorflow as tf, tensorflow_estimator
from tensorflow_estimator.python.estimator import estimator, model_fn
from tensorflow_estimator.python.estimator.canned import prediction_keys
assert tensorflow_estimator.estimator is tf.estimator and estimator.Estimator is tf.estimator.Estimator
assert model_fn.EstimatorSpec is tf.estimator.EstimatorSpec
""")


def test_modules_of_recurrent_networks():
    python("""
import tensorflow as tf
from tensorflow.contrib.cudnn_rnn.python.ops import cudnn_rnn_ops
from tensorflow.contrib.rnn.python.ops import core_rnn_cell, rnn
from tensorflow.contrib.rnn.python.ops.core_rnn_cell import _Linear, _linear
from tensorflow.contrib.seq2seq.python.ops import beam_search_ops
from tensorflow.contrib.seq2seq.python.ops.attention_wrapper import BahdanauAttention
from tensorflow.contrib.seq2seq.python.ops.decoder import _transpose_batch_time
assert cudnn_rnn_ops.CUDNN_RNN_BIDIRECTION == "bidirectional" and core_rnn_cell.RNNCell is tf.nn.rnn_cell.RNNCell
assert rnn.stack_bidirectional_rnn is tf.contrib.rnn.stack_bidirectional_rnn
assert BahdanauAttention is tf.contrib.seq2seq.BahdanauAttention
""")


def test_names_of_a_namespace_can_be_gone_through():
    python("""
import inspect
import tensorflow as tf
cells = [x for x in tf.contrib.rnn.__dict__.values()
         if inspect.isclass(x) and issubclass(x, tf.contrib.rnn.RNNCell)]
assert tf.contrib.rnn.LSTMCell in cells and tf.contrib.rnn.UGRNNCell in cells
from tensorflow.contrib.layers import *
assert conv2d is tf.contrib.layers.conv2d
from tensorflow import *
assert placeholder is tf.placeholder and train is tf.train and "_version" not in globals()
""")


def test_a_function_hides_the_module_of_its_name():
    python("""
import tensorflow as tf
import tensorflow.contrib.framework.python.ops.arg_scope
from tensorflow.contrib.framework.python import ops
from tensorflow.contrib.framework.python.ops import arg_scope, variables
from tensorflow.contrib.framework.python.ops.arg_scope import has_arg_scope
assert ops.arg_scope is arg_scope is tf.contrib.framework.arg_scope
assert has_arg_scope is tf.contrib.framework.has_arg_scope and variables.get_or_create_global_step
""")


def test_what_helps_programs_to_work_with_several_versions():
    python("""
import tensorflow as tf
from tensorflow.python.compat import compat
assert compat.forward_compatible is tf.compat.forward_compatible
assert compat.forward_compatible(2019, 8, 20) and not compat.forward_compatible(2019, 8, 21)
with tf.compat.forward_compatibility_horizon(2019, 12, 1):
    assert tf.compat.forward_compatible(2019, 11, 30)
assert not tf.compat.forward_compatible(2019, 11, 30)
assert tf.compat.dimension_value(tf.TensorShape([3])[0]) == 3 and tf.compat.v2.compat.dimension_value(None) is None
assert tf.compat.dimension_at_index(tf.TensorShape([3, None]), 1).value is None
""")


def test_modules_of_sets_and_summaries():
    python("""
from tensorflow.contrib.metrics.python.ops import set_ops
from tensorflow.python.distribute import summary_op_util
import tensorflow as tf
assert set_ops.set_union is tf.sets.set_union and summary_op_util.skip_summary() is False
""")


def test_modules_of_version_2s_checkpoints():
    done = run("-c", """
from penstock import alias
alias.install("v2")
import tensorflow as tf
from tensorflow.python.checkpoint import checkpoint, checkpoint_options, checkpoint_view, functional_saver, graph_view
from tensorflow.python.checkpoint import trackable_view
from tensorflow.python.checkpoint.sharding import sharding_policies, sharding_util
from tensorflow.python.compat import v2_compat
from tensorflow.python.framework import indexed_slices, sparse_tensor, tensor_conversion, tensor_conversion_registry
from tensorflow.python.framework import type_spec_registry
from tensorflow.python.ops import control_flow_switch_case, control_flow_v2_toggles
from tensorflow.python.trackable import asset, base_delegate, python_state
assert checkpoint.Checkpoint is tf.train.Checkpoint and checkpoint.CheckpointV1 is tf.compat.v1.train.Checkpoint
assert checkpoint_options.CheckpointOptions is tf.train.CheckpointOptions
assert checkpoint_view.CheckpointView is tf.train.CheckpointView
assert trackable_view.TrackableView is tf.train.TrackableView and asset.Asset is tf.saved_model.Asset
assert sharding_policies.MaxShardSizePolicy is tf.train.experimental.MaxShardSizePolicy
assert sharding_util.ShardingCallback is tf.train.experimental.ShardingCallback
assert sparse_tensor.SparseTensorSpec is tf.SparseTensorSpec
assert indexed_slices.IndexedSlicesSpec is tf.IndexedSlicesSpec
assert control_flow_switch_case.switch_case is tf.switch_case
assert type_spec_registry.lookup("tf.TensorSpec") is tf.TensorSpec
assert type_spec_registry.get_name(tf.RaggedTensorSpec) == "tf.RaggedTensorSpec"
from tensorflow.python.distribute import distribute_lib
from tensorflow.python.training import summary_io
from tensorflow.python.training.experimental import mixed_precision
from tensorflow.python.training.saving import saveable_object_util
assert distribute_lib.get_strategy is tf.distribute.get_strategy
assert summary_io.summary_iterator is tf.compat.v1.train.summary_iterator
v = tf.Variable(1.)
assert saveable_object_util.trackable_has_serialize_to_tensor(v)
assert tf.__internal__.tracking.saveable_objects_from_trackable(v) == {"VARIABLE_VALUE": v}
for module, name in ((mixed_precision, "enable_mixed_precision_graph_rewrite_v1"),
                     (mixed_precision, "disable_mixed_precision_graph_rewrite_v1"),
                     (summary_io, "SummaryWriterCache"), (functional_saver, "MultiDeviceSaver"),
                     (graph_view, "ObjectGraphView"),
                     (v2_compat, "enable_v2_behavior"), (tensor_conversion, "convert_to_tensor_v2"),
                     (tensor_conversion_registry, "register_tensor_conversion_function"),
                     (control_flow_v2_toggles, "enable_control_flow_v2"), (base_delegate, "DelegatingTrackableMixin"),
                     (python_state, "PythonState")):
    assert hasattr(module, name), (module, name)
""")
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(importlib.util.find_spec("gast") is None, reason="needs gast")
def test_what_tensorflow_probability_imports():
    done = run("-c", """
from penstock import alias
alias.install("v2")
import tensorflow as tf
from tensorflow.python.autograph.converters import break_statements, continue_statements, return_statements
from tensorflow.python.autograph.core import converter, naming
from tensorflow.python.autograph.pyct import anno, inspect_utils, loader, parser, qual_names, templates, transformer
from tensorflow.python.autograph.pyct.common_transformers import anf
from tensorflow.python.autograph.pyct.static_analysis import activity
from tensorflow.python.framework import tensor_spec, tensor_util, type_spec_registry
from tensorflow.python.ops.linalg import linear_operator, linear_operator_addition
from tensorflow.python.util import nest, variable_utils

assert naming.Namer and converter.ProgramContext(converter.ConversionOptions(recursive=True))
for module, name in ((anf, "transform"), (activity, "resolve"), (break_statements, "transform"),
                     (parser, "parse_entity"), (continue_statements, "transform"), (return_statements, "transform"),
                     (converter, "Base")):
    assert hasattr(module, name), (module, name)
assert issubclass(tf.TensorSpec, tensor_spec.DenseSpec) and linear_operator.LinearOperator is tf.linalg.LinearOperator
spec = tensor_spec.DenseSpec([2], tf.int32, "x")
assert (spec.shape, spec.dtype, spec.name) == ([2], tf.int32, "x") and spec == tensor_spec.DenseSpec([2], tf.int32, "x")
name = type_spec_registry.get_name(type(tf.linalg.LinearOperatorDiag([1.0])._type_spec))
assert name == "tf.linalg.LinearOperatorDiagSpec" and name in type_spec_registry._NAME_TO_TYPE_SPEC
assert list(nest._yield_sorted_items({"b": 1, "a": 2})) == [("a", 2), ("b", 1)] and list(nest._yield_value([3])) == [3]
assert tensor_util.try_evaluate_constant(tf.constant(3)) == 3
assert tf.xla.experimental.compile and tf.distribute.cluster_resolver.TFConfigClusterResolver and tf.__git_version__
""")
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(any(importlib.util.find_spec(name) is None for name in ("keras", "tf_keras", "wrapt", "requests")),
                    reason="Keras, tf_keras, wrapt or requests is not installed")
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_keras_by_all_its_names(version):
    """TensorFlow has had Keras below python.keras; both compatible namespaces have the program's one."""
    done = run("-c", f"""
from penstock import alias
alias.install("{version}")
import tensorflow as tf
from tensorflow.python.keras.engine.base_layer import Layer
from tensorflow.python.keras.layers import Dense
from tensorflow.python.keras.utils import tf_utils
assert issubclass(Dense, Layer) and tf_utils.is_symbolic_tensor
from tensorflow.python.keras import Model, backend, regularizers
from tensorflow.python.keras.engine.training import Model as TrainingModel
from tensorflow.python.keras.saving import hdf5_format, model_config
from tensorflow.python.keras.saving.saving_utils import try_build_compiled_arguments
assert hdf5_format.save_weights_to_hdf5_group and model_config.model_from_json
assert issubclass(Model, Layer) and TrainingModel is Model and backend.get_session and regularizers.L2
assert tf.compat.v1.keras.layers.Dense is tf.compat.v2.keras.layers.Dense is tf.keras.layers.Dense
assert (tf.keras.layers.Dense is Dense) == ("{version}" == "v1")
from tensorflow.compat.v2.keras import *
assert layers.Dense is tf.keras.layers.Dense and losses is tf.compat.v2.keras.losses
if "{version}" == "v1":
    from tensorflow.compat.v2.keras import __internal__
    backend.set_floatx("float64")  # the settings of the one Keras that there is
    assert Model is tf.keras.Model and tf.keras.backend.floatx() == "float64"
    assert tf.keras.layers.Input([2]).dtype == tf.float64
""")
    assert done.returncode == 0, done.stderr


def test_namespaces_are_pickled_by_their_names():
    import pickle
    import penstock.v1
    import penstock.v2
    for module in (penstock.v1, penstock.v1.nn, penstock.v1.contrib.layers, penstock.v2, penstock.v2.math):
        assert pickle.loads(pickle.dumps(module)) is module


def test_numpys_switch_by_its_internal_name():
    done = run("-c", """
from penstock import alias
alias.install("v2")
import tensorflow as tf
from tensorflow.python.ops import array_ops
from tensorflow.python.ops.numpy_ops import np_array_ops, np_config
np_config.enable_numpy_behavior()
assert tf.constant([[1, 2], [3, 4]]).T.reshape(-1).numpy().tolist() == [1, 3, 2, 4]
assert np_array_ops.ravel is tf.experimental.numpy.ravel
assert [array_ops.get_positive_axis(*at) for at in [(1, 3), (-1, 3), (2, None)]] == [1, 2, 2]
for at, error, message in [((-4, 3), ValueError, "axis=-4 out of bounds: expected -3<=axis<3"),
                           ((-1, None, "ax", "rank(x)"), ValueError,
                            "ax=-1 may only be negative if rank(x) is statically known."),
                           ((1.5, 3), TypeError, "axis must be an int; got float")]:
    try:
        array_ops.get_positive_axis(*at)
        raise AssertionError(at)
    except error as e:
        assert str(e) == message, e
""")
    assert done.returncode == 0, done.stderr


def test_internal_functions_take_ragged_tensors():
    assert python("""
import tensorflow.compat.v1 as tf
from tensorflow.python.ops import array_ops, math_ops
from tensorflow.python.ops.ragged import ragged_concat_ops
ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
assert math_ops.cast is tf.cast is tf.dtypes.cast and array_ops.gather is tf.gather
assert math_ops.__name__.endswith("math_ops") and "matmul" in dir(math_ops)
with tf.Session() as sess:
    print(sess.run(math_ops.reduce_sum(ragged, axis=1)).tolist(), sess.run(array_ops.gather(ragged, [1])).to_list())
    print(sess.run(ragged_concat_ops.stack([[1], [2]])).tolist())
before = math_ops.reduce_sum
math_ops.reduce_sum = lambda *args, **kwargs: "other"
print(math_ops.reduce_sum([1]))
math_ops.reduce_sum = before
import penstock._src.core_ops.math_ops
assert math_ops.reduce_sum is before is not penstock._src.core_ops.math_ops.reduce_sum
""") == "[3.0, 3.0] [[3.0]]\n[[1], [2]]\nother\n"


def test_modules_that_register_gradients():
    assert python("""
import tensorflow as tf
import tensorflow.python.ops.nn_grad
from tensorflow.python.ops import array_grad, control_flow_grad, data_flow_grad, image_grad, linalg_grad, manip_grad
from tensorflow.python.ops import math_grad, optional_grad, random_grad, rnn_grad, sparse_grad, state_grad
from tensorflow.python.ops import tensor_array_grad
x = tf.constant([-1.0, 2.0])
print(tf.Session().run(tf.gradients(tf.nn.relu(x), x)[0]))
""") == "[0. 1.]\n"


def test_stacked_rows_are_ragged_in_version_two():
    done = run("-c", "from penstock import alias\nalias.install('v2')\n"
                     "from tensorflow.python.ops.ragged import ragged_concat_ops\n"
                     "print(ragged_concat_ops.stack([[1], [2, 3]]).to_list())\n")
    assert done.stdout == "[[1], [2, 3]]\n", done.stderr


def test_functions_under_internal_names():
    assert python("""
import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.ops import image_ops, linalg_ops, nn_ops
with tf.Session() as sess:
    print(sess.run(nn_ops.gelu(0.0)), sorted(sess.run(linalg_ops.eigvals(np.diag([2.0, 1.0]))).real))
    image = tf.ragged.stack([tf.ones([2, 2, 1]), tf.ones([4, 3, 1])])
    print(sess.run(image_ops.resize_images_v2(image, [1, 1])).ravel())
""") == "0.0 [np.float64(1.0), np.float64(2.0)]\n[1. 1.]\n"


def test_branches_that_are_traces():
    done = run("-c", "from penstock import alias\nalias.install('v2')\n"
                     "import tensorflow as tf\n"
                     "from tensorflow.python.ops import functional_ops, gradients\n"
                     "assert gradients.GradientTape is tf.GradientTape and callable(gradients.gradients)\n"
                     "spec = [tf.TensorSpec([], tf.float32)]\n"
                     "more, less = (tf.function(f, input_signature=spec).get_concrete_function() for f in\n"
                     "              (lambda x: {'y': x + 1}, lambda x: {'y': x - 1}))\n"
                     "print(functional_ops.If(False, [10.0], more, less)['y'].numpy())\n")
    assert done.stdout == "9.0\n", done.stderr


def test_names_of_tpus():
    assert python("""
from tensorflow.python.tpu import tpu_config, tpu_estimator, tpu_optimizer, topology
from tensorflow.python.tpu.ops import tpu_ops
import tensorflow as tf
assert tpu_estimator.TPUEstimator is tf.estimator.tpu.TPUEstimator and tpu_config.TPUConfig
assert tpu_optimizer.CrossShardOptimizer is tf.tpu.CrossShardOptimizer and tpu_ops.cross_replica_sum
t = topology.Topology(mesh_shape=[2, 1, 2], device_coordinates=[[[0, 0, 0], [0, 0, 1]], [[1, 0, 0], [1, 0, 1]]])
print(t.mesh_shape, t.mesh_rank, t.num_tasks, t.num_tpus_per_task, t.device_coordinates.shape)
print(t.task_ordinal_at_coordinates([1, 0, 1]), t.tpu_device_ordinal_at_coordinates([1, 0, 1]))
print(topology.Topology(mesh_shape=[2, 1, 1], device_coordinates=[[[0, 0, 0]]]).task_ordinal_at_coordinates([1, 0, 0]))
print(t.cpu_device_name_at_coordinates([1, 0, 1]), t.tpu_device_name_at_coordinates([1, 0, 1], "w"))
for shape, places in [([2, 1], [[[0, 0]]]), ([2, 0, 1], [[[0, 0, 0]]]), ([2, 1, 1], [[0, 0, 0]])]:
    try:
        topology.Topology(mesh_shape=shape, device_coordinates=places)
    except ValueError as e:
        print(e)
""") == """[2 1 2] 3 2 2 (2, 2, 3)
1 1
-1
/task:1/device:CPU:0 /job:w/task:1/device:TPU:1
`mesh_shape` must be a sequence of 3 positive entries; got [2 1]
`mesh_shape` must be a sequence of 3 positive entries; got [2 0 1]
`device_coordinates` must be a rank 3 int32 array with minor dimension equal to the mesh shape rank
"""


def test_dlpack_where_tensorflow_has_it():
    assert python("""
import numpy as np
import tensorflow as tf
tf.compat.v1.enable_eager_execution()
from tensorflow.python.dlpack import dlpack
capsule = dlpack.to_dlpack(tf.constant([1.5, 2.0]))
print(dlpack.from_dlpack(capsule).numpy())
""") == "[1.5 2. ]\n"
