"""assert."""
from penstock._src.graph.tensor import Tensor


def assert_stmt(condition, message):
    """assert condition, message(); of a tensor, an Assert op."""
    if isinstance(condition, Tensor) and not condition._is_eager:
        from penstock._src.control_flow import control_flow_ops
        text = message()
        return control_flow_ops.Assert(condition, list(text) if isinstance(text, (list, tuple)) else [text])
    assert condition, message()
