"""tensorflow.python.training.summary_io: writers and readers of event files under older names."""
from penstock._src.summary.summary_iterator import summary_iterator  # noqa: F401
from penstock._src.summary.writer import FileWriter as SummaryWriter  # noqa: F401
from penstock._src.summary.writer_cache import FileWriterCache as SummaryWriterCache  # noqa: F401
