"""Every op against real TensorFlow 2.21: values, gradients, inferred shapes and errors (tests/oracle/ops)."""

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import ops_oracle  # noqa: E402

# Where the answers differ: (op, part of the difference, why). Everything else of these ops is compared.
DIFFER = [
    # Outputs that nobody reads
    *((f"FusedBatchNormGrad{version}", "inferred shapes", "1.15 writes the channels there where it does not train")
      for version in ("", "V2", "V3")),
    # TensorFlow's answer is wrong
    ("Round", " int", "TensorFlow 2.21 answers 0 for every integer"),
    ("Erf", "float64: values", "TensorFlow 2.21 answers NaN at infinity"),
    ("BesselI1", "grads[0]", "the derivative at zero is 1/2, TensorFlow has 1"),
    ("BesselY0", "grads[0]", "the function is -infinity at zero, TensorFlow's float answer is NaN"),
    ("BesselY1", "[0]", "the function is -infinity at zero, TensorFlow's float answer is NaN"),
    ("Pow", " complex", "zero to the power of zero is 1, TensorFlow has NaN"),
    ("Log1p", " complex", "the sign of the imaginary part on the branch cut"),
    ("StatefulRandomBinomial", "state[0]", "TensorFlow does not advance a state whose buffer something else holds"),
    ("DebugNanCount", "inferred shapes", "TensorFlow infers a scalar for a vector of one element"),
    ("ClipByValue", " complex", "TensorFlow keeps the real part alone; there is no order of complex numbers"),
    ("MatrixDiagV2", "grads[0]", "TensorFlow takes the gradient of another alignment"),
    ("MatrixDiagV2", "inferred shapes", "TensorFlow infers 0 where it knows nothing"),
    ("MatrixDiagV3", "inferred shapes", "TensorFlow infers 0 where it knows nothing"),
    ("MatrixSetDiagV3", "inferred shapes", "TensorFlow refuses shapes that are not known"),
    ("ExtractVolumePatches", "inferred shapes", "TensorFlow infers rank 4 for a result of rank 5"),
    ("Reverse", "no error, TensorFlow has InvalidArgumentError", "TensorFlow refuses empty vectors"),
    ("TruncateDiv", "InternalError", "division by zero is InvalidArgument, whichever division"),
    ("TruncateMod", "InternalError", "division by zero is InvalidArgument, whichever division"),
    ("FractionalMaxPool", "inferred shapes", "TensorFlow infers sequences that are one too short"),
    ("FractionalAvgPool", "inferred shapes", "TensorFlow infers sequences that are one too short"),
    ("MatrixSolveLs", " complex", "TensorFlow's gradient of the matrix transposes without conjugating"),
    # Penstock does less
    ("MatrixInverse", " half: fails", "there is no kernel for half"),
    # Penstock does more
    ("Where", "no error", "TensorFlow has no scalars"),
    ("Where", "inferred shapes", "TensorFlow knows fewer or other sizes of scalars"),
    ("Tile", " uint16: no error", "TensorFlow's CPU has no such kernel"),
    ("DepthwiseConv2dNative", "no error", "TensorFlow's CPU has no dilation here"),
    ("QuantizeAndDequantizeV4", "no error", "TensorFlow's CPU has no ranges by channel"),
    # Another choice
    ("BroadcastGradientArgs", "values[", "axes that are 1 on both sides need no sum"),
    ("Conv2D", "strides in the batch and depth", "version 1.15's class of the error"),
    *[(op, "no error, TensorFlow has InvalidArgumentError", "version 1.15 reduces an axis that comes twice once")
      for op in ("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum")],
]
# How many answers for each op the ordinary run looks at; --all looks at all of them.
SAMPLE = 12


@pytest.mark.parametrize(
    "family, op", [(family, op) for family in ops_oracle.families.NAMES for op in ops_oracle.by_op(family)]
)
def test_op(family, op, request):
    lines = ops_oracle.check_op(family, op, None if request.config.getoption("--all") else SAMPLE)
    if lines is None:
        pytest.skip("no kernel")
    lines = [line for line in lines if not any(name == op and part in line for name, part, _ in DIFFER)]
    assert not lines, f"{len(lines)} differences\n" + "\n".join(lines[:20])
