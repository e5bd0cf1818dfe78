"""Words and their numbers, as they come."""
import collections


class CategoricalVocabulary:
    """Numbers words from 1; `unknown_token` is 0. After `freeze` every new word is unknown."""

    def __init__(self, unknown_token="<UNK>", support_reverse=True):
        self._unknown_token = unknown_token
        self._support_reverse = support_reverse
        self._freq = collections.defaultdict(int)
        self._freeze = False
        self._restart()

    def _restart(self):
        self._mapping = {self._unknown_token: 0}
        if self._support_reverse:
            self._reverse_mapping = [self._unknown_token]

    def __len__(self):
        return len(self._mapping)

    def freeze(self, freeze=True):
        """Takes no new words from now on."""
        self._freeze = freeze

    def get(self, category):
        """The word's number, a new one if need be."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._append(category)
        return self._mapping[category]

    def _append(self, category):
        self._mapping[category] = len(self._mapping)
        if self._support_reverse:
            self._reverse_mapping.append(category)

    def add(self, category, count=1):
        """Counts a word."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency, max_frequency=-1):
        """Numbers words anew by frequency; those that came at most `min_frequency` times, or too often, go."""
        ordered = sorted(sorted(self._freq.items(), key=lambda item: (isinstance(item[0], str), item[0])),
                         key=lambda item: item[1], reverse=True)
        self._restart()
        for category, count in ordered:
            if count <= min_frequency:
                break
            if max_frequency <= 0 or count < max_frequency:
                self._append(category)
        self._freq = dict(ordered[:len(self) - 1])

    def reverse(self, class_id):
        """The word of a number."""
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse to support reverse() function.")
        return self._reverse_mapping[class_id]
