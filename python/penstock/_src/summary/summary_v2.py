"""tf.summary of version 2: tensors with the metadata that TensorBoard's plugins want."""
from penstock._src.graph import context
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.control_flow import cond
from penstock._src.control_flow import map_fn
from penstock._src.core_ops import math_ops
from penstock._src.summary import summary_ops_v2
from penstock.proto import graph_pb2
from penstock.proto import summary_pb2

_HISTOGRAM_BUCKETS = 30


def _metadata(plugin, description, content=b""):
    data = summary_pb2.SummaryMetadata.PluginData(plugin_name=plugin, content=content)
    return summary_pb2.SummaryMetadata(plugin_data=data, summary_description=description or "")


def _encoded(encode, values):
    """Each of `values`, encoded as a string."""
    if values.shape.dims is not None and values.shape.dims[0].value:
        return array_ops.stack([encode(one) for one in array_ops.unstack(values)])
    return map_fn.map_fn(encode, values, dtype=dtypes.string)


def scalar(name, data, step=None, description=None):
    """Writes one number; true if there was a writer and recording is on."""
    with summary_ops_v2.summary_scope(name, "scalar_summary", values=[data, step]) as (tag, _):
        data = ops.convert_to_tensor(data)
        if data.shape.ndims not in (None, 0):
            raise ValueError("a scalar summary holds one number, not the shape %s" % data.shape)
        return summary_ops_v2.write(tag=tag, tensor=lambda: math_ops.cast(data, dtypes.float32), step=step,
                                    metadata=_metadata("scalars", description))


def _buckets(data, count):
    """Rows [left edge, right edge, number of values]: buckets of equal width; none without values."""
    data = math_ops.cast(array_ops.reshape(data, [-1]), dtypes.float64)

    def empty():
        return array_ops.zeros([count, 3], dtypes.float64)

    def filled():
        low, high = math_ops.reduce_min(data), math_ops.reduce_max(data)
        width = (high - low) / count

        def spread():
            index = math_ops.cast(gen.floor((data - low) / width), dtypes.int32)
            index = gen.minimum(index, count - 1)
            counts = math_ops.reduce_sum(array_ops.one_hot(index, count, dtype=dtypes.float64), axis=0)
            edges = low + width * math_ops.cast(math_ops.range(count + 1), dtypes.float64)
            edges = array_ops.concat([edges[:count], [high]], 0)
            return array_ops.transpose(array_ops.stack([edges[:-1], edges[1:], counts]))

        def single():
            # All values are the same: they stand in the last bucket of a range around them.
            size = math_ops.cast(array_ops.size(data), dtypes.float64)
            edges = array_ops.fill([count], low)
            counts = array_ops.concat([array_ops.zeros([count - 1], dtypes.float64), [size]], 0)
            return array_ops.transpose(array_ops.stack([edges, edges, counts]))

        return cond.cond(width > 0, spread, single)

    return cond.cond(array_ops.size(data) > 0, filled, empty)


def histogram(name, data, step=None, buckets=None, description=None):
    """Writes the distribution of numbers."""
    count = _HISTOGRAM_BUCKETS if buckets is None else buckets
    with summary_ops_v2.summary_scope(name, "histogram_summary", values=[data, buckets, step]) as (tag, _):
        return summary_ops_v2.write(tag=tag, tensor=lambda: _buckets(ops.convert_to_tensor(data), count), step=step,
                                    metadata=_metadata("histograms", description))


def image(name, data, step=None, max_outputs=3, description=None):
    """Writes images [batch, height, width, channels]: bytes, or floats in [0, 1]."""
    with summary_ops_v2.summary_scope(name, "image_summary", values=[data, max_outputs, step]) as (tag, _):

        def encoded():
            images = ops.convert_to_tensor(data)[:max_outputs]
            if images.dtype.is_floating:
                images = math_ops.cast(gen.minimum(gen.maximum(images, 0), 1) * 255.5, dtypes.uint8)
            size = array_ops.shape(images)
            sides = array_ops.stack([gen.as_string(size[2]), gen.as_string(size[1])])
            return array_ops.concat([sides, _encoded(gen.encode_png, images)], 0)

        return summary_ops_v2.write(tag=tag, tensor=encoded, step=step,
                                    metadata=_metadata("images", description))


def audio(name, data, sample_rate, step=None, max_outputs=3, encoding=None, description=None):
    """Writes sounds [batch, frames, channels] in [-1, 1], as WAV."""
    if encoding not in (None, "wav"):
        raise ValueError("Unknown encoding: %r" % encoding)
    with summary_ops_v2.summary_scope(name, "audio_summary", values=[data, sample_rate, step]) as (tag, _):

        def encoded():
            sounds = ops.convert_to_tensor(data)[:max_outputs]
            wavs = _encoded(lambda one: gen.encode_wav(one, sample_rate), sounds)
            return array_ops.stack([wavs, array_ops.fill(array_ops.shape(wavs), "")], axis=1)

        # The message of the plugin: an encoding of 11 is WAV.
        return summary_ops_v2.write(tag=tag, tensor=encoded, step=step,
                                    metadata=_metadata("audio", description, b"\x10\x0b"))


def text(name, data, step=None, description=None):
    """Writes strings, which TensorBoard shows as Markdown."""
    with summary_ops_v2.summary_scope(name, "text_summary", values=[data, step]) as (tag, _):
        data = ops.convert_to_tensor(data)
        check_ops.assert_type(data, dtypes.string)
        return summary_ops_v2.write(tag=tag, tensor=data, step=step, metadata=_metadata("text", description))


def graph(graph_data):
    """Writes a Graph or GraphDef; true if there was a writer."""
    if not context.executing_eagerly():
        raise ValueError("graph() cannot be invoked inside a graph context.")
    writer = summary_ops_v2._state.writer
    if writer is None or not tensor_util.constant_value(summary_ops_v2.should_record_summaries_v2()):
        return constant_op.constant(False)
    if isinstance(graph_data, ops.Graph):
        graph_data = graph_data.as_graph_def(add_shapes=True)
    elif not isinstance(graph_data, graph_pb2.GraphDef):
        raise ValueError("'graph_data' is not tf.Graph or tf.compat.v1.GraphDef. Received graph_data=%s" % graph_data)
    with ops.device("cpu:0"):
        gen.write_graph_summary(writer._resource, constant_op.constant(0, dtypes.int64),
                                graph_data.SerializeToString())
    return constant_op.constant(True)
