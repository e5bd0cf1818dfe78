"""Imports and runs damaged graphs: python fuzz_graphs.py SEED SECONDS PROGRAM...

A program is a function of this file; the graph that it builds loses, gains and exchanges parts at random. Ends with
status 3 if importing or running one crashed, hung, or raised what is neither TensorFlow's, TypeError nor ValueError."""

import random
import sys

import forked
import numpy as np

import penstock.v1 as tf

_INTS = (0, 1, -1, 2, 3, 100, 2**31, -(2**31), 2**62, -(2**63), 2**63 - 1)
_ALLOWED = (tf.errors.OpError, TypeError, ValueError, NotImplementedError, KeyError)


def network():
    x = tf.constant(np.ones((4, 3), np.float32), name="x")
    w = tf.get_variable("w", [3, 2], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.nn.relu(tf.matmul(x, w)) - 1.0))
    tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    tf.global_variables_initializer()


def images():
    x = tf.constant(np.ones((1, 6, 6, 2), np.float32))
    y = tf.layers.conv2d(x, 3, 3, padding="same")
    y = tf.layers.max_pooling2d(tf.layers.batch_normalization(y), 2, 2)
    tf.nn.softmax(tf.reshape(y, [1, -1]))


def arrays():
    x = tf.constant(np.arange(24, dtype=np.int32).reshape(2, 3, 4))
    y = tf.concat([x[:, 1:, ::2], tf.transpose(x, [0, 2, 1])[:, :2, 1:]], 2)
    s = tf.strided_slice(y, [0, 0], [2, -1], [1, 1], end_mask=1)
    tf.gather(tf.tile(tf.pad(s, [[1, 0], [0, 1], [0, 0]]), [1, 2, 1]), [0, 1], axis=1)
    tf.split(tf.cast(x, tf.float32), [1, 3], 2)
    tf.string_join(["a", tf.as_string(tf.shape(x)[0])]) if hasattr(tf, "string_join") else None
    tf.one_hot(tf.reduce_sum(x, 0), 5)


def branches():
    p = tf.placeholder_with_default(True, [])
    y = tf.cond(p, lambda: tf.constant(1.0) * 2.0, lambda: tf.constant(3.0))
    tf.identity(y)


def loop():
    raw = tf.raw_ops
    enter = raw.Enter(data=tf.constant(0), frame_name="f", parallel_iterations=2)
    merge = raw.Merge(inputs=[enter, enter])
    going = raw.LoopCond(input=tf.less(merge[0], raw.Enter(data=tf.constant(9), frame_name="f", is_constant=True)))
    switch = raw.Switch(data=merge[0], pred=going)
    following = raw.NextIteration(
        data=raw.AddV2(x=switch[1], y=raw.Enter(data=tf.constant(1), frame_name="f", is_constant=True))
    )
    merge[0].op._update_input(1, following)
    raw.Exit(data=switch[0])


def functions():
    from penstock._src.function import defun as function

    @function.Defun(tf.float32, func_name="Inner")
    def inner(x):
        return tf.square(x) + 1.0

    @function.Defun(tf.float32, func_name="Outer")
    def outer(x):
        return inner(x) * inner(x + 1.0)

    y = outer(tf.constant(2.0))
    tf.identity(y)


def queue():
    q = tf.FIFOQueue(3, [tf.float32, tf.int32], shapes=[[2], []])
    with tf.control_dependencies([q.enqueue(([1.0, 2.0], 3))]):
        q.dequeue()


def loops():
    w = tf.get_variable("w", [2, 2], initializer=tf.ones_initializer())

    def body(i, x, written):
        inner = tf.while_loop(
            lambda j, y: j < i,
            lambda j, y: (j + 1, tf.cond(tf.equal(j % 2, 0), lambda: y + 1.0, lambda: tf.matmul(y, w))),
            [0, x],
        )
        return i + 1, inner[1], written.write(i, x)

    found = tf.while_loop(lambda i, *_: i < 3, body, [0, tf.ones([2, 2]), tf.TensorArray(tf.float32, 3)])
    tf.gradients(tf.reduce_sum(found[2].stack()), w)
    tf.global_variables_initializer()


def devices():
    with tf.device("/cpu:0"):
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer(), use_resource=False)
    with tf.device("/cpu:1"):
        b = v * 2.0
        x = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + b), [0, b])[1]
    with tf.colocate_with(v):
        tf.assign_add(v, tf.cond(x[0] > 1.0, lambda: v + 1.0, lambda: b))
    tf.global_variables_initializer()


def functional():
    tf.enable_control_flow_v2()
    try:
        x = tf.cond(tf.placeholder_with_default(True, []), lambda: tf.constant(1.0), lambda: tf.constant(2.0))
        i, y = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * x), [0, x])
        tf.gradients(y, x)
        tf.switch_case(i, [lambda: tf.constant(1), lambda: tf.constant(2)])
    finally:
        tf.disable_control_flow_v2()


def saved():
    v, w = tf.get_variable("v", [2, 2]), tf.get_variable("w", [3], tf.float64)
    tf.train.Saver([v, w])
    tf.global_variables_initializer()


def pipeline():
    dataset = tf.data.Dataset.range(10).map(lambda x: x * 2, 2).filter(lambda x: x % 3 < 2).batch(2)
    dataset = dataset.shuffle(4, 1).repeat(2).flat_map(tf.data.Dataset.from_tensor_slices).prefetch(1)
    tf.data.make_initializable_iterator(dataset).get_next()


PROGRAMS = (
    *(network, images, arrays, branches, loop, functions, queue),
    *(loops, devices, functional, saved, pipeline),
)
_FLOW = ("Enter", "Exit", "NextIteration", "Switch", "Merge", "LoopCond")


def _definition(program):
    with tf.Graph().as_default() as graph:
        program()
        return graph.as_graph_def()


def _nodes(definition):
    """Lists of nodes: the graph's and its functions' bodies."""
    return [definition.node] + [f.node_def for f in definition.library.function if f.node_def]


def _damage_flow(chance, nodes):
    """Connects what belongs to one loop or branch with what belongs to another, or lets it be something else."""
    flow = [n for n in nodes if n.op in _FLOW and n.input]
    if not flow:
        return
    node, how = chance.choice(flow), chance.randrange(4)
    if how == 0 and "frame_name" in node.attr:
        node.attr["frame_name"].s = chance.choice((b"", b"other"))
    elif how == 1:
        node.op = chance.choice(_FLOW)
    elif how == 2:
        node.attr["is_constant"].b = not node.attr["is_constant"].b
    else:
        node.input[chance.randrange(len(node.input))] = chance.choice(flow).name + chance.choice(("", ":1"))


def _damage(chance, definition):
    nodes = chance.choice(_nodes(definition))
    node = chance.choice(nodes)
    how = chance.randrange(18)
    other = chance.choice(nodes)
    if how == 0 and node.input:
        node.input[chance.randrange(len(node.input))] = chance.choice(
            (
                other.name,
                other.name + ":1",
                other.name + ":out:0",
                "^" + other.name,
                "nobody",
                "",
                "^",
                ":0",
                "a:b:c:d",
                node.name,
            )
        )
    elif how == 1:
        node.input.append(
            chance.choice((other.name, "^" + other.name, "^" + node.name, other.name + f":{chance.choice(_INTS)}"))
        )
    elif how == 2 and node.input:
        del node.input[chance.randrange(len(node.input))]
    elif how == 3:
        node.op = chance.choice(
            (other.op, "NoSuchOp", "", "Inner", "Outer", "_Arg", "_Retval", "Merge", "Switch", "Enter", "NextIteration")
        )
    elif how == 4:
        node.name = chance.choice((other.name, "", "a b", "^x", "/", "x" * 300, "_under"))
    elif how == 5:
        node.device = chance.choice(("/cpu:7", "/gpu:0", "nonsense", "/job:w/task:9", "/device:CPU:" + "9" * 30))
    elif how == 6 and node.attr:
        del node.attr[chance.choice(sorted(node.attr))]
    elif how == 7 and node.attr and other.attr:
        node.attr[chance.choice(sorted(node.attr))].CopyFrom(other.attr[chance.choice(sorted(other.attr))])
    elif how == 8 and node.attr:
        value = node.attr[chance.choice(sorted(node.attr))]
        kind = chance.randrange(7)
        if kind == 0:
            value.i = chance.choice(_INTS)
        elif kind == 1:
            value.type = chance.choice((0, 1, 3, 7, 20, 21, 101, 999))
        elif kind == 2:
            value.s = chance.choice((b"", b"SAME", b"\xff\xfe", b"loc:@" + other.name.encode(), b"x" * 1000))
        elif kind == 3:
            value.shape.dim.add().size = chance.choice(_INTS)
        elif kind == 4:
            value.list.i.append(chance.choice(_INTS))
        elif kind == 5:
            value.func.name = chance.choice(("Inner", "Outer", "nobody", ""))
        else:
            value.placeholder = "T"
    elif how in (9, 10):
        tensors = [n for n in nodes if n.op == "Const" and "value" in n.attr]
        if tensors:
            tensor = chance.choice(tensors).attr["value"].tensor
            kind = chance.randrange(5)
            if kind == 0:
                tensor.tensor_shape.dim.add().size = chance.choice(_INTS)
            elif kind == 1 and tensor.tensor_shape.dim:
                tensor.tensor_shape.dim[0].size = chance.choice(_INTS)
            elif kind == 2:
                tensor.dtype = chance.choice((0, 1, 3, 7, 8, 20, 21, 101, 999))
            elif kind == 3:
                tensor.tensor_content = tensor.tensor_content[: chance.randrange(9)] + bytes([chance.randrange(256)])
            else:
                tensor.int_val.append(chance.choice((0, 2**31 - 1, -(2**31))))
    elif how == 11 and definition.library.function:
        function = chance.choice(definition.library.function)
        kind = chance.randrange(6)
        if kind == 0 and function.node_def:
            chance.choice(function.node_def).op = function.signature.name  # calls itself
        elif kind == 1:
            function.signature.name = chance.choice(("Inner", "Outer", "Add", ""))
        elif kind == 2 and function.ret:
            function.ret[chance.choice(sorted(function.ret))] = chance.choice(("nobody:0", "", "x", "Square:y:5"))
        elif kind == 3 and function.signature.input_arg:
            function.signature.input_arg[0].type = chance.choice((0, 1, 3, 7, 999))
        elif kind == 4:
            function.signature.output_arg.add().name = "more"
        else:
            definition.library.function.add().CopyFrom(function)
    elif how == 12:
        definition.library.gradient.add(
            function_name="Inner", gradient_func=chance.choice(("Inner", "Outer", "nobody"))
        )
    elif how == 13:
        definition.versions.producer = chance.choice((0, 5, 2**31 - 1))
        definition.versions.min_consumer = chance.choice((0, 5, 2**31 - 1))
    elif how == 14:
        definition.node.add().CopyFrom(node)
    elif how in (15, 16):
        _damage_flow(chance, nodes)
    else:
        # A cycle: somebody that this node may depend on depends on it.
        other.input.insert(0 if chance.random() < 0.5 else len(other.input), chance.choice(("^", "")) + node.name)
    return definition


def _damaged_bytes(chance, definition):
    """The message with bytes changed: still a GraphDef now and then."""
    data = bytearray(definition.SerializeToString())
    for _ in range(chance.choice((1, 2, 5))):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return tf.GraphDef.FromString(bytes(data))


def _try(chance, program):
    definition = _definition(program)
    if chance.random() < 0.15:
        definition = _damaged_bytes(chance, definition)
    else:
        for _ in range(chance.choice((1, 1, 2, 3))):
            _damage(chance, definition)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name=chance.choice(("", "imported")))
        graph.as_graph_def()
        operations = graph.get_operations()
        config = tf.ConfigProto(inter_op_parallelism_threads=2, intra_op_parallelism_threads=1, device_count={"CPU": 2})
        options = tf.RunOptions(timeout_in_ms=3000)
        with tf.Session(config=config) as session:
            for _ in range(3):
                try:
                    session.run(chance.sample(operations, min(len(operations), 3)), options=options)
                except _ALLOWED as error:
                    line = forked.confused(error)
                    if line:
                        raise AssertionError(line) from error
        floats = [t for op in operations for t in op.outputs if t.dtype == tf.float32]
        if len(floats) > 1:
            tf.gradients(chance.choice(floats), chance.sample(floats, 2))


def call(name, seed):
    """One damaged graph: None, or a line about an exception that it should not have made."""
    try:
        _try(random.Random(f"{name}{seed}"), next(p for p in PROGRAMS if p.__name__ == name))
    except _ALLOWED as error:
        return forked.confused(error)
    except LookupError as error:
        if "radient" not in str(error):
            return f"{type(error).__name__}: {error}"
    except Exception as error:
        if type(error).__name__ != "DecodeError":
            return f"{type(error).__name__}: {error}"
    return None


if __name__ == "__main__":
    sys.exit(forked.main(call, int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
