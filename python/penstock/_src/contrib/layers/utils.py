"""Named outputs in collections, and what the layers here share."""
import collections

from penstock._src.graph import ops
from penstock._src.graph import tensor_util
from penstock._src.control_flow import cond as cond_lib
from penstock._src.ops.state import partitioned_variable
from penstock._src.ops.state import variables
from penstock._src.contrib.framework import variables as contrib_variables

DATA_FORMAT_NCHW = "NCHW"
DATA_FORMAT_NHWC = "NHWC"


def keras_format(data_format):
    """tf.layers' word for a format of this module."""
    return "channels_first" if data_format and data_format.startswith("NC") else "channels_last"


def check_image_format(data_format):
    """ValueError unless it is a format of images."""
    if data_format not in (DATA_FORMAT_NCHW, DATA_FORMAT_NHWC):
        raise ValueError("data_format has to be either NCHW or NHWC.")


def check_volume_format(data_format):
    """ValueError unless it is a format of volumes."""
    if data_format not in ("NCDHW", "NDHWC"):
        raise ValueError("data_format has to be either NCDHW or NDHWC.")


def collect_named_outputs(collections, alias, outputs):
    """`outputs`, added to the collections (if any) under the name `alias`."""
    if collections:
        append_tensor_alias(outputs, alias)
        ops.add_to_collections(collections, outputs)
    return outputs


def append_tensor_alias(tensor, alias):
    """Gives a tensor one more name."""
    alias = alias[:-1] if alias[-1] == "/" else alias
    if not hasattr(tensor, "aliases"):
        tensor.aliases = []
    tensor.aliases.append(alias)
    return tensor


def get_tensor_aliases(tensor):
    """The names given to a tensor, else its own."""
    if hasattr(tensor, "aliases"):
        return tensor.aliases
    name = tensor.name
    return [name[:-2] if name[-2:] == ":0" else name]


def convert_collection_to_dict(collection, clear_collection=False):
    """{name: tensor} of a collection."""
    found = collections.OrderedDict((alias, tensor) for tensor in ops.get_collection(collection)
                                    for alias in get_tensor_aliases(tensor))
    if clear_collection:
        ops.get_default_graph().clear_collection(collection)
    return found


def constant_value(value, dtype=None):
    """What is known of a value, tensor or variable when the graph is built; None if nothing."""
    if value is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    if not isinstance(value, (ops.Tensor, variables.Variable)):
        return value
    if dtype and value.dtype != dtype:
        raise ValueError("It has the wrong type %s instead of %s" % (value.dtype, dtype))
    return None if isinstance(value, variables.Variable) else tensor_util.constant_value(value)


def smart_cond(pred, fn1, fn2, name=None):
    """One of the functions if `pred` is known, else a conditional."""
    known = constant_value(pred)
    if known is not None:
        return (fn1 if known else fn2)()
    return cond_lib.cond(pred, fn1, fn2, name=name)


def get_variable_collections(variables_collections, name):
    """The collections of the variable `name`, where they may differ by name."""
    return variables_collections.get(name) if isinstance(variables_collections, dict) else variables_collections


def add_variable_to_collections(variable, collections_set, collections_name):
    """Adds a variable, or the slices of one, to the collections of its name."""
    parts = list(variable) if isinstance(variable, partitioned_variable.PartitionedVariable) else [variable]
    for collection in get_variable_collections(collections_set, collections_name) or []:
        for part in parts:
            if part not in ops.get_collection(collection):
                ops.add_to_collection(collection, part)


def last_dimension(shape, min_rank=1):
    """The last dimension of a shape of at least that rank; ValueError if it is unknown."""
    dims = shape.with_rank_at_least(min_rank).dims
    value = dims[-1].value
    if value is None:
        raise ValueError("dimension -1 of shape %s must be known" % shape)
    return value


def n_positive_integers(n, value):
    """A positive int, or `n` of them, as a tuple of `n`. ValueError otherwise."""
    try:
        values = (int(value),) * n
    except (TypeError, ValueError):
        values = tuple(int(v) for v in value)
        if len(values) != n:
            raise ValueError("Expected sequence of %d positive integers, but received %r" % (n, value)) from None
    for each in values:
        if each < 1:
            raise ValueError("expected positive integer, but received %d" % each)
    return values


def two_element_tuple(value):
    """An int or a pair as a pair of positive ints."""
    if isinstance(value, (list, tuple)):
        if len(value) != 2:
            raise ValueError("expected a pair of ints, received %s" % (value,))
        return tuple(int(v) for v in value)
    return int(value), int(value)


def model_variable_getter(rename=None):
    """A custom getter that makes model variables, under other last names where `rename` has them."""
    rename = rename or {}

    def getter(getter, name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=True,
               collections=None, caching_device=None, partitioner=None, use_resource=None,
               synchronization=variables.VariableSynchronization.AUTO, aggregation=variables.VariableAggregation.NONE,
               **unused):
        scope, slash, last = name.rpartition("/")
        return contrib_variables.model_variable(
            scope + slash + rename.get(last, last), shape=shape, dtype=dtype, initializer=initializer,
            regularizer=regularizer, collections=collections, trainable=trainable, caching_device=caching_device,
            partitioner=partitioner, custom_getter=getter, use_resource=use_resource,
            synchronization=synchronization, aggregation=aggregation)

    return getter
