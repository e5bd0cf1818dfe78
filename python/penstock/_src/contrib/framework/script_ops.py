"""tf.contrib.framework.py_func."""
from penstock._src.tf_function import script_ops
from penstock._src.base import nest


def py_func(func, args=(), kwargs=None, output_types=None, output_shapes=None, stateful=True, name=None):
    """Calls func(*args, **kwargs), nests of tensors, with NumPy arrays whenever the op runs.

    output_types: of what the function returns, a nest; output_shapes: a nest likewise, or None. Either may be a
    function of the tensors. TypeError unless `args` is a list or tuple and `kwargs` a dict.
    """
    kwargs = {} if kwargs is None else kwargs
    if not isinstance(args, (list, tuple)):
        raise TypeError(f"args must be list and not {type(args)}. args: {args}")
    if not isinstance(kwargs, dict):
        raise TypeError(f"kwargs must be dict and not {type(kwargs)}. args: {kwargs}")
    types = output_types(*args, **kwargs) if callable(output_types) else output_types
    shapes = output_shapes(*args, **kwargs) if callable(output_shapes) else output_shapes
    given = (args, kwargs)

    def call(*values):
        args, kwargs = nest.pack_sequence_as(given, values)
        result = func(*args, **kwargs)
        nest.assert_shallow_structure(types, result)
        return nest.flatten(result)

    results = script_ops.py_func(call, nest.flatten(given), nest.flatten(types), stateful=stateful, name=name)
    if shapes is not None:
        for result, shape in zip(results, nest.flatten_up_to(types, shapes)):
            result.set_shape(shape)
    return nest.pack_sequence_as(types, results)
