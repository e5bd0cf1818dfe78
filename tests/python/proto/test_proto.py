"""penstock.proto inside one process: names, modules, classes, bad descriptor files."""
import copy
import pickle
import random

import pytest
from google.protobuf import message as protobuf_message

from penstock import proto
from penstock.proto import _descriptors

# The messages that the public API has as classes.
PUBLIC = """
AttrValue ConfigProto Event GPUOptions GraphDef GraphOptions HistogramProto LogMessage MetaGraphDef NameAttrList
NodeDef OptimizerOptions RunMetadata RunOptions SessionLog Summary SummaryMetadata TensorInfo AdviceProto
GraphNodeProto MultiGraphNodeProto OpLogProto SummaryDescription TaggedRunMetadata BytesList ClusterDef Example
Feature FeatureList FeatureLists Features FloatList Int64List JobDef SaverDef SequenceExample ServerDef TensorProto
TensorShapeProto VariableDef SaveSliceInfoDef VersionDef FunctionDef FunctionDefLibrary GradientDef OpDef OpList
CollectionDef SignatureDef SavedModel CheckpointState QueueRunnerDef CondContextDef WhileContextDef ValuesDef
StructuredValue TypeSpecProto SavedObjectGraph TrackableObjectGraph BundleHeaderProto BundleEntryProto
DeviceAttributes StepStats CostGraphDef RewriterConfig CallableOptions ResourceHandleProto KernelDef ApiDef
MemoryLogStep DebugOptions
""".split()


@pytest.mark.parametrize("name", PUBLIC)
def test_short_names(name):
    made = getattr(proto, name)
    assert issubclass(made, protobuf_message.Message)
    assert made.DESCRIPTOR.name == name and name in dir(proto)
    assert made is proto.message(made.DESCRIPTOR.full_name)
    assert made.FromString(made().SerializeToString()) == made()


def test_bytes_are_those_of_the_format():
    graph = proto.GraphDef(versions={"producer": 24})
    node = graph.node.add(name="a", op="Const", input=["b:1", "^c"])
    node.attr["T"].type = 3
    by_hand = (b"\x0a\x1c" b"\x0a\x01a" b"\x12\x05Const" b"\x1a\x03b:1" b"\x1a\x02^c"
               b"\x2a\x07\x0a\x01T\x12\x02\x30\x03" b"\x22\x02\x08\x18")
    assert graph.SerializeToString() == by_hand
    assert proto.GraphDef.FromString(by_hand) == graph


def test_nested_messages_and_enums():
    kind = proto.message("tensorflow.AttrValue.ListValue")
    assert kind is proto.AttrValue.ListValue is type(proto.AttrValue().list)
    assert kind.__module__ == "penstock.proto.tensorflow.core.framework.attr_value_pb2"
    assert kind.__qualname__ == "AttrValue.ListValue"
    assert proto.message("tensorflow.RunOptions.TraceLevel").Value("FULL_TRACE") == proto.RunOptions.FULL_TRACE == 3
    assert proto.DataType.Name(proto.DataType.DT_HALF) == "DT_HALF"
    assert proto.Code.Value("INVALID_ARGUMENT") == 3
    assert type(proto.NodeDef().attr["a"]) is proto.AttrValue


def test_fields_keep_their_kind():
    config = proto.ConfigProto(allow_soft_placement=True)
    config.graph_options.optimizer_options.opt_level = proto.OptimizerOptions.L0
    with pytest.raises(TypeError):
        config.intra_op_parallelism_threads = "two"
    with pytest.raises((AttributeError, ValueError)):
        config.no_such_option = 1
    value = proto.AttrValue(i=1)
    value.s = b"x"
    assert value.WhichOneof("value") == "s" and value.i == 0


@pytest.mark.parametrize("name", ["tensorflow.NoSuch", "GraphDef", "tensorflow.GraphDef.NoSuch", "tensorflow", "", ".",
                                  "tensorflow.DataType.NoSuch"])
def test_unknown_names_are_key_errors(name):
    with pytest.raises(KeyError):
        proto.message(name)


def test_unknown_modules_and_attributes():
    with pytest.raises(KeyError):
        proto.module("tensorflow/core/framework/no_such.proto")
    with pytest.raises(ModuleNotFoundError, match="no_such_pb2"):
        proto.pb2_module("tensorflow.core.framework.no_such_pb2")
    with pytest.raises(ModuleNotFoundError):
        import penstock.proto.tensorflow.core.no_such  # noqa: F401
    with pytest.raises(AttributeError, match="NoSuchMessage"):
        proto.NoSuchMessage


def test_a_module_has_what_generated_code_has():
    types_pb2 = proto.module("tensorflow/core/framework/types.proto")
    assert types_pb2.DESCRIPTOR.name == "tensorflow/core/framework/types.proto"
    assert types_pb2.DT_FLOAT == 1 and types_pb2.DT_FLOAT_REF == 101
    assert types_pb2.DataType.Value("DT_STRING") == 7
    assert types_pb2._DATATYPE is types_pb2.DESCRIPTOR.enum_types_by_name["DataType"]
    attr_value_pb2 = proto.module("tensorflow/core/framework/attr_value.proto")
    assert attr_value_pb2._ATTRVALUE_LISTVALUE is attr_value_pb2.AttrValue.ListValue.DESCRIPTOR
    assert attr_value_pb2 is proto.pb2_module("tensorflow.core.framework.attr_value_pb2")


def test_public_imports_are_passed_on():
    assert proto.pb2_module("tensorflow.core.framework.summary_pb2").HistogramProto is proto.HistogramProto
    codes = proto.pb2_module("tensorflow.core.lib.core.error_codes_pb2")
    assert codes.Code is proto.Code and codes.NOT_FOUND == 5
    profile = proto.pb2_module("tensorflow.core.profiler.profile_pb2")
    assert profile.Profile is proto.message("tensorflow.tfprof.pprof.Profile")
    debug_info = proto.pb2_module("tensorflow.core.protobuf.graph_debug_info_pb2")
    assert debug_info.GraphDebugInfo is proto.GraphDebugInfo
    assert not hasattr(proto.pb2_module("tensorflow.core.framework.graph_pb2"), "NodeDef")  # a private import


def test_modules_of_others_are_where_tensorflow_has_them():
    assert proto.pb2_module("tensorflow.tsl.profiler.protobuf.xplane_pb2").XSpace is proto.message(
        "tensorflow.profiler.XSpace")
    assert proto.pb2_module("tensorflow.compiler.xla.tsl.protobuf.error_codes_pb2").Code is proto.Code


def test_short_names_of_modules():
    from penstock.proto import checkpoint_state_pb2, error_codes_pb2, event_pb2, variable_pb2, versions_pb2
    assert variable_pb2 is proto.pb2_module("tensorflow.core.framework.variable_pb2")
    assert versions_pb2.VersionDef is proto.VersionDef and event_pb2.Event is proto.Event
    assert checkpoint_state_pb2.CheckpointState is proto.CheckpointState
    assert error_codes_pb2 is proto.pb2_module("tensorflow.core.protobuf.error_codes_pb2")
    with pytest.raises(ImportError, match="no_such_pb2"):
        from penstock.proto import no_such_pb2  # noqa: F401


def test_import_statements():
    from penstock.proto.tensorflow.core.framework import graph_pb2
    from penstock.proto.tensorflow.core.protobuf.config_pb2 import ConfigProto
    import penstock.proto.tensorflow.core.util.event_pb2 as event_pb2
    assert graph_pb2.GraphDef is proto.GraphDef and ConfigProto is proto.ConfigProto and event_pb2.Event is proto.Event


def test_every_module_can_be_made():
    names = proto.pb2_names()
    assert len(names) > 100 and "tensorflow.core.framework.graph_pb2" in names
    for name in names:
        made = proto.pb2_module(name)
        assert made.__name__ == "penstock.proto." + name
        assert set(made.DESCRIPTOR.message_types_by_name) <= set(vars(made))


def test_copies_and_pickles():
    node = proto.NodeDef(name="a", op="Const")
    node.attr["v"].list.i.extend([1, 2])
    for original in (node, node.attr["v"].list):
        for remade in (pickle.loads(pickle.dumps(original)), copy.copy(original), copy.deepcopy(original)):
            assert remade == original and type(remade) is type(original) and remade is not original
    assert pickle.loads(pickle.dumps(proto.AttrValue.ListValue)) is proto.AttrValue.ListValue


def test_well_known_messages_work():
    meta = proto.MetaGraphDef()
    packed = meta.collection_def["x"].any_list.value.add()
    packed.Pack(proto.NodeDef(name="a"))
    unpacked = proto.NodeDef()
    assert packed.type_url.endswith("/tensorflow.NodeDef") and packed.Unpack(unpacked) and unpacked.name == "a"


def test_bad_bytes_are_refused():
    good = proto.GraphDef(node=[{"name": "node", "op": "Const"}]).SerializeToString()
    for data in (good[:-1], b"\xff" * 20, b"\x0a\xff\xff\xff\xff\x07"):
        with pytest.raises(protobuf_message.DecodeError):
            proto.GraphDef.FromString(data)


def test_a_damaged_descriptor_file_is_an_import_error(tmp_path):
    with open(_descriptors.locate(), "rb") as file:
        whole = file.read()
    path = tmp_path / "descriptors.pb"
    chance = random.Random(1)
    refused = 0
    for cut in [chance.randrange(len(whole)) for _ in range(100)]:
        path.write_bytes(whole[:cut])
        try:
            files = _descriptors.read(str(path))
        except ImportError as error:
            refused += str(path) in str(error)
        else:
            assert len(files) < whole.count(b".proto")  # cut between two files
    assert refused >= 95
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(20):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data)
        try:
            _descriptors.read(str(path))
        except ImportError:
            pass


def test_a_missing_descriptor_file_is_an_import_error(monkeypatch, tmp_path):
    import penstock
    monkeypatch.setattr(penstock, "__path__", [str(tmp_path)])
    with pytest.raises(ImportError, match="descriptors.pb"):
        _descriptors.locate()


def test_the_public_api_has_the_same_classes():
    import penstock.v1 as tf
    assert tf.GraphDef is proto.GraphDef and tf.LogMessage is proto.LogMessage
    assert tf.profiler.AdviceProto is proto.message("tensorflow.tfprof.AdviceProto")
    assert tf.RunOptions.FULL_TRACE == 3 and tf.LogMessage.ERROR == 40 and tf.SessionLog.START == 1
    assert tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True)).gpu_options.allow_growth
