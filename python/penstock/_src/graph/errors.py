"""tf.errors: one class for each code, made by the runtime when a step or a graph function fails."""
import traceback as _traceback
from typing import Any

from penstock._src.base import hooks

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """A failed op. `node_def` and `op` are None if no node, or none of the graph's Python operations, failed."""

    def __init__(self, node_def, op, message, error_code, *args):
        super().__init__(node_def, op, message)
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        self._node_name = None

    def __reduce__(self):
        init_args: tuple = (self.node_def, self._op, self._message)
        if type(self) is OpError:
            init_args += (self._error_code,)
        return type(self), init_args

    @property
    def experimental_payloads(self):
        """What the runtime attached to the error: nothing."""
        return {}

    @property
    def message(self):
        """What went wrong."""
        return self._message

    @property
    def op(self):
        """The operation that failed, if it is known."""
        return self._op

    @property
    def error_code(self):
        """The number of the error's class."""
        return self._error_code

    @property
    def node_def(self):
        """The NodeDef of the node that failed, or None."""
        if self._node_def is None and self._op is not None:
            self._node_def = self._op.node_def
        if isinstance(self._node_def, bytes):
            from penstock import proto
            self._node_def = proto.message("tensorflow.NodeDef").FromString(self._node_def)
        return self._node_def

    def __str__(self):
        if self._op is None:
            return self._message
        return f"{self._message}\n\nOriginal stack trace for {self._op.name!r}:\n{format_stack(self._op)}"


def format_stack(op):
    """The Python stack that built `op`, as text."""
    return "".join(_traceback.format_list([(f, n, name, line) for f, n, name, line in op.traceback]))


_explained = hooks.Hook("function_error")


def _error_class(name: str, code: int, doc: str) -> Any:
    def __init__(self, node_def, op, message, *args):
        """The runtime gives the name of a node that it alone knows as a fourth argument."""
        if args and " [Op:" in message and "{{node " in message:  # that failed in an eager call of a function
            message = _explained(message)
        OpError.__init__(self, node_def, op, message, code)
        self._node_name = args[0] or None if args else None
    return type(name, (OpError,), {"__init__": __init__, "__doc__": doc, "__module__": __name__})


CancelledError = _error_class("CancelledError", CANCELLED, "The step or operation was cancelled.")


class UnknownError(_error_class("UnknownError", UNKNOWN, "")):  # type: ignore[misc]
    """An error of no known class, such as one raised in a Python function. Version 1 may give its number."""

    def __init__(self, node_def, op, message, *args, error_code=UNKNOWN):
        if args and isinstance(args[0], int):
            error_code, args = args[0], args[1:]
        super().__init__(node_def, op, message, *args)
        self._error_code = error_code


InvalidArgumentError = _error_class(
    "InvalidArgumentError", INVALID_ARGUMENT, "An op got an argument that makes no sense.")
DeadlineExceededError = _error_class("DeadlineExceededError", DEADLINE_EXCEEDED, "The time limit was reached.")
NotFoundError = _error_class("NotFoundError", NOT_FOUND, "A file, device, op or other thing does not exist.")
AlreadyExistsError = _error_class("AlreadyExistsError", ALREADY_EXISTS, "A thing that was to be made exists.")
PermissionDeniedError = _error_class("PermissionDeniedError", PERMISSION_DENIED, "The caller may not do this.")
ResourceExhaustedError = _error_class(
    "ResourceExhaustedError", RESOURCE_EXHAUSTED, "Memory or another resource is used up.")
FailedPreconditionError = _error_class(
    "FailedPreconditionError", FAILED_PRECONDITION, "The state is not ready, as with an uninitialized variable.")
AbortedError = _error_class("AbortedError", ABORTED, "The operation was aborted; trying again may help.")
OutOfRangeError = _error_class(
    "OutOfRangeError", OUT_OF_RANGE, "Past the end of the valid range, as at the end of an input.")
UnimplementedError = _error_class("UnimplementedError", UNIMPLEMENTED, "This is not implemented.")
InternalError = _error_class("InternalError", INTERNAL, "An invariant of the runtime is broken.")
UnavailableError = _error_class("UnavailableError", UNAVAILABLE, "The runtime is unavailable at present.")
DataLossError = _error_class("DataLossError", DATA_LOSS, "Data are lost or corrupted.")
UnauthenticatedError = _error_class("UnauthenticatedError", UNAUTHENTICATED, "The request has no valid credentials.")


class OperatorNotAllowedInGraphError(TypeError):
    """A Python operator that needs a value was applied to a tensor of a graph."""


class InaccessibleTensorError(ValueError, TypeError):
    """A tensor was used or fetched where it may not be."""


_CODE_TO_CLASS = {
    CANCELLED: CancelledError, UNKNOWN: UnknownError, INVALID_ARGUMENT: InvalidArgumentError,
    DEADLINE_EXCEEDED: DeadlineExceededError, NOT_FOUND: NotFoundError, ALREADY_EXISTS: AlreadyExistsError,
    PERMISSION_DENIED: PermissionDeniedError, RESOURCE_EXHAUSTED: ResourceExhaustedError,
    FAILED_PRECONDITION: FailedPreconditionError, ABORTED: AbortedError, OUT_OF_RANGE: OutOfRangeError,
    UNIMPLEMENTED: UnimplementedError, INTERNAL: InternalError, UNAVAILABLE: UnavailableError, DATA_LOSS: DataLossError,
    UNAUTHENTICATED: UnauthenticatedError,
}
_CLASS_TO_CODE = {cls: code for code, cls in _CODE_TO_CLASS.items()}


def exception_type_from_error_code(error_code):
    """The class of a code. KeyError if there is none."""
    return _CODE_TO_CLASS[error_code]


def error_code_from_exception_type(cls):
    """The code of a class. KeyError if it is none of ours."""
    return _CLASS_TO_CODE[cls]


def _make_op_error(node_def, op, message, error_code):
    try:
        return _CODE_TO_CLASS[error_code](node_def, op, message)
    except KeyError:
        return UnknownError(node_def, op, message, error_code=error_code)


class raise_exception_on_not_ok_status:  # noqa: N801
    """Kept for programs that use it; the runtime raises by itself."""

    def __enter__(self):
        return None

    def __exit__(self, *exc):
        return False


def _connect(core):
    core.set_error_classes(_CODE_TO_CLASS)
