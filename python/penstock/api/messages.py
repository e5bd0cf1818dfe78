"""Protocol messages by their last name: `messages.ConfigProto` is the class of tensorflow.ConfigProto."""


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    from penstock import proto
    try:
        value = proto.message("tensorflow." + name)
    except KeyError as e:
        raise AttributeError(f"no message tensorflow.{name}") from e
    globals()[name] = value
    return value
