"""Every op against real TensorFlow 2.21: values, gradients, inferred shapes and errors (tests/oracle/ops)."""
import ops_oracle
import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("family, op", [(family, op) for family in ops_oracle.families.NAMES for op in ops_oracle.by_op(family)])
def test_op(family, op):
    lines = ops_oracle.check_op(family, op)
    if lines is None:
        pytest.skip("no kernel")
    assert not lines, f"{len(lines)} differences\n" + "\n".join(lines[:20])
