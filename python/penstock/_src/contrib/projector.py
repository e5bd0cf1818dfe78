"""tf.contrib.tensorboard.plugins.projector: tells TensorBoard which variables are embeddings."""
import os

from google.protobuf import text_format

from penstock._src.files import file_io


def visualize_embeddings(summary_writer, config):
    """Writes a ProjectorConfig where TensorBoard looks for it: `projector_config.pbtxt` in the writer's directory.

    ValueError if the writer has no directory.
    """
    logdir = summary_writer.get_logdir()
    if logdir is None:
        raise ValueError("Summary writer must have a logdir")
    file_io.write_string_to_file(os.path.join(logdir, "projector_config.pbtxt"), text_format.MessageToString(config))
