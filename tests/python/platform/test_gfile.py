"""tf.gfile and what else reads and writes files: on disk, in memory, and where fsspec leads."""
import importlib.util
import uuid
import zlib

import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.files import file_io

HAS_FSSPEC = importlib.util.find_spec("fsspec") is not None


@pytest.fixture(params=["local", "file", "ram", "memory"])
def base(request, tmp_path):
    if request.param == "local":
        return str(tmp_path)
    if request.param == "file":
        return "file://" + str(tmp_path)
    if request.param == "memory" and not HAS_FSSPEC:
        pytest.skip("fsspec is not installed")
    place = "%s://%s" % (request.param, uuid.uuid4().hex)
    tf.gfile.MakeDirs(place)
    return place


def write(path, text, mode="w"):
    with tf.gfile.GFile(path, mode) as f:
        f.write(text)


def read(path, mode="r"):
    with tf.gfile.GFile(path, mode) as f:
        return f.read()


def test_read_write_append(base):
    path = base + "/f"
    write(path, "one\ntwo\n")
    write(path, "three", "a")
    assert read(path) == "one\ntwo\nthree"
    assert read(path, "rb") == b"one\ntwo\nthree"
    with tf.gfile.GFile(path) as f:
        assert f.size() == 13
        assert f.readline() == "one\n"
        assert f.tell() == 4
        assert f.read(2) == "tw"
        f.seek(1)
        assert list(f) == ["ne\n", "two\n", "three"]
        f.seek(-5, 2)
        assert f.readlines() == ["three"]
        with pytest.raises(tf.errors.PermissionDeniedError, match="isn't open for writing"):
            f.write("x")
    with pytest.raises(tf.errors.PermissionDeniedError, match="isn't open for reading"):
        tf.gfile.GFile(path, "w").read()
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode is not"):
        tf.gfile.GFile(path, "q")


def test_what_is_flushed_can_be_read(base):
    with tf.gfile.GFile(base + "/f", "w+") as f:
        f.write("abc")
        assert f.read() == "abc"
        f.write("def")
        f.flush()
        assert read(base + "/f") == "abcdef"
        assert f.read() == "def"


def test_directories(base):
    d = base + "/d/e"
    with pytest.raises(tf.errors.NotFoundError):
        tf.gfile.Stat(d)
    tf.gfile.MakeDirs(d)
    tf.gfile.MakeDirs(d)
    assert tf.gfile.IsDirectory(d) and tf.gfile.Stat(d).is_directory
    tf.gfile.MkDir(d)
    for name in ("a1.txt", "a2.txt", "b.bin"):
        write("%s/%s" % (d, name), name)
    write(base + "/d/top", "")
    assert sorted(tf.gfile.ListDirectory(d)) == ["a1.txt", "a2.txt", "b.bin"]
    assert tf.gfile.Glob(base + "/*/e/a?.txt") == [d + "/a1.txt", d + "/a2.txt"]
    assert tf.gfile.Glob([d + "/[b]*", d + "/none*"]) == [d + "/b.bin"]
    assert list(tf.gfile.Walk(base + "/d")) == [(base + "/d", ["e"], ["top"]),
                                                (d, [], ["a1.txt", "a2.txt", "b.bin"])]
    assert [place for place, _, _ in tf.io.gfile.walk(base + "/d", topdown=False)] == [d, base + "/d"]
    assert list(tf.gfile.Walk(base + "/none")) == []
    with pytest.raises(tf.errors.NotFoundError, match="Could not find directory"):
        tf.gfile.ListDirectory(base + "/none")
    tf.gfile.DeleteRecursively(base + "/d")
    assert not tf.gfile.Exists(d) and not tf.gfile.Exists(d + "/b.bin")


def test_copy_rename_remove(base):
    a, b = base + "/a", base + "/b"
    write(a, "1")
    tf.gfile.Copy(a, b)
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.gfile.Copy(a, b)
    write(a, "22")
    tf.gfile.Copy(a, b, overwrite=True)
    assert read(b) == "22" and tf.gfile.Stat(b).length == 2
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.gfile.Rename(a, b)
    tf.gfile.Rename(a, base + "/c")
    assert not tf.gfile.Exists(a) and read(base + "/c") == "22"
    tf.gfile.Remove(b)
    with pytest.raises(tf.errors.NotFoundError):
        tf.gfile.Remove(b)
    with pytest.raises(tf.errors.NotFoundError):
        read(b)
    assert file_io.filecmp(base + "/c", base + "/c")
    assert file_io.file_crc32(base + "/c") == hex(zlib.crc32(b"22"))


def test_ops(base):
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(tf.io.write_file(base + "/x/one", "first"))
        sess.run(tf.io.write_file(base + "/x/two", "second"))
        assert sess.run(tf.io.read_file(base + "/x/two")) == b"second"
        assert sess.run(tf.io.matching_files(base + "/x/*")).tolist() == [
            (base + "/x/one").encode(), (base + "/x/two").encode()]
        with pytest.raises(tf.errors.NotFoundError):
            sess.run(tf.io.read_file(base + "/x/none"))


def test_checkpoints(base):
    value = np.arange(5000, dtype=np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(value, name="v")
        saver = tf.train.Saver(max_to_keep=2)
        sess.run(tf.global_variables_initializer())
        for step in (1, 2, 3):
            path = saver.save(sess, base + "/model.ckpt", global_step=step)
        assert tf.train.latest_checkpoint(base) == path == base + "/model.ckpt-3"
        assert not tf.gfile.Glob(base + "/model.ckpt-1*")
        assert not [name for name in tf.gfile.ListDirectory(base) if "temp" in name or "tmp" in name]
        sess.run(v.assign(tf.zeros_like(v)))
        saver.restore(sess, path)
        np.testing.assert_array_equal(sess.run(v), value)
    assert tf.train.list_variables(path) == [("v", [5000])]
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.train.import_meta_graph(path + ".meta").restore(sess, path)
        np.testing.assert_array_equal(sess.run("v:0"), value)


def test_sharded_checkpoint(base):
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        for i in range(2):
            with tf.device("/cpu:%d" % i):
                tf.Variable([float(i)], name="v%d" % i)
        saver = tf.train.Saver(sharded=True)
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, base + "/sharded")
        saver.restore(sess, path)
    assert tf.train.load_variable(path, "v1").tolist() == [1.0]


def test_records(base):
    path = base + "/r"
    with tf.python_io.TFRecordWriter(path, tf.io.TFRecordOptions(compression_type="GZIP")) as writer:
        for i in range(3):
            writer.write(b"record %d" % i)
    options = tf.io.TFRecordOptions(compression_type="GZIP")
    assert list(tf.python_io.tf_record_iterator(path, options)) == [b"record 0", b"record 1", b"record 2"]


def test_events(base):
    with tf.Graph().as_default():
        writer = tf.summary.FileWriter(base + "/logs", filename_suffix=".suffix")
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)]), 7)
        writer.flush()
        path, = tf.gfile.Glob(base + "/logs/events*.suffix")
        version, event = tf.train.summary_iterator(path)
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.25)]), 8)
        writer.close()
    assert version.file_version == "brain.Event:2" and event.step == 7
    assert [e.step for e in tf.train.summary_iterator(path)] == [0, 7, 8]


def test_atomic_write(base):
    path = base + "/state"
    file_io.atomic_write_string_to_file(path, "old")
    with pytest.raises(tf.errors.AlreadyExistsError):
        file_io.atomic_write_string_to_file(path, "new", overwrite=False)
    assert read(path) == "old"
    file_io.atomic_write_string_to_file(path, "new")
    assert read(path) == "new" and tf.gfile.ListDirectory(base) == ["state"]


def test_unknown_scheme():
    with pytest.raises(tf.errors.UnimplementedError, match="File system scheme 'nosuchscheme' not implemented"):
        tf.gfile.Exists("nosuchscheme://a/b")
    with tf.Graph().as_default(), tf.Session() as sess:
        with pytest.raises(tf.errors.UnimplementedError, match="File system scheme 'nosuchscheme' not implemented"):
            sess.run(tf.io.read_file("nosuchscheme://a/b"))


def test_rename_between_file_systems(tmp_path):
    write("ram://between", "1")
    with pytest.raises(tf.errors.UnimplementedError, match="not implemented"):
        tf.gfile.Rename("ram://between", str(tmp_path / "x"))
    tf.gfile.Copy("ram://between", str(tmp_path / "x"))
    assert (tmp_path / "x").read_text() == "1"
    tf.gfile.Remove("ram://between")


def test_where_files_of_the_current_directory_are(tmp_path, monkeypatch):
    """As 1.15.5: what is looked for in the current directory is found in "."."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("a.txt", "b.txt", "sub/c.txt"):
        (tmp_path / name).write_text(name)
    for pattern, found in (("*.txt", ["./a.txt", "./b.txt"]), ("a.txt", ["./a.txt"]), ("s*/*", ["./sub/c.txt"]),
                           ("sub/*", ["sub/c.txt"]), ("sub/c.txt", ["sub/c.txt"]), ("./a*", ["./a.txt"]),
                           ("[b]*", ["./b.txt"]), ("none", [])):
        assert tf.gfile.Glob(pattern) == found
    with tf.Graph().as_default(), tf.Session() as sess:
        assert sess.run(tf.io.matching_files("*.txt")).tolist() == [b"./a.txt", b"./b.txt"]


def test_what_is_there_and_what_is_not(tmp_path):
    """As 1.15.5: making what is there is no error; what is walked through and is not there is told of."""
    (tmp_path / "file").write_text("x")
    tf.gfile.MkDir(str(tmp_path))
    tf.gfile.MkDir(str(tmp_path / "file"))
    assert (tmp_path / "file").is_file()
    with pytest.raises(tf.errors.NotFoundError, match="none not found"):
        tf.gfile.DeleteRecursively(str(tmp_path / "none"))
    with pytest.raises(tf.errors.AlreadyExistsError, match="^file already exists$"):
        tf.gfile.Copy(str(tmp_path / "file"), str(tmp_path / "file"))
    told = []
    assert list(tf.io.gfile.walk(str(tmp_path / "none"), onerror=told.append)) == []
    assert [type(e) for e in told] == [tf.errors.NotFoundError]
    assert list(tf.gfile.Walk(str(tmp_path / "none"))) == []


def test_records_of_a_file_that_grows(tmp_path):
    path = str(tmp_path / "r")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"one")
        writer.flush()
        records = tf.io.tf_record_iterator(path)
        assert next(records) == b"one"
        for _ in range(2):
            with pytest.raises(StopIteration):
                next(records)
        for record in (b"two", b"three"):
            writer.write(record)
            writer.flush()
            assert next(records) == record
    with open(path, "rb") as file:
        whole = file.read()
    (tmp_path / "part").write_bytes(whole[:-1])
    records = tf.io.tf_record_iterator(str(tmp_path / "part"))
    assert [next(records), next(records)] == [b"one", b"two"]
    for _ in range(2):
        with pytest.raises(tf.errors.DataLossError):
            next(records)
    (tmp_path / "part").write_bytes(whole)
    records.reopen()
    assert list(records) == [b"three"]


def test_file_systems():
    schemes = file_io.get_registered_schemes()
    assert schemes[:3] == ["", "file", "ram"] and len(set(schemes)) == len(schemes)
    assert file_io.has_atomic_move("/a/b") and file_io.has_atomic_move("ram://a")
    assert not file_io.has_atomic_move("s3://bucket/a")


def test_a_negative_number_of_bytes_is_refused(tmp_path):
    file_io.write_string_to_file(str(tmp_path / "a"), "text")
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative number of bytes: -2"):
        file_io.FileIO(str(tmp_path / "a"), "r").read(-2)
    assert file_io.FileIO(str(tmp_path / "a"), "r").read(-1) == "text"


def test_patterns_that_an_iterator_gives(tmp_path):
    for name in ("a.txt", "b.txt", "c.csv"):
        (tmp_path / name).write_text(name)
    patterns = [str(tmp_path / "*.csv"), str(tmp_path / "a*")]
    assert tf.gfile.Glob(iter(patterns)) == [str(tmp_path / "c.csv"), str(tmp_path / "a.txt")]
    assert tf.gfile.Glob(set(patterns[:1])) == [str(tmp_path / "c.csv")]


def test_a_path_with_a_nul_is_refused(tmp_path):
    """The system would read the path up to there: another file."""
    path = str(tmp_path / "a") + "\0b"
    for use in (lambda: tf.gfile.Exists(path), lambda: tf.gfile.GFile(path, "w").write("x"),
                lambda: tf.gfile.MakeDirs(path), lambda: tf.Session().run(tf.write_file(path, 'x'))):
        with pytest.raises(tf.errors.InvalidArgumentError, match="contains a NUL"):
            use()
    assert not list(tmp_path.iterdir())
