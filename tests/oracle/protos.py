"""Records what TensorFlow's messages are: tests/oracle/protos.json.gz.

    python tests/oracle/protos.py PYTHON...     each PYTHON has a TensorFlow installed; all results go into one file
    python tests/oracle/protos.py --digest      prints the digest of the TensorFlow of this Python

Descriptors come from TensorFlow's Python modules and from the shared libraries, which hold those that have no Python
module (the calls between master and workers, for instance). A digest has for each file its package, messages with
fields, enums with values, and services with methods, without anything that matters to neither wire nor Python.
"""
import glob
import gzip
import importlib
import json
import mmap
import os
import re
import subprocess
import sys

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "protos.json.gz")
# Other files in TensorFlow's libraries belong to compilers, TPUs, TFLite or to libraries of others.
WANTED = re.compile(r"(tensorflow/(core|python|contrib)|tsl|xla/tsl)/(?!(.*/)?tpu/)")


def digest_of_installed():
    """{"version": …, "files": {path: digest}, "paths": [path of a call]} of the TensorFlow that this Python has."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow
    version = tensorflow.__version__
    core = importlib.import_module("tensorflow_core") if version.startswith("1.") else tensorflow
    root = os.path.dirname(core.__file__)
    serialized, paths = {}, set()
    for library in glob.glob(root + "/libtensorflow*.so.*") + [root + "/python/_pywrap_tensorflow_internal.so"]:
        scan_library(library, serialized, paths)
    for path in glob.glob(root + "/**/*_pb2.py", recursive=True):
        relative = os.path.relpath(path, root)[:-len(".py")].replace(os.sep, ".")
        try:
            made = importlib.import_module(core.__name__ + "." + relative)
        except ImportError:
            continue  # belongs to a part that is not in this package
        serialized[made.DESCRIPTOR.name] = made.DESCRIPTOR.serialized_pb
    from google.protobuf import descriptor_pb2
    parse = descriptor_pb2.FileDescriptorProto.FromString
    return {"version": version, "paths": sorted(paths),
            "files": {path: digest(parse(data)) for path, data in sorted(serialized.items()) if WANTED.match(path)}}


def digest(file):
    """What matters of a FileDescriptorProto, as lists and dicts."""
    messages, enums = {}, {}
    prefix = file.package + "." if file.package else ""

    def add_enum(enum, scope):
        enums[scope + enum.name] = {value.name: value.number for value in enum.value}

    def add_message(message, scope):
        name = scope + message.name
        messages[name] = {}
        for field in message.field:
            oneof = message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else ""
            packed = field.options.packed if field.options.HasField("packed") else None
            messages[name][field.name] = [field.number, field.type, field.label, field.type_name, oneof, packed,
                                          field.options.deprecated, field.default_value]
        if message.options.map_entry:
            messages[name]["(map entry)"] = []
        for enum in message.enum_type:
            add_enum(enum, name + ".")
        for nested in message.nested_type:
            add_message(nested, name + ".")

    for enum in file.enum_type:
        add_enum(enum, prefix)
    for message in file.message_type:
        add_message(message, prefix)
    services = {prefix + service.name: {method.name: [method.input_type, method.output_type, method.client_streaming,
                                                      method.server_streaming] for method in service.method}
                for service in file.service}
    return {"syntax": file.syntax or "proto2", "package": file.package, "messages": messages, "enums": enums,
            "services": services, "public": [file.dependency[i] for i in file.public_dependency]}


def scan_library(path, found, paths):
    """Adds what is inside a shared library: serialized FileDescriptorProtos, by name, and the paths of gRPC calls."""
    start = re.compile(rb"\n([\x08-\x7f])([A-Za-z0-9_][\w/\-.]*?\.proto)(?=[\x12\x1a\"*b])")
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for match in start.finditer(data):
            if ord(match.group(1)) == len(match.group(2)):
                end = end_of_descriptor(data, match.start())
                name = match.group(2).decode()
                if end - match.start() > len(found.get(name, b"")):
                    found[name] = data[match.start():end]
        for match in re.finditer(rb"(/tensorflow\.(?:Master|Worker)Service/\w+)\0", data):
            paths.add(match.group(1).decode())


def end_of_descriptor(data, at):
    """Where the FileDescriptorProto that starts at `at` ends: its fields come in order and are of known kinds."""
    last = 0
    while True:
        try:
            tag, value_at = varint(data, at)
            number = tag >> 3
            if not last <= number <= 14 or number in (0, 13) or (number == 1 and last == 1):
                return at
            value, value_at = varint(data, value_at)
        except (IndexError, ValueError):
            return at
        if tag & 7 == 2 and number not in (10, 11, 14):
            value_at += value
        elif tag & 7 != 0 or number not in (10, 11, 14):
            return at
        last, at = number, value_at


def varint(data, at):
    value = 0
    for shift in range(0, 35, 7):
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("no varint")


def digest_with(python):
    """The digest that another Python's TensorFlow gives."""
    output = subprocess.run([python, os.path.abspath(__file__), "--digest"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, check=True, timeout=300).stdout
    return json.loads(output.decode().splitlines()[-1])


def load():
    """The record: what digest_of_installed gave, by version."""
    with gzip.open(RECORD, "rt") as file:
        return json.load(file)


def main(arguments):
    if arguments == ["--digest"]:
        print(json.dumps(digest_of_installed()))
        return
    results = [digest_with(python) for python in arguments]
    record = {result.pop("version"): result for result in results}
    with open(RECORD, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as file:
        file.write(json.dumps(record, sort_keys=True, separators=(",", ":")).encode())


if __name__ == "__main__":
    main(sys.argv[1:])
