"""Whether the type of a value counts before the default of an op's type attribute.

In a graph of version 1 the default counts, as in TensorFlow 1.15.5. In one of version 2 a value keeps its type if the
definition lists that type. An op that runs at once takes the default in TensorFlow's fast path. Its slow path keeps
types as a graph does; one list, complex number, or NumPy number other than float64 chooses it for all inputs."""
import numpy as np

from penstock._src.graph import defaults
from penstock._src.base import tf2
from penstock._src.graph.tensor import Tensor


def own_type_counts(info, arguments):
    """Whether the types of an op's inputs count before defaults; `arguments`: values by the definition's names."""
    if defaults.get_default_graph()._eager:
        return not _takes_fast_path(info, arguments)
    return tf2.enabled()


def _takes_fast_path(info, arguments):
    for arg in info.inputs:
        value = arguments.get(arg.name)
        is_list = arg.number_attr or arg.type_list_attr
        if not all(map(_is_fast, value)) if is_list and isinstance(value, (list, tuple)) else not _is_fast(value):
            return False
    # The fast path takes no integer for a float: not the 1 that is the default of LRN's bias.
    return not any(attr.kind == "float" and isinstance(arguments.get(name), int) for name, attr in info.attrs.items())


def _is_fast(value):
    return isinstance(value, (Tensor, np.ndarray, float, int)) or hasattr(value, "_should_act_as_resource_variable")
