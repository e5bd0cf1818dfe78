"""Checks for infinity and NaN."""
from penstock._src.graph import dtypes, gen, ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops.arguments import pick

__all__ = ["add_check_numerics_ops", "verify_tensor_all_finite", "verify_tensor_all_finite_v2"]


def verify_tensor_all_finite(t=None, msg=None, name=None, x=None, message=None):
    """The tensor; running fails with the message if it has an infinite element or NaN."""
    return verify_tensor_all_finite_v2(pick("x", x, "t", t), pick("message", message, "msg", msg), name)


def verify_tensor_all_finite_v2(x, message, name=None):
    """The tensor; running fails with the message if it has an infinite element or NaN."""
    with ops.name_scope(name, "VerifyFinite", [x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        with ops.colocate_with(x):
            return control_flow_ops.with_dependencies([gen.check_numerics(x, message=message)], x)


def add_check_numerics_ops():
    """An operation that checks every floating-point tensor of the graph, in the order of their making."""
    checks = []
    for op in ops.get_default_graph().get_operations():
        for output in op.outputs:
            if output.dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
                continue
            if op._get_control_flow_context() is not None:
                raise ValueError("`tf.add_check_numerics_ops() is not compatible with TensorFlow control flow "
                                 "operations such as `tf.cond()` or `tf.while_loop()`.")
            with ops.control_dependencies(checks):
                checks = [gen.check_numerics(output, message=f"{op.name}:{output.value_index}")]
    return control_flow_ops.group(*checks)
