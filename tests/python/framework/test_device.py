import pytest

import penstock.v1 as tf
from penstock._src.graph import device
from penstock._src.graph import device_spec
from penstock._src.function import importer
from penstock._src.graph.device import DeviceSpecV1, DeviceSpecV2
from penstock.proto import graph_pb2


@pytest.mark.parametrize("text, full", [
    ("", ""), ("/cpu:0", "/device:CPU:0"), ("/gpu:*", "/device:GPU:*"), ("/job:a/task:1", "/job:a/task:1"),
    ("/job:ps/replica:0/task:2/device:XLA_CPU:3", "/job:ps/replica:0/task:2/device:XLA_CPU:3"),
    ("/GPU", "/device:GPU:*"),
])
def test_names(text, full):
    assert DeviceSpecV1.from_string(text).to_string() == full and device.canonical_name(text) == full


def test_bad_names():
    with pytest.raises(ValueError, match="Unknown attribute: 'foo'"):
        DeviceSpecV1.from_string("/foo:bar")
    with pytest.raises(ValueError, match="multiple device types"):
        DeviceSpecV1.from_string("/cpu:0/gpu:1")
    for name in (1, b"/cpu:0"):
        with pytest.raises(ValueError, match="Expecting a string device name. Got .*" + type(name).__name__):
            DeviceSpecV1.from_string(name)


def test_merging():
    spec = DeviceSpecV1.from_string("/job:a/cpu:0")
    spec.merge_from(DeviceSpecV1.from_string("/task:3/gpu:1"))
    assert spec.to_string() == "/job:a/task:3/device:GPU:1"
    assert DeviceSpecV2(job="a").make_merged_spec(DeviceSpecV2(task=2)).to_string() == "/job:a/task:2"


def test_parts_of_version_1_may_be_set():
    spec = DeviceSpecV1(job="a")
    spec.device_type, spec.device_index = "gpu", "2"
    assert spec.to_string() == "/job:a/device:GPU:2"
    with pytest.raises(AttributeError):
        DeviceSpecV2().job = "b"


def test_version_2_says_it_otherwise(monkeypatch):
    for module in (device_spec, importer):
        monkeypatch.setattr(module.tf2, "enabled", lambda: True)
    for call, error, text in (
            (lambda: device_spec.DeviceSpecV2.from_string("/job:a/device:GPU:2/cpu:0"), ValueError,
             "Multiple device types are not allowed while parsing the device spec: /job:a/device:GPU:2/cpu:0."),
            (lambda: device_spec.DeviceSpecV2.from_string("/foo:b/baz:2"), ValueError,
             "Unknown attribute 'foo' is encountered while parsing the device spec: '/foo:b/baz:2'."),
            (lambda: importer.import_graph_def(""), TypeError, "Argument `graph_def` must be a GraphDef proto."),
            (lambda: importer.import_graph_def(graph_pb2.GraphDef(), [1]), TypeError,
             "Argument `input_map` must be a dictionary. Obtained list"),
            (lambda: importer.import_graph_def(graph_pb2.GraphDef(), None, [7]), TypeError,
             "Argument `return_elements` must be a list of strings. Obtained [7].")):
        with pytest.raises(error) as info:
            call()
        assert str(info.value) == text


@pytest.mark.parametrize("scope, expected", [  # TensorFlow 1.15's and 2.21's
    (None, ["", "/device:GPU:0", "/job:w/task:1/device:CPU:0"]),
    ("/job:k", ["/job:k", "/job:k/device:GPU:0", "/job:w/task:1/device:CPU:0"]),
    (lambda op: "/cpu:1", ["/cpu:1"] * 3),
    (lambda op: op.device or "/cpu:2", ["/cpu:2", "/device:GPU:0", "/job:w/task:1/device:CPU:0"]),
])
def test_devices_of_imported_nodes_have_their_full_form(scope, expected):
    names = ["", "/gpu:0", "/job:w/task:1/cpu:0"]
    nodes = graph_pb2.GraphDef(node=[dict(name="x%d" % i, op="NoOp", device=d) for i, d in enumerate(names)])
    with tf.Graph().as_default() as graph:
        with tf.device(scope):
            tf.import_graph_def(nodes, name="")
        assert [op.device for op in graph.get_operations()] == expected


def test_version_twos_specs_are_values():
    import penstock.v2 as tf2
    spec = tf2.DeviceSpec(job="ps", device_type="CPU", device_index=1)
    assert spec == tf2.DeviceSpec(job="ps", device_type="CPU", device_index=1) and len({spec, spec.replace()}) == 1
    assert repr(spec) == "<DeviceSpec(job=ps, replica=None, task=None, device_type=CPU, device_index=1)>"
    assert tf2.DeviceSpec is not tf2.compat.v1.DeviceSpec and not hasattr(spec, "merge_from")
    with pytest.raises(AttributeError):
        spec.job = "worker"
