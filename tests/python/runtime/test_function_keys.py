"""Functions that differ in an attribute are not taken for each other, whatever the attribute is."""
import numpy as np

from penstock import _core
from penstock import v1 as tf

FUNCTION = """
library {
  function {
    signature {
      name: "given" output_arg { name: "y" type: DT_INT32 }
      attr { name: "value" type: "tensor" }
      is_stateful: true
    }
    node_def {
      name: "c" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
      attr { key: "value" value { placeholder: "value" } }
    }
    ret { key: "y" value: "c:output:0" }
    attr { key: "_noinline" value { b: true } }
  }
  function {
    signature {
      name: "chosen" output_arg { name: "y" type: DT_INT32 } attr { name: "branches" type: "list(func)" }
    }
    node_def { name: "zero" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
      attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 } } } }
    node_def {
      name: "case" op: "StatelessCase" input: "zero:output:0"
      attr { key: "Tin" value { list { } } } attr { key: "Tout" value { list { type: DT_INT32 } } }
      attr { key: "branches" value { placeholder: "branches" } }
      attr { key: "output_shapes" value { list { } } }
    }
    ret { key: "y" value: "case:output:0" }
    attr { key: "_noinline" value { b: true } }
  }
}
versions { producer: 1882 }
"""


def call(node, function):
    """A node that calls `function`, a NameAttrList as text, without inputs."""
    return f"""
node {{
  name: "{node}" op: "PartitionedCall"
  attr {{ key: "Tin" value {{ list {{ }} }} }} attr {{ key: "Tout" value {{ list {{ type: DT_INT32 }} }} }}
  attr {{ key: "f" value {{ func {{ {function} }} }} }}
}}"""


def given(values):
    """The function that gives a constant."""
    numbers = " ".join(f"int_val: {v}" for v in values)
    return ('name: "given" attr { key: "value" value { tensor { dtype: DT_INT32 '
            f'tensor_shape {{ dim {{ size: {len(values)} }} }} {numbers} }} }} }}')


def run(*calls):
    """What nodes give that call these functions."""
    from google.protobuf import text_format
    text = FUNCTION + "".join(call(f"call_{i}", function) for i, function in enumerate(calls))
    graph_def = text_format.Parse(text, tf.GraphDef())
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with tf.Session() as s:
            return s.run([graph.get_tensor_by_name(f"call_{i}:0") for i in range(len(calls))])


def test_functions_differ_in_the_last_element_of_a_tensor():
    first = list(range(20))
    second = first[:19] + [100]
    np.testing.assert_array_equal(run(given(first), given(second)), [first, second])


def test_functions_differ_in_a_list_of_functions():
    def chosen(values):
        return f'name: "chosen" attr {{ key: "branches" value {{ list {{ func {{ {given(values)} }} }} }} }}'
    np.testing.assert_array_equal(run(chosen([1, 2]), chosen([3, 4])), [[1, 2], [3, 4]])


def test_eager_signatures_differ_in_a_list_of_strings(version_two):
    from penstock import v2
    keys = ['a", "b', "c", "a", 'b", "c']
    serialized = v2.train.Example(features=v2.train.Features(feature={
        key: v2.train.Feature(int64_list=v2.train.Int64List(value=[i])) for i, key in enumerate(keys)
    })).SerializeToString()

    def parse(keys):
        values = v2.raw_ops.ParseSingleExample(
            serialized=serialized, dense_defaults=[v2.constant([], v2.int64)] * 2, num_sparse=0, sparse_keys=[],
            dense_keys=keys, sparse_types=[], dense_shapes=[[1]] * 2).dense_values
        return [int(v[0]) for v in values]
    assert parse(keys[:2]) == [0, 1]
    assert parse(keys[2:]) == [2, 3]


def test_compiled_steps_have_a_bound():
    before = _core.cache_statistics()["session steps"]
    with tf.Graph().as_default():
        constants = [tf.constant(i) for i in range(60)]
        with tf.Session() as s:
            pairs = [(i, j) for i in range(60) for j in range(i)]
            for i, j in pairs:
                assert s.run([constants[i], constants[j]]) == [i, j]
            after = _core.cache_statistics()["session steps"]
            assert after["evictions"] - before["evictions"] >= len(pairs) - 1024
            assert after["size"] - before["size"] <= 1024 == after["capacity"] - before["capacity"]
            assert len(s._steps) + len(s._older_steps) <= 1000
            for i, j in [pairs[-1], pairs[0]]:  # kept, compiled again
                assert s.run([constants[i], constants[j]]) == [i, j]
