"""DeviceSpec: device names, /job:J/replica:R/task:T/device:TYPE:INDEX, any part of which may be missing."""
from penstock._src.base import tf2


def _text(value):
    return None if value is None else str(value)


def _number(value):
    return None if value is None else int(value)


def _device_type(value):
    return value.upper() if value in ("cpu", "gpu") else _text(value)


_parsed: dict = {}


def _parse(spec):
    """(job, replica, task, device type, device index) of a name. ValueError if it is none."""
    if spec is not None and not isinstance(spec, str):
        raise ValueError(f"Expecting a string device name. Got {type(spec)}({spec!r})")
    found = _parsed.get(spec)
    if found is not None:
        return found
    job = replica = task = kind = index = None
    for piece in (spec or "").split("/"):
        parts = piece.split(":")
        key = parts[0]
        if len(parts) == 2 and key == "job":
            job = parts[1]
        elif len(parts) == 2 and key == "replica":
            replica = parts[1]
        elif len(parts) == 2 and key == "task":
            task = parts[1]
        elif len(parts) <= 2 and key.upper() in ("CPU", "GPU") or len(parts) == 3 and key == "device":
            if kind is not None:
                raise ValueError(
                    f"Multiple device types are not allowed while parsing the device spec: {spec}." if tf2.enabled()
                    else f"Cannot specify multiple device types: {spec}")
            kind = key.upper() if len(parts) <= 2 else parts[1]
            if len(parts) > 1 and parts[-1] != "*":
                index = int(parts[-1])
        elif key:
            raise ValueError(
                f"Unknown attribute '{key}' is encountered while parsing the device spec: '{spec}'." if tf2.enabled()
                else f"Unknown attribute: '{key}' in '{spec}'")
    found = _parsed[spec] = (job, replica, task, kind, index)
    return found


def _compose(job, replica, task, kind, index):
    """The name made of its parts."""
    text = "" if job is None else f"/job:{job}"
    if replica is not None:
        text += f"/replica:{replica}"
    if task is not None:
        text += f"/task:{task}"
    if kind is not None:
        text += f"/device:{kind}:{'*' if index is None else index}"
    return text


class DeviceSpecV2:
    """A possibly partial device name, immutable."""

    __slots__ = ("_job", "_replica", "_task", "_kind", "_index")

    def __init__(self, job=None, replica=None, task=None, device_type=None, device_index=None):
        self._job = _text(job)
        self._replica = _number(replica)
        self._task = _number(task)
        self._kind = _device_type(device_type)
        self._index = _number(device_index)

    def to_string(self):
        """The name."""
        return _compose(self._job, self._replica, self._task, self._kind, self._index)

    @classmethod
    def from_string(cls, spec):
        """The spec of a name. ValueError if it is none."""
        return cls(*_parse(spec))

    def parse_from_string(self, spec):
        """The spec of a name."""
        return self.from_string(spec)

    def _merged(self, dev):
        mine = (self._job, self._replica, self._task, self._kind, self._index)
        theirs = (dev.job, dev.replica, dev.task, dev.device_type, dev.device_index)
        return [b if b is not None else a for a, b in zip(mine, theirs)]

    def make_merged_spec(self, dev):
        """This spec with the parts that `dev` names taken from `dev`."""
        return self.__class__(*self._merged(dev))

    def replace(self, **kwargs):
        """This spec with some parts replaced."""
        parts = {"job": self._job, "replica": self._replica, "task": self._task, "device_type": self._kind,
                 "device_index": self._index}
        return self.__class__(**{**parts, **kwargs})

    job = property(lambda self: self._job)
    replica = property(lambda self: self._replica)
    task = property(lambda self: self._task)
    device_type = property(lambda self: self._kind)
    device_index = property(lambda self: self._index)

    def __eq__(self, other):
        return isinstance(other, self.__class__) and self.to_string() == other.to_string()

    def __hash__(self):
        return hash(self.to_string())

    def __repr__(self):
        return (f"<DeviceSpec(job={self.job}, replica={self.replica}, task={self.task}, "
                f"device_type={self.device_type}, device_index={self.device_index})>")


class DeviceSpecV1(DeviceSpecV2):
    """A possibly partial device name whose parts may be set."""

    __slots__ = ()

    @DeviceSpecV2.job.setter
    def job(self, value):
        self._job = _text(value)

    @DeviceSpecV2.replica.setter
    def replica(self, value):
        self._replica = _number(value)

    @DeviceSpecV2.task.setter
    def task(self, value):
        self._task = _number(value)

    @DeviceSpecV2.device_type.setter
    def device_type(self, value):
        self._kind = _device_type(value)

    @DeviceSpecV2.device_index.setter
    def device_index(self, value):
        self._index = _number(value)

    def parse_from_string(self, spec):
        """Takes all parts from a name; returns itself."""
        self.job, self.replica, self.task, self.device_type, self.device_index = _parse(spec)
        return self

    def merge_from(self, dev):
        """Takes the parts that `dev` names from `dev`."""
        self.job, self.replica, self.task, self.device_type, self.device_index = self._merged(dev)

    __hash__ = DeviceSpecV2.__hash__
