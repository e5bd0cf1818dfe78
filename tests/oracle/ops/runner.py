"""Makes the calls that cases describe in one TensorFlow: real, or Penstock. Both are given as the version-1 module."""

import contextlib
import zlib

import numpy as np

import spec

PLACES = ("known", "half", "rank", "none", "fed")


class Build:
    """One case and type in a new graph."""

    def __init__(self, tf, case, dtype, place="known"):
        self.tf, self.case, self.dtype, self.place = tf, case, dtype, place
        self.feeds, self.variables, self.reads, self.differentiable, self.count = {}, [], [], [], 0
        arguments = {name: self.argument(value) for name, value in case.args.items()}
        result = getattr(tf.raw_ops, case.op)(**arguments)
        if isinstance(result, tf.Operation):
            result = list(result.outputs) or result
        self.operation = result if isinstance(result, tf.Operation) else None
        self.outputs = [] if self.operation is not None else flat(result)
        if case.outputs is not None:
            self.outputs = [self.outputs[i] for i in case.outputs]

    def argument(self, value):
        tf = self.tf
        if isinstance(value, spec.Type):
            return tf.as_dtype(self.dtype if value.name == "T" else value.name)
        if isinstance(value, spec.Res):
            array, dtype = self.array(value.value)
            shape = list(array.shape)
            handle = tf.raw_ops.VarHandleOp(dtype=tf.as_dtype(dtype), shape=shape, shared_name=f"v{self.count}")
            given = tf.cast(tf.constant(array), tf.as_dtype(dtype))
            self.variables.append(tf.raw_ops.AssignVariableOp(resource=handle, value=given))
            self.reads.append(lambda: tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.as_dtype(dtype)))
            return handle
        if isinstance(value, spec.Ref):
            array, dtype = self.array(value.value)
            variable = tf.raw_ops.VariableV2(dtype=tf.as_dtype(dtype), shape=list(array.shape))
            given = tf.cast(tf.constant(array), tf.as_dtype(dtype))
            self.variables.append(tf.raw_ops.Assign(ref=variable, value=given))
            self.reads.append(lambda: tf.raw_ops.Identity(input=variable))
            return variable
        if isinstance(value, spec.V):
            array, dtype = self.array(value)
            tensor = self.placeholder(array, dtype, self.shape(array.shape))
            if dtype in spec.FLOATING:
                self.differentiable.append(tensor)
            return tensor
        if isinstance(value, np.ndarray):
            if self.place == "fed":
                return self.placeholder(value, None, list(value.shape))
            return tf.constant(value)
        if isinstance(value, (list, tuple)) and any(
            isinstance(v, (spec.V, np.ndarray, spec.Type, spec.Ref)) for v in value
        ):
            return [self.argument(v) for v in value]
        return value

    def array(self, value):
        self.count += 1
        dtype = value.dtype or self.dtype
        return value.make(self.dtype, zlib.crc32(f"{self.case.key}{dtype}{self.count}".encode())), dtype

    def placeholder(self, array, dtype, shape):
        tf = self.tf
        if dtype == "bfloat16":
            fed = tf.placeholder(tf.float32, shape)
            self.feeds[fed] = array
            return tf.cast(fed, tf.bfloat16)
        fed = tf.placeholder(tf.as_dtype(dtype if dtype else array.dtype), shape)
        self.feeds[fed] = array
        return fed

    def shape(self, shape):
        if self.place == "half":
            return [None if i % 2 == 0 else d for i, d in enumerate(shape)]
        if self.place == "rank":
            return [None] * len(shape)
        return list(shape) if self.place == "known" else None

    def gradients(self):
        """(index of output, gradient or None for each differentiable input) in order."""
        tf, made = self.tf, []
        for output in self.outputs:
            if output.dtype.base_dtype.name not in spec.REAL + spec.COMPLEX + ("float16",):
                continue
            size = tf.size(output)
            weights = tf.reshape(
                tf.cast(tf.math.floormod(tf.range(size) * 7, 5) - 2, tf.float32) * 0.5 + 0.25, tf.shape(output)
            )
            for gradient in tf.gradients(output, self.differentiable, tf.cast(weights, output.dtype.base_dtype)):
                made.append(None if gradient is None else tf.convert_to_tensor(gradient))
        return made

    def fetch(self, session, tensors):
        tf = self.tf
        given = [t for t in tensors if t is not None]
        given = [tf.cast(t, tf.float32) if t.dtype.base_dtype == tf.bfloat16 else tf.identity(t) for t in given]
        values = iter(session.run(given, self.feeds) if given else [])
        return [None if t is None else np.asarray(next(values)) for t in tensors]


def flat(value):
    if isinstance(value, (list, tuple)):
        return [one for v in value for one in flat(v)]
    return [value]


def error_of(error):
    """The class of an error: of every error at building, ValueError; its message."""
    return [type(error).__name__, str(error)]


def evaluate(tf, case, dtype, config=None):
    """{"values": arrays, "state": arrays} or {"error": (class, message)}, and "grads": arrays or (class, message)."""
    with tf.Graph().as_default():
        try:
            build = Build(tf, case, dtype)
            with contextlib.closing(tf.Session(config=config)) as session:
                if build.variables:
                    session.run(build.variables)
                if build.operation is not None:
                    session.run(build.operation, build.feeds)
                    result = {"values": []}
                else:
                    result = {"values": build.fetch(session, build.outputs)}
                if build.reads:
                    result["state"] = build.fetch(session, [read() for read in build.reads])
        except Exception as error:
            return {"error": error_of(error)}
        if case.grad and build.differentiable and not build.variables:
            try:
                made = build.gradients()
                with contextlib.closing(tf.Session(config=config)) as session:
                    result["grads"] = build.fetch(session, made)
            except Exception as error:
                result["grads_error"] = error_of(error)
        return result


def shapes(tf, case, dtype):
    """{place: shapes of outputs, or the error}, for arguments of which more and more is unknown."""
    found = {}
    for place in PLACES:
        with tf.Graph().as_default():
            try:
                found[place] = [static(o) for o in Build(tf, case, dtype, place).outputs]
            except Exception as error:
                found[place] = type(error).__name__
    return found


def fed_error(tf, case, dtype, config=None):
    """The error when nothing is known while the graph is built."""
    with tf.Graph().as_default():
        try:
            build = Build(tf, case, dtype, "fed")
            with contextlib.closing(tf.Session(config=config)) as session:
                if build.variables:
                    session.run(build.variables)
                session.run(build.operation if build.operation is not None else build.outputs, build.feeds)
        except Exception as error:
            return error_of(error)
    return None


def static(tensor):
    return None if tensor.shape.rank is None else tensor.shape.as_list()
