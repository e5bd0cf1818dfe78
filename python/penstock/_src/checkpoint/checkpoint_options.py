"""CheckpointOptions: how tf.train.Checkpoint writes and reads."""
import copy
import inspect

from penstock._src.checkpoint import sharding


class CheckpointOptions:
    """How a checkpoint is written and read.

    experimental_io_device: accepted; this process writes all files. experimental_sharding_callback: a
    tf.train.experimental.ShardingCallback, which spreads the tensors over files; by default they are in one.
    enable_async (or experimental_enable_async_checkpoint): values are taken at once and written beside the program,
    until `sync()`. experimental_write_callbacks: functions, of the path or of nothing, called when the checkpoint is
    written. experimental_skip_slot_variables: optimizers' slot variables are not read.
    """

    __slots__ = ("experimental_io_device", "experimental_enable_async_checkpoint", "experimental_write_callbacks",
                 "enable_async", "experimental_sharding_callback", "experimental_skip_slot_variables")

    def __init__(self, experimental_io_device=None, experimental_enable_async_checkpoint=False,
                 experimental_write_callbacks=None, enable_async=False, experimental_skip_slot_variables=False,
                 experimental_sharding_callback=None):
        if experimental_sharding_callback is not None and not isinstance(experimental_sharding_callback,
                                                                         sharding.ShardingCallback):
            raise ValueError(f"The experimental_sharding_callback checkpoint option must be of type ShardingCallback. "
                             f"The option provided was of type {type(experimental_sharding_callback)}.")
        for callback in experimental_write_callbacks or ():
            if not callable(callback):
                raise TypeError(f"A callback of a checkpoint has to be callable, got {callback!r}.")
            if len(inspect.signature(callback).parameters) > 1:
                raise AssertionError("A callback of a checkpoint takes the path of the checkpoint or nothing, got "
                                     f"{callback!r}.")
        self.experimental_io_device = experimental_io_device
        self.experimental_enable_async_checkpoint = experimental_enable_async_checkpoint or enable_async
        self.enable_async = self.experimental_enable_async_checkpoint
        self.experimental_write_callbacks = experimental_write_callbacks
        self.experimental_skip_slot_variables = experimental_skip_slot_variables
        self.experimental_sharding_callback = experimental_sharding_callback

    def with_callback(self, callback):
        """The same with one callback more."""
        more = copy.copy(self)
        more.experimental_write_callbacks = [*(self.experimental_write_callbacks or ()), callback]
        return more

    def call_back(self, path):
        """Calls the callbacks: a checkpoint is written."""
        for callback in self.experimental_write_callbacks or ():
            if inspect.signature(callback).parameters:
                callback(path)
            else:
                callback()

    def __copy__(self):
        # What is added to a copy's list is none of the original's callbacks.
        copied = type(self).__new__(type(self))
        for name in self.__slots__:
            setattr(copied, name, copy.copy(getattr(self, name)))
        return copied
