"""TransformGraph, as TensorFlow's Graph Transform Tool: makes a frozen graph smaller, or fit for another place."""
import re

from penstock._src.graph import errors
from penstock._src.base import tf_logging as logging
from penstock.proto import graph_pb2
from penstock._src.tools.graph_transforms import fusions
from penstock._src.tools.graph_transforms import inserted
from penstock._src.tools.graph_transforms import quantize
from penstock._src.tools.graph_transforms import structure
from penstock._src.tools.graph_transforms import values
from penstock._src.tools.graph_transforms.context import Context, node_name

TRANSFORMS = {**structure.TRANSFORMS, **values.TRANSFORMS, **fusions.TRANSFORMS, **quantize.TRANSFORMS,
              **inserted.TRANSFORMS}

_NAME = re.compile(r"\s*(\w+)(\(?)")
_PARAMETER = re.compile(r""",?\s*(\w+)=(?:"((?:[^"\\]|\\.)*)"|([\w./-]+))['"]?""")


def parse_transforms(text):
    """[(name, {parameter: [values]})] of 'strip_unused_nodes(type=float, shape="1,2") fold_constants'.
    InvalidArgumentError if it has another form."""
    found, at = [], 0
    while text[at:].strip():
        match = _NAME.match(text, at)
        if not match:
            raise errors.InvalidArgumentError(None, None, f"Looking for transform name, but found {text[at:]}")
        at, parameters = match.end(), {}
        while match.group(2) and text[at:at + 1] != ")":
            parameter = _PARAMETER.match(text, at)
            if not parameter:
                raise errors.InvalidArgumentError(None, None, f"Looking for parameter name, but found {text[at:]}")
            value = parameter.group(3) if parameter.group(2) is None else parameter.group(2)
            parameters.setdefault(parameter.group(1), []).append(value)
            at = parameter.end()
        at += bool(match.group(2))
        found.append((match.group(1), parameters))
    return found


def _check(graph_def):
    names = {node.name for node in graph_def.node}
    for node in graph_def.node:
        for text in node.input:
            if node_name(text) not in names:
                raise errors.InternalError(None, None, "Invalid graph with inputs referring to nonexistent nodes: "
                                                       f"{text} of {node.name}")


def TransformGraph(input_graph_def, inputs, outputs, transforms):  # noqa: N802
    """A new GraphDef: `input_graph_def` after `transforms`, one behind the other.

    inputs, outputs: names of the nodes that are fed and fetched. transforms: texts such as "fold_constants" or
    "strip_unused_nodes(type=float, shape=\\"1,299,299,3\\")"; `ignore_errors=true` goes on with the graph as it was.
    InvalidArgumentError: an unknown transform, or a graph or parameters that it cannot take.
    """
    graph_def = graph_pb2.GraphDef()
    graph_def.CopyFrom(input_graph_def)
    for name, parameters in parse_transforms(" ".join(transforms)):
        if name not in TRANSFORMS:
            raise errors.InvalidArgumentError(None, None, f"Transform '{name}' not recognized.")
        context = Context(list(inputs), list(outputs), parameters)
        ignores = context.boolean("ignore_errors", False)
        try:
            result = TRANSFORMS[name](graph_def, context)
        except (errors.OpError, ValueError) as e:
            if not ignores:
                if isinstance(e, errors.OpError):
                    raise
                raise errors.InvalidArgumentError(None, None, str(e)) from e
            logging.error("%s: Ignoring error %s", name, e)
            continue
        result.library.CopyFrom(graph_def.library)
        result.versions.CopyFrom(graph_def.versions)
        _check(result)
        graph_def = result
    return graph_def
