"""tf.contrib.testing: what a training run has written, and a writer that keeps it in memory."""
import numpy as np

from penstock._src.files import gfile
from penstock.proto import summary_pb2
from penstock._src.summary import summary_iterator
from penstock._src.summary import writer
from penstock._src.summary import writer_cache


def to_summary_proto(summary_str):
    """The Summary of its bytes."""
    message = summary_pb2.Summary()
    message.ParseFromString(summary_str)
    return message


def assert_summary(expected_tags, expected_simple_values, summary_proto):
    """Compares a Summary's tags, and the numbers of those in {tag: number}. ValueError: the tags are others;
    AssertionError: a number is."""
    for value in summary_proto.value:
        if value.tag in expected_simple_values:
            np.testing.assert_almost_equal(value.simple_value, expected_simple_values[value.tag], decimal=2,
                                           err_msg=f"of tag {value.tag!r}")
    actual = {value.tag for value in summary_proto.value}
    if set(expected_tags) != actual:
        raise ValueError(f"Expected tags {expected_tags}, got {actual}.")


def latest_event_file(base_dir):
    """The path of the last event file of a directory, or None."""
    return max(gfile.Glob(f"{base_dir}/events.*"), default=None)


def latest_events(base_dir):
    """The events of the last event file of a directory; none without one."""
    path = latest_event_file(base_dir)
    return summary_iterator.summary_iterator(path) if path else []


def latest_summaries(base_dir):
    """Those events that hold summaries."""
    return [event for event in latest_events(base_dir) if event.HasField("summary")]


def simple_values_from_events(events, tags):
    """{tag: number} of the last summaries of these tags. ValueError: one holds something else."""
    found = {}
    for event in events:
        for value in event.summary.value if event.HasField("summary") else ():
            if value.tag in tags:
                if not value.HasField("simple_value"):
                    raise ValueError(f"Found summary {value.tag}, but its type is not simple_value.")
                found[value.tag] = value.simple_value
    return found


class FakeSummaryWriter:
    """A FileWriter that writes nothing: tests ask it for what it was given."""

    _replaced_summary_writer = None

    @classmethod
    def install(cls):
        """Sessions and hooks use it from now on. ValueError: they do already."""
        if cls._replaced_summary_writer:
            raise ValueError("FakeSummaryWriter already installed.")
        cls._replaced_summary_writer = writer.FileWriter
        writer.FileWriter = writer_cache.FileWriter = cls

    @classmethod
    def uninstall(cls):
        """They use FileWriter again. ValueError: they do already."""
        if not cls._replaced_summary_writer:
            raise ValueError("FakeSummaryWriter not installed.")
        writer.FileWriter = writer_cache.FileWriter = cls._replaced_summary_writer
        cls._replaced_summary_writer = None

    def __init__(self, logdir, graph=None):
        self._logdir = logdir
        self._graph = graph
        self._summaries = {}
        self._added_graphs = []
        self._added_meta_graphs = []
        self._added_session_logs = []
        self._added_run_metadata = {}

    @property
    def summaries(self):
        """{step: list of Summary messages}."""
        return self._summaries

    def assert_summaries(self, test_case, expected_logdir=None, expected_graph=None, expected_summaries=None,
                         expected_added_graphs=None, expected_added_meta_graphs=None, expected_session_logs=None):
        """Compares what was added, by the test's assertions. expected_summaries: {step: {tag: number}}; steps that are
        not in it, and the tag "global_step/sec", may be there."""
        if expected_logdir is not None:
            test_case.assertEqual(expected_logdir, self._logdir)
        if expected_graph is not None:
            test_case.assertTrue(expected_graph is self._graph)
        for step, expected in (expected_summaries or {}).items():
            test_case.assertTrue(step in self._summaries,
                                 msg=f"Expected step {step} not found in {sorted(self._summaries)}")
            test_case.assertEqual(expected, {value.tag: value.simple_value for summary in self._summaries[step]
                                             for value in summary.value if value.tag != "global_step/sec"})
        if expected_added_graphs is not None:
            test_case.assertEqual(expected_added_graphs, self._added_graphs)
        if expected_added_meta_graphs is not None:
            test_case.assertEqual(expected_added_meta_graphs, self._added_meta_graphs)
        if expected_session_logs is not None:
            test_case.assertEqual(expected_session_logs, self._added_session_logs)

    def add_summary(self, summ, current_global_step):
        """A Summary, or its bytes."""
        message = to_summary_proto(summ) if isinstance(summ, bytes) else summ
        self._summaries.setdefault(current_global_step, []).append(message)

    def add_graph(self, graph, global_step=None, graph_def=None):
        """A Graph. ValueError: a negative step; a GraphDef."""
        _check_step(global_step)
        if graph_def is not None:
            raise ValueError(f"Unexpected graph_def {graph_def}.")
        self._added_graphs.append(graph)

    def add_meta_graph(self, meta_graph_def, global_step=None):
        """A MetaGraphDef. ValueError: a negative step."""
        _check_step(global_step)
        self._added_meta_graphs.append(meta_graph_def)

    def add_session_log(self, session_log, global_step=None):
        """A SessionLog."""
        self._added_session_logs.append(session_log)

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        """A RunMetadata. ValueError: a negative step."""
        _check_step(global_step)
        self._added_run_metadata[tag] = run_metadata

    def flush(self):
        """Does nothing."""

    def reopen(self):
        """Does nothing."""

    def close(self):
        """Does nothing."""


def _check_step(step):
    if step is not None and step < 0:
        raise ValueError(f"Invalid global_step {step}.")
