"""Graph passes that choose an implementation, roads of the executor, short cuts of eager calls."""
import numpy as np
import penstock.v1 as tf1
import penstock.v2 as tf
from branch_testing import branches


def numbers(case, *shape):
    return case.random.integers(-3, 4, shape).astype(np.float32)


@branches("accumulation/sum", "loop_sums/sum")
def test_sums_of_products(case):
    """The gradient of a weight that is used several times, and in a loop."""
    for uses in (1, 2, 3, 4, 5, 6, 9):
        for rows, depth, columns in [(3, 4, 5), (1, 1, 1), (0, 4, 5), (3, 0, 5), (3, 4, 0),
                                      (300, 70, 130), (20, 33, 65)]:
            xs = [numbers(case, rows, depth) for _ in range(uses)]
            ups = [numbers(case, rows, columns) for _ in range(uses)]
            with tf1.Graph().as_default(), tf1.Session() as session:
                w = tf1.placeholder(tf1.float32, [depth, columns])
                total = tf1.add_n([tf1.reduce_sum(tf1.matmul(x, w) * up) for x, up in zip(xs, ups)])
                got = session.run(tf1.gradients(total, w)[0], {w: numbers(case, depth, columns)})
            want = sum(x.T @ up for x, up in zip(xs, ups))
            case.check(got, want, f"{uses} uses of {depth} x {columns} by {rows} rows", 0, 0)
    for steps in (0, 1, 2, 7):
        for rows, size in [(1, 1), (3, 4), (0, 4), (40, 65), (300, 33)]:
            start, weights = numbers(case, rows, size), np.eye(size, dtype=np.float32)
            with tf1.Graph().as_default(), tf1.Session() as session:
                x, w, n = tf1.placeholder(tf1.float32, [rows, size]), tf1.placeholder(tf1.float32, [size, size]), \
                    tf1.placeholder(tf1.int32, [])
                y = tf1.while_loop(lambda i, h: i < n, lambda i, h: (i + 1, tf1.matmul(h, w)), [0, x])[1]
                got = session.run(tf1.gradients(y, [w, x]), {x: start, w: weights, n: steps})
            ones = np.ones_like(start)
            case.check(got[0], steps * start.T @ ones, f"{steps} steps of {rows} x {size}", 0, 0)
            case.check(got[1], ones, f"{steps} steps of {rows} x {size}", 0, 0)


@branches("narrowing/reader")
def test_narrowed_products(case):
    for m, k, parts in [(3, 4, (2, 5)), (1, 1, (1, 1)), (40, 33, (64, 65)), (3, 4, (0, 5)), (0, 4, (2, 2)),
                        (3, 0, (2, 2))]:
        n = sum(parts)
        a, b = numbers(case, m, k), numbers(case, n, k)
        for which in range(2):
            begin, size = sum(parts[:which]), parts[which]
            readers = [lambda z: tf1.split(z, parts, 1)[which], lambda z: tf1.slice(z, [0, begin], [-1, size])]
            if parts[0] == parts[1]:
                readers.append(lambda z: tf1.split(z, 2, 1)[which])
            for read in readers:
                with tf1.Graph().as_default(), tf1.Session() as session:
                    x, y = tf1.placeholder(tf1.float32, a.shape), tf1.placeholder(tf1.float32, b.shape)
                    got = session.run(read(tf1.matmul(x, y, transpose_b=True)) + 1, {x: a, y: b})
                case.check(got, (a @ b.T)[:, begin:begin + size] + 1, f"part {which} of {parts} of {m} x {k}", 0, 0)


@branches("executor/road")
def test_roads(case):
    a, b = numbers(case, 20, 30), numbers(case, 30, 20)
    with tf1.Graph().as_default():
        x, y = tf1.placeholder(tf1.float32, [None, 30]), tf1.placeholder(tf1.float32, [30, None])
        z = tf1.matmul(x, y) + tf1.cond(tf1.reduce_sum(x) > 0, lambda: tf1.reduce_sum(y), lambda: tf1.reduce_max(x))
        want = a @ b + (b.sum() if a.sum() > 0 else a.max())
        for devices in (1, 2):
            with tf1.Session(config=tf1.ConfigProto(device_count={"CPU": devices})) as session:
                case.check(session.run(z, {x: a, y: b}), want, f"{devices} devices", 0, 0)
                with tf1.device(f"/cpu:{devices - 1}"):
                    other = z * 2
                case.check(session.run(other, {x: a, y: b}), want * 2, f"on device {devices - 1} of {devices}", 0, 0)


@branches("placer/device", "placer/spread")
def test_devices(case):
    """Where nodes run does not show in what they give."""
    for devices in (1, 2, 3):
        a = case.floats(40, 40)
        with tf1.Graph().as_default():
            x = tf1.placeholder(tf1.float32, [40, 40])
            sides = []
            for device in ("", "/cpu:0", "/cpu:1", "/cpu:7", "/gpu:0"):
                with tf1.device(device):
                    sides += [tf1.matmul(x, x), tf1.reduce_max(tf1.sin(x), 0)]
            loop = tf1.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf1.matmul(y, x) / 40), [0, x])[1]
            config = tf1.ConfigProto(device_count={"CPU": devices}, allow_soft_placement=True)
            config.graph_options.place_pruned_graph = True
            with tf1.Session(config=config) as session:
                wide = a.astype(np.float64)
                for found in session.run([sides, sides[::-1]], {x: a})[0][::2]:
                    case.check(found, wide @ wide, f"{devices} devices", 1e-4, 1e-4)
                for found in session.run(sides, {x: a})[1::2]:
                    case.check(found, np.sin(wide).max(0), f"{devices} devices", 1e-4, 1e-4)
                want = wide @ wide @ wide @ wide / 40**3
                case.check(session.run(loop, {x: a}), want, f"loop on {devices} devices", 1e-4, 1e-4)


@branches("eager/op", "eager/function")
def test_eager_calls(case):
    double = tf.function(lambda x, y: x * 2 + y)
    split = tf.function(lambda x: tf.split(x, 2))
    for shape in [(), (0,), (1,), (4,), (3, 4), (70000,)]:
        a = numbers(case, *shape)
        for value in (a, tf.constant(a), tf.Variable(a), a.tolist()):
            case.check(tf.add(tf.constant(a), value), a + a, f"{shape} {type(value)}", 0, 0)
            if shape != (0,):  # a list without items says no shape
                case.check(tf.multiply(value, tf.constant(a)), a * a, f"{shape} {type(value)}", 0, 0)
        case.check(tf.constant(a) + 2, a + 2, f"{shape} and a number", 0, 0)
        case.check(2 - tf.constant(a), 2 - a, f"a number and {shape}", 0, 0)
        for _ in range(3):
            case.check(double(tf.constant(a), tf.constant(a)), 3 * a, f"function of {shape}", 0, 0)
            case.check(double(a, 1), 2 * a + 1, f"function of an array of {shape}", 0, 0)
        with tf.GradientTape() as tape:
            x = tf.constant(a)
            tape.watch(x)
            y = tf.reduce_sum(double(x, x) * x)
        case.check(tape.gradient(y, x), 6 * a, f"gradient of {shape}", 0, 0)
        if shape == (4,):
            for got, want in zip(split(tf.constant(a)), np.split(a, 2)):
                case.check(got, want, "parts", 0, 0)
            for got, want in zip(tf.split(tf.constant(a), 2), np.split(a, 2)):
                case.check(got, want, "parts", 0, 0)
