"""Every op against real TensorFlow 2.21: values, gradients, inferred shapes and errors (tests/oracle/ops)."""
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import ops_oracle  # noqa: E402

# Where the answers differ: (op, part of the difference, why). Everything else of these ops is compared.
DIFFER = [
    ("Round", " int", "TensorFlow 2.21 answers 0 for every integer"),
    ("Erf", "float64: values", "TensorFlow 2.21 answers NaN at infinity"),
    ("Digamma", "grads[0]", "derivative at infinity: NaN from Zeta, TensorFlow has 0"),
    ("DebugGradientIdentity", "has a gradient", "TensorFlow forbids it outside its debugger"),
    ("BesselI1", "grads[0]", "derivative at zero"), ("BesselK1", "grads[0]", "derivative at minus zero"),
    ("BesselK1e", "grads[0]", "derivative at zero"), ("BesselY0", "grads[0]", "derivative at minus zero"),
    ("BesselY1", "[", "at minus zero"),
    ("Log1p", " complex", "the sign of the imaginary part on the branch cut"),
    ("ClipByValue", " complex", "TensorFlow orders complex numbers by their real parts; there is no order"),
    ("IdentityN", "grads[", "no gradient is no gradient; TensorFlow fills in zeros"),
    ("Equal", "incompatible_shape_error=False", "shape of a comparison that is known to be False"),
    ("TruncateDiv", "InternalError", "division by zero is InvalidArgument, whichever division"),
    ("TruncateMod", "InternalError", "division by zero is InvalidArgument, whichever division"),
    ("Pow", " complex", "zero to the power of zero is 1"),
    ("BroadcastGradientArgs", "values[", "axes that are 1 on both sides need no sum"),
    ("Reshape", "inferred shapes", "zero sizes that are known from partly known shapes"),
    ("Reshape", "instead of ValueError", "an impossible shape is refused when run"),
    ("Tile", "inferred shapes", "no copies of an unknown size"),
    ("Reverse", "no error, TensorFlow has InvalidArgumentError", "TensorFlow refuses some empty tensors"),
    ("Where", "no error", "TensorFlow has no scalars"),
    ("Where", "inferred shapes", "TensorFlow knows fewer or other sizes of scalars"),
    ("MatrixDiagPart", "inferred shapes", "zero sizes that are known from partly known shapes"),
    ("MatrixDiagV2", "grads[0]", "TensorFlow takes the gradient of another alignment"),
    ("MatrixDiagV2", "inferred shapes", "TensorFlow infers 0 where it knows nothing"),
    ("MatrixDiagV3", "inferred shapes", "TensorFlow infers 0 where it knows nothing"),
    ("MatrixSetDiagV3", "inferred shapes", "TensorFlow refuses shapes that are not known"),
    ("SpaceToBatch", "inferred shapes", "the rank alone"), ("BatchToSpace", "inferred shapes", "the rank alone"),
    ("ConcatV2", "has a gradient", "TensorFlow's gradient fails where the axis is int64"),
    ("GatherNd", "has a gradient", "TensorFlow's gradient fails for scalars out of vectors"),
    ("InplaceAdd", "UnimplementedError", "the class of the error"), ("InplaceSub", "UnimplementedError", "the class of the error"),
    ("Conv2D", "has a gradient", "TensorFlow's CPU has no gradient of dilated or grouped convolutions"),
    ("Conv2D", "strides in the batch and depth", "refused when run"),
    ("DepthwiseConv2dNative", "bfloat16: grads", "sums of many products, rounded"),
    ("Tile", " uint16: no error", "TensorFlow's CPU has no such kernel"),
    ("DepthwiseConv2dNative", "no error", "TensorFlow's CPU has no dilation here"),
    ("DepthwiseConv2dNative", "has a gradient", "TensorFlow's CPU has no dilation here"),
    ("Conv2DBackpropInput", "loat16: values", "sums of many products, rounded"),
    ("Conv2DBackpropFilter", " half: values", "sums of many products, rounded"),
    ("Conv2DBackpropFilter", "loat16: values", "sums of many products, rounded"),
    ("MaxPool3D", "grads", "which of equal elements takes the gradient"),
    ("SparseSoftmaxCrossEntropyWithLogits", "grads[1]", "no derivative of the second output yet"),
    ("StatelessRandomUniformV2", "ThreeFry", "the class of the error"),
    ("StatelessRandomNormalV2", "ThreeFry", "the class of the error"),
    ("StatelessTruncatedNormalV2", "ThreeFry", "the class of the error"),
]

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("family, op", [(family, op) for family in ops_oracle.families.NAMES for op in ops_oracle.by_op(family)])
def test_op(family, op):
    lines = ops_oracle.check_op(family, op)
    if lines is None:
        pytest.skip("no kernel")
    lines = [line for line in lines if not any(name == op and part in line for name, part, _ in DIFFER)]
    assert not lines, f"{len(lines)} differences\n" + "\n".join(lines[:20])
