"""The assertions that TensorFlow's test cases have from Abseil's, beyond unittest's."""
import collections
import difflib
import json
import numbers
import os
import re
import tempfile
import urllib.parse


class Assertions:
    """To be inherited together with unittest.TestCase. Each method fails the test, with `msg` if it is given."""

    def assertLen(self, container, expected_len, msg=None):  # noqa: N802
        """A container of that length."""
        if len(container) != expected_len:
            self.fail(self._formatMessage(msg, "%r has length of %d, expected %d." %
                                          (container, len(container), expected_len)))

    def assertEmpty(self, container, msg=None):  # noqa: N802
        """A container without elements."""
        self._check_container(container)
        if len(container):
            self.fail(self._formatMessage(msg, "%r has length of %d." % (container, len(container))))

    def assertNotEmpty(self, container, msg=None):  # noqa: N802
        """A container with elements."""
        self._check_container(container)
        if not len(container):
            self.fail(self._formatMessage(msg, "%r has length of 0." % (container,)))

    def _check_container(self, container):
        if not isinstance(container, collections.abc.Sized):
            self.fail("Expected a Sized object, got: %r" % type(container).__name__)

    def assertBetween(self, value, minv, maxv, msg=None):  # noqa: N802
        """minv <= value <= maxv."""
        message = self._formatMessage(msg, "%r unexpectedly not between %r and %r" % (value, minv, maxv))
        self.assertTrue(minv <= value <= maxv, message)

    # Strings

    def assertStartsWith(self, actual, expected_start, msg=None):  # noqa: N802
        """A string that begins so."""
        if not actual.startswith(expected_start):
            self.fail(self._formatMessage(msg, "%r does not start with %r" % (actual, expected_start)))

    def assertNotStartsWith(self, actual, unexpected_start, msg=None):  # noqa: N802
        """A string that does not begin so."""
        if actual.startswith(unexpected_start):
            self.fail(self._formatMessage(msg, "%r does start with %r" % (actual, unexpected_start)))

    def assertEndsWith(self, actual, expected_end, msg=None):  # noqa: N802
        """A string that ends so."""
        if not actual.endswith(expected_end):
            self.fail(self._formatMessage(msg, "%r does not end with %r" % (actual, expected_end)))

    def assertNotEndsWith(self, actual, unexpected_end, msg=None):  # noqa: N802
        """A string that does not end so."""
        if actual.endswith(unexpected_end):
            self.fail(self._formatMessage(msg, "%r does end with %r" % (actual, unexpected_end)))

    def assertRegexMatch(self, actual_str, regexes, message=None):  # noqa: N802
        """A string in which one of the expressions is found."""
        if isinstance(regexes, (str, bytes)):
            self.fail("regexes is string or bytes; it should be a list of them.")
        if not regexes:
            self.fail("No regexes specified.")
        if not any(re.search(regex, actual_str, re.MULTILINE) for regex in regexes):
            self.fail(self._formatMessage(message, '"%s" does not contain any of %r' % (actual_str, regexes)))

    def assertContainsInOrder(self, strings, target, msg=None):  # noqa: N802
        """A string in which all `strings` occur, one behind the other."""
        if isinstance(strings, (str, bytes)):
            strings = [strings]
        at = 0
        for text in strings:
            found = target.find(text, at)
            if found == -1:
                self.fail(self._formatMessage(msg, "Did not find %r in %r behind position %d" % (text, target, at)))
            at = found

    def assertUrlEqual(self, a, b, msg=None):  # noqa: N802
        """URLs that differ in the order of their parameters at most."""
        first, second = urllib.parse.urlparse(a), urllib.parse.urlparse(b)
        for part in ("scheme", "netloc", "path", "fragment"):
            self.assertEqual(getattr(first, part), getattr(second, part), msg)
        self.assertEqual(sorted(first.params.split(";")), sorted(second.params.split(";")), msg)
        self.assertDictEqual(urllib.parse.parse_qs(first.query, keep_blank_values=True),
                             urllib.parse.parse_qs(second.query, keep_blank_values=True), msg)

    def assertJsonEqual(self, first, second, msg=None):  # noqa: N802
        """Texts that say the same in JSON."""
        self.assertSameStructure(json.loads(first), json.loads(second), aname="first", bname="second", msg=msg)

    # Sequences and sets

    def assertSameElements(self, expected_seq, actual_seq, msg=None):  # noqa: N802
        """The same elements, however often and in whatever order."""
        for each in (expected_seq, actual_seq):
            if isinstance(each, (str, bytes)):
                self.fail("Passing string/bytes to assertSameElements is usually a bug.")
        try:
            same = set(expected_seq) == set(actual_seq)
        except TypeError:  # elements without a hash
            same = (all(e in actual_seq for e in expected_seq) and all(e in expected_seq for e in actual_seq))
        if not same:
            self.fail(self._formatMessage(msg, "Expected the elements of %r, got those of %r" %
                                          (list(expected_seq), list(actual_seq))))

    def assertNoCommonElements(self, expected_seq, actual_seq, msg=None):  # noqa: N802
        """No element in both."""
        common = set(expected_seq) & set(actual_seq)
        if common:
            self.fail(self._formatMessage(msg, "Common elements %s" % sorted(common, key=repr)))

    def assertContainsSubset(self, expected_subset, actual_set, msg=None):  # noqa: N802
        """All elements of the first in the second."""
        missing = set(expected_subset) - set(actual_set)
        if missing:
            self.fail(self._formatMessage(msg, "Missing elements %s" % sorted(missing, key=repr)))

    def assertContainsSubsequence(self, container, subsequence, msg=None):  # noqa: N802
        """All elements of `subsequence` in that order, perhaps with others between them."""
        rest = iter(container)
        for element in subsequence:
            if not any(element == each for each in rest):
                self.fail(self._formatMessage(msg, "%r is not a subsequence of %r: %r is missing" %
                                              (subsequence, container, element)))

    def assertContainsExactSubsequence(self, container, subsequence, msg=None):  # noqa: N802
        """All elements of `subsequence` in that order and without others between them."""
        container, subsequence = list(container), list(subsequence)
        starts = range(len(container) - len(subsequence) + 1)
        if not any(container[i:i + len(subsequence)] == subsequence for i in starts):
            self.fail(self._formatMessage(msg, "%r is not contained in %r" % (subsequence, container)))

    def assertSequenceStartsWith(self, prefix, whole, msg=None):  # noqa: N802
        """A sequence that begins so; one element may stand for itself."""
        if isinstance(prefix, (str, bytes)) or not isinstance(prefix, collections.abc.Sequence):
            prefix = [prefix]
        if list(whole[:len(prefix)]) != list(prefix):
            self.fail(self._formatMessage(msg, "prefix: %s not found at start of whole: %s." % (prefix, whole)))

    def assertSequenceAlmostEqual(self, expected_seq, actual_seq, places=None, msg=None,  # noqa: N802
                                  delta=None):
        """Numbers that are almost equal one by one."""
        if len(expected_seq) != len(actual_seq):
            self.fail(self._formatMessage(msg, "Sequence size mismatch: %d vs %d" %
                                          (len(expected_seq), len(actual_seq))))
        for expected, actual in zip(expected_seq, actual_seq):
            self.assertAlmostEqual(expected, actual, places=places, msg=msg, delta=delta)

    def assertTotallyOrdered(self, *groups, **kwargs):  # noqa: N802
        """Groups of equal objects, each group below the next, by all six comparisons."""
        msg = kwargs.get("msg")
        ordered = [(place, each) for place, group in enumerate(groups) for each in group]
        for at, one in ordered:
            for other_at, other in ordered:
                for name, holds, expected in (("<", one < other, at < other_at), ("<=", one <= other, at <= other_at),
                                              ("==", one == other, at == other_at), ("!=", one != other,
                                                                                     at != other_at),
                                              (">", one > other, at > other_at), (">=", one >= other,
                                                                                  at >= other_at)):
                    if bool(holds) != expected:
                        self.fail(self._formatMessage(msg, "%r %s %r is %s" % (one, name, other, bool(holds))))

    def assertSameStructure(self, a, b, aname="a", bname="b", msg=None):  # noqa: N802
        """Values that are equal, dicts and lists by their contents; says where they are not."""
        problems = []
        _differences(a, b, aname, bname, problems)
        if problems:
            self.fail(self._formatMessage(msg, "; ".join(problems[:10])))

    def assertMultiLineEqual(self, first, second, msg=None, **kwargs):  # noqa: N802
        """Texts that are equal line by line."""
        if not (isinstance(first, str) and isinstance(second, str)):
            self.fail("Both arguments must be strings, not %r and %r" % (type(first).__name__, type(second).__name__))
        if first != second:
            lines = difflib.ndiff(first.splitlines(True), second.splitlines(True))
            self.fail(self._formatMessage(msg, "\n" + "".join(line for line in lines if not line.startswith("  "))))

    # Exceptions and files

    def assertRaisesWithLiteralMatch(self, expected_exception, expected_exception_message,  # noqa: N802
                                     callable_obj=None, *args, **kwargs):
        """Raises an exception whose text is exactly that; a context manager without `callable_obj`."""
        context = self.assertRaisesRegex(expected_exception, r"\A%s\Z" % re.escape(expected_exception_message))
        if callable_obj is None:
            return context
        with context:
            callable_obj(*args, **kwargs)
        return None

    def create_tempdir(self, name=None, cleanup=None):
        """A new folder; it has `full_path`, and is a path itself."""
        return _Path(tempfile.mkdtemp()) if name is None else _folder(os.path.join(tempfile.mkdtemp(), name))

    def create_tempfile(self, file_path=None, content=None, mode="w", encoding="utf8", errors="strict", cleanup=None):
        """A new file with that content; it has `full_path`, and is a path itself."""
        path = os.path.join(tempfile.mkdtemp(), file_path or "file")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        binary = isinstance(content, bytes) or "b" in mode
        with open(path, "wb" if binary else "w", **({} if binary else {"encoding": encoding, "errors": errors})) as f:
            f.write(content or (b"" if binary else ""))
        return _Path(path)


class _Path(str):
    """A path as Abseil's tests hold it."""

    @property
    def full_path(self):
        """The path."""
        return str(self)


def _folder(path):
    os.makedirs(path)
    return _Path(path)


def _differences(a, b, aname, bname, problems):
    numeric = isinstance(a, numbers.Number) and isinstance(b, numbers.Number)
    if type(a) is not type(b) and not numeric and not (isinstance(a, str) and isinstance(b, str)):
        both = [isinstance(a, kind) and isinstance(b, kind)
                for kind in (collections.abc.Mapping, collections.abc.Sequence)]
        if not any(both):
            problems.append("%s is a %r but %s is a %r" % (aname, type(a), bname, type(b)))
            return
    if isinstance(a, collections.abc.Mapping):
        for key in a:
            if key in b:
                _differences(a[key], b[key], "%s[%r]" % (aname, key), "%s[%r]" % (bname, key), problems)
            else:
                problems.append("%s has [%r] but %s does not" % (aname, key, bname))
        problems.extend("%s lacks [%r] but %s has it" % (aname, key, bname) for key in b if key not in a)
    elif isinstance(a, collections.abc.Sequence) and not isinstance(a, (str, bytes)):
        for i in range(min(len(a), len(b))):
            _differences(a[i], b[i], "%s[%d]" % (aname, i), "%s[%d]" % (bname, i), problems)
        if len(a) != len(b):
            problems.append("%s has %d elements but %s has %d" % (aname, len(a), bname, len(b)))
    elif a != b:
        problems.append("%s is %r but %s is %r" % (aname, a, bname, b))
