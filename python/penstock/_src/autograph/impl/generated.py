"""`ag__`: what converted code calls."""
from penstock._src.autograph.impl.api import autograph_artifact, converted_call  # noqa: F401
from penstock._src.autograph.operators.control_flow import for_stmt, if_stmt, while_stmt  # noqa: F401
from penstock._src.autograph.operators.conditional_expressions import if_exp  # noqa: F401
from penstock._src.autograph.operators.containers import refill  # noqa: F401
from penstock._src.autograph.operators.exceptions import assert_stmt  # noqa: F401
from penstock._src.autograph.operators.logical import and_, eq, not_, not_eq, or_  # noqa: F401
from penstock._src.autograph.operators.slices import set_item  # noqa: F401
from penstock._src.autograph.operators.variables import (  # noqa: F401
    Undefined, UndefinedReturnValue, forget, is_undefined, ldu, returned)
