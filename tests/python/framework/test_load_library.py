"""Op libraries made for TensorFlow are refused; the calls that led somewhere are listed."""
import pytest

import penstock.v1 as tf
from penstock._src.base import tf_stack


@pytest.mark.parametrize("load", [tf.load_op_library, tf.load_library, tf.load_file_system_library])
def test_libraries_are_refused(load, tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="no.so: cannot open shared object file: No such file"):
        load("no.so")
    there = tmp_path / "there.so"
    there.write_bytes(b"")
    with pytest.raises(tf.errors.UnimplementedError, match="there.so"):
        load(str(there))


def test_stacks():
    frames = tf_stack.extract_stack(limit=1)
    assert [(f.filename, f.name) for f in frames] == [(__file__, "test_stacks")]
    row, = tf_stack.convert_stack(frames, include_func_start_lineno=True)
    assert row[3] == "frames = tf_stack.extract_stack(limit=1)" and row[1] == row[4] + 1
    assert len(tf_stack.extract_stack()) > 5 and "test_stacks" in tf_stack.format_stack(frames)[0]
