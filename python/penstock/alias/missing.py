"""Why TensorFlow's module lacks a name: the sentence after `module ... has no attribute ...`."""
import difflib
import importlib

from penstock.alias import known

_NUMBERS = {"1": "1.15", "2": "2.21"}
_PAGE = "docs/differences.md"

# Names before TensorFlow 1.0, and their names since; those with batch_ dropped it.
RENAMED = dict(pair.split("=") for pair in """
    all_candidate_sampler=nn.all_candidate_sampler audio_summary=summary.audio batch_matmul=matmul complex_abs=abs
    histogram_summary=summary.histogram image_summary=summary.image inv=reciprocal listdiff=setdiff1d
    merge_all_summaries=summary.merge_all merge_summary=summary.merge mul=multiply neg=negative pack=stack
    scalar_summary=summary.scalar select=where sub=subtract unpack=unstack
    batch_cholesky=cholesky batch_cholesky_solve=cholesky_solve batch_fft=fft batch_fft2d=fft2d batch_fft3d=fft3d
    batch_ifft=ifft batch_ifft2d=ifft2d batch_ifft3d=ifft3d batch_matrix_band_part=matrix_band_part
    batch_matrix_determinant=matrix_determinant batch_matrix_diag=matrix_diag batch_matrix_diag_part=matrix_diag_part
    batch_matrix_inverse=matrix_inverse batch_matrix_set_diag=matrix_set_diag batch_matrix_solve=matrix_solve
    batch_matrix_solve_ls=matrix_solve_ls batch_matrix_transpose=matrix_transpose
    batch_matrix_triangular_solve=matrix_triangular_solve batch_self_adjoint_eig=self_adjoint_eig
    batch_self_adjoint_eigvals=self_adjoint_eigvals batch_svd=svd
    image.per_image_whitening=image.per_image_standardization image.random_crop=random_crop
    nn.bidirectional_rnn=nn.static_bidirectional_rnn nn.rnn=nn.static_rnn nn.seq2seq=contrib.legacy_seq2seq
    nn.state_saving_rnn=nn.static_state_saving_rnn models.rnn=contrib.rnn
    train.SummaryWriter=summary.FileWriter train.SummaryWriterCache=summary.FileWriterCache
    nn.deconv2d=nn.conv2d_transpose""".split())

# Names of version 1 whose names in version 2 end differently.
_SINCE = dict(pair.split("=") for pair in """
    set_random_seed=random.set_seed random_normal=random.normal random_uniform=random.uniform random_gamma=random.gamma
    random_poisson=random.poisson random_shuffle=random.shuffle random_crop=image.random_crop
    truncated_normal=random.truncated_normal multinomial=random.categorical to_float=cast to_double=cast to_int32=cast
    to_int64=cast gfile=io.gfile python_io=io decode_raw=io.decode_raw read_file=io.read_file write_file=io.write_file
    matching_files=io.matching_files py_func=numpy_function sparse_to_dense=sparse.to_dense string_split=strings.split
    sparse_tensor_to_dense=sparse.to_dense string_join=strings.join layers=keras.layers Print=print div=divide
    is_nan=math.is_nan mod=math.floormod
    image.resize_images=image.resize image.resize_bilinear=image.resize train.AdamOptimizer=keras.optimizers.Adam
    train.GradientDescentOptimizer=keras.optimizers.SGD train.RMSPropOptimizer=keras.optimizers.RMSprop
    losses.mean_squared_error=keras.losses.MeanSquaredError diag=linalg.tensor_diag svd=linalg.svd
    FixedLenFeature=io.FixedLenFeature VarLenFeature=io.VarLenFeature parse_example=io.parse_example
    summary.FileWriter=summary.create_file_writer
    parse_single_example=io.parse_single_example matrix_inverse=linalg.inv matrix_determinant=linalg.det
    matrix_diag=linalg.diag matrix_transpose=linalg.matrix_transpose""".split())


class MissingName(AttributeError):
    """A namespace has no such name; its text, which says why, is made when it is read."""

    def __init__(self, module, name, detail=""):
        super().__init__(f"module {module!r} has no attribute {name!r}{detail}")
        self._where = module, name

    def __str__(self):
        reason = of_module(*self._where)
        return f"{self.args[0]}{': ' if reason else ''}{reason}"

    def __reduce__(self):
        return AttributeError, (str(self),)


def of_module(module, name):
    """The sentence about `module.name`, where the module is penstock.v1, penstock.v2 or below; may be ""."""
    for root, version in (("penstock.compat.v1", "1"), ("penstock.v1", "1"), ("penstock.v2", "2"), ("penstock", "2")):
        if (module + ".").startswith(root + "."):
            below = module[len(root) + 1:]
            return reason(f"{below}.{name}" if below else name, version)
    return ""


def reason(dotted, version):
    """Why version "1" or "2" lacks a name below its module; "" if there is nothing to say."""
    if dotted.rpartition(".")[2].startswith("_"):
        return ""
    have, part = known.versions(dotted)
    if have and version not in have:
        return _of_the_other(part, have)
    if known.has(dotted, version):
        return f"TensorFlow {_NUMBERS[version]} has tf.{dotted}, Penstock does not yet: see {_PAGE}"
    if dotted in RENAMED:
        return f"tf.{dotted} is from before TensorFlow 1.0: it is tf.{_now(RENAMED[dotted], version)} now"
    near = _near(dotted, version)
    return f"did you mean {' or '.join('tf.' + each for each in near)}?" if near else ""


def _now(name, version):
    """The name that an old one has in this version."""
    return since(name) or name if version == "2" else name


def since(name):
    """The name in version 2 of a name that only version 1 has, or None."""
    if "1" not in known.versions(name)[0] or "2" in known.versions(name)[0]:
        return None
    if name in _SINCE:
        return _SINCE[name]
    others = [other for other, have in known.everywhere(name.rpartition(".")[2])
              if "2" in have and not other.startswith(("experimental", "contrib"))]
    return others[0] if len(others) == 1 or others and others[0].startswith(("math.", "linalg.")) else None


def _of_the_other(name, have):
    if have == "2":
        return (f"tf.{name} is TensorFlow 2, and this program runs as TensorFlow 1: `penstock run --v2`, or "
                "PENSTOCK_TENSORFLOW=2, runs it as TensorFlow 2")
    ways = []
    if since(name):
        ways.append(f"tf.{since(name)} in TensorFlow 2")
    if not name.startswith(("contrib", "examples", "estimator")):
        ways.append(f"tf.compat.v1.{name} in both")
    return (f"tf.{name} is TensorFlow 1, and this program runs as TensorFlow 2{': ' if ways else ''}{', '.join(ways)}; "
            "`penstock run --v1`, or PENSTOCK_TENSORFLOW=1, runs it as TensorFlow 1")


def _near(dotted, version):
    """Up to three names that may be meant: the same name of another namespace, or similar ones of this."""
    namespace, _, name = dotted.rpartition(".")
    same = [other for other, have in known.everywhere(name) if version in have]
    if same:
        return same[:3]
    try:
        found = importlib.import_module(f"penstock.v{version}")
        for part in namespace.split(".") if namespace else ():
            found = getattr(found, part)
        names = dir(found)
    except AttributeError:
        names = [each for each, have in known.table().get(namespace, {}).items() if version in have]
    return [f"{namespace}.{each}" if namespace else each for each in difflib.get_close_matches(name, names, 3, 0.75)]
