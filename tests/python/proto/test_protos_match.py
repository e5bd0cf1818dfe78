"""Our .proto files against TensorFlow's, as tests/oracle/protos.py recorded them from 1.15.5 and 2.21.0."""
import importlib.util
import os
import pathlib

import pytest
from google.protobuf import descriptor_pb2

import penstock
from penstock.proto import _descriptors

ORACLE = pathlib.Path(__file__).parents[2] / "oracle" / "protos.py"
spec = importlib.util.spec_from_file_location("oracle_protos", ORACLE)
oracle = importlib.util.module_from_spec(spec)
spec.loader.exec_module(oracle)

NEW, OLD = "2.21.0", "1.15.5"
# Files of TensorFlow that are not here, each for a reason.
LEFT_OUT = {
    "tensorflow/contrib/cloud/kernels/bigquery_table_partition.proto": "a Google Cloud service",
    "tensorflow/contrib/decision_trees/proto/generic_tree_model.proto": "contrib's trees",
    "tensorflow/contrib/session_bundle/manifest.proto": "the format before SavedModel",
    "tensorflow/contrib/tensor_forest/proto/fertile_stats.proto": "contrib's trees",
    "tensorflow/contrib/tensor_forest/proto/tensor_forest_params.proto": "contrib's trees",
    "tensorflow/core/data/service/export.proto": "a dispatcher's own state",
    "tensorflow/core/data/service/journal.proto": "a dispatcher's own state",
    "tensorflow/core/function/trace_type/serialization_test.proto": "a test of TensorFlow",
    "tensorflow/core/protobuf/autotuning.proto": "results of choosing cuDNN's algorithms",
    "tensorflow/core/protobuf/conv_autotuning.proto": "results of choosing cuDNN's algorithms",
    "xla/tsl/protobuf/dnn.proto": "cuDNN's types, used by autotuning",
}
# Files of 1.15.5 whose messages are in tsl/profiler now.
MOVED = {"tensorflow/core/profiler/profiler_analysis.proto", "tensorflow/core/profiler/profiler_service.proto"}
# What 1.15.5 has otherwise than 2.21, whose form is the one here.
CHANGED = {
    "tensorflow.TensorSliceProto.Extent.length": "the oneof got another name",
    "tensorflow.ProfileResponse.computation_graph": "reserved since; the message moved below what it would import",
    "tensorflow.ProfileResponse.hlo_metadata": "reserved since; the message moved below what it would import",
    "tensorflow.ProfileResponse.encoded_trace": "reserved since",
    "tensorflow.ProfileResponse.op_profile": "reserved since; the message moved below what it would import",
}


@pytest.fixture(scope="module")
def ours():
    content = pathlib.Path(_descriptors.locate()).read_bytes()
    return {file.name: oracle.digest(file) for file in descriptor_pb2.FileDescriptorSet.FromString(content).file}


@pytest.fixture(scope="module")
def record():
    return oracle.load()


def all_of(files, kind):
    return {name: value for file in files.values() for name, value in file[kind].items()}


def test_every_file_is_here_or_left_out_for_a_reason(ours, record):
    missing = {path for version in (NEW, OLD) for path in record[version]["files"]} - set(ours)
    assert missing == set(LEFT_OUT) | MOVED


def test_files_of_the_new_version_are_the_same(ours, record):
    old_fields = all_of(record[OLD]["files"], "messages")
    for path, expected in record[NEW]["files"].items():
        if path in LEFT_OUT:
            continue
        got = ours[path]
        assert {key: got[key] for key in ("syntax", "package", "enums", "public")} == {
            key: expected[key] for key in ("syntax", "package", "enums", "public")}, path
        for name, fields in expected["messages"].items():
            more = got["messages"][name].keys() - fields.keys()
            assert {field: got["messages"][name][field] for field in fields} == fields, name
            assert {field: got["messages"][name][field] for field in more} == {
                field: old_fields[name][field] for field in more}, name
        for name in got["messages"].keys() - expected["messages"].keys():
            assert got["messages"][name] == old_fields[name], name
        for name, methods in expected["services"].items():
            assert {method: got["services"][name][method] for method in methods} == methods, name


def test_what_only_the_old_version_has_is_here(ours, record):
    messages, enums = all_of(ours, "messages"), all_of(ours, "enums")
    differences = set()
    for path, expected in record[OLD]["files"].items():
        if path in LEFT_OUT:
            continue
        for name, values in expected["enums"].items():
            assert values.items() <= enums[name].items(), name
        for name, fields in expected["messages"].items():
            for field, value in fields.items():
                if messages[name].get(field, [])[:5] != value[:5]:  # deprecation and explicit packing may come later
                    differences.add(f"{name}.{field}")
    assert differences == set(CHANGED)


def test_services_have_the_paths_that_servers_answer(ours, record):
    paths = {f"/{service}/{method}" for service, methods in all_of(ours, "services").items() for method in methods
             if service in ("tensorflow.MasterService", "tensorflow.WorkerService")}
    assert paths == set(record[NEW]["paths"])
    messages = all_of(ours, "messages")
    for methods in all_of(ours, "services").values():
        for request, response, _, _ in methods.values():
            assert request[1:] in messages and response[1:] in messages


def test_the_digest_sees_each_kind_of_change(ours, record):
    graph = ours["tensorflow/core/framework/graph.proto"]["messages"]["tensorflow.GraphDef"]
    assert graph["node"] == [1, 11, 3, ".tensorflow.NodeDef", "", None, False, ""]
    assert graph["version"][6] is True  # deprecated
    value = ours["tensorflow/core/framework/attr_value.proto"]["messages"]["tensorflow.AttrValue"]
    assert value["list"][4] == "value"  # in a oneof


@pytest.mark.parametrize("variable, version", [("PENSTOCK_TF1_PYTHON", OLD), ("PENSTOCK_TF2_PYTHON", NEW)])
def test_the_record_is_what_tensorflow_gives(record, variable, version):
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} names no Python with TensorFlow {version}")
    fresh = oracle.digest_with(python)
    if fresh.pop("version") != version:
        pytest.skip("another version of TensorFlow")
    assert fresh == record[version]


def test_descriptors_lie_where_the_package_is_loaded_from():
    assert os.path.dirname(_descriptors.locate()) in penstock.__path__
