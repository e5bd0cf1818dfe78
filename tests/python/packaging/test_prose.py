"""tools/check_prose.py: the texts that it reads of each kind of file, and its marks."""
import importlib.util
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location(
    "check_prose", Path(__file__).resolve().parents[3] / "tools" / "check_prose.py")
check_prose = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(check_prose)


def marks(read, source):
    return [(text.line + text.text.count("\n", 0, at), words) for text in read(source)
            for at, words in check_prose.marks_of(text.text)]


@pytest.mark.parametrize("text, words", [
    ("What the function returns.", "What"),
    ("Whoever waits is woken.", "Whoever"),
    ("a table of\nits own", "of its own"),
    ("The order hangs on its threads.", "hangs on"),
    ("type asked for", "asked for"),
])
def test_a_mark_is_found(text, words):
    assert [found for _, found in check_prose.marks_of(text)] == [words]


@pytest.mark.parametrize("text", [
    "What does it return?", "the standard library", "Understanding layers", "It asks for_each of them.", "a holder",
])
def test_plain_words_are_no_marks(text):
    assert not check_prose.marks_of(text)


def test_documents_are_read_without_code():
    source = "a `behind` b\n```\nbehind\n```\nbehind\n"
    assert marks(check_prose.markdown, source) == [(5, "behind")]


def test_of_python_docstrings_comments_and_errors_are_read():
    source = ('"""Told."""\n\n\ndef f():  # anew\n    x = "it stands here"\n    raise ValueError(f"{x} lies here")\n')
    assert sorted(marks(check_prose.python, source)) == [(1, "Told"), (4, "anew"), (6, "lies")]


def test_of_cpp_comments_and_strings_of_several_words_are_read():
    source = '// is told\n// anew\nint a;  /* lies */\nthrow Error("it is behind it", "behind", \'"\');  // anew\n'
    assert sorted(marks(check_prose.cpp, source)) == [(1, "told"), (2, "anew"), (3, "lies"), (4, "anew"), (4, "behind")]


def test_areas_are_folders_down_to_the_layer():
    assert [check_prose.area_of(name) for name in (
        "README.md", "docs/threads.md", "python/penstock/_src/ops/nn/nn_ops.py", "python/penstock/api/lazy.py",
        "src/penstock/kernels/cpu/math/scan.cc", "tests/cc/io/png_test.cc", "dev.py")] == [
            "docs", "docs", "python/penstock/_src/ops", "python/penstock", "src/penstock/kernels", "tests/cc", "."]
