"""Nodes, dumps and times by the Python lines that made them."""
import collections
import math
import os
import re

from penstock._src.debug.lib import profiling

_LIBRARY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

UNCOMPILED_SOURCE_SUFFIXES = (".py",)
COMPILED_SOURCE_SUFFIXES = (".pyc", ".pyo")


def _absolute(path):
    return os.path.normpath(os.path.abspath(path))


def is_extension_uncompiled_python_source(file_path):
    """Whether a file's name is that of Python source."""
    return os.path.splitext(file_path)[1].lower() in UNCOMPILED_SOURCE_SUFFIXES


def is_extension_compiled_python_source(file_path):
    """Whether a file's name is that of compiled Python."""
    return os.path.splitext(file_path)[1].lower() in COMPILED_SOURCE_SUFFIXES


def guess_is_tensorflow_py_library(py_file_path):
    """Whether a Python file is one of this package, but for tests. ValueError for other files."""
    if not (is_extension_uncompiled_python_source(py_file_path) or is_extension_compiled_python_source(py_file_path)):
        raise ValueError("Input file path (%s) is not a Python source file." % py_file_path)
    path = _absolute(py_file_path)
    return path.startswith(_LIBRARY + os.sep) and not path.endswith("_test.py")


def load_source(source_file_path):
    """(lines of a file, columns that their numbers take)."""
    with open(source_file_path) as f:
        lines = f.read().split("\n")
    return lines, math.ceil(math.log10(len(lines))) + 3


def _graph_of(dump, purpose):
    if not dump.python_graph:
        raise ValueError("Cannot %s due to a lack of set Python graph in the dump object" % purpose)
    return dump.python_graph


def annotate_source(dump, source_file_path, do_dumped_tensors=False, file_stack_top=False, min_line=None,
                    max_line=None):
    """{line: nodes that it made, or their dumped tensors}.

    file_stack_top: only the innermost line of the file. min_line, max_line: from one up to the other. ValueError if
    the dump has no Python graph.
    """
    path, found = _absolute(source_file_path), {}
    for op in _graph_of(dump, "perform source annotation").get_operations():
        for frame in reversed(dump.node_traceback(op.name)):
            file_path, line = frame[0], frame[1]
            if (min_line is not None and line < min_line) or (max_line is not None and line >= max_line):
                continue
            if _absolute(file_path) != path:
                continue
            names = ({key.rpartition(":")[0] for key in dump.debug_watch_keys(op.name)} if do_dumped_tensors
                     else [op.name])
            found.setdefault(line, []).extend(names)
            if file_stack_top:
                break
    return found


def list_source_files_against_dump(dump, path_regex_whitelist=None, node_name_regex_whitelist=None):
    """Sorted (file, whether it is of this package, nodes, tensors, dumps, first line), for files that made nodes.

    ValueError if the dump has no Python graph.
    """
    graph = _graph_of(dump, "generate source list")
    path_regex, node_regex = (re.compile(regex) if regex else None
                              for regex in (path_regex_whitelist, node_name_regex_whitelist))
    wanted = {}  # file: whether it counts

    def counts(path):
        if path not in wanted:
            wanted[path] = os.path.isfile(path) and (path_regex is None or bool(path_regex.match(path)))
        return wanted[path]

    nodes, tensors, first, dumps = (collections.defaultdict(set), collections.defaultdict(set), {}, {})
    for op in graph.get_operations():
        if node_regex and not node_regex.match(op.name):
            continue
        for key in dump.debug_watch_keys(op.name):
            node, slot, debug_op = key.split(":")
            dumps.setdefault("%s:%s" % (node, slot), len(dump.get_tensors(node, int(slot), debug_op)))
        for frame in dump.node_traceback(op.name):
            path = _absolute(frame[0])
            if counts(path):
                nodes[path].add(op.name)
                tensors[path].update(output.name for output in op.outputs)
                first[path] = min(first.get(path, frame[1]), frame[1])
    return sorted((path, guess_is_tensorflow_py_library(path), len(nodes[path]), len(tensors[path]),
                   sum(dumps.get(name, 0) for name in tensors[path]), first[path]) for path in nodes)


def annotate_source_against_profile(profile_data, source_file_path, node_name_filter=None, op_type_filter=None,
                                    min_line=None, max_line=None):
    """{line: AggregateProfile} of the ProfileDatums of a file's lines."""
    path, found = _absolute(source_file_path), {}
    for datum in profile_data:
        line = datum.line_number
        if not datum.file_path or _absolute(datum.file_path) != path:
            continue
        if (min_line is not None and line < min_line) or (max_line is not None and line >= max_line):
            continue
        if node_name_filter and not re.match(node_name_filter, datum.node_exec_stats.node_name):
            continue
        if op_type_filter and not re.match(op_type_filter, datum.op_type):
            continue
        if line in found:
            found[line].add(datum)
        else:
            found[line] = profiling.AggregateProfile(datum)
    return found
