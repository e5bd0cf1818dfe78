"""tensorflow.python.training.summary_io: writers and readers of event files under older names."""
from penstock.summaries.summary_iterator import summary_iterator  # noqa: F401
from penstock.summaries.writer.writer import FileWriter as SummaryWriter  # noqa: F401
from penstock.summaries.writer.writer_cache import FileWriterCache as SummaryWriterCache  # noqa: F401
