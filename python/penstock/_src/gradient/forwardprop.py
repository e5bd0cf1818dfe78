"""Forward-mode derivatives: directional derivatives of what runs, by differentiating gradients by what flows into them.

The gradient of y by x is linear in what flows into y; its derivative by that, in the direction of a tangent of x, is
the tangent of y.
"""
from penstock._src.gradient import backprop
from penstock._src.function.graph import accumulators
from penstock._src.graph import conversion
from penstock._src.graph import gen
from penstock._src.graph import tapes
from penstock._src.graph.tensor import Tensor
from penstock._src.gradient.unconnected_gradients import UnconnectedGradients
from penstock._src.base import nest


def _is_variable(value):
    return hasattr(value, "handle") and not isinstance(value, Tensor)


class _Tape(backprop.GradientTape):
    """An accumulator's."""


class ForwardAccumulator:
    """Context manager: derivatives, in the direction `tangents`, of values computed from `primals` under it.

    primals: tensors and variables, possibly nested; tangents: their directions, in the same structure.
    """

    def __init__(self, primals, tangents):
        self._tape = _Tape(persistent=True, watch_accessed_variables=False)
        self._primals, self._tangents = [], []
        self._entered = False
        self._around = []  # the tapes of the accumulators around it, outermost first
        nest.assert_same_structure(primals, tangents)
        flat = nest.flatten(primals)
        if len({id(p) for p in flat}) < len(flat):
            raise ValueError("A tensor was specified as a primal multiple times. This may indicate an error. If it was "
                             "intended, please sum the corresponding tangents.")
        for primal, tangent in zip(flat, nest.flatten(tangents)):
            tangent = conversion.convert_to_tensor(tangent, dtype=primal.dtype)
            if not tangent.shape.is_compatible_with(primal.shape):
                raise ValueError(f"Shape of tangent {tangent.shape} is not that of the primal, {primal.shape}")
            self._primals.append(primal)
            self._tangents.append(tangent)

    def __enter__(self):
        if self._entered:
            raise ValueError("Accumulator is already recording.")
        self._entered = True
        first = self._tape._tape is None
        self._around = [tape for tape in tapes.active_tapes() if isinstance(tape, _Tape)]
        self._tape.__enter__()
        accumulators.count += 1
        if first:
            for primal in self._primals:
                self._tape.watch(primal)
        return self

    def __exit__(self, *exc):
        self._entered = False
        accumulators.count -= 1
        self._tape.__exit__(*exc)

    def jvp(self, primals, unconnected_gradients=UnconnectedGradients.NONE):
        """The derivatives of values in the direction of the tangents, in their structure; None, or zeros if
        unconnected_gradients says so, of what does not depend on the primals."""
        unconnected = UnconnectedGradients(unconnected_gradients)
        return nest.map_structure(lambda x: self._one(x, unconnected), primals)

    def _one(self, value, unconnected):
        for primal, tangent in zip(self._primals, self._tangents):
            if value is primal:
                return tangent
        result = self._derivative(value)
        if result is None and unconnected is UnconnectedGradients.ZERO:
            return gen.zeros_like(conversion.convert_to_tensor(value))
        return result

    def _derivative(self, value):
        if self._tape._tape is None or not backprop._is_trainable(value.dtype):
            return None
        value = self._tape._read(value) if _is_variable(value) else value
        with _Resumed(self._around), _Paused(self._tape), backprop.GradientTape() as outer:
            flowing = gen.ones_like(value)
            outer.watch(flowing)
            gradients = self._tape.gradient(value, self._primals, output_gradients=flowing)
            pairs = [(conversion.convert_to_tensor(g), t) for g, t in zip(gradients, self._tangents) if g is not None]
        if not pairs:
            return None
        with _Resumed(self._around):
            return outer.gradient([g for g, _ in pairs], flowing, output_gradients=[t for _, t in pairs])


class ForwardGradientAccumulator(ForwardAccumulator):
    """Version 1's: what is differentiated by is said under it, by `watch`."""

    def __init__(self):
        super().__init__([], [])

    def watch(self, tensor, tangents):
        """Makes values primals, with their directions; those of a value that is watched again are added."""
        nest.assert_same_structure(tensor, tangents)
        for primal, tangent in zip(nest.flatten(tensor), nest.flatten(tangents)):
            tangent = conversion.convert_to_tensor(tangent, dtype=primal.dtype)
            known = next((i for i, p in enumerate(self._primals) if p is primal), None)
            if known is not None:
                self._tangents[known] += tangent
                continue
            self._primals.append(primal)
            self._tangents.append(tangent)
            self._tape.watch(primal)


class _Resumed:
    """Tapes that record again: accumulators know the derivatives of those under them, whenever these are asked for."""

    def __init__(self, tapes):
        self._tapes = [tape for tape in tapes if tape._tape is not None and not tape._recording]

    def __enter__(self):
        for tape in self._tapes:
            tape._start()

    def __exit__(self, *exc):
        for tape in reversed(self._tapes):
            tape._stop()


class _Paused:
    """What computes a derivative is no part of what is differentiated."""

    def __init__(self, tape):
        self._tape = tape

    def __enter__(self):
        self._was_recording = self._tape._recording
        if self._was_recording:
            self._tape._stop()

    def __exit__(self, *exc):
        if self._was_recording:
            self._tape._start()
