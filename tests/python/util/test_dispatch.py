"""Dispatchers of libraries, which public functions ask where they refuse their arguments; answers are 2.21's."""
import subprocess
import sys
import textwrap


def run(program):
    """Runs a program in a process of its own, as dispatchers stay."""
    program = "from penstock import alias\nalias.install('v2')\nimport tensorflow as tf\n" + textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


_TRACER = """
    from tensorflow.python.util.tf_export import get_canonical_name_for_symbol as name_of

    class Tracer:
        dtype = tf.float32

        def __init__(self, text):
            self.text = text

        def __repr__(self):
            return self.text

        def __array__(self):
            raise TypeError("a tracer has no value")

    for operator in tf.Tensor.OVERLOADABLE_OPERATORS:
        setattr(Tracer, operator, getattr(tf.Tensor, operator))

    class Dispatcher(tf.__internal__.dispatch.GlobalOpDispatcher):
        def handle(self, op, args, kwargs):
            if not any(isinstance(x, Tracer) for x in tf.nest.flatten([args, kwargs])):
                return self.NOT_SUPPORTED
            given = [repr(x) for x in args] + [f"{k}={v!r}" for k, v in kwargs.items()]
            return Tracer(f"{name_of(op)}({', '.join(given)})")

    used_before = tf.reduce_sum, tf.nn.relu
    Dispatcher().register()
    x, y = Tracer("x"), Tracer("y")
"""


def test_global_dispatchers_take_over_functions_and_operators():
    found = run(_TRACER + """
    print(tf.reduce_sum(tf.nn.relu(x), axis=1), tf.concat([x, y], 0), tf.convert_to_tensor(x))
    print(x + 1, x * y, -x, abs(x), x[0], x[:y], x < y, x == y, tf.ones([3])[y], ~x)
    print(1 - x, "numpy" in repr(2.0 / x))
    print(tf.image.resize(x, [2, 2]), tf.nn.softmax(x), tf.linalg.matmul(x, y), tf.boolean_mask(x, y))
    try:
        tf.reshape(object(), [2])
    except (TypeError, ValueError):
        print("refused as ever")
    """)
    assert found == [
        "math.reduce_sum(nn.relu(x), axis=1) concat([x, y], 0) convert_to_tensor(x)",
        "__operators__.add(x, 1) math.multiply(x, y) math.negative(x) math.abs(x) __operators__.getitem(x, 0) "
        "__operators__.getitem(x, slice(None, y, None)) math.less(x, y) math.equal(x, y) __operators__.getitem("
        "<tf.Tensor: shape=(3,), dtype=float32, numpy=array([1., 1., 1.], dtype=float32)>, y) "
        "math.logical_not(x)",
        "math.subtract(<tf.Tensor: shape=(), dtype=float32, numpy=1.0>, x) True",
        "image.resize(x, [2, 2]) nn.softmax(x) linalg.matmul(x, y) boolean_mask(x, y)",
        "refused as ever"]


def test_dispatchers_of_one_function():
    found = run("""
    from tensorflow.python.util import dispatch

    class Money:
        def __init__(self, amount):
            self.amount = amount

    class Doubling(dispatch.OpDispatcher):
        def handle(self, args, kwargs):
            x, *_ = [*args, *kwargs.values()]
            return 2 * x.amount if isinstance(x, Money) else self.NOT_SUPPORTED

    Doubling().register(tf.math.square)
    print(tf.math.square(Money(4)), tf.math.square(3).numpy())

    @dispatch.dispatch_for_types(tf.concat, Money)
    def concat(values, axis):
        return sum(each.amount for each in values)

    print(tf.concat([Money(1), Money(2)], 0), concat.__name__)
    try:
        tf.concat([Money(1)], 0, name="n")
    except AssertionError as e:
        print(e)
    try:
        dispatch.dispatch_for_types(tf.concat, Money)(lambda axis, values: 0)
    except AssertionError as e:
        print(e)

    @dispatch.add_dispatch_support(iterable_parameters=["values"])
    def own(values):
        for value in values:
            if not isinstance(value, float):
                raise TypeError("floats are wanted")
        return "floats"

    class Counting(dispatch.OpDispatcher):
        def handle(self, args, kwargs):
            return len(args[0])

    Counting().register(own)
    print(own([1.0]), own(iter([1, 2, 3])), own(values=iter([])))
    """)
    assert found == [
        "8 9", "3 concat",
        "Dispatched op is called with argument `name` set to a non-default value, which is not supported by the "
        "decorated function",
        "The decorated function's non-default arguments must be identical to that of the overridden op.",
        "floats 3 floats"]


def test_canonical_names():
    found = run("""
    from tensorflow.python.util.tf_export import get_canonical_name_for_symbol as name_of
    print(*map(name_of, [tf.add, tf.matmul, tf.cast, tf.nn.softmax, tf.sigmoid, tf.transpose, tf.einsum, tf.norm]))
    print(name_of(tf.compat.v1.where, add_prefix_to_v1_names=True), name_of(lambda: 0))
    """)
    assert found == ["math.add linalg.matmul cast nn.softmax math.sigmoid transpose einsum norm",
                     "compat.v1.where None"]
