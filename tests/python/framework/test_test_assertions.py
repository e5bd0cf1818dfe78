"""Abseil's assertions: each holds, and each fails."""
import pytest

import penstock.v1 as tf
from penstock._src.testing import googletest

case = tf.test.TestCase()


@pytest.mark.parametrize("name, good, bad", [
    ("assertLen", ([1, 2], 2), ([1, 2], 3)),
    ("assertEmpty", ({},), ({1: 2},)),
    ("assertNotEmpty", ([0],), ([],)),
    ("assertBetween", (2, 1, 3), (4, 1, 3)),
    ("assertStartsWith", ("abc", "ab"), ("abc", "b")),
    ("assertNotStartsWith", ("abc", "b"), ("abc", "ab")),
    ("assertEndsWith", ("abc", "bc"), ("abc", "b")),
    ("assertNotEndsWith", ("abc", "b"), ("abc", "bc")),
    ("assertRegexMatch", ("abc", ["x", "b."]), ("abc", ["x", "^b"])),
    ("assertContainsInOrder", (["a", "c"], "abc"), (["c", "a"], "abc")),
    ("assertUrlEqual", ("http://x/y?a=1&b=2", "http://x/y?b=2&a=1"), ("http://x/y?a=1", "http://x/y?a=2")),
    ("assertJsonEqual", ('{"a": 1, "b": [2]}', '{"b": [2], "a": 1}'), ('{"a": 1}', '{"a": 2}')),
    ("assertSameElements", ([1, 2, 2], (2, 1)), ([1, 2], [1, 3])),
    ("assertSameElements", ([[1], [2]], [[2], [1]]), ([[1]], [[2]])),
    ("assertNoCommonElements", ([1], [2]), ([1, 2], [2])),
    ("assertContainsSubset", ([1], [2, 1]), ([3], [2, 1])),
    ("assertContainsSubsequence", ([1, 2, 3], [1, 3]), ([1, 2, 3], [3, 1])),
    ("assertContainsExactSubsequence", ([1, 2, 3], [2, 3]), ([1, 2, 3], [1, 3])),
    ("assertSequenceStartsWith", ([1, 2], [1, 2, 3]), ([2], [1, 2, 3])),
    ("assertSequenceAlmostEqual", ([1., 2.], [1., 2.0000000001]), ([1., 2.], [1., 2.1])),
    ("assertTotallyOrdered", ([1], [2, 2.], [3]), ([1], [3], [2])),
    ("assertSameStructure", ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}), ({"a": [1, {"b": 2}]},
                                                                        {"a": [1, {"b": 3}]})),
    ("assertMultiLineEqual", ("a\nb", "a\nb"), ("a\nb", "a\nc")),
])
def test_an_assertion_holds_and_fails(name, good, bad):
    for test_case in (case, googletest.TestCase()):
        getattr(test_case, name)(*good)
        with pytest.raises(AssertionError):
            getattr(test_case, name)(*bad)


def test_an_exception_has_that_text_and_no_other():
    with case.assertRaisesWithLiteralMatch(ValueError, "a+b"):
        raise ValueError("a+b")
    with pytest.raises(AssertionError), case.assertRaisesWithLiteralMatch(ValueError, "a+b"):
        raise ValueError("aab")


def test_files_and_folders_are_paths():
    with open(case.create_tempfile("a/b.txt", content="hi").full_path) as f:
        assert f.read() == "hi"
    with open(case.create_tempfile(content=b"hi"), "rb") as f:
        assert f.read() == b"hi"
    assert case.create_tempdir("x").full_path.endswith("x")
