"""Functions that run once for the rows of several calls."""
import threading

from penstock._src.graph import conversion
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor
from penstock._src.graph import tensor_spec
from penstock._src.base import nest


def batch_function(num_batch_threads, max_batch_size, batch_timeout_micros, allowed_batch_sizes=None,
                   max_enqueued_batches=10, autograph=True, enable_large_batch_splitting=True):
    """Decorates a function of tensors so that calls which come at about the same time run it once.

    Their arguments are joined along the first dimension, and each call gets its rows of the results. There is no
    gradient.

    Args:
        num_batch_threads: how many batches may be computed at a time.
        max_batch_size: rows that a batch has at most, and so a call.
        batch_timeout_micros: how long a batch waits for more calls.
        allowed_batch_sizes: sizes, in ascending order, that batches are padded to, with copies of their first row.
        max_enqueued_batches: how many batches may wait.
        autograph: whether the function's Python control flow becomes the graph's.
        enable_large_batch_splitting: whether the last of `allowed_batch_sizes` may be less than `max_batch_size`; calls
            with more rows are then computed in parts.

    Returns:
        A decorator. The function that it gives raises ValueError unless all arguments are tensors, InvalidArgumentError
        where they have different numbers of rows or too many, and UnavailableError when too many batches wait.
    """

    def decorator(fn):
        kept = []  # for eager calls, which may join only if they have one function
        lock = threading.Lock()  # the first calls may come at the same time

        def computation_for(specs):
            from penstock._src.tf_function import def_function
            if not conversion.executing_eagerly():
                return def_function.function(lambda *rows: fn(*rows), autograph=autograph).get_concrete_function(*specs)
            with lock:
                if not kept:
                    kept.append(def_function.function(lambda *rows: fn(*rows), autograph=autograph))
            return kept[0].get_concrete_function(*specs)

        def decorated(*args):
            for arg in args:
                if not isinstance(arg, tensor.Tensor):
                    raise ValueError("All arguments to functions decorated with `batch_function`  are supposed to be "
                                     f"Tensors; found {arg!r}.")
            computation = computation_for(
                [tensor_spec.TensorSpec(x.shape, x.dtype, name=f"batch_{i}") for i, x in enumerate(args)])
            with ops.name_scope("batch") as name:
                results = gen.batch_function(
                    in_tensors=list(args), captured_tensors=computation.captured_inputs, f=computation,
                    num_batch_threads=num_batch_threads, max_batch_size=max_batch_size,
                    batch_timeout_micros=batch_timeout_micros, Tout=[o.dtype for o in computation.outputs],
                    max_enqueued_batches=max_enqueued_batches, allowed_batch_sizes=allowed_batch_sizes or [],
                    shared_name=name, enable_large_batch_splitting=enable_large_batch_splitting)
            return nest.pack_sequence_as(computation.structured_outputs, results, expand_composites=True)

        return decorated

    return decorator
