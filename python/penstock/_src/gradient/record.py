"""What tapes record, for who computes derivatives without a tape of their own."""
import contextlib

from penstock._src.gradient import backprop
from penstock._src.function.graph import filled, record_function, to_core
from penstock._src.graph import tapes


@contextlib.contextmanager
def stop_recording():
    """Context manager under which no tape of this thread records."""
    if not could_possibly_record():
        yield
        return
    with backprop.stop_recording():
        yield


def could_possibly_record():
    """Whether a tape of this thread records."""
    return bool(tapes.active_tapes())


def record_operation(op_type, output_tensors, input_tensors, backward_function, forward_function=None):
    """Tells the tapes that eager tensors were computed from others.

    op_type: a name for errors. backward_function: takes the gradients of the outputs, returns those of the inputs.
    forward_function is not needed: accumulators differentiate the gradient. InternalError, when a gradient is asked
    for: backward_function returns too few.
    """
    from penstock._src.graph import errors
    outputs = list(output_tensors)

    def gradient(grads):
        found = backward_function(*filled(grads, outputs))
        found = list(found) if isinstance(found, (list, tuple)) else [found]
        if len(found) != len(input_tensors):
            raise errors.InternalError(None, None, f"Recorded operation '{op_type}' returned too few gradients. "
                                                   f"Expected {len(input_tensors)} but received {len(found)}")
        return [to_core(g) for g in found]

    record_function(list(input_tensors), outputs, gradient)


class VariableWatcher:
    """Context manager that notes the trainable variables that are read or assigned to."""

    def __init__(self):
        self._tape = backprop.GradientTape()

    def __enter__(self):
        self._tape.__enter__()
        return self

    def __exit__(self, *exc):
        self._tape.__exit__(*exc)

    def watched_variables(self):
        """Them, in the order in which they were made."""
        return self._tape.watched_variables()
