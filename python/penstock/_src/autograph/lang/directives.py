"""Calls in a program that say something to the conversion and do nothing when they run."""


def set_loop_options(parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None,
                     back_prop=None):
    """Options of the loop in whose body it stands first, those of `tf.while_loop`.

    shape_invariants: pairs of a variable and its shape. back_prop: version 1's, whether the loop has gradients.
    """


def set_loop_options_v1(parallel_iterations=None, back_prop=None, swap_memory=None, maximum_iterations=None,
                        shape_invariants=None):
    """`set_loop_options` with its arguments in version 1's order."""


def set_element_type(entity, dtype, shape=None):
    """The type of the elements of a list."""
