"""Operations that a SavedModel runs when it is loaded."""
from penstock._src.graph import ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.lookup import tables_initializer
from penstock._src.ops.state import variables


def main_op():
    """Initializes variables and tables."""
    return control_flow_ops.group(variables.global_variables_initializer(), variables.local_variables_initializer(),
                                  tables_initializer.tables_initializer())


def main_op_with_restore(restore_op_name):
    """The same, and then restores."""
    with ops.control_dependencies([main_op()]):
        return control_flow_ops.group(restore_op_name)
