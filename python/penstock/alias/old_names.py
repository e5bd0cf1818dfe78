"""Names that older programs use and that Python, NumPy and SciPy have dropped since: `penstock check` reports them,
`penstock run --compat` puts them back."""
import builtins
import importlib
import importlib.util
import sys
import types

# NumPy's names -> an expression of today.
NUMPY = dict(pair.split("=") for pair in """
    float=float int=int bool=bool object=object str=str complex=complex long=int unicode=str float_=float64
    complex_=complex128 string_=bytes_ unicode_=str_ cfloat=complex128 singlecomplex=complex64 longfloat=longdouble
    NaN=nan Inf=inf Infinity=inf infty=inf PINF=inf NINF=-inf PZERO=0.0 NZERO=-0.0 product=prod cumproduct=cumprod
    alltrue=all sometrue=any in1d=isin row_stack=vstack trapz=trapezoid round_=round msort=sort rank=ndim
    asfarray=asarray issubsctype=issubdtype asscalar=item mat=asmatrix""".split())

# SciPy's functions that are gone, and what does the same.
SCIPY = {"misc": "imageio, PIL or scipy.datasets", "misc.imread": "imageio.v2.imread", "misc.imsave": "imageio.imwrite",
         "misc.imresize": "PIL.Image.resize", "misc.toimage": "PIL.Image.fromarray", "misc.logsumexp":
         "scipy.special.logsumexp", "misc.comb": "scipy.special.comb", "misc.factorial": "scipy.special.factorial",
         "misc.derivative": "a difference quotient", "misc.face": "scipy.datasets.face",
         "misc.ascent": "scipy.datasets.ascent", "ndimage.imread": "imageio.v2.imread",
         "integrate.simps": "scipy.integrate.simpson", "integrate.trapz": "scipy.integrate.trapezoid",
         "integrate.cumtrapz": "scipy.integrate.cumulative_trapezoid", "interp": "numpy.interp"}

BUILTINS = {"xrange": "range", "unicode": "str", "raw_input": "input", "basestring": "str", "long": "int",
            "unichr": "chr", "reduce": "functools.reduce",
            "cmp": "(a > b) - (a < b)", "execfile": "exec(open(file).read())",
            "reload": "importlib.reload"}

MODULES = {"cPickle": "pickle", "Queue": "queue", "StringIO": "io", "cStringIO": "io", "ConfigParser": "configparser",
           "urllib2": "urllib.request", "urlparse": "urllib.parse", "commands": "subprocess", "Tkinter": "tkinter",
           "imp": "importlib", "thread": "_thread", "HTMLParser": "html.parser", "itertools.izip": "zip",
           "__builtin__": "builtins", "copy_reg": "copyreg", "httplib": "http.client"}

# Attributes of Python's own modules: module.name -> today's.
ATTRIBUTES = {"time.clock": "time.perf_counter", "collections.Mapping": "collections.abc.Mapping",
              "collections.Iterable": "collections.abc.Iterable", "collections.Sequence": "collections.abc.Sequence",
              "collections.MutableMapping": "collections.abc.MutableMapping", "collections.Callable":
              "collections.abc.Callable", "collections.Hashable": "collections.abc.Hashable",
              "inspect.getargspec": "inspect.getfullargspec", "fractions.gcd": "math.gcd",
              "itertools.izip": "zip", "itertools.imap": "map", "itertools.ifilter": "filter",
              "itertools.izip_longest": "itertools.zip_longest", "string.letters": "string.ascii_letters",
              "string.lowercase": "string.ascii_lowercase", "string.uppercase": "string.ascii_uppercase",
              "string.maketrans": "str.maketrans", "os.getcwdu": "os.getcwd", "sys.maxint": "sys.maxsize"}

METHODS = {"iteritems": "items", "itervalues": "values", "iterkeys": "keys", "has_key": "`key in dictionary`"}


def today(name):
    """The value of a dotted name of Python's own modules. AttributeError or ImportError if there is none."""
    module, _, attribute = name.rpartition(".")
    return getattr(str if module == "str" else importlib.import_module(module or "builtins"), attribute)


def is_gone(name):
    """Whether this Python lacks a dotted name."""
    try:
        today(name)
    except (AttributeError, ImportError):
        return True
    return False


def restore():
    """Puts the names back in this process, those that can be."""
    import numpy
    for name, now in NUMPY.items():
        if not hasattr(numpy, name):
            setattr(numpy, name, _numpy_value(numpy, name, now))
    for name, now in {**BUILTINS, "execfile": "", "cmp": "", "reduce": ""}.items():
        if not hasattr(builtins, name):
            setattr(builtins, name, _FUNCTIONS.get(name) or today(now))
    for name, now in MODULES.items():
        if "." not in name and name not in sys.modules and importlib.util.find_spec(name) is None:
            try:
                sys.modules[name] = importlib.import_module(now)
            except ImportError:  # not part of every Python: tkinter
                pass
    for name, now in ATTRIBUTES.items():
        module, _, attribute = name.rpartition(".")
        if is_gone(name):
            setattr(importlib.import_module(module), attribute, today(now))
    if importlib.util.find_spec("scipy") is not None:
        _restore_scipy()


def _numpy_value(numpy, name, now):
    if name == "asscalar":
        return lambda a: a.item()
    if name == "asfarray":
        return lambda a, dtype=float: numpy.asarray(a, dtype)
    if name == "msort":
        return lambda a: numpy.sort(a, axis=0)
    if now in ("float", "int", "bool", "object", "str", "complex"):
        return getattr(builtins, now)
    return getattr(numpy, now) if hasattr(numpy, now) else float(now)


def _compare(a, b):
    return (a > b) - (a < b)


def _execfile(file, *scopes):
    with open(file) as f:
        exec(compile(f.read(), file, "exec"), *(scopes or (sys._getframe(1).f_globals,)))


def _reduce(*arguments):
    import functools
    return functools.reduce(*arguments)


_FUNCTIONS = {"cmp": _compare, "execfile": _execfile, "reduce": _reduce}


def _restore_scipy():
    """scipy.misc with its functions for images, by Pillow, and for numbers."""
    try:
        misc = importlib.import_module("scipy.misc")
    except ImportError:
        misc = sys.modules["scipy.misc"] = types.ModuleType("scipy.misc")
        importlib.import_module("scipy").misc = misc  # type: ignore[attr-defined]
    for name in ("logsumexp", "comb", "factorial"):
        if not hasattr(misc, name):
            setattr(misc, name, getattr(importlib.import_module("scipy.special"), name))
    for name, function in (("imread", _imread), ("imsave", _imsave), ("imresize", _imresize), ("toimage", _image)):
        if not hasattr(misc, name):
            setattr(misc, name, function)


def _imread(name, flatten=False, mode=None):
    import numpy
    from PIL import Image
    image = Image.open(name)
    return numpy.asarray(image.convert("F" if flatten else mode) if flatten or mode else image)


def _image(array, *_):
    """An image of an array: bytes as they are, other numbers so that the least is black and the greatest white."""
    import numpy
    from PIL import Image
    array = numpy.asarray(array)
    if array.dtype != numpy.uint8:
        low, high = array.min(), array.max()
        array = ((array - low) * (255.0 / ((high - low) or 1)) + 0.5).clip(0, 255).astype(numpy.uint8)
    return Image.fromarray(array)


def _imsave(name, array, format=None):
    _image(array).save(name, format)


def _imresize(array, size, interp="bilinear", mode=None):
    """`size`: percent, a fraction, or (height, width)."""
    import numpy
    from PIL import Image
    image = _image(array) if mode is None else _image(array).convert(mode)
    if isinstance(size, (tuple, list)):
        target = int(size[1]), int(size[0])
    else:
        factor = size / 100 if isinstance(size, int) else size
        target = int(image.size[0] * factor), int(image.size[1] * factor)
    return numpy.asarray(image.resize(target, getattr(Image.Resampling, interp.upper(), Image.Resampling.BILINEAR)))
