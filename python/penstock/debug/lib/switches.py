"""Switches of tf.debugging for the whole process."""
from penstock.framework import errors


def enable_dump_debug_info(dump_root, tensor_debug_mode="NO_TENSOR", circular_buffer_size=1000, op_regex=None,
                           tensor_dtypes=None):
    """Would write what runs for the Debugger V2 of TensorBoard; nothing here writes those files. UnimplementedError."""
    raise errors.UnimplementedError(
        None, None, f"nothing is dumped to {dump_root}: use tf_debug's DumpingDebugWrapperSession for sessions, "
        "tf.debugging.enable_check_numerics to find NaN, or tf.profiler.experimental to see what runs")


def disable_dump_debug_info():
    """Nothing is dumped."""
