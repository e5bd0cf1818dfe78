"""What counts as a tensor."""
from penstock._src.base.foreign_names import known_as


@known_as("tensorflow.python.types.core.Tensor")
class AnyTensor:
    """Tensors and all that stands for one: variables, and what libraries derive from it.

    A class that is none of ours says with `__tf_tensor__(dtype, name)` what tensor it becomes.
    """
