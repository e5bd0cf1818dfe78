"""tf.test.Benchmark, and what tests capture of streams. The form of a report is TensorFlow 1.15.5's."""
import os
import sys

import pytest

import penstock.v1 as tf
from penstock import proto


class Adding(tf.test.Benchmark):
    def benchmark_sum(self, **arguments):
        with tf.Graph().as_default(), tf.Session() as session:
            return self.run_op_benchmark(session, tf.constant(1.0) + 1.0, min_iters=3, mbs=2, **arguments)


def _entry(path):
    entry, = proto.message("tensorflow.BenchmarkEntries").FromString(open(path, "rb").read()).entry
    return entry


def test_a_run_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_REPORT_FILE_PREFIX", str(tmp_path) + "/of_")
    values = Adding().benchmark_sum(extras={"a": 1, "b": "text"}, store_trace=True)
    entry = _entry(tmp_path / "of_Adding.benchmark_sum")
    assert (entry.name, entry.iters, values["name"]) == ("Adding.benchmark_sum", 3, None)
    assert entry.wall_time == values["wall_time"] > 0 and entry.throughput == 2 / values["wall_time"]
    assert entry.extras["a"].double_value == 1 and entry.extras["b"].string_value == "text"
    assert "full_trace_chrome_format" in values["extras"] and "full_trace_chrome_format" not in entry.extras
    with pytest.raises(IOError, match="refusing to write"):
        Adding().benchmark_sum()


def test_reports_are_printed(capsys, monkeypatch):
    monkeypatch.delenv("TEST_REPORT_FILE_PREFIX", raising=False)
    Adding().report_benchmark(iters=4, name="other", metrics=[{"name": "m", "value": 2.0, "min_value": 1.0}])
    printed = capsys.readouterr().out
    assert 'name: "Adding.other"' in printed and "iters: 4" in printed and "min_value" in printed
    with pytest.raises(TypeError, match="extras must be a dict"):
        Adding().report_benchmark(extras=[1])


def test_classes_and_values():
    assert tf.test.Benchmark.is_abstract() and not Adding.is_abstract()
    with tf.Graph().as_default():
        assert Adding().evaluate(tf.constant(3)) == 3


def test_writes_of_the_runtime_are_captured():
    case = tf.test.TestCase("assertTrue")
    with open(os.devnull, "w") as stream, case.captureWritesToStream(stream) as captured:
        os.write(stream.fileno(), b"by number ")
        print("by name", file=stream)
    assert captured.contents() == "by number by name\n"
    with tf.Graph().as_default(), tf.Session() as session:
        with case.captureWritesToStream(sys.__stderr__) as captured:
            session.run(tf.print("hello", output_stream=sys.stderr))
    assert captured.contents() == "hello\n"
