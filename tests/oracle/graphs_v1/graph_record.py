"""What a version-1 program built, as plain data: nodes with inputs, attributes and devices, and collections."""
import re

_TEMPORARY = re.compile(r"_temp_[0-9a-f]{32}")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


# 1.15.5 does what these attributes of later versions ask for, without having them.
_LATER = {"external_state_policy"}


def _attribute(value):
    text = re.sub(r"\s+", " ", str(value)).strip()
    return _UUID.sub("X", _TEMPORARY.sub("_temp_X", text))


def record(graph):
    """{"nodes": {name: {...}}, "collections": {key: [names]}} of a tf.Graph."""
    nodes = {}
    for node in graph.as_graph_def().node:
        data = [i for i in node.input if not i.startswith("^")]
        control = sorted(i for i in node.input if i.startswith("^"))
        nodes[node.name] = {
            "op": node.op, "device": node.device, "inputs": data + control,
            "attributes": {key: _attribute(value) for key, value in sorted(node.attr.items())}}
    collections = {}
    for key in graph.get_all_collection_keys():
        if isinstance(key, str) and not key.startswith("__") and key not in ("cond_context", "while_context"):
            collections[key] = [_member(item) for item in graph.get_collection(key)]
    return {"nodes": nodes, "collections": collections}


def _member(item):
    name = getattr(item, "name", None)
    return name if isinstance(name, str) else type(item).__name__


def below_gradients(name):
    """Nodes that differ by design: what a gradient is made of."""
    return "gradients" in re.split(r"[/_]", name.lstrip("^"))


def differences(ours, theirs):
    """Lines that tell how the two records differ; nodes below gradients are left out."""
    lines = []
    mine = {n: d for n, d in ours["nodes"].items() if not below_gradients(n)}
    other = {n: d for n, d in theirs["nodes"].items() if not below_gradients(n)}
    for name in sorted(set(mine) | set(other)):
        if name not in mine:
            lines.append("missing node %s (%s)" % (name, other[name]["op"]))
        elif name not in other:
            lines.append("extra node %s (%s)" % (name, mine[name]["op"]))
        else:
            for field in ("op", "device", "inputs", "attributes"):
                a, b = _comparable(mine[name], field), _comparable(other[name], field)
                if a != b:
                    lines.append("%s: %s is %s, not %s" % (name, field, a, b))
    for key in sorted(set(ours["collections"]) | set(theirs["collections"])):
        a, b = ours["collections"].get(key, []), theirs["collections"].get(key, [])
        if a != b:
            lines.append("collection %s is %s, not %s" % (key, a, b))
    return lines


def _elements(text):
    from google.protobuf import text_format
    from penstock import proto
    from penstock._src.graph import tensor_util
    value = text_format.Parse(text, proto.message("tensorflow.AttrValue")()).tensor
    array = tensor_util.MakeNdarray(value)
    return "%s %s %s" % (value.dtype, array.shape, array.tolist())


def _plain_numbers(text):
    """Versions of protobuf write 1 and 1.0, 1e-08 and 9.99999993922529e-09 for the same float; a tensor of equal
    elements may be written as one."""
    if text.startswith("tensor {"):
        return _elements(text)
    text = re.sub(r"pyfunc_\d+", "pyfunc_X", text)  # counts the process's functions
    text = re.sub(r"func \{ name: \S+", "func { name: X", text)  # so do the names of functions
    return re.sub(r"(?<=: )-?\d[\d.]*(e[-+]?\d+)?(?= |$)", lambda m: "%.6g" % float(m.group()), text)


def _comparable(node, field):
    if field == "inputs":
        # Which node of a gradient feeds an update is not ours to match, only that one does.
        return ["gradients" if below_gradients(i) else i for i in node["inputs"]]
    if field == "attributes":
        return {k: _plain_numbers(v) for k, v in node["attributes"].items()
                if k not in _LATER and (k != "_class" or "gradients" not in v)}
    return node[field]
