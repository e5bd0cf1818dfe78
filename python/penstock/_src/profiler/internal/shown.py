"""A row of a profile: its own counters, and their totals with the rows below it."""
from penstock._src.profiler.internal.node_stats import COUNTERS
from penstock.proto import GraphNodeProto, MultiGraphNodeProto

_ALL = COUNTERS + ("run_count", "definition_count")


class Shown:
    """What all rows have."""

    message_class = None

    def __init__(self, name):
        self.name = name
        self.children = []  # all below it
        self.below = []  # those of them that are accounted for, later those that are shown
        self.counted = False  # whether its types are accounted for
        self.own = dict.fromkeys(_ALL, 0)
        self.total = dict.fromkeys(_ALL, 0)

    def account(self, options):
        """Takes the counters of the options' step; `counted` says whether the options account for it."""
        raise NotImplementedError

    def sum_up(self, rows):
        """Sets the totals: its own and those of `rows`."""
        self.total = {counter: self.own[counter] + sum(row.total[counter] for row in rows) for counter in _ALL}

    def sum_of(self, rows):
        """Sets the totals to those of `rows`: a root has nothing of its own."""
        self.total = {counter: sum(row.total[counter] for row in rows) for counter in _ALL}

    def fill(self, message):
        """Writes name and counters into a message of `message_class`."""
        message.name = self.name
        fields = message.DESCRIPTOR.fields_by_name
        for counter in _ALL:
            for prefix, values in (("", self.own), ("total_", self.total)):
                if prefix + counter in fields:
                    setattr(message, prefix + counter, values[counter])


class NodeRow(Shown):
    """A node of the graph, or a name scope (or the root) without a node of its name, whose type is `kind`."""

    message_class = GraphNodeProto

    def __init__(self, name, node=None, nodes=None, kind="_kTFScopeParent"):
        super().__init__(name)
        self.node, self._nodes, self._kind = node, nodes, kind
        self.own["definition_count"] = 1

    def account(self, options):
        if self.node is not None:
            self._count(options.step)
        self.counted = options.account_types.all or self.node is not None and any(
            map(options.account_types.match, self.node.types))

    def _count(self, step):
        for counter in COUNTERS + ("run_count",):
            self.own[counter] = self.node.count(counter, step)

    @property
    def devices(self):
        """Where it ran."""
        return [self.node.device] if self.node is not None and self.node.device else []

    @property
    def types(self):
        """Its op type, device, and types of the op log."""
        return self.node.types if self.node is not None else {self._kind}

    @property
    def shape(self):
        """Of a variable."""
        return self.node.shape if self.node is not None else []

    @property
    def input_shapes(self):
        """place -> shape, empty where it is unknown."""
        return self.node.input_shapes(self._nodes) if self.node is not None else {}

    def fill(self, message):
        super().fill(message)
        message.devices.extend(self.devices)
        for place, shape in self.input_shapes.items():
            if not shape:
                message.input_shapes[place].unknown_rank = True
            for size in shape:
                message.input_shapes[place].dim.add(size=size)


class GroupRow(Shown):
    """All nodes of an op type, or of a line of a program."""

    message_class = MultiGraphNodeProto

    def __init__(self, name, nodes):
        super().__init__(name)
        self.members, self._nodes = [], nodes  # members: NodeStats
        self.rows = []  # of the members that are accounted for

    def account(self, options):
        match = options.account_types.match
        members = {node.name: node for node in self.members if any(map(match, node.types))}
        self.counted = bool(members) or options.account_types.all
        self.rows = [NodeRow(name, node, self._nodes) for name, node in sorted(members.items())]
        for row in self.rows:
            row.account(options)
            row.sum_up([])
        self.own = {counter: sum(row.own[counter] for row in self.rows) for counter in _ALL}

    @property
    def devices(self):
        """Where they ran."""
        return sorted({row.node.device for row in self.rows})

    @property
    def types(self):
        """Op types, devices, and types of the op log."""
        return {kind for row in self.rows for kind in row.node.types}

    def fill(self, message):
        super().fill(message)
        for row in self.rows:
            row.fill(message.graph_nodes.add())


def to_message(root):
    """The rows of a tree of `below` as nested messages."""
    message = root.message_class()
    todo = [(root, message)]
    while todo:
        row, into = todo.pop()
        row.fill(into)
        todo.extend((child, into.children.add()) for child in row.below)
    return message
