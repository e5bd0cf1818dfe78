"""Seeds of datasets, as tensors."""
from penstock._src.graph import constant_op, dtypes, gen, ops, random_seed
from penstock._src.core_ops import array_ops, math_ops


def get_seed(seed):
    """(graph seed, operation seed) as int64 tensors; both 0 for "different in each run"."""
    seed, seed2 = random_seed.get_seed(seed)
    seed = ops.convert_to_tensor(0 if seed is None else seed, dtype=dtypes.int64, name="seed")
    if seed2 is None:
        return seed, constant_op.constant(0, dtype=dtypes.int64, name="seed2")
    with ops.name_scope("seed2") as scope:
        seed2 = ops.convert_to_tensor(seed2, dtype=dtypes.int64)
        # Two zeros that come out of tensors would mean "no seed".
        none = gen.logical_and(math_ops.equal(seed, 0), math_ops.equal(seed2, 0))
        return seed, array_ops.where(none, constant_op.constant(2**31 - 1, dtype=dtypes.int64), seed2, name=scope)
