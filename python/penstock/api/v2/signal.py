"""tf.signal, version 2: the names of version 1, and transforms along any axes."""
from penstock.api.v1 import signal

FROM = {**signal.FROM, "ops.signal.fft_ops": signal.FROM["ops.signal.fft_ops"] + " fftnd ifftnd irfftnd rfftnd"}
