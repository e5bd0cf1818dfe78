"""Topology: where the cores of TPUs stand. There are none here; programs compute with the numbers."""
import numpy as np

from penstock._src.graph import errors


class Topology:
    """A mesh of cores: the place of each device of each task.

    mesh_shape: three positive integers; device_coordinates: int32 of shape [tasks, devices of a task, 3]. ValueError
    for others, IndexError for places outside of the mesh. `serialized`, what TPUs tell about themselves, is refused
    with UnimplementedError.
    """

    def __init__(self, serialized=None, mesh_shape=None, device_coordinates=None):
        if serialized:
            raise errors.UnimplementedError(None, None, "Topologies that TPUs have described are not read")
        self._mesh_shape = np.asarray(mesh_shape, dtype=np.int32)
        self._device_coordinates = np.asarray(device_coordinates, np.int32)
        if self._mesh_shape.shape != (3,) or any(self._mesh_shape < 1):
            raise ValueError("`mesh_shape` must be a sequence of 3 positive entries; got {}".format(self._mesh_shape))
        if self._device_coordinates.ndim != 3 or self._device_coordinates.shape[2] != 3:
            raise ValueError("`device_coordinates` must be a rank 3 int32 array with minor dimension equal to the mesh "
                             "shape rank")
        self._owners = np.full([*self._mesh_shape, 2], -1, np.int32)
        for task, devices in enumerate(self._device_coordinates):
            for device, place in enumerate(devices):
                self._owners[tuple(place)] = task, device

    @property
    def mesh_shape(self):
        """How many cores there are along each axis: int32 of shape [3]."""
        return self._mesh_shape

    @property
    def mesh_rank(self):
        """The number of axes, 3."""
        return len(self._mesh_shape)

    @property
    def device_coordinates(self):
        """The places of devices: int32 of shape [tasks, devices of a task, 3]."""
        return self._device_coordinates

    @property
    def num_tasks(self):
        """The number of tasks."""
        return self._device_coordinates.shape[0]

    @property
    def num_tpus_per_task(self):
        """The number of devices of a task."""
        return self._device_coordinates.shape[1]

    def task_ordinal_at_coordinates(self, device_coordinates):
        """The task whose device is at that place, -1 if none is."""
        return self._at(device_coordinates)[0]

    def tpu_device_ordinal_at_coordinates(self, device_coordinates):
        """Which device of its task is at that place, -1 if none is."""
        return self._at(device_coordinates)[1]

    def cpu_device_name_at_coordinates(self, device_coordinates, job=None):
        """The name of the CPU of the task whose device is at that place."""
        return "%s/task:%d/device:CPU:0" % (_job(job), self._at(device_coordinates)[0])

    def tpu_device_name_at_coordinates(self, device_coordinates, job=None):
        """The name of the device at that place."""
        return "%s/task:%d/device:TPU:%d" % (_job(job), *self._at(device_coordinates))

    def _at(self, place):
        return self._owners[tuple(place)]


def _job(job):
    return "" if job is None else "/job:%s" % job
