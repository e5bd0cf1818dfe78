"""Values as JSON knows them."""
import collections.abc

import numpy as np

from penstock._src.graph import tensor_shape


def get_json_type(obj):
    """`default` of json.dumps for configurations: arrays, shapes, layers, functions, types. TypeError for others."""
    if hasattr(obj, "get_config"):
        return {"class_name": type(obj).__name__, "config": obj.get_config()}
    if isinstance(obj, np.ndarray):
        return obj.tolist()
    if isinstance(obj, np.generic):
        return obj.item()
    if callable(obj):
        return obj.__name__
    if isinstance(obj, tensor_shape.Dimension):
        return obj.value
    if isinstance(obj, tensor_shape.TensorShape):
        return obj.as_list()
    if isinstance(obj, collections.abc.Mapping):
        return dict(obj)
    raise TypeError("Not JSON Serializable:", obj)
