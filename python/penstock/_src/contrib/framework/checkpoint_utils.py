"""What `tf.train` has for looking into checkpoints, with the argument names of `tf.contrib.framework`."""
from penstock._src.checkpoint import checkpoint_utils


def load_checkpoint(filepattern):
    """A CheckpointReader of a checkpoint, or of a directory's latest one. ValueError if there is none."""
    return checkpoint_utils.load_checkpoint(filepattern)


def load_variable(checkpoint_dir, name):
    """The value of one variable of a checkpoint, as an array."""
    return checkpoint_utils.load_variable(checkpoint_dir, name)


def list_variables(checkpoint_dir):
    """Pairs of name and shape of a checkpoint's variables, by name."""
    return checkpoint_utils.list_variables(checkpoint_dir)


def init_from_checkpoint(checkpoint_dir, assignment_map):
    """As `tf.train.init_from_checkpoint`."""
    checkpoint_utils.init_from_checkpoint(checkpoint_dir, assignment_map)
