"""Patterns of operations and their inputs, and where a graph has them."""
import itertools

_MOST_INPUTS = 8  # of a pattern: without order, all permutations are tried


class OpTypePattern:
    """An operation of one of some types whose inputs match patterns.

    op_type: types, with | between them, or "*" for any. inputs: patterns or types; none given, all are right.
    """

    def __init__(self, op_type, name=None, inputs=None, ordered_inputs=True):
        inputs = inputs or []
        if len(inputs) > _MOST_INPUTS:
            raise ValueError("Only < 8 inputs are allowed when ordered_inputs is False.")
        self._types = None if op_type == "*" else op_type.split("|")
        self._name = name
        self._inputs = [OpTypePattern(x) if isinstance(x, str) else x for x in inputs]
        self._ordered_inputs = ordered_inputs

    @property
    def name(self):
        """What a match knows it by, or None."""
        return self._name

    def match(self, op, tensor):
        """A MatchResult, or None. tensor: the output by which the operation was reached."""
        if self._types is not None and op.type not in self._types:
            return None
        if not self._inputs:
            return self._result(op, tensor, ())
        if len(op.inputs) != len(self._inputs):
            return None
        for patterns in [self._inputs] if self._ordered_inputs else itertools.permutations(self._inputs):
            parts = []
            for pattern, x in zip(patterns, op.inputs):
                part = pattern.match(x.op, x)
                if part is None:
                    break
                parts.append(part)
            else:
                return self._result(op, tensor, parts)
        return None

    def _result(self, op, tensor, parts):
        result = MatchResult()
        result.add(self, op, tensor)
        for part in parts:
            result.merge_from(part)
        return result


class OneofPattern:
    """The first that matches of several patterns."""

    name = None

    def __init__(self, sub_patterns):
        self._sub_patterns = sub_patterns

    def match(self, op, tensor):
        """A MatchResult, or None."""
        results = (pattern.match(op, tensor) for pattern in self._sub_patterns)
        return next((result for result in results if result is not None), None)


class MatchResult:
    """Which operation each pattern has matched, and by which of its outputs it was reached."""

    def __init__(self):
        self._found = {}
        self._by_name = {}

    def add(self, pattern, op, tensor):
        """Enters a pattern's operation. ValueError if the pattern's name is taken."""
        self._found[pattern] = op, tensor
        if pattern.name is not None:
            if pattern.name in self._by_name:
                raise ValueError("Name %s is already bound to another pattern" % pattern.name)
            self._by_name[pattern.name] = pattern

    def get_op(self, pattern_or_name):
        """A pattern's operation, or None."""
        return self._get(pattern_or_name)[0]

    def get_tensor(self, pattern_or_name):
        """The output by which a pattern's operation was reached, or None."""
        return self._get(pattern_or_name)[1]

    def _get(self, pattern):
        return self._found.get(self._by_name.get(pattern) if isinstance(pattern, str) else pattern, (None, None))

    def merge_from(self, other_match_result):
        """Takes over what another one has."""
        self._found.update(other_match_result._found)
        self._by_name.update(other_match_result._by_name)


class GraphMatcher:
    """Finds a pattern in graphs."""

    def __init__(self, pattern):
        self._pattern = pattern

    def match_op(self, op):
        """The MatchResult of an operation, or None."""
        return self._pattern.match(op, None)

    def match_ops(self, ops):
        """The MatchResults of those operations that match."""
        for op in ops:
            result = self.match_op(op)
            if result is not None:
                yield result

    def match_graph(self, graph):
        """The MatchResults of a graph's operations."""
        return self.match_ops(graph.get_operations())
