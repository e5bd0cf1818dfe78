"""Operations that a SavedModel runs when it is loaded."""
from penstock.framework import ops
from penstock.ops import control_flow_ops
from penstock.ops import tables_initializer
from penstock.ops import variables


def main_op():
    """Initializes variables and tables."""
    return control_flow_ops.group(variables.global_variables_initializer(), variables.local_variables_initializer(),
                                  tables_initializer.tables_initializer())


def main_op_with_restore(restore_op_name):
    """The same, and then restores."""
    with ops.control_dependencies([main_op()]):
        return control_flow_ops.group(restore_op_name)
