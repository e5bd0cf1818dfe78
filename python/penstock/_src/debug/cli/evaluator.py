"""Python expressions over dumped values."""
import re

import numpy as np

from penstock._src.debug.lib import debug_data

_NAME = re.compile(r"(?:(?P<device>/job:\w+/replica:\d+/task:\d+/\w+:\d+):)?"
                   r"(?P<node>[^:]*):(?P<slot>\d+)(?::(?P<op>[^:\[]*))?(?:\[(?P<index>\d+)\])?")


def _parse_debug_tensor_name(debug_tensor_name):
    """(device or None, node, slot, debug op, which of its dumps) of "[DEVICE:]NODE:SLOT[:OP][[NUMBER]]"."""
    found = _NAME.fullmatch(debug_tensor_name)
    if not found:
        raise ValueError("The debug tensor name in the to-be-evaluated expression is malformed: '%s'" %
                         debug_tensor_name)
    device, node, slot, op, index = found.groups()
    return device, node, int(slot), op or "DebugIdentity", int(index or 0)


class ExpressionEvaluator:
    """Expressions in which `NODE:SLOT` in backticks is a value of a dump, and np is NumPy."""

    def __init__(self, dump):
        self._dump, self._values = dump, {}

    def _value(self, name):
        if name not in self._values:
            device, node, slot, op, index = _parse_debug_tensor_name(name)
            try:
                self._values[name] = self._dump.get_tensors(node, slot, op, device_name=device)[index]
            except debug_data.WatchKeyDoesNotExistInDebugDumpDirError:
                raise ValueError("Eval failed due to the value of %s:%d:DebugIdentity being unavailable" %
                                 (node, slot)) from None
        return self._values[name]

    def evaluate(self, expression):
        """The value of an expression. ValueError if a value was not dumped; what Python raises otherwise."""
        names = {"np": np}

        def replace(match):
            variable = "_value_%d" % len(names)
            names[variable] = self._value(match.group()[1:-1].strip())
            return variable

        return eval(re.sub("`.*?`", replace, expression), names)
