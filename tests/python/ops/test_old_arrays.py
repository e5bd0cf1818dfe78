"""Arrays and stacks as graphs of old hold them: their handles are strings. Expected values: TensorFlow 1.15.5's."""
import numpy as np
import pytest

import penstock.v1 as tf

ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


class Nodes:
    """A GraphDef of an older version, built node by node."""

    def __init__(self, version, producer):
        self.graph_def = tf.GraphDef()
        self.graph_def.versions.producer = producer
        self._version = version
        for name, value, dtype in (("size", 3, tf.int32), ("flow", 0.0, tf.float32), ("rows", ROWS, tf.float32),
                                   ("order", [2, 0, 1], tf.int32), ("one", 1, tf.int32), ("zero", 0, tf.int32),
                                   ("lengths", [2, 0, 1], tf.int64), ("row", [7.0, 8.0], tf.float32)):
            node = self.graph_def.node.add(op="Const", name=name)
            node.attr["dtype"].type = dtype.as_datatype_enum
            node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value, dtype))

    def op(self, op, name, *inputs, keep=False, source=None, **types):
        """A node whose attributes are types; `keep`: elements stay when they were read."""
        node = self.graph_def.node.add(op=op, name=name, input=inputs)
        for key, dtype in types.items():
            node.attr[key].type = dtype.as_datatype_enum
        if keep:
            node.attr["clear_after_read"].b = False
        if source:
            node.attr["source"].s = source

    def array(self, what, name, *inputs, **attrs):
        """A node of this version's TensorArray ops."""
        self.op("TensorArray" + what + self._version, name, *inputs, **attrs)

    def session(self):
        """A session of the graph that this makes."""
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(self.graph_def, name="")
        return tf.Session(graph=graph)


@pytest.mark.parametrize("version, producer", [("", 15), ("V2", 25)])
def test_arrays(version, producer):
    nodes = Nodes(version, producer)
    nodes.array("", "a", "size", dtype=tf.float32, keep=True)
    nodes.array("Scatter", "s", "a", "order", "rows", "flow", T=tf.float32)
    nodes.array("Read", "read", "a", "one", "s", dtype=tf.float32)
    nodes.array("Gather", "gather", "a", "order", "s", dtype=tf.float32)
    nodes.array("Size", "count", "a", "s")
    nodes.array("", "b", "size", dtype=tf.float32)
    nodes.array("Split", "split", "b", "rows", "lengths", "flow", T=tf.float32)
    nodes.array("Concat", "concat", "b", "split", dtype=tf.float32)
    nodes.array("Grad", "grad", "a", "s", source=b"gradients")
    nodes.array("Write", "w", "grad", "one", "row", "s", T=tf.float32)
    nodes.array("Write", "w2", "grad", "one", "row", "w", T=tf.float32)
    nodes.array("Read", "read_grad", "grad", "one", "w2", dtype=tf.float32)
    nodes.array("Read", "no_grad", "grad", "zero", "w2", dtype=tf.float32)
    nodes.array("Read", "outside", "a", "size", "s", dtype=tf.float32)
    nodes.array("Close", "close", "a", "^s")
    nodes.array("Read", "closed", "a", "one", "s", "^close", dtype=tf.float32)
    with nodes.session() as sess:
        names = ["read", "gather", "concat", "concat:1", "count", "read_grad", "no_grad"]
        wanted = [[5, 6], ROWS, ROWS, [2, 0, 1], 3, [14, 16], [0, 0]]
        for _ in range(2):  # each step has arrays of its own
            got = sess.run([name if ":" in name else name + ":0" for name in names])
            for name, one, other in zip(names, got, wanted):
                np.testing.assert_array_equal(one, other, err_msg=name)
        for name, message in (("outside", "Tried to read from index 3 but array size is: 3"),
                              ("closed", "TensorArray a_.* has already been closed.")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                sess.run(name + ":0")


def test_pack_and_stack():
    nodes = Nodes("", 15)
    nodes.array("", "a", "size", dtype=tf.float32)
    nodes.array("Scatter", "s", "a", "order", "rows", "flow", T=tf.float32)
    nodes.array("Pack", "pack", "a", "s", dtype=tf.float32)
    nodes.array("", "b", "size", dtype=tf.float32)
    nodes.array("Unpack", "u", "b", "rows", "flow", T=tf.float32)
    nodes.array("Gather", "unpacked", "b", "order", "u", dtype=tf.float32)
    nodes.array("", "short", "one", dtype=tf.int32)
    nodes.array("Unpack", "too_many", "short", "order", "flow", T=tf.int32)
    nodes.op("Stack", "stack", elem_type=tf.float32)
    nodes.op("StackPush", "push", "stack", "rows", T=tf.float32)
    nodes.op("StackPop", "pop", "stack", "^push", elem_type=tf.float32)
    nodes.op("StackPop", "empty", "stack", "^pop", elem_type=tf.float32)
    nodes.op("StackClose", "close", "stack", "^push")
    nodes.op("StackPop", "closed", "stack", "^close", elem_type=tf.float32)
    with nodes.session() as sess:
        pack, unpacked, pop = sess.run(["pack:0", "unpacked:0", "pop:0"])
        np.testing.assert_array_equal(pack, [[3, 4], [5, 6], [1, 2]])
        np.testing.assert_array_equal(unpacked, [[5, 6], [1, 2], [3, 4]])
        np.testing.assert_array_equal(pop, ROWS)
        for name, message in (("too_many", r"first dimension equal to the array size \(3 vs. 1\)"),
                              ("empty", "is empty when calling Pop()"), ("closed", "has already been closed")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                sess.run(name + ":0")


def test_today_is_too_late():
    nodes = Nodes("V2", 27)
    nodes.array("", "a", "size", dtype=tf.float32)
    with pytest.raises(tf.errors.UnimplementedError, match="removed in version 26. Use TensorArrayV3"):
        nodes.session()
