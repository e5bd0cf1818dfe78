"""tensorflow.python.pywrap_tensorflow: what programs take from TensorFlow's C++ library."""
from penstock.summaries.writer.events_writer import EventsWriter as EventsWriter
from penstock.training.py_checkpoint_reader import CheckpointReader as CheckpointReader
from penstock.training.py_checkpoint_reader import NewCheckpointReader as NewCheckpointReader
