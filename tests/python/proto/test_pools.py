"""penstock.proto in processes of its own: what it imports, both pools, protobuf's implementations, real TensorFlow."""
import os
import subprocess
import sys
import textwrap

import pytest

# A generated module of another package, as protoc writes them, whose message contains TensorFlow's.
THIRD_PARTY = '''
    import importlib.abc, importlib.machinery, sys, types
    from penstock import proto

    class Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
        def find_spec(self, name, path=None, target=None):
            if name.startswith("tensorflow"):
                return importlib.machinery.ModuleSpec(name, self, is_package=not name.endswith("_pb2"))
        def create_module(self, spec):
            return proto.pb2_module(spec.name) if spec.name.endswith("_pb2") else None
        def exec_module(self, module):
            pass

    def third_party():
        from google.protobuf import descriptor_pb2, descriptor_pool
        from google.protobuf.internal import builder
        from tensorflow.core.framework import tensor_pb2 as tensorflow_dot_core_dot_framework_dot_tensor__pb2
        from tensorflow.core.protobuf import meta_graph_pb2
        file = descriptor_pb2.FileDescriptorProto(name="serving/predict.proto", package="serving", syntax="proto3")
        file.dependency.append("tensorflow/core/framework/tensor.proto")
        request = file.message_type.add(name="PredictRequest")
        request.field.add(name="input", number=1, label=1, type=11, type_name=".tensorflow.TensorProto")
        made = types.ModuleType("predict_pb2")
        made.DESCRIPTOR = descriptor_pool.Default().AddSerializedFile(file.SerializeToString())
        builder.BuildMessageAndEnumDescriptors(made.DESCRIPTOR, vars(made))
        builder.BuildTopDescriptorsAndMessages(made.DESCRIPTOR, "predict_pb2", vars(made))
        return made
'''


def run(program, python=sys.executable, **environment):
    """Runs a program in a fresh process; its output if it succeeds."""
    import penstock
    paths = [os.path.dirname(list(penstock.__path__)[0]), os.environ.get("PYTHONPATH", "")]
    result = subprocess.run([python, "-c", textwrap.dedent(program)], timeout=120, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **environment})
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout


@pytest.fixture(params=["", "python"], ids=["upb", "python"])
def implementation(request):
    return {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": request.param} if request.param else {}


def test_protobuf_is_imported_at_the_first_class():
    run("""
        import sys
        import penstock
        from penstock import proto
        dir(proto)
        assert not any(name.startswith("google.protobuf") for name in sys.modules)
        proto.GraphDef
        assert "google.protobuf" in sys.modules
    """)


def test_nothing_reaches_the_default_pool(implementation):
    run("""
        from google.protobuf import descriptor_pb2, descriptor_pool
        from penstock import proto
        for name in proto.pb2_names():
            proto.pb2_module(name)
        pool = descriptor_pool.Default()
        try:
            pool.FindFileByName("tensorflow/core/framework/graph.proto")
        except KeyError:
            pass
        else:
            raise AssertionError("the file is in the default pool")
        other = descriptor_pb2.FileDescriptorProto(name="tensorflow/core/framework/graph.proto", package="tensorflow")
        other.message_type.add(name="GraphDef")
        pool.AddSerializedFile(other.SerializeToString())
        assert not pool.FindMessageTypeByName("tensorflow.GraphDef").fields
        graph = proto.GraphDef(node=[{"name": "a"}])
        assert proto.GraphDef.FromString(graph.SerializeToString()) == graph
    """, **implementation)


def test_other_packages_messages_contain_ours(implementation):
    run(THIRD_PARTY + """
    assert proto.use_default_pool() is True
    sys.meta_path.insert(0, Alias())
    predict_pb2 = third_party()
    from tensorflow.core.framework import tensor_pb2, types_pb2
    import tensorflow.core.framework.graph_pb2
    assert tensor_pb2.TensorProto is proto.TensorProto
    assert tensor_pb2.TensorProto.__module__ == tensor_pb2.__name__ == "tensorflow.core.framework.tensor_pb2"
    tensor = tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, float_val=[1.5])
    request = predict_pb2.PredictRequest(input=tensor)
    assert type(request.input) is tensor_pb2.TensorProto and request.input.float_val == [1.5]
    assert predict_pb2.PredictRequest.FromString(request.SerializeToString()) == request
    from google.protobuf import any_pb2, symbol_database
    assert symbol_database.Default().GetSymbol("tensorflow.GraphDef") is proto.GraphDef
    packed = proto.MetaGraphDef.MetaInfoDef(any_info=any_pb2.Any(type_url="x")).any_info
    assert type(packed) is any_pb2.Any
    import pickle
    assert pickle.loads(pickle.dumps(tensor)) == tensor
    assert proto.use_default_pool() is True
    for name in proto.pb2_names():
        assert proto.pb2_module(name).__name__ == name
    """, **implementation)


def test_the_pool_cannot_change_under_classes():
    run("""
        from google.protobuf import descriptor_pool
        from penstock import proto
        before = proto.GraphDef
        assert proto.use_default_pool() is False
        assert proto.GraphDef is before and proto.pb2_module("tensorflow.core.framework.graph_pb2").GraphDef is before
        proto.ConfigProto
        try:
            descriptor_pool.Default().FindFileByName("tensorflow/core/protobuf/config.proto")
        except KeyError:
            pass
        else:
            raise AssertionError("the file is in the default pool")
    """)


def test_threads_get_the_same_classes(implementation):
    run("""
        import sys, threading
        sys.setswitchinterval(1e-6)
        from penstock import proto
        names = ["GraphDef", "MetaGraphDef", "ConfigProto", "Event", "SavedModel", "StepStats"]
        got, start = [], threading.Barrier(8)
        def work(first):
            start.wait()
            got.append({name: getattr(proto, name) for name in names[first % 6:] + names[:first % 6]})
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join(60)
        assert len(got) == 8 and all(classes == got[0] for classes in got)
    """, **implementation)


REAL = """
    def real():
        import tensorflow as tf
        graph = tf.Graph()
        with graph.as_default():
            tf.constant([1., 2.], name="c")
        return graph.as_graph_def()

    def ours():
        from penstock import proto
        graph = proto.GraphDef()
        graph.node.add(name="c", op="Const").attr["dtype"].type = proto.DataType.Value("DT_FLOAT")
        return graph
"""


@pytest.mark.parametrize("order", ["ours(), real()", "real(), ours()"])
@pytest.mark.parametrize("variable", ["PENSTOCK_TF2_PYTHON"])
def test_beside_real_tensorflow(variable, order):
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} names no Python with TensorFlow")
    run(REAL + f"""
    made = {order}
    first, second = made
    assert type(first) is not type(second)
    assert type(first).FromString(second.SerializeToString()).node[0].name == "c"
    assert type(second).FromString(first.SerializeToString()).node[0].attr["dtype"].type == 1
    from penstock import proto
    for name in proto.pb2_names():
        proto.pb2_module(name)
    """, python=python, TF_CPP_MIN_LOG_LEVEL="3")


def test_the_default_pool_may_have_real_tensorflow_in_it():
    python = os.environ.get("PENSTOCK_TF2_PYTHON")
    if not python:
        pytest.skip("PENSTOCK_TF2_PYTHON names no Python with TensorFlow")
    run(REAL + """
    theirs = real()
    from penstock import proto
    assert proto.use_default_pool() is True
    assert proto.GraphDef is type(theirs)
    for name in proto.pb2_names():
        proto.pb2_module(name)
    """, python=python, TF_CPP_MIN_LOG_LEVEL="3")
