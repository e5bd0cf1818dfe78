"""Documents as rows of numbers of words, or of bytes."""
import io
import pickle
import re

import numpy as np

from penstock._src.contrib.learn.preprocessing import categorical_vocabulary
from penstock._src.files import gfile

TOKENIZER_RE = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator):
    """Lists of words of documents."""
    for value in iterator:
        yield TOKENIZER_RE.findall(value)


class ByteProcessor:
    """Documents as rows of bytes, zeros behind them."""

    def __init__(self, max_document_length):
        self.max_document_length = max_document_length

    def fit(self, x):
        """Nothing has to be learned."""

    def fit_transform(self, x):
        """As `transform`."""
        return self.transform(x)

    def reverse(self, x):
        """The documents of rows; an empty one where a row is no UTF-8."""
        for data in x:
            document = np.trim_zeros(data.astype(np.int8), trim="b").tobytes()
            try:
                yield document.decode("utf-8")
            except UnicodeDecodeError:
                yield ""

    def transform(self, x):
        """The rows of documents."""
        for document in x:
            encoded = document.encode("utf-8") if isinstance(document, str) else document
            row = np.frombuffer(memoryview(encoded)[:self.max_document_length], dtype=np.uint8)
            yield np.pad(row, (0, self.max_document_length - len(row)), "constant")


class VocabularyProcessor:
    """Documents as rows of numbers of words, zeros behind them.

    min_frequency: Words that come at most so often are unknown.
    tokenizer_fn: From documents to lists of words.
    """

    def __init__(self, max_document_length, min_frequency=0, vocabulary=None, tokenizer_fn=None):
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or categorical_vocabulary.CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents, unused_y=None):
        """Learns the words."""
        for tokens in self._tokenizer(raw_documents):
            for token in tokens:
                self.vocabulary_.add(token)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents, unused_y=None):
        """Learns the words and yields the rows."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents):
        """Yields the rows of documents."""
        for tokens in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for i, token in zip(range(self.max_document_length), tokens):
                row[i] = self.vocabulary_.get(token)
            yield row

    def reverse(self, documents):
        """Yields the documents of rows."""
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(class_id) for class_id in row)

    def save(self, filename):
        """Writes the processor with Python's pickle."""
        with gfile.Open(filename, "wb") as f:
            f.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename):
        """Reads what `save` wrote, here or in TensorFlow. As with every pickle, a file may run code."""
        with gfile.Open(filename, "rb") as f:
            return _Unpickler(io.BytesIO(f.read())).load()


class _Unpickler(pickle.Unpickler):
    """Finds our classes under TensorFlow's names."""

    def find_class(self, module, name):
        if module.startswith("tensorflow.contrib.learn."):
            module = "penstock._src.contrib.learn.preprocessing." + module.rpartition(".")[2]
        return super().find_class(module, name)
