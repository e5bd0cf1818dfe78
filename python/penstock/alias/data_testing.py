"""What tests of pipelines use, under the name of version 2."""
from penstock._src.data.experimental.ops.optimization import assert_next, non_serializable  # noqa: F401
from penstock._src.data.experimental.ops.sleep import sleep  # noqa: F401
