"""tf.summary of version 1: ops that give serialized Summary messages."""
from penstock._src.graph import context
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.summary import summary_op_util
from penstock.proto import summary_pb2
from penstock._src.summary.writer import FileWriter
from penstock._src.summary.writer_cache import FileWriterCache
from penstock._src.base import compat

__all__ = ["FileWriter", "FileWriterCache", "audio", "get_summary_description", "histogram", "image", "merge",
           "merge_all",
           "scalar", "tensor_summary", "text"]


def scalar(name, tensor, collections=None, family=None):
    """A summary of one number."""
    with summary_op_util.summary_scope(name, family, values=[tensor]) as (tag, scope):
        summary = gen.scalar_summary(tags=tag, values=tensor, name=scope)
        summary_op_util.collect(summary, collections, [ops.GraphKeys.SUMMARIES])
    return summary


def histogram(name, values, collections=None, family=None):
    """A summary of the distribution of numbers. InvalidArgumentError when run if one is not finite."""
    with summary_op_util.summary_scope(name, family, values=[values], default_name="HistogramSummary") as (tag, scope):
        summary = gen.histogram_summary(tag=tag, values=values, name=scope)
        summary_op_util.collect(summary, collections, [ops.GraphKeys.SUMMARIES])
    return summary


def image(name, tensor, max_outputs=3, collections=None, family=None):
    """A summary of images [batch, height, width, 1, 3 or 4 channels]: bytes, or floats that are scaled."""
    with summary_op_util.summary_scope(name, family, values=[tensor]) as (tag, scope):
        summary = gen.image_summary(tag=tag, tensor=tensor, max_images=max_outputs, name=scope)
        summary_op_util.collect(summary, collections, [ops.GraphKeys.SUMMARIES])
    return summary


def audio(name, tensor, sample_rate, max_outputs=3, collections=None, family=None):
    """A summary of sounds [batch, frames] or [batch, frames, channels] in [-1, 1]."""
    with summary_op_util.summary_scope(name, family=family, values=[tensor]) as (tag, scope):
        sample_rate = ops.convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        summary = gen.audio_summary_v2(tag=tag, tensor=tensor, max_outputs=max_outputs, sample_rate=sample_rate,
                                       name=scope)
        summary_op_util.collect(summary, collections, [ops.GraphKeys.SUMMARIES])
    return summary


def text(name, tensor, collections=None):
    """A summary of text: a string tensor of up to two dimensions."""
    if tensor.dtype != dtypes.string:
        raise ValueError("Expected tensor %s to have dtype string, got %s" % (tensor.name, tensor.dtype))
    plugin = summary_pb2.SummaryMetadata.PluginData(plugin_name="text")
    return tensor_summary(name=name, tensor=tensor, summary_metadata=summary_pb2.SummaryMetadata(plugin_data=plugin),
                          collections=collections)


def tensor_summary(name, tensor, summary_description=None, collections=None, summary_metadata=None, family=None,
                   display_name=None):
    """A summary of any tensor; `summary_metadata` names the plugin of TensorBoard that shows it."""
    metadata = summary_pb2.SummaryMetadata() if summary_metadata is None else summary_metadata
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    with summary_op_util.summary_scope(name, family, values=[tensor]) as (tag, scope):
        summary = gen.tensor_summary_v2(tensor=tensor, tag=tag, name=scope,
                                        serialized_summary_metadata=metadata.SerializeToString())
        summary_op_util.collect(summary, collections, [ops.GraphKeys.SUMMARIES])
    return summary


def merge(inputs, collections=None, name=None):
    """One summary with the values of several. InvalidArgumentError when run if two have the same tag."""
    if context.executing_eagerly():
        raise RuntimeError("Merging tf.summary.* ops is not compatible with eager execution. Use tf.contrib.summary "
                           "instead.")
    name = summary_op_util.clean_tag(name)
    with ops.name_scope(name, "Merge", inputs):
        summary = gen.merge_summary(inputs=inputs, name=name)
        summary_op_util.collect(summary, collections, [])
    return summary


def merge_all(key=ops.GraphKeys.SUMMARIES, scope=None, name=None):
    """All summaries of the graph merged; None if there are none."""
    if context.executing_eagerly():
        raise RuntimeError("Merging tf.summary.* ops is not compatible with eager execution. Use tf.contrib.summary "
                           "instead.")
    summaries = ops.get_collection(key, scope=scope)
    return merge(summaries, name=name) if summaries else None


def get_summary_description(node_def):
    """The SummaryDescription that a node TensorSummary has."""
    if node_def.op != "TensorSummary":
        raise ValueError("Can't get_summary_description on %s" % node_def.op)
    from google.protobuf import json_format
    description = summary_pb2.SummaryDescription()
    json_format.Parse(compat.as_str_any(node_def.attr["description"].s), description)
    return description
