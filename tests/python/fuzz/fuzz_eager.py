"""Calls ops eagerly with random and hostile arguments: python fuzz_eager.py SEED SECONDS OP...

Handles and variants come from a pool of live resources of every kind, so an op meets those of others. Ends with
status 3 if a call crashed, hung, or raised anything but TensorFlow's errors, TypeError and ValueError."""

import contextlib
import random
import sys

import forked
import mutations
import numpy as np
import runner
import spec

import penstock as tf
from penstock import _core

_INTS, _FLOATS = mutations.INTS, mutations.FLOATS
_ALLOWED = (tf.errors.OpError, TypeError, ValueError, NotImplementedError)
_NAMES = spec.ALL + ("qint8", "quint8", "qint32")
_SHAPES = ([], [2], [2, 3], None, [None, 2], [0], [-1], [1, 2, 2, 1], [2**40, 2**40], [2**31])
_WORDS = (b"", b"a", b"12", b"-1.5", b"\xff\x00", b"x" * 40, b"{", b"a,b", b"\x0a\x03abc", b"%s", b"(", b"NHWC")
_TEXTS = (b"", b"abc", b"NHWC", b"NCHW", b"SAME", b"VALID", b"i,ij->j", b"...->", b"replace", b"UTF-8", b"(")


class _Pool:
    """Resources and variants of every kind, made once for each process."""

    def __init__(self):
        raw, f32 = tf.raw_ops, tf.float32
        self.resources, self.variants = [], []
        for name in ("float32", "int32", "string", "half", "int64"):
            handle = raw.VarHandleOp(dtype=tf.as_dtype(name), shape=[2, 3], shared_name="v" + name)
            given = np.full((2, 3), b"w", object) if name == "string" else np.ones((2, 3), spec.numpy_type(name))
            raw.AssignVariableOp(resource=handle, value=tf.constant(given))
            self.resources.append(handle)
        self.resources.append(raw.VarHandleOp(dtype=f32, shape=None, shared_name="unset"))
        words = tf.constant(["a", "b"])
        makers = (
            lambda: raw.FIFOQueueV2(component_types=[f32], shapes=[[2]], capacity=3),
            lambda: raw.PriorityQueueV2(component_types=[f32], shapes=[[]], capacity=3),
            lambda: raw.RandomShuffleQueueV2(component_types=[f32, tf.int32], shapes=[[], []], capacity=3),
            lambda: raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64),
            lambda: raw.MutableHashTableV2(key_dtype=tf.int64, value_dtype=f32),
            lambda: raw.MutableDenseHashTableV2(
                empty_key=tf.constant(0, tf.int64), deleted_key=tf.constant(-1, tf.int64), value_dtype=f32
            ),
            lambda: raw.StackV2(max_size=3, elem_type=f32),
            lambda: raw.TensorArrayV3(size=3, dtype=f32)[0],
            lambda: raw.ResourceConditionalAccumulator(dtype=f32, shape=[2]),
            lambda: raw.TFRecordReaderV2(),
            lambda: raw.WholeFileReaderV2(),
            lambda: raw.SummaryWriter(),
            lambda: raw.AnonymousMemoryCache()[0],
            lambda: raw.AnonymousSeedGenerator(seed=1, seed2=2, reshuffle=True)[0],
            lambda: raw.AnonymousIteratorV3(output_types=[tf.int64], output_shapes=[[]]),
            lambda: iter(tf.data.Dataset.range(5))._iterator_resource,
        )
        variants = (
            lambda: raw.EmptyTensorList(element_shape=[2], max_num_elements=3, element_dtype=f32),
            lambda: raw.TensorListReserve(element_shape=[2], num_elements=3, element_dtype=f32),
            lambda: raw.TensorListReserve(element_shape=-1, num_elements=2, element_dtype=tf.int32),
            lambda: raw.TensorListFromTensor(tensor=words, element_shape=tf.constant([], tf.int32)),
            lambda: tf.stack([self.variants[0], self.variants[1]]),
            lambda: raw.SerializeSparse(
                sparse_indices=[[0, 0]], sparse_values=[1.0], sparse_shape=[1, 1], out_type=tf.variant
            ),
            lambda: raw.ZerosLike(x=self.variants[1]),
            lambda: raw.TensorListPushBack(
                input_handle=raw.EmptyTensorList(element_shape=-1, max_num_elements=-1, element_dtype=tf.variant),
                tensor=self.variants[0],
            ),
            lambda: tf.data.Dataset.range(4)._variant_tensor,
            lambda: tf.data.Dataset.from_tensor_slices((np.ones((2, 2), "f"), words))._variant_tensor,
            lambda: tf.data.Dataset.range(4).map(lambda v: v * 2).batch(2).repeat()._variant_tensor,
            lambda: tf.data.Dataset.range(4).window(2)._variant_tensor,
            lambda: raw.OptionalFromValue(components=[tf.constant(1.0)]),
            lambda: raw.OptionalNone(),
        )
        self.functions = [
            tf.function(function).get_concrete_function(tf.TensorSpec([], kind))
            for kind in (f32, tf.int64)
            for function in (
                lambda v: v,
                lambda v: v > 0,
                lambda v: (v, v + 1),
                lambda v: tf.data.Dataset.range(2)._variant_tensor,
            )
        ]
        for made, kinds in ((self.resources, makers), (self.variants, variants)):
            for kind in kinds:
                with contextlib.suppress(*_ALLOWED):
                    made.append(kind())


_pool = None


class Call:
    """One random call of an op."""

    def __init__(self, chance, definition):
        self.chance, self.definition = chance, definition
        self.types, self.numbers, self.lists, self.same = {}, {}, {}, None
        self.tame = chance.random() < 0.5

    def shape(self):
        chance = self.chance
        if chance.random() < 0.4 and self.same is not None:
            return self.same
        rank = chance.choice((0, 1, 1, 1, 2, 2, 3, 4, 4, 5, 6))
        self.same = [chance.choice((0, 1, 1, 2, 2, 3, 4, 5, 9)) for _ in range(rank)]
        return self.same

    def type_of(self, attr):
        if attr not in self.types:
            found = next(a for a in self.definition.attrs if a.name == attr)
            names = [tf.as_dtype(t).name for t in found.allowed or ()] or _NAMES + ("variant", "resource")
            self.types[attr] = self.chance.choice(names)
        return self.types[attr]

    def array(self, dtype, shape):
        chance, size = self.chance, int(np.prod(shape, dtype=np.int64))
        if dtype == "string":
            return np.array([chance.choice(_WORDS) for _ in range(size)] + [None], object)[:-1].reshape(shape)
        if dtype == "bool":
            return np.array([chance.random() < 0.5 for _ in range(size)], bool).reshape(shape)
        kind = spec.numpy_type({"float16": "half"}.get(dtype, dtype))
        if kind.kind in "fc":
            flat = [chance.uniform(-3, 3) if self.tame else chance.choice(_FLOATS) for _ in range(size)]
            with np.errstate(all="ignore"):
                return np.array(flat, kind).reshape(shape)
        info = np.iinfo(kind)
        wild = 0.15 if self.tame else 0.7
        flat = [chance.choice(_INTS) if chance.random() < wild else chance.randint(0, 4) for _ in range(size)]
        return np.array([min(max(v, int(info.min)), int(info.max)) for v in flat], kind).reshape(shape)

    def tensor(self, dtype):
        chance = self.chance
        if dtype == "resource":
            return chance.choice(_pool.resources)
        if dtype == "variant":
            return chance.choice(_pool.variants)
        shape = self.shape()
        if dtype.startswith("q"):
            return tf.bitcast(tf.constant(self.array(dtype[1:], shape)), tf.as_dtype(dtype))
        made = tf.constant(self.array(dtype, shape))
        return tf.cast(made, tf.bfloat16) if dtype == "bfloat16" else made

    def argument(self, arg):
        chance = self.chance
        if arg.type_list_attr:
            some = [chance.choice(_NAMES[:14] + ("variant", "resource")) for _ in range(chance.randrange(4))]
            kinds = self.lists.setdefault(arg.type_list_attr, some)
            return [self.tensor(kind) for kind in kinds]
        dtype = tf.as_dtype(arg.type).name if arg.type else self.type_of(arg.type_attr)
        if chance.random() < 0.02:
            dtype = chance.choice(_NAMES + ("variant", "resource"))
        if arg.number_attr:
            count = self.numbers.setdefault(arg.number_attr, chance.choice((0, 1, 2, 2, 3)))
            return [self.tensor(dtype) for _ in range(count)]
        return self.tensor(dtype)

    def attr(self, attr):
        if attr.type.startswith("list("):
            return [self.single(attr.type[5:-1], attr) for _ in range(self.chance.choice((0, 1, 2, 4, 4, 5)))]
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
            return chance.choice(attr.allowed or _TEXTS)
        if kind == "type":
            return tf.as_dtype(chance.choice(_NAMES[:16] + ("variant", "resource")))
        if kind == "shape":
            return chance.choice(_SHAPES)
        if kind == "tensor":
            return tf.make_tensor_proto(self.array("float32", self.shape()))
        return chance.choice(_pool.functions)

    def run(self):
        arguments = {arg.name: self.argument(arg) for arg in self.definition.inputs}
        following = {a for arg in self.definition.inputs for a in (arg.type_attr, arg.number_attr, arg.type_list_attr)}
        for attr in self.definition.attrs:
            if attr.name not in following and not (attr.has_default and self.chance.random() < 0.5):
                allowed = attr.type == "type" and attr.allowed
                arguments[attr.name] = tf.as_dtype(self.chance.choice(attr.allowed)) if allowed else self.attr(attr)
        return getattr(tf.raw_ops, self.definition.name)(**arguments)


class _EagerBuild(runner.Build):
    """A recorded case, called at once."""

    def argument(self, value):
        if isinstance(value, spec.Ref) and not isinstance(value, spec.Res):
            raise ValueError("no reference variables here")
        return super().argument(value)

    def placeholder(self, array, dtype, shape):
        made = self.tf.constant(array)
        return self.tf.cast(made, self.tf.bfloat16) if dtype == "bfloat16" else made


def _use(value):
    """Reads all that a call gave: a value that points to nowhere is found here."""
    for tensor in runner.flat(value):
        if isinstance(tensor, tf.Tensor) and tensor.dtype not in (tf.resource, tf.variant):
            tensor.numpy()
        repr(tensor)


def call(name, seed):
    """One random call of an op: None, or a line about an exception that it should not have made."""
    global _pool
    try:
        chance = random.Random(f"{name}{seed}")
        if _pool is None:
            tf.compat.v1.enable_v2_behavior()  # the cases' modules are version 1
            _pool = _Pool()
        if chance.random() < 0.5 and mutations.cases_of(name):
            case, dtype = mutations.changed_case(chance, name)
            _use(_EagerBuild(tf, case, dtype).outputs)
        else:
            _use(Call(chance, _core.op_def(name)).run())
    except _ALLOWED as error:
        return forked.confused(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


if __name__ == "__main__":
    sys.exit(forked.main(call, int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
