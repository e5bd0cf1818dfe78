"""Errors of functions that ran: they name the node and the lines of the program that built it, as TensorFlow 2.21's."""
import inspect
import re

import pytest

import penstock as tf
from penstock._src.graph import context
from penstock._src.base import tf2


@pytest.fixture(autouse=True)
def eagerly(monkeypatch):
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    with context.eager_mode():
        yield


def quotient(x):
    return 10 // x


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def fails(f, *args, error=tf.errors.InvalidArgumentError):
    """The message of the error; (function, line) of each call in this file that it shows, outermost first."""
    with pytest.raises(error) as e:
        f(*args)
    message = e.value.message
    assert str(e.value) == message
    calls = re.findall(r'  File "(.*)", line (\d+), in (.*)\n', message.split("Traceback")[0])
    return message, [(function, int(line)) for file, line, function in calls if file == __file__]


@tf.function
def divided(x):
    return quotient(x)


@tf.function
def branch(x):
    if x < 1:
        result = quotient(x)
    else:
        result = x
    return result


@tf.function
def loop(x):
    total = 0
    for i in tf.range(3):
        total += quotient(
            x)
    return total


def test_the_line_that_built_the_node():
    message, calls = fails(divided, tf.constant(0))
    at = "Graph execution error:\n\nDetected at node floordiv defined at (most recent call last):\n"
    assert message.startswith(at) and re.search(
        r"\nInteger division by zero\n\t \[\[{{node floordiv}}\]\] \[Op:__inference_divided_\d+\]$", message)
    assert calls[-2:] == [("divided", line_of(divided.python_function, "quotient")),
                          ("quotient", line_of(quotient, "//"))]
    assert "    return 10 // x\n" in message and "penstock/framework" not in message


def test_branches_loops_and_calls():
    own = branch.python_function
    message, calls = fails(branch, tf.constant(0))
    assert "node cond/floordiv defined at" in message and "{{node cond/floordiv}}" in message
    assert calls[-3:] == [("branch", line_of(own, "if x")), ("branch", line_of(own, "quotient")),
                          ("quotient", line_of(quotient, "//"))]
    message, calls = fails(loop, tf.constant(0))
    assert "{{node while/floordiv}}" in message
    assert calls[-3:-1] == [("loop", line_of(loop.python_function, "for i")),
                            ("loop", line_of(loop.python_function, "quotient("))]
    for inner in (divided, branch):
        message, calls = fails(tf.function(lambda x: inner(x + 0) + 1), tf.constant(0))
        assert calls[-1][0] == "quotient" and re.search(r"{{node (cond/)?floordiv}}", message)


def test_gradients_assertions_and_shapes():
    @tf.function(input_signature=[tf.TensorSpec([None, None])] * 2)
    def product(a, b):
        return tf.matmul(a + 1.0, b)

    message, calls = fails(product, tf.ones([2, 3]), tf.ones([2, 3]))
    assert "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]\n\t [[{{node MatMul}}]]" in message
    assert calls[-1] == ("product", line_of(product.python_function, "tf.matmul"))

    @tf.function
    def positive(x):
        tf.debugging.assert_greater(x, 0.0, message="wanted")
        return x * x

    with tf.GradientTape() as tape:
        x = tf.constant(0.0)
        tape.watch(x)
        message, calls = fails(positive, x)
    assert "Detected at node assert_greater/Assert/Assert" in message and "assertion failed: [wanted]" in message
    assert calls[-1] == ("positive", line_of(positive.python_function, "tf.debugging"))


def raising(x):
    raise ValueError("no")


def test_python_functions():
    asked = tf.function(lambda x: tf.py_function(raising, [x], tf.int32))
    message, calls = fails(asked, tf.constant(0))
    assert "Detected at node EagerPyFunc" in message and "ValueError: no" in message
    assert 'in raising\n    raise ValueError("no")' in message and calls[-1][0] == "<lambda>"


def test_what_no_program_built_has_no_lines():
    message, calls = fails(tf.gather, [1, 2], 5)
    assert not calls and "Graph execution error" not in message


def test_version_one_keeps_its_form(monkeypatch):
    monkeypatch.setattr(tf2, "enabled", lambda: False)
    message, _ = fails(divided, tf.constant(0))
    assert re.fullmatch(r"Integer division by zero\n\t \[\[node floordiv \(defined at .*test_function_errors.py:\d+\) "
                        r"\]\] \[Op:__inference_divided_\d+\]\n\nFunction call stack:\ndivided\n", message)


def test_functions_that_are_called_and_functions_of_datasets():
    v = tf.Variable(0)

    @tf.function
    def stateful(x):
        v.assign_add(1)
        return quotient(x)

    message, calls = fails(tf.function(lambda x: stateful(x + 0) + 1), tf.constant(0))
    assert calls[-1][0] == "quotient" and "{{node floordiv}}" in message and "function_node" not in message
    dataset = tf.data.Dataset.from_tensor_slices([1, 0]).map(lambda x: quotient(x))
    message, calls = fails(list, dataset)
    assert calls[-1] == ("quotient", line_of(quotient, "//")) and "function_node" not in message
    assert re.search(r"\nError in user-defined function passed to MapDataset.* Integer division by zero\n\t "
                     r"\[\[{{node floordiv}}\]\] \[Op:IteratorGetNext\]$", message)
    whole = tf.function(lambda: dataset.reduce(0, lambda a, b: a + b))
    assert fails(whole)[1][-1] == ("quotient", line_of(quotient, "//"))


def test_sessions_name_the_lines_of_functions():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        following = tf.compat.v1.data.make_one_shot_iterator(
            tf.data.Dataset.from_tensors(0).map(lambda x: quotient(x))).get_next()
        with pytest.raises(tf.errors.InvalidArgumentError) as e:
            session.run(following)
    assert f"[[node floordiv (defined at {__file__}:{line_of(quotient, '//')}) ]]" in e.value.message
