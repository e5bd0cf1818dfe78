"""What a layer demands of its inputs."""
from penstock._src.graph import dtypes
from penstock._src.base import nest


class InputSpec(object):
    """Constraints on rank, shape, dtype and on the lengths of some axes ({axis: length})."""

    def __init__(self, dtype=None, shape=None, ndim=None, max_ndim=None, min_ndim=None, axes=None):
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.shape = shape
        self.ndim = len(shape) if shape is not None else ndim
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        try:
            self.axes = {int(k): v for k, v in (axes or {}).items()}
        except (ValueError, TypeError, AttributeError):
            raise TypeError("The keys in axes must be integers.")
        if self.axes and (self.ndim is not None or self.max_ndim is not None):
            last = (self.ndim if self.ndim else self.max_ndim) - 1
            if max(self.axes) > last:
                raise ValueError("Axis {} is greater than the maximum allowed value: {}".format(max(self.axes), last))

    def __repr__(self):
        names = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        return "InputSpec(%s)" % ", ".join("%s=%s" % (n, getattr(self, n)) for n in names if getattr(self, n))

    def get_config(self):
        return {n: getattr(self, n) for n in ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def assert_input_compatibility(input_spec, inputs, layer_name):
    """ValueError that names the layer and the input that does not fit its specification."""
    if not input_spec:
        return
    inputs = nest.flatten(inputs)
    specs = nest.flatten(input_spec)
    if len(inputs) != len(specs):
        raise ValueError("Layer %s expects %d inputs, but it received %d input tensors. Inputs received: %s" %
                         (layer_name, len(specs), len(inputs), inputs))
    for index, (x, spec) in enumerate(zip(inputs, specs)):
        if spec is not None:
            problem = _problem(x, spec)
            if problem:
                raise ValueError("Input %d of layer %s is incompatible with the layer: %s" %
                                 (index, layer_name, problem))


def _problem(x, spec):
    rank = x.shape.ndims
    if rank is None:
        if any(n is not None for n in (spec.ndim, spec.min_ndim, spec.max_ndim)):
            return "its rank is undefined, but the layer requires a defined rank."
    else:
        shape = x.shape.as_list()
        if spec.ndim is not None and rank != spec.ndim:
            return "expected ndim=%d, found ndim=%d. Full shape received: %s" % (spec.ndim, rank, shape)
        if spec.max_ndim is not None and rank > spec.max_ndim:
            return "expected max_ndim=%d, found ndim=%d" % (spec.max_ndim, rank)
        if spec.min_ndim is not None and rank < spec.min_ndim:
            return ": expected min_ndim=%d, found ndim=%d. Full shape received: %s" % (spec.min_ndim, rank, shape)
        for axis, value in spec.axes.items():
            value = getattr(value, "value", value)
            if value is not None and shape[axis] not in (value, None):
                return "expected axis %d of input shape to have value %s but received input with shape %s" % (
                    axis, value, shape)
        if spec.shape is not None:
            for wanted, found in zip(spec.shape, shape):
                if wanted is not None and found is not None and wanted != found:
                    return "expected shape=%s, found shape=%s" % (spec.shape, shape)
    if spec.dtype is not None and x.dtype != spec.dtype:
        return "expected dtype=%s, found dtype=%s" % (spec.dtype, x.dtype)
    return None
