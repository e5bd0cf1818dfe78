"""A writer of events that shares its file with the session's summary ops of version 2."""
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.summary import summary_ops_v2
from penstock._src.files import gfile


class EventFileWriterV2:
    """As EventFileWriter, through ops of a session: writers of one session and directory share a file."""

    def __init__(self, session, logdir, max_queue=10, flush_secs=120, filename_suffix=""):
        self._session = session
        self._logdir = logdir
        self._closed = False
        if not gfile.IsDirectory(logdir):
            gfile.MakeDirs(logdir)
        with self._session.graph.as_default():
            with ops.name_scope("filewriter"):
                file_writer = summary_ops_v2.create_file_writer(
                    logdir=logdir, max_queue=max_queue, flush_millis=flush_secs * 1000, filename_suffix=filename_suffix)
                with summary_ops_v2.always_record_summaries(), file_writer.as_default():
                    self._event_placeholder = array_ops.placeholder_with_default(
                        constant_op.constant("unused", dtypes.string), shape=[])
                    self._add_event_op = gen.import_event(file_writer._resource, self._event_placeholder)
                self._init_op = file_writer.init()
                self._flush_op = file_writer.flush()
                self._close_op = file_writer.close()
            self._session.run(self._init_op)

    def get_logdir(self):
        """The directory."""
        return self._logdir

    def reopen(self):
        """Begins another file if the writer was closed."""
        if self._closed:
            self._closed = False
            self._session.run(self._init_op)

    def add_event(self, event):
        """Adds an Event message; does nothing once closed."""
        if not self._closed:
            self._session.run(self._add_event_op, feed_dict={self._event_placeholder: event.SerializeToString()})

    def flush(self):
        """Returns when all events are in the file."""
        self._session.run(self._flush_op)

    def close(self):
        """Flushes and closes the file."""
        if not self._closed:
            self.flush()
            self._session.run(self._close_op)
            self._closed = True
