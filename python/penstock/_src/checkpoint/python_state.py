"""State of Python objects in checkpoints."""
import abc

from penstock._src.ops.state import base

PYTHON_STATE = "py_state"


class PythonState(base.Trackable, abc.ABC):
    """Saves and restores what `serialize` gives and `deserialize` takes."""

    @abc.abstractmethod
    def serialize(self):
        """The state as a string."""

    @abc.abstractmethod
    def deserialize(self, string_value):
        """Takes the state back."""

    def _gather_saveables_for_checkpoint(self):

        def make(name):
            return base.PythonStringStateSaveable(name=name, state_callback=self.serialize,
                                                  restore_callback=self.deserialize)

        return {PYTHON_STATE: make}
