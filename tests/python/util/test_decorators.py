"""Decorators that keep what they decorate reachable; marks of deprecation. Expected texts are TensorFlow 1.15.5's."""
import collections
import functools
import threading

import pytest

from penstock._src.base import decorator_utils, deprecation, keyword_args, lock_util, nest, tf_decorator, tf_inspect
from penstock._src.base.tf_contextlib import contextmanager


def plain(a, b=2, *args, **kwargs):
    """Adds."""
    return a + b


def doubled(function, **options):
    def wrapper(*args, **kwargs):
        return 2 * wrapper.__wrapped__(*args, **kwargs)
    return tf_decorator.make_decorator(function, wrapper, **options)


def test_a_decorated_function_looks_like_its_target():
    one = doubled(plain)
    two = doubled(one, decorator_doc="Adds twice.", decorator_argspec=tf_inspect.ArgSpec(["x"], None, None, None))
    assert (one.__name__, one.__doc__, two.__doc__) == ("plain", "Adds.", "Adds twice.")
    decorators, target = tf_decorator.unwrap(two)
    assert target is plain and [d.decorator_name for d in decorators] == ["doubled", "doubled"]
    assert tf_inspect.getfullargspec(one).args == ["a", "b"] and tf_inspect.getargspec(two).args == ["x"]
    assert tf_inspect.isfunction(two) and tf_inspect.getsource(two) == tf_inspect.getsource(plain)
    assert tf_decorator.rewrap(two, plain, lambda a: a) is two and two(5) == 20
    assert tf_decorator.rewrap(plain, plain, len) is len
    direct = tf_decorator.TFDecorator("name", plain)
    assert direct(1) == 3 and direct.__name__ == "plain"


def test_arguments():
    class Callable:
        def __init__(self, x):
            pass

        def __call__(self, y, z=1):
            pass

        def method(self, w):
            pass

    assert tf_inspect.getargspec(Callable).args == ["self", "x"]
    assert tf_inspect.getargspec(Callable(1)) == (["self", "y", "z"], None, None, (1,))
    assert tf_inspect.getargspec(functools.partial(plain, 1, b=5)) == (["b"], "args", "kwargs", (5,))
    with pytest.raises(ValueError, match="unknown partial keyword"):
        tf_inspect.getargspec(functools.partial(lambda a: a, nothing=1))
    with pytest.raises(ValueError, match="do not have default value"):
        tf_inspect.getargspec(functools.partial(lambda a, b: a, a=1))
    assert tf_inspect.getcallargs(doubled(plain), 1) == {"a": 1, "b": 2}
    assert tf_inspect.getcallargs(Callable(1).method, 3)["w"] == 3

    @contextmanager
    def scope(a, b=1):
        yield a + b

    with scope(1) as value:
        assert value == 2
    assert tf_inspect.getfullargspec(scope).args == ["a", "b"]


@pytest.fixture
def warnings(monkeypatch):
    said = []
    monkeypatch.setattr(deprecation.logging, "warning", lambda message, *args: said.append(message % args))
    return said


def test_deprecated_functions(warnings):
    old = deprecation.deprecated("2016-07-04", "Do that.")(plain)
    assert old.__doc__ == ("Adds. (deprecated)\n\nWarning: THIS FUNCTION IS DEPRECATED. It will be removed after "
                           "2016-07-04.\nInstructions for updating:\nDo that.")
    assert old(1) == 3 and old(2) == 4
    assert len(warnings) == 1 and __file__ in warnings[0] and "plain (from" in warnings[0]
    alias = deprecation.deprecated_alias("old.name", "new.name", plain)
    assert alias(1) == 3 and "The name old.name is deprecated. Please use new.name instead." in warnings[1]
    kind = deprecation.deprecated_alias("Old", "New", type("New", (), {"__doc__": "A class."}))
    assert isinstance(kind(), kind) and len(warnings) == 3 and kind.__doc__.startswith("A class. (deprecated)")
    with deprecation.silence():
        assert deprecation.deprecated(None, "x", warn_once=False)(plain)(1) == 3
    assert len(warnings) == 3
    for date, text in (("1999-01-01", "x"), (None, "")):
        with pytest.raises(ValueError):
            deprecation.deprecated(date, text)
    with pytest.raises(ValueError, match="@property appears before"):
        deprecation.deprecated(None, "x")(property(plain))


def test_deprecated_arguments(warnings):
    def function(a, b=None, *rest, **more):
        return a
    old = deprecation.deprecated_args(None, "x", ("b", 7), "rest", "more")(function)
    assert "SOME ARGUMENTS ARE DEPRECATED: `(b, more, rest)`" in old.__doc__
    assert old(1) == old(1, 7) == old(1, b=7) == 1
    assert [w for w in warnings if "with b" in w] == []
    old(1, 2)
    old(1, 7, 8)
    old(1, c=3)
    assert [w.split(" with ")[1].split()[0] for w in warnings] == ["more", "b", "rest"]
    with pytest.raises(ValueError, match="not present in the function signature"):
        deprecation.deprecated_args(None, "x", "nothing")(plain)
    by_value = deprecation.deprecated_arg_values(None, "x", b=3)(plain)
    assert (by_value(1, 2), by_value(1, b=3)) == (3, 4) and len(warnings) == 4 and "with b=3" in warnings[3]


def test_small_decorators():
    named = keyword_args.keyword_args_only(lambda **kwargs: kwargs)
    assert named(a=1) == {"a": 1}
    with pytest.raises(ValueError, match="Must use keyword args"):
        named(1)

    class Holder:
        value = decorator_utils.classproperty(lambda cls: cls.__name__)

    assert Holder.value == "Holder"
    deprecation.deprecated_endpoints("a", "b")(named)
    assert named._tf_deprecated_api_names == ("a", "b")
    with pytest.raises(deprecation.DeprecatedNamesAlreadySet):
        deprecation.deprecated_endpoints("c")(named)


def test_one_group_at_a_time():
    lock, order = lock_util.GroupLock(), []
    lock.acquire(0)
    lock.acquire(0)
    other = threading.Thread(target=lambda: (lock.acquire(1), order.append("other"), lock.release(1)))
    other.start()
    lock.release(0)
    order.append("still ours")
    lock.release(0)
    other.join(10)
    assert order == ["still ours", "other"]
    with pytest.raises(ValueError):
        lock.group(2)


def test_deprecated_classes_stay_classes(monkeypatch):
    warnings = []
    monkeypatch.setattr(deprecation.logging, "warning", lambda message, *args: warnings.append(message % args))

    @deprecation.deprecated(None, "Use B.")
    class A:
        def __init__(self, x):
            self.x = x

    assert isinstance(A, type) and A(3).x == 3 and isinstance(A(3), A) and "Use B." in A.__doc__
    assert len(warnings) == 1 and "Use B." in warnings[0]


def test_deprecated_arguments_may_be_for_keywords_only(monkeypatch):
    warned = []
    monkeypatch.setattr(deprecation.logging, "warning", lambda text, *arguments: warned.append(arguments[3]))

    @deprecation.deprecated_args("2016-07-04", "Do it.", "old", ("kept", 1), warn_once=False)
    def function(a, kept=1, *, old=None):
        return a, kept, old

    assert function(1) == (1, 1, None) and function(1, 1) == (1, 1, None) and not warned
    assert function(1, old=2) == (1, 1, 2) and function(1, 2) == (1, 2, None) and warned == ["old", "kept"]

    class NoEquality:
        def __eq__(self, other):
            raise ValueError("no value")

    @deprecation.deprecated_arg_values("2016-07-04", "Do it.", warn_once=False, x=None)
    def other(x):
        return x

    other(NoEquality())
    assert len(warned) == 2
    other(None)
    assert len(warned) == 3


def test_kinds_of_structures():
    pair = collections.namedtuple("Pair", "a b")
    assert nest.is_namedtuple(pair(1, 2)) and not nest.is_namedtuple((1, 2))
    assert nest.is_mapping({}) and not nest.is_mapping([]) and not nest.is_attrs(pair(1, 2))
    assert nest.same_namedtuples(pair(1, 2), collections.namedtuple("Pair", "a b")(3, 4))
    assert not nest.same_namedtuples(pair(1, 2), collections.namedtuple("Pair", "a c")(3, 4))
