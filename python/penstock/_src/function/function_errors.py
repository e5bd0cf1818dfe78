"""Errors of functions that ran eagerly, with the line of the program that built the node that failed."""
import re
import traceback

from penstock._src.function import function_definition
from penstock._src.graph import stack
from penstock._src.base import tf2
from penstock._src.base import compat

_FUNCTION = re.compile(r"\{\{function_node ([^}]*)\}\} ?")
_NODE = re.compile(r"\{\{node ([^}]*)\}\}")
_CALLED = re.compile(r"\[Op:([^\]]*)\]$")
_FUSED = re.compile(r"/fused(_\d+)?$")


def unmarked(message):
    """(a message without the marks of the function in which the node failed, that function's name or None)."""
    found = _FUNCTION.search(message)
    return (_FUNCTION.sub("", message), found.group(1)) if found else (message, None)


def find(function, path):
    """find_in the graph of a function; None if it was not traced in this process."""
    definition = function_definition.known(function)
    graph = definition.body() if definition is not None else None
    return None if graph is None else find_in(graph, path)


def find_in(graph, path):
    """The operation that built a node of a graph, which may come from a function that an operation calls: then `path`
    leads there. None if there is none, as of nodes that the runtime makes."""
    path = _FUSED.sub("", path)
    op = graph._find(path)
    if op is not None:
        return op
    parts = path.split("/")
    for i in range(len(parts) - 1, 0, -1):
        op = graph._find("/".join(parts[:i]))
        for called in () if op is None else function_definition._called(graph, [op._node]):
            inner, name = parts[i:], compat.as_str(called.name)
            if re.fullmatch(re.escape(name) + r"(_\d+)?", inner[0]):
                inner = inner[1:]
            found = find(name, "/".join(inner))
            if found is not None:
                return found
    return None


def explained(message):
    """The message of an error of an eager call; if it ran a function, with the Python calls that built the node."""
    called, node = _CALLED.search(message), _NODE.search(message)
    if called is None:
        return message
    message, function = unmarked(message)
    function = function or called.group(1)
    if node is None or function_definition.known(function) is None:
        return message
    name = node.group(1)
    op = find(function, name)
    return _as_version_two(message, name, op) if tf2.enabled() else _as_version_one(message, name, op, called.group(1))


def _as_version_two(message, name, op):
    lines = ["Graph execution error:\n\n"]
    if op is None:
        lines.append(f"Detected at node {name} defined at (most recent call last):\n<stack traces unavailable>\n")
    else:
        message = message.replace(f"{{{{node {name}}}}}", f"{{{{node {op.name}}}}}")
        lines.append(f"Detected at node {op.name} defined at (most recent call last):\n")
        frames = stack.user_frames(op._traceback)
        lines.append("\n".join(traceback.format_list([entry[:4] for entry in stack.convert(frames)])) + "\n")
    return "".join(lines) + message.strip()


def _as_version_one(message, name, op, called):
    line = stack.user_line(op._traceback) if op is not None else None
    if line is not None:
        message = message.replace(f"{{{{node {name}}}}}", f"node {op.name} (defined at {line[0]}:{line[1]}) ")
    definition = function_definition.known(called)
    graph = None if definition is None else definition.body()
    return message if graph is None else f"{message}\n\nFunction call stack:\n{graph.name}\n"
