"""Convolutions by their definition, in double precision, for any number of spatial dimensions."""
import itertools

import numpy as np


class Geometry:
    """Where windows lie: each argument holds one number for each spatial dimension, `padding` is "SAME", "VALID" or
    pairs of explicit paddings."""

    def __init__(self, size, kernel, strides, dilations, padding):
        self.size, self.kernel, self.strides, self.dilations = size, kernel, strides, dilations
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
        if padding == "SAME":
            self.out = [-(-n // s) for n, s in zip(size, strides)]
            total = [max((o - 1) * s + r - n, 0) for o, s, r, n in zip(self.out, strides, reach, size)]
            self.pads = [(t // 2, t - t // 2) for t in total]
        else:
            self.pads = [(0, 0)] * len(size) if padding == "VALID" else [tuple(p) for p in padding]
            self.out = [(n + a + b - r) // s + 1 for n, (a, b), r, s in zip(size, self.pads, reach, strides)]

    def padded(self, x, value=0.0):
        # A row more than needed does no harm where strides leave pixels out.
        return np.pad(x, [(0, 0), *self.pads, (0, 0)], constant_values=value)

    def taps(self):
        """(index of the tap, what it sees of a padded image in all windows)"""
        for tap in itertools.product(*map(range, self.kernel)):
            yield tap, (slice(None), *(slice(t * d, t * d + (o - 1) * s + 1, s)
                                       for t, d, o, s in zip(tap, self.dilations, self.out, self.strides)))

    def inside(self, x):
        """What a padded image has without its padding."""
        return x[(slice(None), *(slice(a, a + n) for (a, _), n in zip(self.pads, self.size)))]


def _groups(f, channels):
    """Parts of input channels, filters and output channels of each group; f: [..., in / groups, out]"""
    n = channels // f.shape[-2]
    each = f.shape[-1] // n
    for g in range(n):
        yield slice(g * f.shape[-2], (g + 1) * f.shape[-2]), slice(g * each, (g + 1) * each)


def forward(g, x, f):
    x, y = g.padded(x), np.zeros((len(x), *g.out, f.shape[-1]))
    for tap, seen in g.taps():
        for ins, outs in _groups(f, x.shape[-1]):
            y[..., outs] += x[seen][..., ins] @ f[tap][:, outs]
    return y


def gradients(g, x, f, dy):
    """By input and filter."""
    x = g.padded(x)
    dx, df = np.zeros(x.shape), np.zeros(f.shape)
    axes = tuple(range(dy.ndim - 1))
    for tap, seen in g.taps():
        for ins, outs in _groups(f, x.shape[-1]):
            dx[(*seen, ins)] += dy[..., outs] @ f[tap][:, outs].T
            df[tap][:, outs] = np.tensordot(x[seen][..., ins], dy[..., outs], (axes, axes))
    return g.inside(dx), df
