"""The conversion keeps Python's meaning, and makes control flow over tensors the graph's."""
import functools
import itertools
import traceback

import pytest

import penstock as tf
from penstock._src.autograph.impl import api
from penstock._src.graph import context


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


# Python's meaning


def loops(n, limit):
    total, seen = 0, []
    for i in range(n):
        if i % 2 == 0:
            continue
        for j in range(i):
            if j > limit:
                break
            total += j
        else:
            seen.append(i)
        if total > 40:
            break
    else:
        total = -total
    while total > 100:
        total -= 7
        if total == 50:
            return "fifty"
    return total, seen


def branches(a, b):
    if a > 3:
        if b:
            return "both"
        x = 1
    elif a < -3:
        x = 2
    else:
        for k in range(a + 4):
            if k == b:
                return k
        x = 3
    y = "odd" if x % 2 and not (a == 5) else "even"
    return x, y, a or b, a and b, 0 < a < 3 != b


def tries(a):
    out = []
    try:
        with open("/dev/null") as f:
            out.append(f.read())
            if a == 0:
                return out
            1 // (a - 1)
    except ZeroDivisionError as e:
        out.append(type(e).__name__)
    else:
        out.append("else")
    finally:
        out.append("finally")
    del a
    return out


def closures(n):
    made = [lambda x, i=i: x + i for i in range(n)]

    def inner(x):
        nonlocal n
        n += 1
        while x > 0:
            x -= n
            if x == 3:
                return None
        return [f(x) for f in made if x]

    return inner(10), n, {k: v for k, v in zip("abc", made[0:1])} and 1


@pytest.mark.parametrize("function, arguments", [
    (loops, list(itertools.product(range(0, 14, 3), (-1, 2, 50)))),
    (branches, list(itertools.product(range(-5, 7), (0, 1, 2)))),
    (tries, [(0,), (1,), (2,)]),
    (closures, [(1,), (2,), (3,)]),
])
def test_the_twin_gives_the_same(function, arguments):
    twin = api.to_graph(function)
    for args in arguments:
        assert twin(*args) == function(*args), args


def test_defaults_keywords_and_documents():
    def f(a, b=2, *args, c=3, **kwargs):
        """Adds."""
        return a + b + sum(args) + c + sum(kwargs.values())

    twin = api.to_graph(f)
    assert twin.__doc__ == "Adds."
    assert twin(1) == 6 and twin(1, 1, 1, c=0, d=5) == 8


def test_a_break_in_a_loops_else_ends_the_loop_around():
    def f(n, m):
        seen = []
        for i in range(n):
            for j in range(m):
                if j == i:
                    break
            else:
                if i == 3:
                    continue
                break
            seen.append(i)
        return seen

    assert api.to_graph(f)(4, 2) == f(4, 2) == [0, 1]


def test_methods_and_super():
    class A:
        def f(self, x):
            return x + 1

    class B(A):
        __secret = 10

        def f(self, x):
            if x > 0:
                return super().f(x) + self.__secret
            return 0

    assert api.to_graph(B().f)(B(), 3) == 14


def test_a_name_without_value_is_refused():
    def f(x):
        if x:
            y = 1
        return y

    assert api.to_graph(f)(True) == 1
    with pytest.raises(UnboundLocalError):
        api.to_graph(f)(False) + 1


def test_generators_stay_as_they_are():
    def numbers(n):
        for i in range(n):
            yield i

    with pytest.raises(api.ConversionError, match="generators"):
        api.to_graph(numbers)

    @tf.function
    def f(x):
        return x + sum(numbers(4))

    assert int(f(tf.constant(1))) == 7


def test_an_error_stands_at_its_line():
    def f(x):
        if x > 0:
            raise KeyError("here")
        return x

    with pytest.raises(KeyError) as caught:
        api.to_graph(f)(1)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert last.filename == __file__ and last.line == 'raise KeyError("here")'


# Tensors


def test_if():
    @tf.function
    def f(x):
        if tf.reduce_sum(x) > 0:
            y = x * 2.0
        else:
            y = -x
        return y

    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    assert f(tf.constant([-1.0, -2.0])).numpy().tolist() == [1.0, 2.0]
    assert f.experimental_get_tracing_count() == 1


def test_return_in_branches():
    @tf.function
    def f(x):
        if x > 0:
            return "positive", x
        elif x < 0:
            return "negative", -x
        return "zero", x

    for value, text in ((3, b"positive"), (-3, b"negative"), (0, b"zero")):
        name, size = f(tf.constant(value))
        assert name.numpy() == text and int(size) == abs(value)


def test_while_with_break_and_continue():
    @tf.function
    def f(n):
        total = i = 0
        while i < n:
            i += 1
            if i % 2 == 0:
                continue
            if i > 10:
                break
            total += i
        return total, i

    assert [int(x) for x in f(tf.constant(5))] == [9, 5]
    assert [int(x) for x in f(tf.constant(100))] == [25, 11]


def test_for_over_a_tensor():
    @tf.function
    def f(x):
        total = 0.0
        for v in x:
            if v < 0.0:
                break
            total += v
        return total

    assert float(f(tf.constant([1.0, 2.0, -1.0, 5.0]))) == 3.0
    assert float(f(tf.constant([1.0, 2.0, 4.0]))) == 7.0


@pytest.mark.parametrize("arguments", [(5,), (2, 7), (10, 0, -3), (0, 10, 4), (3, 3)])
def test_for_over_a_range(arguments):
    @tf.function
    def f():
        total = 0
        for i in tf.range(*arguments):
            total = total * 10 + i
        return total

    assert int(f()) == functools.reduce(lambda total, i: total * 10 + i, range(*arguments), 0)


def test_nested():
    @tf.function
    def f(n):
        primes = 0
        for i in tf.range(2, n):
            prime = True
            j = 2
            while j * j <= i:
                if i % j == 0:
                    prime = False
                    break
                j += 1
            if prime:
                primes += 1
        return primes

    assert int(f(tf.constant(30))) == 10


def test_logic_ternaries_and_comparisons():
    @tf.function
    def f(x, y):
        a = 1 if x > 0 and y > 0 else 2
        b = 10 if x > 0 or y > 0 else 20
        c = 100 if not x == y else 200
        d = 1000 if 0 < x < 5 else 2000
        return a + b + c + d

    for x, y in itertools.product((-1, 2, 7), repeat=2):
        expected = (1 if x > 0 and y > 0 else 2) + (10 if x > 0 or y > 0 else 20) + (100 if x != y else 200) + (
            1000 if 0 < x < 5 else 2000)
        assert int(f(tf.constant(x), tf.constant(y))) == expected


def test_logic_of_variables():
    flag, number = tf.Variable(True), tf.Variable(3)

    @tf.function
    def f(flag, number):
        return not flag, flag and number > 2, flag or number > 5, number == 3, number != 3, 1 if not flag else 2

    for value in (True, False):
        flag.assign(value)
        assert [x.numpy() for x in f(flag, number)] == [not value, value, value, True, False, 2 if value else 1]


def test_a_loop_gives_variables_their_first_values():
    @tf.function
    def f(n):
        for i in tf.range(n):
            last, row = i * 2, tf.ones([i])
        return last, row

    last, row = f(tf.constant(4))
    assert int(last) == 6 and row.shape.as_list() == [3]


def test_what_is_called_is_converted_too():
    def helper(a):
        if a > 2:
            return a * 10
        return a

    class Model:
        def __call__(self, a):
            return helper(a) if a > 0 else self.negative(a)

        def negative(self, a):
            while a < 0:
                a += 5
            return a

    @tf.function
    def f(x):
        return Model()(x) + functools.partial(helper)(x) + (lambda q: q if q > 0 else -q)(x)

    assert int(f(tf.constant(3))) == 63
    assert int(f(tf.constant(-7))) == 3 - 7 + 7


def test_what_is_not_to_be_converted():
    @tf.autograph.experimental.do_not_convert
    def f(x):
        return 1 if isinstance(x, tf.Tensor) else 2

    @tf.function(autograph=False)
    def g(x):
        if x > 0:
            return x
        return -x

    assert int(tf.function(lambda x: f(x) + x)(tf.constant(1))) == 2
    with pytest.raises(TypeError, match="not allowed in Graph execution"):
        g(tf.constant(1))


def test_assert():
    @tf.function
    def f(x):
        assert x < 10, "too large"
        return x

    assert int(f(tf.constant(5))) == 5
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        f(tf.constant(11))


def test_elements_are_set():
    @tf.function
    def f(x):
        for i in tf.range(3):
            x[i] = x[i] * 10
        return x

    assert f(tf.constant([1, 2, 3])).numpy().tolist() == [10, 20, 30]


def test_attributes_are_state():
    class Box:
        pass

    box = Box()

    @tf.function
    def f(x):
        box.value = x
        if x > 0:
            box.value = x * 2
        return box.value

    assert int(f(tf.constant(3))) == 6 and int(f(tf.constant(-3))) == -3


def test_loop_options():
    @tf.function
    def f(n):
        x = tf.zeros([1])
        for _ in tf.range(n):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(x, tf.TensorShape([None]))])
            x = tf.concat([x, [1.0]], 0)
        return x

    assert f(tf.constant(3)).numpy().tolist() == [0.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize("message, kind", [
    ("'z' must also be initialized in the else branch", ValueError),
    ("'i' has dtype int32 before the loop, but dtype float32 after one iteration", TypeError),
    ("'x' has shape .* before the loop, but shape .* after one iteration", ValueError),
    ("'q' must be defined before the loop", ValueError),
    ("the else branch must also have a return statement", ValueError),
    ("a return statement cannot be placed inside", NotImplementedError),
])
def test_refused(message, kind):
    def one_branch(x):
        if x > 0:
            z = 1
        return z

    def another_type(x):
        i = 0
        while i < x:
            i = 1.5
        return i

    def another_shape(n):
        x = tf.zeros([1])
        while tf.size(x) < n:
            x = tf.concat([x, x], 0)
        return x

    def undefined(n):
        i = 0
        while i < n:
            q = q + i  # noqa: F821
            i += 1
        return q

    def one_return(x):
        if x > 0:
            return x

    def return_in_loop(x):
        for i in tf.range(x):
            if i > 2:
                return i
        return x

    function = {"'z'": one_branch, "'i'": another_type, "'x'": another_shape, "'q'": undefined, "the": one_return,
                "a": return_in_loop}[message.split()[0]]
    with pytest.raises(kind, match=message):
        tf.function(function)(tf.constant(5))


def test_lambdas_that_call_what_a_module_imports():
    double, negate = [tf.function(f) for f in (lambda x: tf.add(x, x) if x > 0 else x, lambda x: tf.negative(x))]
    assert int(double(tf.constant(3))) == 6 and int(negate(tf.constant(3))) == -3


def test_a_lambda_of_several_in_a_line():
    f, g = (tf.function(lambda x: x if x > 0 else -x), tf.function(lambda x: x * 2 if x > 0 else x))
    assert int(f(tf.constant(-3))) == 3 and int(g(tf.constant(4))) == 8


class Chain:
    """Keeps the functions that it is given, as tf.functions."""

    def __init__(self):
        self.functions = []

    def then(self, function, *_):
        self.functions.append(tf.function(function))
        return self


def test_lambdas_of_a_line_that_is_the_end_of_a_statement():
    chain, = tuple([Chain().then(lambda x: tf.abs(x)).then(
        lambda x: tf.negative(x), [4], [2, 2]).then(lambda x: tf.add(x, 10))])
    assert [int(f(tf.constant(-3))) for f in chain.functions] == [3, 3, 7]


def test_gradients():
    v = tf.Variable(3.0)

    @tf.function
    def f(x):
        if x > 0.0:
            y = x * x * v
        else:
            y = -x
        return y * 2.0

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert [float(g) for g in tape.gradient(y, [x, v])] == [24.0, 8.0]
    g = tf.function(lambda x: x * x if x > 0.0 else -x)
    for value, expected in ((3.0, 6.0), (-2.0, -1.0)):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = g(x)
        assert float(tape.gradient(y, x)) == expected

    @tf.function
    def inner_tape(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x if x > 0.0 else -x
        return tape.gradient(y, x)

    assert float(inner_tape(tf.constant(3.0))) == 6.0 and float(inner_tape(tf.constant(-3.0))) == -1.0


def test_print_runs_when_a_function_is_traced(capsys):
    @tf.function
    def double(x):
        print("tracing", x)
        return 2 * x

    assert [double(tf.constant(x)).numpy() for x in (3, 4)] == [6, 8]
    assert capsys.readouterr().out == 'tracing Tensor("x:0", shape=(), dtype=int32)\n'


def factorial(n, x):
    if n <= 0:
        return x
    return factorial(n - 1, x * n)


@tf.function
def traced_factorial(n, x):
    if n <= 0:
        return x
    return traced_factorial(n - 1, x * n)


@tf.function
def without_end(x):
    return without_end(x) * x


def test_functions_that_call_themselves():
    assert int(tf.function(factorial)(5, tf.constant(1))) == 120
    assert int(traced_factorial(5, tf.constant(1))) == 120
    with pytest.raises(RecursionError):
        without_end(tf.constant(1.0))


@pytest.mark.parametrize("value, expected", [(2.0, 2.0), (0.0, -1.0), (-0.0, -1.0)])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.complex64, tf.int8])
def test_numbers_as_conditions(value, expected, dtype):
    f = tf.function(lambda x: tf.cond(x, lambda: x, lambda: x - 1))
    assert f(tf.cast(value, dtype)).numpy() == expected


def test_conditions_are_scalars_of_bool():
    def choose(x):
        if x:
            return 1
        return 2

    def loop(x):
        while x < 3:
            x += 1
        return x

    assert int(tf.function(lambda x: choose(x > 0))(tf.constant([[5]]))) == 1
    assert tf.function(loop)(tf.constant([0])).numpy().tolist() == [3]
    for function, value in ((choose, 1.0), (choose, [True, False]), (loop, [1, 2])):
        with pytest.raises(ValueError, match="expected to be `tf.bool` scalar"):
            tf.function(function)(tf.constant(value))


@pytest.mark.parametrize("first", [False, True])
def test_a_loop_that_gives_first_values_must_run(first):
    def f(n):
        if first:
            y = None
        for i in tf.range(n):
            y = (i, {"twice": i * 2})
        return y

    assert tf.nest.map_structure(int, tf.function(f)(tf.constant(3))) == (2, {"twice": 4})
    with pytest.raises(tf.errors.InvalidArgumentError, match="loop must iterate at least once to initialize y"):
        tf.function(f)(tf.constant(0))


def test_a_dataset_that_gives_first_values_must_have_elements():
    def f(dataset):
        for x in dataset:
            last = x
        return last

    assert int(tf.function(f)(tf.data.Dataset.range(4))) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="to initialize last"):
        tf.function(f)(tf.data.Dataset.range(0))


class Holder:
    def __init__(self, **values):
        self.__dict__.update(values)


def elements_of_a_list(n):
    made = [tf.constant(1), n]
    if n > 3:
        made[1] = made[1] * 2
    else:
        made[0] -= 1
    return made


def elements_of_a_dict(n):
    made, key = {"a": {"b": 1}, "c": 0}, "c"
    for i in tf.range(n):
        made["a"]["b"] *= 2
        made[key] += i
    return made


def an_attributes_elements(n):
    holder = Holder(made={"k": 1})
    while holder.made["k"] < n:
        holder.made["k"] *= 2
    return holder.made


def another_name_for_it(n):
    made = [0]
    other, made_in = made, {"x": made}
    for i in tf.range(n):
        made[0] += i
    if n > 3:
        made_in["y"] = n
    else:
        made_in["y"] = -n
    return other, made_in["x"], made_in


def objects_beside(n):
    made = {"object": Holder(), "count": 0}
    for _ in tf.range(n):
        made["count"] += 1  # while it is traced
    return made["count"]


@pytest.mark.parametrize("function", [elements_of_a_list, elements_of_a_dict, an_attributes_elements,
                                      another_name_for_it])
@pytest.mark.parametrize("n", [2, 5])
def test_elements_that_branches_and_bodies_set(function, n):
    traced = tf.function(function)(tf.constant(n))
    assert tf.nest.map_structure(int, traced) == tf.nest.map_structure(int, function(tf.constant(n)))


def test_containers_of_objects_stay_pythons():
    assert int(tf.function(objects_beside)(tf.constant(5))) == 1


@pytest.mark.parametrize("n", [2, 5])
def test_elements_of_a_surrounding_functions_containers(n):
    def program():
        kept, table = [0], {"a": {"b": 1}}

        def f(n):
            if n > 3:
                kept[0] += n
            for i in tf.range(n):
                table["a"]["b"] += i
            return kept[0], table["a"]["b"]
        return f

    traced, plain = tf.function(program())(tf.constant(n)), program()(n)
    assert [int(x) for x in traced] == [int(x) for x in plain]


def test_built_in_functions_over_datasets():
    def f(first, second):
        total = tf.constant(0, tf.int64)
        for i, (a, b) in enumerate(zip(first, second)):
            total += i * a * b
        for x in map(lambda a, b: a + b, first, second):
            total += x
        for x in filter(lambda x: x > 2, first):
            total += x
        return total, len(first), any(first.map(lambda x: x > 3)), all(first.map(lambda x: x > 3))

    total, size, some, every = tf.function(f)(tf.data.Dataset.range(5), tf.data.Dataset.range(1, 6))
    assert int(total) == sum(i * i * (i + 1) for i in range(5)) + sum(2 * i + 1 for i in range(5)) + 7
    assert int(size) == 5 and bool(some) and not bool(every)


def test_a_branch_that_leaves_nothing():
    def f(x):
        if x > 0:
            return None
        return x

    with pytest.raises(ValueError, match="is None at the end of the main branch"):
        tf.function(f)(tf.constant(1))


def test_names_of_lambdas_belong_to_the_branch():
    @tf.function
    def f(x):
        if x > 0:
            factor = 3
            x = tf.map_fn(lambda e: e * factor, x[tf.newaxis])[0]
        return x

    assert f(tf.constant(2)).numpy() == 6 and f(tf.constant(-2)).numpy() == -2


def test_operands_of_chains_are_computed_once():
    calls = []

    def middle(x):
        calls.append(1)
        return x + 1

    @tf.function
    def f(x):
        return 0 < middle(x) < 10 < middle(x)

    assert not f(tf.constant(3)).numpy() and len(calls) == 2


def plus(number):
    def decorator(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            result = function(*args, **kwargs)
            if result > 5:
                result = result + number
            return result
        return wrapper
    return decorator


@plus(100)
def distance(x):
    if x > 0:
        return x
    return -x


class Decorated:
    @plus(10)
    def method(self, x):
        return distance(x)

    @staticmethod
    @plus(20)
    def static(x):
        return distance(x)


def test_wrappers_that_look_like_what_they_wrap():
    f = tf.function(plus(1)(distance))
    assert [f(tf.constant(x)).numpy() for x in (-2, 3, -20, 7)] == [2, 3, 121, 108]
    methods = tf.function(lambda x: (Decorated().method(x), Decorated.static(x), functools.partial(distance)(x)))
    assert [int(y) for y in methods(tf.constant(-20))] == [130, 140, 120]


def test_rows_of_ragged_tensors():
    @tf.function
    def f(ragged):
        total, seen = 0, 0
        for row in ragged:
            if tf.size(row) == 0:
                continue
            for x in row:
                if x == 3:
                    break
                total += x
            seen += 1
            if total > 20:
                break
        return total, seen

    assert [int(y) for y in f(tf.ragged.constant([[1, 5], [3, 9], [], [7]]))] == [13, 3]
    assert [int(y) for y in f(tf.ragged.constant([[30], [1]]))] == [30, 1]


def test_a_loop_over_a_dataset_may_change_shapes():
    def collected(dataset, w):
        numbers, rows = tf.zeros([0]), tf.zeros([0, 2])
        for x in dataset:
            if x > 3:
                break
            numbers, rows = tf.concat([numbers, [w * x]], 0), tf.concat([rows, [[x, x]]], 0)
        return numbers, rows

    dataset, w = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0, 4.0]), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        numbers, rows = tf.function(collected)(dataset, w)
        total = tf.reduce_sum(numbers)
    assert numbers.numpy().tolist() == [2, 4, 6] and rows.numpy().tolist() == [[1, 1], [2, 2], [3, 3]]
    assert float(tape.gradient(total, w)) == 6
