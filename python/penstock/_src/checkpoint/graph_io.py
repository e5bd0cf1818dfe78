"""tf.io.write_graph."""
import os

from penstock._src.files import gfile


def write_graph(graph_or_graph_def, logdir, name, as_text=True):
    """Writes a graph or GraphDef to logdir/name, as text or binary; returns the path."""
    graph_def = graph_or_graph_def
    if hasattr(graph_def, "as_graph_def"):
        graph_def = graph_def.as_graph_def()
    gfile.MakeDirs(logdir)
    path = os.path.join(logdir, name)
    if as_text:
        from google.protobuf import text_format
        gfile.write_atomically(path, text_format.MessageToString(graph_def))
    else:
        gfile.write_atomically(path, graph_def.SerializeToString())
    return path
