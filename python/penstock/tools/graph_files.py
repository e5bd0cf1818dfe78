"""Messages of graphs in binary and text files."""
from penstock.platform import gfile


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


def write_message(message, path, is_binary):
    """Writes a message."""
    from google.protobuf import text_format
    with gfile.GFile(path, "wb" if is_binary else "w") as f:
        f.write(message.SerializeToString() if is_binary else text_format.MessageToString(message))
