"""Calls ops with random arguments: python fuzz_ops.py SEED SECONDS OP...

Ends with status 3 if a call crashed, hung, or raised anything but TensorFlow's errors, TypeError and ValueError."""

import random
import sys

import forked
import mutations
import numpy as np

import penstock.v1 as tf
from penstock import _core

_NAMES = (
    "float32",
    "int32",
    "float64",
    "int64",
    "half",
    "uint8",
    "int8",
    "int16",
    "uint16",
    "uint32",
    "uint64",
    "bool",
    "string",
    "complex64",
    "complex128",
    "bfloat16",
)
_SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5, 8)
_INTS, _FLOATS = mutations.INTS, mutations.FLOATS
_ALLOWED = (tf.errors.OpError, TypeError, ValueError, NotImplementedError)


class Call:
    """One random call of an op."""

    def __init__(self, chance, definition):
        self.chance, self.definition, self.feeds = chance, definition, {}
        self.types, self.numbers, self.lists = {}, {}, {}
        self.tame = chance.random() < 0.7

    def shape(self):
        if self.chance.random() < 0.5 and getattr(self, "same", None) is not None:
            return self.same
        self.same = [self.chance.choice(_SIZES) for _ in range(self.chance.choice((0, 1, 1, 2, 2, 3, 4, 5)))]
        return self.same

    def type_of(self, attr):
        if attr not in self.types:
            found = next(a for a in self.definition.attrs if a.name == attr)
            names = [tf.as_dtype(t).name for t in found.allowed or ()] or _NAMES
            names = [n for n in names if n in _NAMES or n == "float16"] or ["float32"]
            self.types[attr] = self.chance.choice(names)
        return self.types[attr]

    def value(self, dtype, shape):
        chance = self.chance
        size = int(np.prod(shape, dtype=np.int64))
        if dtype == "string":
            flat = np.array(
                [chance.choice((b"", b"a", b"12", b"-1.5", b"\xff", b"x" * 40)) for _ in range(size)], object
            )
        elif dtype == "bool":
            flat = np.array([chance.random() < 0.5 for _ in range(size)], bool)
        elif dtype in ("float32", "float64", "half", "float16", "complex64", "complex128"):
            flat = np.array([chance.uniform(-3, 3) if self.tame else chance.choice(_FLOATS) for _ in range(size)])
            with np.errstate(all="ignore"):
                flat = flat.astype("float16" if dtype == "half" else dtype)
        else:
            info = np.iinfo(dtype)
            flat = [chance.randint(0, 4) if self.tame else chance.choice(_INTS) for _ in range(size)]
            flat = np.array([min(max(v, info.min), info.max) for v in flat], dtype)
        return flat.reshape(shape)

    def tensor(self, dtype):
        shape = self.shape()
        if dtype == "resource":
            kind = self.chance.choice(("float32", "int32", "float64"))
            handle = tf.raw_ops.VarHandleOp(
                dtype=tf.as_dtype(kind), shape=shape, shared_name=f"v{self.chance.random()}"
            )
            if self.chance.random() < 0.9:
                self.before.append(
                    tf.raw_ops.AssignVariableOp(resource=handle, value=tf.constant(self.value(kind, shape)))
                )
            return handle
        if dtype == "variant":
            raise ValueError("no random variants")
        wide = "float32" if dtype == "bfloat16" else dtype
        array = self.value(wide, shape)
        if self.chance.random() < 0.4:
            made = tf.constant(array)
        else:
            known = self.chance.random()
            made = tf.placeholder(
                tf.as_dtype(wide), shape if known < 0.4 else None if known < 0.8 else [None] * len(shape)
            )
            self.feeds[made] = array
        return tf.cast(made, tf.bfloat16) if dtype == "bfloat16" else made

    def argument(self, arg):
        if arg.type_list_attr:
            kinds = self.lists.setdefault(
                arg.type_list_attr, [self.chance.choice(_NAMES[:6]) for _ in range(self.chance.choice((1, 2)))]
            )
            return [self.tensor(kind) for kind in kinds]
        dtype = tf.as_dtype(arg.type).base_dtype.name if arg.type else self.type_of(arg.type_attr)
        if arg.is_ref:
            shape = self.shape()
            variable = tf.raw_ops.VariableV2(dtype=tf.as_dtype(dtype), shape=shape)
            if self.chance.random() < 0.9:
                wide = "float32" if dtype == "bfloat16" else dtype
                self.before.append(
                    tf.raw_ops.Assign(
                        ref=variable,
                        value=tf.cast(tf.constant(self.value(wide, shape)), tf.as_dtype(dtype))
                        if wide != dtype
                        else tf.constant(self.value(wide, shape)),
                    )
                )
            return variable
        if arg.number_attr:
            count = self.numbers.setdefault(arg.number_attr, self.chance.choice((1, 2, 2, 3)))
            return [self.tensor(dtype) for _ in range(count)]
        return self.tensor(dtype)

    def attr(self, attr):
        chance = self.chance
        if attr.type.startswith("list("):
            one = attr.type[5:-1]
            return [self.single(one, attr) for _ in range(chance.choice((0, 1, 2, 4, 4, 5)))]
        return self.single(attr.type, attr)

    def single(self, kind, attr):
        chance = self.chance
        if kind == "int":
            return chance.choice((0, 1, 1, 2, 2, 3, -1)) if self.tame else chance.choice(_INTS)
        if kind == "float":
            return chance.choice((0.0, 0.5, 1.0)) if self.tame else chance.choice(_FLOATS)
        if kind == "bool":
            return chance.random() < 0.5
        if kind == "string":
            return chance.choice(attr.allowed or (b"", b"abc", b"NHWC", b"i,ij->j"))
        if kind == "type":
            return tf.as_dtype(chance.choice(_NAMES[:6]))
        if kind == "shape":
            return chance.choice(([], [2], [2, 3], None, [None, 2], [0]))
        raise ValueError("no random " + kind)

    def run(self):
        self.before = []
        arguments = {arg.name: self.argument(arg) for arg in self.definition.inputs}
        following = {a for arg in self.definition.inputs for a in (arg.type_attr, arg.number_attr, arg.type_list_attr)}
        for attr in self.definition.attrs:
            if attr.name not in following and not (attr.has_default and self.chance.random() < 0.5):
                if attr.type == "type" and attr.allowed:
                    arguments[attr.name] = tf.as_dtype(self.chance.choice(attr.allowed))
                else:
                    arguments[attr.name] = self.attr(attr)
        result = getattr(tf.raw_ops, self.definition.name)(**arguments)
        targets = [result] if isinstance(result, tf.Operation) else [t for t in _flat(result)]
        if self.chance.random() < 0.3 and not isinstance(result, tf.Operation):
            floats = [f for f in _flat(list(arguments.values())) if isinstance(f, tf.Tensor) and f.dtype.is_floating]
            if floats and targets:
                targets += [t for t in tf.gradients(targets, floats) if t is not None]
        config = tf.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=2)
        with tf.Session(config=config) as session:
            if self.before:
                session.run(self.before)
            session.run(
                [t.op if isinstance(t, tf.Tensor) else t for t in targets],
                self.feeds,
                options=tf.RunOptions(timeout_in_ms=5000),
            )


def _flat(value):
    if isinstance(value, (list, tuple)):
        return [v for one in value for v in _flat(one)]
    return [value]


def call(name, seed):
    """One random call of an op: None, or a line about an exception that it should not have made."""
    with tf.Graph().as_default():
        try:
            chance = random.Random(f"{name}{seed}")
            if chance.random() < 0.7 and mutations.cases_of(name):
                mutations.run(tf, chance, name)
            else:
                Call(chance, _core.op_def(name)).run()
        except _ALLOWED as error:
            return forked.confused(error)
        except LookupError as error:
            if "radient" not in str(error):  # no gradient
                return f"{type(error).__name__}: {error}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return None


if __name__ == "__main__":
    sys.exit(forked.main(call, int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
