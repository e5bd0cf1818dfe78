"""LSTMBlockCell, BlockLSTM and GRUBlockCell: answers and slopes are those of TensorFlow 1.15.5."""
import numpy as np
import pytest

import penstock.v1 as tf

LSTM = "x cs_prev h_prev w wci wcf wco b".split()
GRU = "x h_prev w_ru w_c b_ru b_c".split()


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def values(*shape, start=0):
    return (np.sin(np.arange(np.prod(shape, dtype=int)) * 1.7 + start) * 0.6).reshape(shape)


def inputs(names, shapes, dtype=tf.float32):
    return {name: tf.constant(values(*shape, start=i), dtype) for i, (name, shape) in enumerate(zip(names, shapes))}


def lstm_inputs(time=None, dtype=tf.float32, batch=2, depth=5, cell=4):
    x = [batch, depth] if time is None else [time, batch, depth]
    vector = [cell]
    shapes = [x, [batch, cell], [batch, cell], [depth + cell, 4 * cell], vector, vector, vector, [4 * cell]]
    return inputs(LSTM, shapes, dtype)


def gru_inputs():
    return inputs(GRU, [[2, 5], [2, 4], [9, 8], [9, 4], [8], [4]])


def digest(value):
    flat = np.ravel(value).astype(np.float64)
    return (flat * np.cos(np.arange(flat.size))).sum()


def loss(y):
    return tf.reduce_sum(y.h * y.h) + tf.reduce_sum(tf.sin(y.cs))


# (op, type, peepholes, clip, steps): digests of i, cs, f, o, ci, co, h, and of the inputs' slopes (of peepholes if
# used). TensorFlow's slopes of BlockLSTMV2 are those of the other order of gates, and wrong.
ANSWERS = {
    ("LSTMBlockCell", "float32", False, -1.0, None): (
        [1.0111, 0.8027, 1.2673, 0.9065, 1.183, 0.7168, 0.562], [0.1085, 1.5392, -0.4589, -0.7055, 1.3901]),
    ("LSTMBlockCell", "float32", True, 0.3, None): (
        [0.9669, 0.4941, 1.2221, 0.8703, 1.183, 0.482, 0.3705],
        [0.1468, 1.5588, -0.527, -0.6139, 0.1652, 0.0372, 0.0145, 1.1938]),
    ("LSTMBlockCell", "float16", True, 3.0, None): (
        [0.967, 0.8339, 1.222, 0.9036, 1.1832, 0.7398, 0.6105],
        [0.1185, 1.4638, -0.5072, -0.7263, 0.1107, 0.0154, 0.2937, 1.418]),
    ("BlockLSTM", "float32", False, 3.0, 3): (
        [0.5023, 0.6996, 0.8795, 1.004, 3.8957, 0.9638, 1.0076], [0.3227, 1.6485, -1.0404, -2.7905, 6.2404]),
    ("BlockLSTM", "float32", True, 0.3, 2): (
        [0.9168, 0.9591, 1.1838, 0.9609, 2.8756, 0.9309, 0.6654],
        [0.4843, 2.2369, -0.8411, -1.2555, 0.4568, 0.1059, 0.0375, 3.2789]),
    ("BlockLSTM", "float16", True, 3.0, 3): (
        [0.5844, 0.8657, 0.9167, 0.9504, 3.9536, 0.9306, 1.0315],
        [0.1632, 1.4828, -1.0998, -2.5725, 0.5126, 0.4637, 1.4828, 5.9592]),
    ("BlockLSTMV2", "float32", False, 0.0, 3): (
        [0.4031, 1.5061, 0.9335, 1.0094, 4.1065, 1.6548, 1.0641], None),
    ("BlockLSTMV2", "float32", True, 0.5, 2): (
        [0.9509, 1.1928, 1.1508, 1.0005, 2.8211, 1.1252, 0.6939], None),
}


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: "-".join(map(str, case)))
def test_lstm(case, session):
    op, dtype, peephole, clip, steps = case
    args = lstm_inputs(None if steps is None else 3, tf.as_dtype(dtype))
    used = [v for name, v in args.items() if peephole or not name.startswith("wc")]
    if steps is not None:
        args["seq_len_max"] = tf.constant(steps, tf.int64)
    y = getattr(tf.raw_ops, op)(cell_clip=clip, use_peephole=peephole, **args)
    assert y.h.shape.as_list() == args["x"].shape.as_list()[:-1] + [4]
    made, slopes = session.run([list(y), tf.gradients(loss(y), used)])
    expected, expected_slopes = ANSWERS[case]
    tolerance = 0.02 if dtype == "float16" else 2e-4
    np.testing.assert_allclose([digest(m[:steps]) for m in made], expected, atol=tolerance)
    if expected_slopes is not None:
        np.testing.assert_allclose([digest(s) for s in slopes], expected_slopes, atol=2 * tolerance)
    if steps == 2:
        assert not np.any(made[1][2:]) and not np.any(made[6][2:]) and not np.any(slopes[0][2:])


def test_gru(session):
    args = gru_inputs()
    y = tf.raw_ops.GRUBlockCell(**args)
    made, slopes = session.run([list(y), tf.gradients(tf.reduce_sum(y.h * y.h), list(args.values()))])
    np.testing.assert_allclose([digest(m) for m in made], [0.7451, 0.5465, 0.3296, 0.2394], atol=2e-4)
    np.testing.assert_allclose([digest(s) for s in slopes], [-0.7772, 0.4227, 0.011, 0.2017, -0.0728, 0.4757],
                               atol=4e-4)


@pytest.mark.parametrize("op", ["LSTMBlockCell", "BlockLSTM", "BlockLSTMV2", "GRUBlockCell"])
def test_slopes_are_those_of_the_values(op):
    if op == "GRUBlockCell":
        args = dict(gru_inputs())
        y = tf.reduce_sum(tf.sin(tf.raw_ops.GRUBlockCell(**args).h))
    else:
        args = lstm_inputs(None if op == "LSTMBlockCell" else 3)
        length = {} if op == "LSTMBlockCell" else {"seq_len_max": tf.constant(2, tf.int64)}
        y = loss(getattr(tf.raw_ops, op)(cell_clip=-1.0, use_peephole=True, **args, **length))
    for name, x in args.items():
        assert tf.test.compute_gradient_error(x, x.shape.as_list(), y, [], delta=1e-2) < 5e-3, name


def test_second_version_has_gates_in_another_order(session):
    args, length = lstm_inputs(3), {"seq_len_max": tf.constant(2, tf.int64)}
    order = tf.constant([0, 2, 1, 3])

    def turned(v):
        return tf.reshape(tf.gather(tf.reshape(v, [-1, 4, 4]), order, axis=1), v.shape)
    first = tf.raw_ops.BlockLSTM(forget_bias=0.0, cell_clip=0.5, use_peephole=True, **length, **args)
    second = tf.raw_ops.BlockLSTMV2(cell_clip=0.5, use_peephole=True, **length,
                                    **{**args, "w": turned(args["w"]), "b": turned(args["b"])})
    xs = list(args.values())
    slopes = session.run([tf.gradients(loss(first), xs), tf.gradients(loss(second), xs)])
    for one, other in zip(*slopes):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_steps_agree_with_the_sequence(session):
    args = lstm_inputs(3)
    whole = tf.raw_ops.BlockLSTM(seq_len_max=tf.constant(3, tf.int64), use_peephole=True, **args)
    state, steps = (args["cs_prev"], args["h_prev"]), []
    for x in tf.unstack(args["x"]):
        y = tf.raw_ops.LSTMBlockCell(use_peephole=True, **{**args, "x": x, "cs_prev": state[0], "h_prev": state[1]})
        state = y.cs, y.h
        steps.append(y)
    for one, all_steps in zip(zip(*steps), whole):
        np.testing.assert_allclose(*session.run([tf.stack(one), all_steps]), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("sizes", [dict(batch=0), dict(depth=0), dict(cell=0)])
def test_nothing_to_do(sizes, session):
    args = lstm_inputs(3, **sizes)
    y = tf.raw_ops.BlockLSTM(seq_len_max=tf.constant(3, tf.int64), **args)
    made = session.run([y.h] + tf.gradients(loss(y), [args["x"], args["w"], args["b"]]))
    assert [m.shape for m in made[1:]] == [tuple(args[n].shape.as_list()) for n in ("x", "w", "b")]
    step = tf.raw_ops.LSTMBlockCell(**lstm_inputs(**sizes))
    assert session.run(step.h).shape == (sizes.get("batch", 2), sizes.get("cell", 4))


def fed(op, args, **attrs):
    """The op on placeholders, so that only the kernel can refuse; its outputs and the feeds."""
    feeds = {tf.placeholder(v.dtype): v for v in map(np.asarray, args.values())}
    return getattr(tf.raw_ops, op)(**dict(zip(args, feeds)), **attrs), feeds


BAD = [
    ("cs_prev", [3, 4], "cs_prev.dims.0. != batch_size: 3 vs. 2"),
    ("h_prev", [2, 3], "h_prev.dims.1. != cell_size: 3 vs. 4"),
    ("w", [8, 16], "w.dim_size.0. != input_size . cell_size: 8 vs. 9"),
    ("w", [9, 4], "w.dim_size.1. != cell_size . 4: 4 vs. 16"),
    ("wcf", [3], "wcf.dim_size.0. != cell_size: 3 vs. 4"),
    ("b", [4], "b.dim_size.0. != cell_size . 4: 4 vs. 16"),
    ("b", [16, 1], "b must be 1D"),
    ("x", [5], "x must be 3D"),
    ("seq_len_max", 4, "seq_len_max must be in"),
]


@pytest.mark.parametrize("name, shape, message", BAD)
def test_bad_lstm(name, shape, message, session):
    args = {"seq_len_max": np.int64(3), **session.run(lstm_inputs(3))}
    args[name] = np.int64(shape) if name == "seq_len_max" else np.zeros(shape, np.float32)
    y, feeds = fed("BlockLSTM", args)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(y.h, feeds)


@pytest.mark.parametrize("name, shape, message", [
    ("h_prev", [3, 4], "h_prev.dims.0. != batch_size"), ("w_ru", [9, 4], "w_ru.dim_size.1. != cell_size . 2: 4 vs. 8"),
    ("w_c", [4, 4], "w_c.dim_size.0. != input_size . cell_size"), ("b_c", [3], "b_c.dim_size.0. != cell_size: 3 vs. 4"),
])
def test_bad_gru(name, shape, message, session):
    args = session.run(gru_inputs())
    args[name] = np.zeros(shape, np.float32)
    y, feeds = fed("GRUBlockCell", args)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(y.h, feeds)
