"""tf.io.write_graph."""
import os


def write_graph(graph_or_graph_def, logdir, name, as_text=True):
    """Writes a graph or GraphDef to logdir/name, as text or binary; returns the path."""
    graph_def = graph_or_graph_def
    if hasattr(graph_def, "as_graph_def"):
        graph_def = graph_def.as_graph_def()
    os.makedirs(logdir, exist_ok=True)
    path = os.path.join(logdir, name)
    temporary = path + ".tmp"
    if as_text:
        from google.protobuf import text_format
        with open(temporary, "w") as file:
            file.write(text_format.MessageToString(graph_def))
    else:
        with open(temporary, "wb") as file:
            file.write(graph_def.SerializeToString())
    os.replace(temporary, path)
    return path
