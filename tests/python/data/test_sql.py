"""The rows of a query on an SQLite database."""
import sqlite3

import pytest

import penstock as tf
from penstock._src.graph import context

Dataset = tf.data.Dataset


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        yield


@pytest.fixture
def path(tmp_path):
    path = str(tmp_path / "people.sqlite")
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE people (id INTEGER, name TEXT, size REAL, adult INTEGER, data BLOB)")
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", [
        (1, "Ann", 1.5, 1, b"\x00\x01"), (-300, "Bo", 2.25, 0, b""), (2**40, None, None, None, None)])
    connection.commit()
    connection.close()
    return path


def rows(path, query, types):
    dataset = tf.data.experimental.SqlDataset("sqlite", path, query, types)
    return [tuple(part.item() if hasattr(part, "item") else part for part in row)
            for row in dataset.as_numpy_iterator()]


def test_all_types(path):
    query = "SELECT id, id, id, id, name, size, adult, data FROM people ORDER BY size DESC"
    types = (tf.int64, tf.int32, tf.int8, tf.uint16, tf.string, tf.double, tf.bool, tf.string)
    assert rows(path, query, types) == [
        (-300, -300, -44, 65236, b"Bo", 2.25, False, b""), (1, 1, 1, 1, b"Ann", 1.5, True, b"\x00\x01"),
        (2**40, 0, 0, 0, b"", 0.0, False, b"")]


def test_a_query_without_rows_and_one_again(path):
    query = "SELECT id FROM people WHERE id > 0 ORDER BY id"
    dataset = tf.data.experimental.SqlDataset("sqlite", path, query, (tf.int64,))
    assert [int(x) for x, in dataset.repeat(2)] == [1, 2**40, 1, 2**40]
    assert rows(path, "SELECT id FROM people WHERE id = 0", (tf.int64,)) == []


def test_bad_queries(path):
    for query, types in (("SELECT nothing FROM people", (tf.int64,)), ("SELECT id FROM gone", (tf.int64,)),
                         ("hello", (tf.int64,))):
        with pytest.raises(tf.errors.UnknownError, match=r"Prepare\(\) failed: \[1\] .*: " + query):
            rows(path, query, types)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Sqlite::Open\(/nowhere/people\) failed"):
        rows("/nowhere/people", "SELECT id FROM people", (tf.int64,))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must match the number of elements in output_types"):
        rows(path, "SELECT id FROM people", (tf.int64, tf.string))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be one of: DT_STRING"):
        rows(path, "SELECT id FROM people", (tf.float32,))
    with pytest.raises(tf.errors.InvalidArgumentError, match="mysql, is not supported"):
        tf.data.experimental.SqlDataset("mysql", path, "SELECT id FROM people", (tf.int64,))


def test_an_iterator_goes_on_at_the_next_row(path, tmp_path):
    dataset = tf.data.experimental.SqlDataset("sqlite", path, "SELECT id FROM people ORDER BY id", (tf.int64,))
    iterator = iter(dataset)
    next(iterator)
    state = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "state"))
    again = iter(dataset)
    tf.train.Checkpoint(iterator=again).restore(state)
    assert [int(x) for x, in again] == [1, 2**40]
