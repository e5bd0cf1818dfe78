"""What a step took, by node and by Python line."""
import os


class ProfileDatum:
    """One execution of a node: its NodeExecStats, the Python line that made it, its op. Times are microseconds."""

    def __init__(self, device_name, node_exec_stats, file_path, line_number, func_name, op_type):
        self.device_name, self.node_exec_stats, self.op_type = device_name, node_exec_stats, op_type
        self.file_path, self.line_number, self.func_name = file_path, line_number, func_name
        self.file_line_func = "%s:%d(%s)" % (os.path.basename(file_path), line_number, func_name) if file_path else ""
        self.start_time = node_exec_stats.all_start_micros
        self.op_time = node_exec_stats.op_end_rel_micros - node_exec_stats.op_start_rel_micros

    @property
    def exec_time(self):
        """Time with what is done before and behind the kernel."""
        return self.node_exec_stats.all_end_rel_micros


class AggregateProfile:
    """The sum of several ProfileDatums."""

    def __init__(self, profile_datum):
        self.total_op_time = self.total_exec_time = 0
        self._executions = {}
        self.add(profile_datum)

    def add(self, profile_datum):
        """Adds an execution."""
        self.total_op_time += profile_datum.op_time
        self.total_exec_time += profile_datum.exec_time
        node = "%s:%s" % (profile_datum.device_name, profile_datum.node_exec_stats.node_name)
        self._executions[node] = self._executions.get(node, 0) + 1

    @property
    def node_count(self):
        """The number of nodes."""
        return len(self._executions)

    @property
    def node_exec_count(self):
        """The number of executions."""
        return sum(self._executions.values())
