"""FileWriter: adds summaries, graphs and run metadata to an event file."""
import os
import time
import warnings

from penstock._src.graph import context
from penstock._src.checkpoint import meta_graph
from penstock._src.graph import ops
from penstock._src.files import gfile
from penstock._src.base import tf_logging as logging
from penstock.proto import event_pb2
from penstock.proto import graph_pb2
from penstock.proto import meta_graph_pb2
from penstock.proto import summary_pb2
from penstock._src.summary import plugin_asset
from penstock._src.summary.event_file_writer import EventFileWriter
from penstock._src.summary.event_file_writer_v2 import EventFileWriterV2

_PLUGINS_DIR = "plugins"


class SummaryToEventTransformer:
    """Wraps what a program reports into events, for a writer of events."""

    def __init__(self, event_writer, graph=None, graph_def=None):
        self.event_writer = event_writer
        self._session_run_tags = {}
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
            as_def = graph.as_graph_def(add_shapes=True) if isinstance(graph, ops.Graph) else graph
            self.add_meta_graph(meta_graph.create_meta_graph_def(graph_def=graph_def or as_def))
        # Tags whose metadata the file has.
        self._seen_summary_tags = set()

    def add_summary(self, summary, global_step=None):
        """Adds a Summary message, or what a summary op gave."""
        if isinstance(summary, bytes):
            summary = summary_pb2.Summary.FromString(summary)
        # TensorBoard keeps a tag's metadata; once is enough.
        for value in summary.value:
            if not value.metadata:
                continue
            if value.tag in self._seen_summary_tags:
                value.ClearField("metadata")
            else:
                self._seen_summary_tags.add(value.tag)
        self._add_event(event_pb2.Event(summary=summary), global_step)

    def add_session_log(self, session_log, global_step=None):
        """Adds a SessionLog message."""
        self._add_event(event_pb2.Event(session_log=session_log), global_step)

    def _add_graph_def(self, graph_def, global_step=None):
        self._add_event(event_pb2.Event(graph_def=graph_def.SerializeToString()), global_step)

    def add_graph(self, graph, global_step=None, graph_def=None):
        """Adds a graph, which TensorBoard draws; `graph_def` is an older way to give one."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        if isinstance(graph, ops.Graph) or isinstance(graph_def, ops.Graph):
            if not isinstance(graph, ops.Graph):
                logging.warning("When passing a `Graph` object, please use the `graph` named argument instead of "
                                "`graph_def`.")
                graph = graph_def
            true_graph_def = graph.as_graph_def(add_shapes=True)
            self._write_plugin_assets(graph)
        elif isinstance(graph, graph_pb2.GraphDef) or isinstance(graph_def, graph_pb2.GraphDef):
            logging.warning("Passing a `GraphDef` to the SummaryWriter is deprecated. Pass a `Graph` object instead, "
                            "such as `sess.graph`.")
            true_graph_def = graph if isinstance(graph, graph_pb2.GraphDef) else graph_def
        else:
            raise TypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`")
        self._add_graph_def(true_graph_def, global_step)

    def _write_plugin_assets(self, graph):
        for asset in plugin_asset.get_all_plugin_assets(graph):
            directory = os.path.join(self.event_writer.get_logdir(), _PLUGINS_DIR, asset.plugin_name)
            gfile.MakeDirs(directory)
            for name, contents in asset.assets().items():
                with gfile.Open(os.path.join(directory, name), "w") as f:
                    f.write(contents)

    def add_meta_graph(self, meta_graph_def, global_step=None):
        """Adds a MetaGraphDef message."""
        if not isinstance(meta_graph_def, meta_graph_pb2.MetaGraphDef):
            raise TypeError("meta_graph_def must be type MetaGraphDef, saw type: %s" % type(meta_graph_def))
        self._add_event(event_pb2.Event(meta_graph_def=meta_graph_def.SerializeToString()), global_step)

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        """Adds the RunMetadata of one step under a tag of its own."""
        if tag in self._session_run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._session_run_tags[tag] = True
        tagged = event_pb2.TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())
        self._add_event(event_pb2.Event(tagged_run_metadata=tagged), global_step)

    def _add_event(self, event, step):
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)


class FileWriter(SummaryToEventTransformer):
    """Writes an event file in a directory. With `session`, writers of one session and directory share the file.

    Whoever adds something does not wait for the disk; the file is complete after `flush` or `close`, and when the
    program ends.
    """

    def __init__(self, logdir, graph=None, max_queue=10, flush_secs=120, graph_def=None, filename_suffix=None,
                 session=None):
        if context.executing_eagerly():
            raise RuntimeError("tf.summary.FileWriter is not compatible with eager execution. Use tf.contrib.summary "
                               "instead.")
        if session is not None:
            event_writer = EventFileWriterV2(session, logdir, max_queue, flush_secs, filename_suffix)
        else:
            event_writer = EventFileWriter(logdir, max_queue, flush_secs, filename_suffix)
        self._closed = False
        super().__init__(event_writer, graph, graph_def)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def get_logdir(self):
        """The directory."""
        return self.event_writer.get_logdir()

    def _warn_if_event_writer_is_closed(self):
        if self._closed:
            warnings.warn("Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter "
                          "is explicitly reopened.", stacklevel=3)

    def _add_event(self, event, step):
        self._warn_if_event_writer_is_closed()
        super()._add_event(event, step)

    def add_event(self, event):
        """Adds an Event message."""
        self._warn_if_event_writer_is_closed()
        self.event_writer.add_event(event)

    def flush(self):
        """Returns when everything is in the file."""
        self._warn_if_event_writer_is_closed()
        self.event_writer.flush()

    def close(self):
        """Flushes and closes the file."""
        self.event_writer.close()
        self._closed = True

    def reopen(self):
        """Begins another file if the writer was closed."""
        self.event_writer.reopen()
        self._closed = False
