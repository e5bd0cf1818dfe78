"""Which exports to keep."""
import collections
import heapq
import os

from penstock._src.graph import errors
from penstock._src.files import gfile
from penstock._src.base import tf_logging as logging
from penstock._src.base import compat

Path = collections.namedtuple("Path", "path export_version")


def _largest_export_versions(n):
    """A function that keeps the n newest of a list of paths."""

    def keep(paths):
        versions = [(path.export_version, i) for i, path in enumerate(paths) if path.export_version is not None]
        return sorted(paths[i] for _, i in heapq.nlargest(n, versions))

    return keep


def _one_of_every_n_export_versions(n):
    """A function that keeps the newest of each n successive versions."""

    def keep(paths):
        kept = {}
        for path in paths:
            if path.export_version is None:
                continue
            interval = (path.export_version - 1) // n if path.export_version else 0
            if interval not in kept or kept[interval].export_version < path.export_version:
                kept[interval] = path
        return sorted(kept.values())

    return keep


def _mod_export_version(n):
    """A function that keeps versions that n divides."""
    return lambda paths: sorted(path for path in paths if path.export_version % n == 0)


def _union(lf, rf):
    """A function that keeps what one of two keeps."""
    return lambda paths: sorted(set(lf(paths)) | set(rf(paths)))


def _negation(f):
    """A function that keeps what another does not."""
    return lambda paths: sorted(set(paths) - set(f(paths)))


def _get_paths(base_dir, parser):
    """The paths of a directory for which `parser` gives one."""
    names = [compat.as_str_any(name).rstrip("/") for name in gfile.ListDirectory(base_dir)]
    paths = [parser(Path(os.path.join(compat.as_str_any(base_dir), name), None)) for name in names]
    return sorted(path for path in paths if path)


def _export_version(path):
    """The path with its version; None unless it is named by a second."""
    name = os.path.basename(path.path)
    return path._replace(export_version=int(name)) if len(name) == 10 and name.isdigit() else None


def delete_old_exports(export_dir_base, exports_to_keep):
    """Deletes all but the newest exports; None keeps all."""
    if exports_to_keep is None:
        return
    old = _negation(_largest_export_versions(exports_to_keep))
    for path in old(_get_paths(export_dir_base, parser=_export_version)):
        try:
            gfile.DeleteRecursively(path.path)
        except errors.NotFoundError as e:
            logging.warning("Can not delete %s recursively: %s", path.path, e)
