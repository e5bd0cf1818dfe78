"""LoadOptions: how tf.saved_model.load reads a model."""
from penstock._src.saved_model import save_options


class LoadOptions:
    """How a model is read.

    allow_partial_checkpoint: whether variables may be missing in the checkpoint. experimental_io_device: accepted;
    files are read by this process. experimental_skip_checkpoint: variables stay without values.
    experimental_variable_policy: whether variables go to the devices that they were on.
    experimental_load_function_aliases: gives the root an attribute `function_aliases`.
    """

    __slots__ = ("allow_partial_checkpoint", "experimental_io_device", "experimental_skip_checkpoint",
                 "experimental_variable_policy", "experimental_load_function_aliases")

    def __init__(self, allow_partial_checkpoint=False, experimental_io_device=None, experimental_skip_checkpoint=False,
                 experimental_variable_policy=None, experimental_load_function_aliases=False):
        self.experimental_io_device = experimental_io_device
        self.allow_partial_checkpoint = allow_partial_checkpoint
        self.experimental_skip_checkpoint = experimental_skip_checkpoint
        self.experimental_variable_policy = save_options.VariablePolicy.from_obj(experimental_variable_policy)
        self.experimental_load_function_aliases = experimental_load_function_aliases
