"""tf.contrib.learn.preprocessing: documents as numbers."""
import pickle

import numpy as np
import pytest

import penstock.v1 as tf

TEXTS = ["the cat and the dog", "A dog's life, the end", "unseen"]
pp = tf.contrib.learn.preprocessing


def rows(found):
    return [row.tolist() for row in found]


def test_words_are_numbered_as_they_come():
    processor = pp.VocabularyProcessor(4)
    assert rows(processor.fit_transform(TEXTS[:2])) == [[1, 2, 3, 1], [5, 6, 7, 1]]
    assert len(processor.vocabulary_) == 9 and processor.vocabulary_.get("new") == 0
    assert rows(processor.transform(TEXTS[2:])) == [[0] * 4]
    assert list(processor.reverse([np.array([1, 2, 0, 0])])) == ["the cat <UNK> <UNK>"]


def test_rare_words_go():
    processor = pp.VocabularyProcessor(5, min_frequency=1).fit(["b b a", "c a b c"])
    assert rows(processor.transform(["b a c d"])) == [[1, 2, 3, 0, 0]]
    assert len(pp.VocabularyProcessor(5, min_frequency=2).fit(["b b a", "c a b c"]).vocabulary_) == 2


def test_other_tokenizers():
    assert rows(pp.VocabularyProcessor(3, tokenizer_fn=lambda texts: map(list, texts)).fit_transform(["aba"])) == [
        [1, 2, 1]]


def test_saved_and_restored(tmp_path):
    path = str(tmp_path / "vocabulary")
    processor = pp.VocabularyProcessor(4).fit(TEXTS)
    processor.save(path)
    again = pp.VocabularyProcessor.restore(path)
    assert rows(again.transform(TEXTS)) == rows(processor.transform(TEXTS))
    # The same as TensorFlow names its classes.
    data = pickle.dumps(processor, protocol=0)
    for name in ("text", "categorical_vocabulary"):
        data = data.replace(b"cpenstock._src.contrib.learn.preprocessing." + name.encode(),
                            b"ctensorflow.contrib.learn.python.learn.preprocessing." + name.encode())
    (tmp_path / "theirs").write_bytes(data)
    assert b"tensorflow" in data
    theirs = pp.VocabularyProcessor.restore(str(tmp_path / "theirs"))
    assert rows(theirs.transform(TEXTS)) == rows(processor.transform(TEXTS))


def test_bytes():
    processor = pp.ByteProcessor(4)
    found = list(processor.fit_transform(["abc", "é", b"toolong"]))
    assert rows(found) == [[97, 98, 99, 0], [195, 169, 0, 0], [116, 111, 111, 108]]
    assert list(processor.reverse(found)) == ["abc", "é", "tool"]


def test_no_way_back():
    vocabulary = pp.CategoricalVocabulary(support_reverse=False)
    with pytest.raises(ValueError, match="support_reverse"):
        vocabulary.reverse(0)
