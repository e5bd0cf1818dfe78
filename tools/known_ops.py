"""Writes src/penstock/ops/known_ops.inc: what TensorFlow's ops are called, take and give.

    python tools/known_ops.py NEW OLD    each a Python with a TensorFlow; where they differ, the first counts
    python tools/known_ops.py --list     prints the ops of the TensorFlow of this Python, an OpList in base64

One line for each op: name, inputs, outputs, attributes, flags, GraphDef version that deprecates it, names of attributes
that the older TensorFlow does not know, separated by tabs; the texts are those of OpBuilder (op/op_def.h), separated
by ";". `@z` stands for line 35 (base 36, from 0) of the table of texts that come often, at the top; a line of it may
refer to others. Tabs, line ends and backslashes inside are written as in C.
"""
import base64
import collections
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OUTPUT = os.path.join(ROOT, "src", "penstock", "ops", "known_ops.inc")


def print_list():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow
    if tensorflow.__version__.startswith("1."):
        from tensorflow.python import pywrap_tensorflow as c_api
    else:
        from tensorflow.python.client import pywrap_tf_session as c_api
    buffer = c_api.TF_GetAllOpList()
    print("OPS", base64.b64encode(c_api.TF_GetBuffer(buffer)).decode())


def ops_of(python):
    run = subprocess.run([python, os.path.abspath(__file__), "--list"], check=True, capture_output=True, text=True)
    line = next(line for line in run.stdout.splitlines() if line.startswith("OPS "))
    from tensorflow.core.framework import op_def_pb2
    return op_def_pb2.OpList.FromString(base64.b64decode(line[4:])).op


def type_name(number):
    from tensorflow.core.framework import types_pb2
    return types_pb2.DataType.Name(number)[len("DT_"):].lower()


def argument(arg):
    text = arg.type_list_attr or arg.type_attr or type_name(arg.type)
    if arg.number_attr:
        text = arg.number_attr + "*" + text
    return arg.name + ":" + ("Ref(" + text + ")" if arg.is_ref else text)


def quoted(text):
    text = text.decode()
    quote = "'" if "'" not in text else '"'
    assert quote not in text and ";" not in text and "@" not in text, text
    return quote + text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t") + quote


def number(value):
    """The shortest text that reads back as the same float."""
    import numpy
    if value == float("inf"):
        return "inf"
    plain = value == 0 or 1e-4 <= abs(value) < 1e7
    return (numpy.format_float_positional if plain else numpy.format_float_scientific)(numpy.float32(value), trim="-")


def shape(value):
    return "?" if value.unknown_rank else "[" + ",".join("?" if d.size < 0 else str(d.size) for d in value.dim) + "]"


SCALARS = {
    "string": ("s", quoted), "int": ("i", str), "float": ("f", number),
    "bool": ("b", lambda b: "true" if b else "false"), "type": ("type", type_name), "shape": ("shape", shape),
}


def default(kind, value):
    if kind.startswith("list("):
        kind = kind[5:-1]
        if kind not in SCALARS:
            assert not value.list.ListFields()
            return "[]"
        field, text = SCALARS[kind]
        return "[" + ",".join(text(v) for v in getattr(value.list, field)) + "]"
    if kind == "tensor":  # "uint8 [1, 2]" or "int32 1"
        from tensorflow.python.framework import tensor_util
        array = tensor_util.MakeNdarray(value.tensor)
        assert array.ndim <= 1 and array.dtype.kind in "iu", array
        return "%s %s" % (type_name(value.tensor.dtype), str(array.tolist()).replace(" ", ""))
    if kind == "func":
        assert not value.func.attr
        return value.func.name
    field, text = SCALARS[kind]
    return text(getattr(value, field))


def attribute(attr):
    kind = attr.type
    allowed = attr.allowed_values.list
    if allowed.s or allowed.type:
        items = [quoted(s) for s in allowed.s] or [type_name(t) for t in allowed.type]
        kind = kind.replace("string" if allowed.s else "type", "{" + ",".join(items) + "}")
    text = attr.name + ":" + kind
    if attr.has_minimum:
        text += ">=" + str(attr.minimum)
    if attr.HasField("default_value"):
        text += "=" + default(attr.type, attr.default_value)
    return text


def columns(op):
    flags = "".join(letter for letter, is_set in [
        ("s", op.is_stateful), ("c", op.is_commutative), ("a", op.is_aggregate), ("u", op.allows_uninitialized_input),
        ("d", op.is_distributed_communication)] if is_set)
    deprecation = str(op.deprecation.version) if op.HasField("deprecation") else ""
    return [[op.name], [argument(a) for a in op.input_arg], [argument(a) for a in op.output_arg],
            [attribute(a) for a in op.attr], [flags], [deprecation]]


def pieces(texts):
    """What may be replaced by a reference: whole attributes and arguments, and sets of allowed values."""
    for text in texts:
        yield text
        begin, end = text.find("{"), text.find("}")
        if begin >= 0:
            yield text[begin:end + 1]


def base36(n):
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    return digits[n] if n < 36 else base36(n // 36) + digits[n % 36]


def main(pythons):
    ops = {}
    newer = collections.defaultdict(list)
    for python in pythons:
        for op in ops_of(python):
            if op.name == "DefaultAttrs":  # made for a test of default values, which have no short text
                continue
            if op.name in ops:
                names = {attr.name for attr in op.attr}
                newer[op.name] = [a.split(":")[0] for a in ops[op.name][3] if a.split(":")[0] not in names]
            ops.setdefault(op.name, columns(op))
    uses = collections.Counter(piece for op in ops.values() for column in op[1:4] for piece in pieces(column))
    uses.update(";".join(column) for op in ops.values() for column in op[1:4] if len(column) > 1)
    table = sorted((piece for piece, n in uses.items() if (len(piece) - 3) * (n - 1) > 6), key=lambda p: (-uses[p], p))
    reference = {piece: "@" + base36(i) for i, piece in enumerate(table)}

    def short(text):
        if text in reference:
            return reference[text]
        begin, end = text.find("{"), text.find("}")
        inner = text[begin:end + 1]
        return text.replace(inner, reference.get(inner, inner)) if begin >= 0 else text

    def short_list(texts):
        return reference.get(";".join(texts)) or ";".join(short(text) for text in texts)

    lines = []
    for piece in table:  # whose pieces may stand in the table themselves
        if ";" in piece:
            lines.append(";".join(short(text) for text in piece.split(";")))
        else:
            begin, end = piece.find("{"), piece.find("}")
            inner = piece[begin:end + 1]
            lines.append(piece.replace(inner, reference[inner]) if begin > 0 and inner in reference else piece)
    lines.append("")
    for name in sorted(ops):
        op = ops[name]
        lines.append("\t".join([name, *(short_list(column) for column in op[1:4]), op[4][0], op[5][0],
                                ",".join(newer[name])]).rstrip("\t"))
    text = "\n".join(lines) + "\n"
    assert ')ops"' not in text
    with open(OUTPUT, "w") as f:
        f.write('R"ops(' + text + ')ops"\n')
    print("%d ops, %d texts in the table, %d bytes" % (len(ops), len(table), len(text)))


if __name__ == "__main__":
    print_list() if sys.argv[1:] == ["--list"] else main(sys.argv[1:])
