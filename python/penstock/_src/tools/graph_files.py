"""Messages of graphs in binary and text files."""
from penstock._src.files import gfile


def read_message(message, path, is_binary, what):
    """Fills a message from a file. IOError if there is none."""
    from google.protobuf import text_format
    if not gfile.Exists(path):
        raise IOError("%s '%s' does not exist!" % (what, path))
    with gfile.GFile(path, "rb" if is_binary else "r") as f:
        if is_binary:
            message.ParseFromString(f.read())
        else:
            text_format.Merge(f.read(), message)
    return message


def parse_graph(contents):
    """The MetaGraphDef or GraphDef in a file's contents, binary or text; None if it is neither."""
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError
    from penstock.proto import graph_pb2, meta_graph_pb2
    for kind in (meta_graph_pb2.MetaGraphDef, graph_pb2.GraphDef):
        for parse in (kind.FromString, lambda b, k=kind: text_format.Parse(b.decode(), k())):
            try:
                message = parse(contents)
            except (DecodeError, text_format.ParseError, UnicodeDecodeError):
                continue
            if getattr(message, "graph_def", message).node:
                return message
    return None


def load_graph(path):
    """The GraphDef in a file of any kind, or of a SavedModel's first graph. ValueError if there is none."""
    from penstock._src.saved_model import loader_impl
    if gfile.IsDirectory(path):
        if not loader_impl.maybe_saved_model_directory(path):
            raise ValueError("%s: no SavedModel" % path)
        graphs = loader_impl.parse_saved_model(path).meta_graphs
        if not graphs:
            raise ValueError("%s: a SavedModel without graphs" % path)
        return graphs[0].graph_def
    if not gfile.Exists(path):
        raise ValueError("%s: no such file" % path)
    with gfile.GFile(path, "rb") as f:
        message = parse_graph(f.read())
    if message is None:
        raise ValueError("%s: no graph" % path)
    return getattr(message, "graph_def", message)


def write_message(message, path, is_binary):
    """Writes a message."""
    from google.protobuf import text_format
    with gfile.GFile(path, "wb" if is_binary else "w") as f:
        f.write(message.SerializeToString() if is_binary else text_format.MessageToString(message))
