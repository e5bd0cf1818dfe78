"""Items made of the features of a tf.train.Example: tensors, boxes, images."""
import abc

from penstock._src.contrib.slim.data import data_decoder
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import sparse_tensor
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import cond as cond_lib
from penstock._src.ops.image import image_files
from penstock._src.control_flow import map_fn
from penstock._src.core_ops import math_ops
from penstock._src.ops.lookup import parsing_ops
from penstock._src.ops.sparse import sparse_ops


def _dense(value, default_value=0):
    if isinstance(value, sparse_tensor.SparseTensor):
        return sparse_ops.sparse_tensor_to_dense(value, default_value)
    return value


class ItemHandler(metaclass=abc.ABCMeta):
    """Makes one item of the features whose keys it names."""

    def __init__(self, keys):
        self._keys = keys if isinstance(keys, (tuple, list)) else [keys]

    @property
    def keys(self):
        """The keys of the features."""
        return self._keys

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors):
        """The item, from {key: parsed feature}."""


class ItemHandlerCallback(ItemHandler):
    """A function of {key: parsed feature} as a handler."""

    def __init__(self, keys, func):
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors):
        return self._func(keys_to_tensors)


class BoundingBox(ItemHandler):
    """Boxes [n, 4] of four features, the names of which begin with `prefix`. ValueError for another number of keys."""

    def __init__(self, keys=None, prefix=""):
        keys = ["ymin", "xmin", "ymax", "xmax"] if keys is None else keys
        if len(keys) != 4:
            raise ValueError("BoundingBox expects 4 keys but got {}".format(len(keys)))
        self._prefix = prefix
        self._full_keys = [prefix + key for key in keys]
        super().__init__(self._full_keys)

    def tensors_to_item(self, keys_to_tensors):
        sides = []
        for key in self._full_keys:
            side = keys_to_tensors[key]
            side = side.values if isinstance(side, sparse_tensor.SparseTensor) else side
            sides.append(array_ops.expand_dims(side, 0))
        return array_ops.transpose(array_ops.concat(sides, 0))


class Tensor(ItemHandler):
    """A dense tensor, reshaped to `shape` or to what the features `shape_keys` say. ValueError for both."""

    def __init__(self, tensor_key, shape_keys=None, shape=None, default_value=0):
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        if shape_keys and not isinstance(shape_keys, list):
            shape_keys = [shape_keys]
        self._tensor_key = tensor_key
        self._shape_keys = shape_keys
        self._shape = shape
        self._default_value = default_value
        super().__init__([tensor_key] + (shape_keys or []))

    def tensors_to_item(self, keys_to_tensors):
        tensor, shape = keys_to_tensors[self._tensor_key], self._shape
        if self._shape_keys:
            sizes = [_dense(keys_to_tensors[key]) for key in self._shape_keys]
            shape = array_ops.reshape(array_ops.stack(sizes), [-1])
        sparse = isinstance(tensor, sparse_tensor.SparseTensor)
        if shape is not None:
            tensor = sparse_ops.sparse_reshape(tensor, shape) if sparse else array_ops.reshape(tensor, shape)
        return _dense(tensor, self._default_value)


class LookupTensor(Tensor):
    """What a table has for the elements of a tensor."""

    def __init__(self, tensor_key, table, shape_keys=None, shape=None, default_value=""):
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors):
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """The item of one handler, of another if that is empty. ValueError unless both are handlers."""

    def __init__(self, handler, backup):
        for name, each in (("Primary", handler), ("Backup", backup)):
            if not isinstance(each, ItemHandler):
                raise ValueError("%s handler is of type %s instead of ItemHandler" % (name, type(each)))
        self._handler = handler
        self._backup = backup
        super().__init__(handler.keys + backup.keys)

    def tensors_to_item(self, keys_to_tensors):
        item = self._handler.tensors_to_item(keys_to_tensors)
        return cond_lib.cond(
            pred=math_ops.equal(math_ops.reduce_prod(array_ops.shape(item)), 0),
            true_fn=lambda: self._backup.tensors_to_item(keys_to_tensors), false_fn=lambda: item)


class SparseTensor(ItemHandler):
    """Indices and values as a SparseTensor, or dense if asked."""

    def __init__(self, indices_key=None, values_key=None, shape_key=None, shape=None, densify=False, default_value=0):
        self._indices_key = indices_key or "indices"
        self._values_key = values_key or "values"
        self._shape_key = shape_key
        self._shape = shape
        self._densify = densify
        self._default_value = default_value
        super().__init__([self._indices_key, self._values_key] + ([shape_key] if shape_key else []))

    def tensors_to_item(self, keys_to_tensors):
        indices, values = keys_to_tensors[self._indices_key], keys_to_tensors[self._values_key]
        if self._shape_key:
            shape = _dense(keys_to_tensors[self._shape_key])
        else:
            shape = self._shape or indices.dense_shape
        rank = array_ops.shape(indices.indices)[1]
        last = math_ops.cast(indices.values, dtypes.int64)
        before = array_ops.slice(indices.indices, [0, 0], array_ops.stack([-1, rank - 1]))
        places = array_ops.concat([before, array_ops.reshape(last, [-1, 1])], 1)
        tensor = sparse_tensor.SparseTensor(places, values.values, shape)
        return _dense(tensor, self._default_value) if self._densify else tensor


class Image(ItemHandler):
    """An image [height, width, channels] of an encoded feature, JPEG, PNG, GIF, BMP, or bytes of the format "raw".

    With `repeated`, a stack of such images.
    """

    def __init__(self, image_key=None, format_key=None, shape=None, channels=3, dtype=dtypes.uint8, repeated=False,
                 dct_method=""):
        self._image_key = image_key or "image/encoded"
        self._format_key = format_key or "image/format"
        super().__init__([self._image_key, self._format_key])
        self._shape = shape
        self._channels = channels
        self._dtype = dtype
        self._repeated = repeated
        self._dct_method = dct_method

    def tensors_to_item(self, keys_to_tensors):
        image, form = keys_to_tensors[self._image_key], keys_to_tensors[self._format_key]
        if self._repeated:
            return map_fn.map_fn(lambda each: self._decode(each, form), image, dtype=self._dtype)
        return self._decode(image, form)

    def _decode(self, image_buffer, image_format):

        def decode_image():
            return math_ops.cast(image_files.decode_image(image_buffer, channels=self._channels), self._dtype)

        def decode_jpeg():
            return math_ops.cast(gen.decode_jpeg(image_buffer, channels=self._channels,
                                                 dct_method=self._dct_method), self._dtype)

        def check_jpeg():
            return cond_lib.cond(image_files.is_jpeg(image_buffer), decode_jpeg, decode_image, name="cond_jpeg")

        def decode_raw():
            return parsing_ops.decode_raw(image_buffer, out_type=self._dtype)

        is_raw = gen.logical_or(math_ops.equal(image_format, "raw"), math_ops.equal(image_format, "RAW"))
        image = cond_lib.case([(is_raw, decode_raw)], default=check_jpeg, exclusive=True)
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else array_ops.reshape(image, self._shape)


class TFExampleDecoder(data_decoder.DataDecoder):
    """Decodes serialized Examples by {key: feature configuration} and {item: handler}."""

    def __init__(self, keys_to_features, items_to_handlers):
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self):
        return list(self._items_to_handlers.keys())

    def decode(self, serialized_example, items=None):
        example = parsing_ops.parse_single_example(serialized_example, self._keys_to_features)
        for key, feature in sorted(self._keys_to_features.items()):
            if isinstance(feature, parsing_ops.FixedLenFeature):
                example[key] = array_ops.reshape(example[key], feature.shape)
        handlers = [self._items_to_handlers[item] for item in items or self._items_to_handlers]
        return [handler.tensors_to_item({key: example[key] for key in handler.keys}) for handler in handlers]
