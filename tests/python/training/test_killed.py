"""A process that is killed while it saves leaves the last complete checkpoint, also if what was not synced is lost."""
import collections
import fcntl
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import penstock.v1 as tf

PROGRAM = """
import sys
import penstock.v1 as tf
prefix, numbered, step = sys.argv[1], sys.argv[2] == "numbered", int(sys.argv[3])
variables = [tf.get_variable("v%d" % i, [100000], initializer=tf.zeros_initializer()) for i in range(3)]
value = tf.placeholder(tf.float32, [])
update = [v.assign(tf.fill([100000], value)) for v in variables]
saver = tf.train.Saver(max_to_keep=2)
with tf.Session() as sess:
    while True:
        sess.run(update, {value: step})
        saver.save(sess, prefix, global_step=step if numbered else None, write_meta_graph=False)
        print(step, flush=True)
        step += 1
"""


def value_of(directory):
    """What all elements of the newest checkpoint are."""
    reader = tf.train.load_checkpoint(str(directory))
    values = {float(x) for name in ("v0", "v1", "v2") for x in np.unique(reader.get_tensor(name))}
    assert len(values) == 1
    return values.pop()


def kill_while_saving(directory, names, step, wait):
    """Starts the program at a step and kills it a while after its first save; the last step that it told of."""
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(directory / "m"), names, str(step)],
                               stdout=subprocess.PIPE)
    told = process.stdout.readline()
    time.sleep(wait)
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read()
    process.wait()
    process.stdout.close()
    lines = [line for line in (told + rest).split(b"\n")[:-1] if line]
    return int(lines[-1])


def check_kills(directory, names, kills, seed):
    """The newest checkpoint is the last one that the program told of, or a later one, whenever it is killed."""
    wait, step = random.Random(seed), 0
    for _ in range(kills):
        told = kill_while_saving(directory, names, step, wait.uniform(0.0, 0.1))
        found = value_of(directory)
        assert found >= told
        step = told + 1


@pytest.mark.parametrize("names", ["numbered", "one"])
def test_killed_while_saving(tmp_path, names):
    check_kills(tmp_path, names, 5, 1)


@pytest.mark.slow
@pytest.mark.parametrize("names", ["numbered", "one"])
@pytest.mark.timeout(1800)
def test_killed_200_times(tmp_path, names):
    check_kills(tmp_path, names, 200, 2)


# What a disk may hold if the machine stops, by the system calls of a program that saves: a name that was changed and
# whose directory was not synced since may be what it was or what it became; a file is what it was when it was synced.

FEW_SAVES = PROGRAM.replace("while True:", "for _ in range(4):")
CALL = re.compile(r"^\S+ (\w+)\((.*)\)\s+= (-?\d+)")


class File:
    def __init__(self, number):
        self.number = number  # of the save that wrote it
        self.written = self.synced = 0

    @property
    def is_whole(self):
        return self.synced == self.written


class Disk:
    """Names and what they may be."""

    def __init__(self):
        self.now = {}                                     # name -> file, as programs see it
        self.possible = collections.defaultdict(set)      # name -> files that the disk may have; None: no such name
        self.counts = collections.Counter()               # how many files of each kind were made
        self.data_of = {}                                 # save -> (name of its data, file)

    def create(self, path):
        if path in self.now:
            return
        kind = "index" if ".index" in path else "data" if ".data-" in path else "state"
        self.now[path] = file = File(self.counts[kind])
        self.counts[kind] += 1
        self.possible[path] |= {None, file}

    def rename(self, old, new):
        file = self.now[new] = self.now.pop(old)
        self.possible[old].add(None)
        self.possible[new] |= {file} if self.possible[new] else {None, file}
        if ".data-" in new:
            self.data_of[file.number] = new, file

    def unlink(self, path):
        self.now.pop(path, None)
        self.possible[path].add(None)

    def sync(self, path):
        if path in self.now:
            self.now[path].synced = self.now[path].written
            return
        for name in self.possible:
            if os.path.dirname(name) == path:
                self.possible[name] = {self.now.get(name)}

    def check(self, directory, index_name):
        """Whatever the disk has, the state file names a checkpoint that is whole."""
        for state in self.possible[os.path.join(directory, "checkpoint")]:
            assert state is not None and state.is_whole
            for index in self.possible[index_name(state.number)]:
                assert index is not None and index.is_whole
                name, data = self.data_of[index.number]
                assert self.possible[name] == {data} and data.is_whole


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("names", ["numbered", "one"])
def test_what_was_not_synced_may_be_lost(tmp_path, names):
    directory, traces = tmp_path / "m", tmp_path / "traces"
    directory.mkdir()
    traces.mkdir()
    calls = "openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat"
    done = subprocess.run(["strace", "-ff", "-ttt", "-y", "-s", "0", "-e", "trace=" + calls, "-o", traces / "t",
                           sys.executable, "-c", FEW_SAVES, str(directory / "m"), names, "0"], capture_output=True)
    if b"ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    assert done.stdout == b"0\n1\n2\n3\n", done.stderr[-2000:]
    lines = sorted(line for file in traces.iterdir() for line in file.read_text(errors="replace").splitlines())
    disk, told, checked = Disk(), 0, 0

    def index_name(save):
        return str(directory / (f"m-{save}.index" if names == "numbered" else "m.index"))

    for line in lines:
        found = CALL.match(line)
        if not found or int(found[3]) < 0:
            continue
        call, arguments = found[1], found[2]
        paths = [p for p in re.findall(r'[<"]([^<>"]*)[>"]', arguments) if p.startswith(str(directory))]
        if call == "openat" and paths and "O_CREAT" in arguments:
            disk.create(paths[-1])
        elif call in ("write", "pwrite64") and paths:
            disk.now[paths[0]].written += int(found[3])
        elif call == "write" and arguments.startswith("1<"):
            told += 1
        elif call in ("fsync", "fdatasync") and paths:
            disk.sync(paths[0])
        elif call.startswith("rename") and len(paths) >= 2:
            disk.rename(*[p for p in paths if p != str(directory)][:2])
        elif call.startswith("unlink") and paths:
            disk.unlink(paths[-1])
        if told:
            disk.check(str(directory), index_name)
            checked += 1
    assert told >= 4 and disk.counts["state"] == 4 and checked > 30


def test_damaged_bytes_are_told_by_the_tensor(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        for name in ("first/weights", "second"):
            tf.get_variable(name, initializer=np.arange(1000, dtype=np.float32))
        tf.get_variable("text", initializer=["some", "words"])
        sess.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        prefix = saver.save(sess, str(tmp_path / "m"), write_meta_graph=False)
        data = prefix + ".data-00000-of-00001"
        with open(data, "rb") as f:
            whole = f.read()
        starts = {"first/weights": 0, "second": 4000, "text": 8000}
        for name, start in starts.items():
            with open(data, "wb") as f:
                f.write(whole[:start + 5] + bytes([whole[start + 5] ^ 16]) + whole[start + 6:])
            with pytest.raises(tf.errors.DataLossError, match=f"tensor '{name}'"):
                saver.restore(sess, prefix)
        with open(data, "wb") as f:
            f.write(whole[:4100])  # cut off in the second
        with pytest.raises(tf.errors.DataLossError, match="tensor 'second' ends behind the end"):
            saver.restore(sess, prefix)
        with open(data, "wb") as f:
            f.write(whole)
        saver.restore(sess, prefix)
        with open(prefix + ".index", "rb") as f:
            index = bytearray(f.read())
        for at in range(0, len(index), 7):
            with open(prefix + ".index", "wb") as f:
                f.write(bytes(index[:at]) + bytes([index[at] ^ 64]) + bytes(index[at + 1:]))
            try:
                saver.restore(sess, prefix)
            except tf.errors.OpError:
                pass  # DataLoss, or a name that the program asks for is not there


def save_once(directory):
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=[1.0])
        sess.run(v.initializer)
        return tf.train.Saver().save(sess, str(directory / "other"), write_meta_graph=False)


def test_what_a_killed_save_leaves_is_removed_by_the_next(tmp_path):
    def temporaries():
        return [name for name in os.listdir(tmp_path) if ".tempstate" in name]

    for _ in range(20):
        process = subprocess.Popen([sys.executable, "-c", PROGRAM.replace("100000", "3000000"), str(tmp_path / "m"),
                                    "one", "0"], stdout=subprocess.DEVNULL)
        while not temporaries():
            time.sleep(0.001)
        process.kill()
        process.wait()
        if temporaries():
            break
    left, = temporaries()
    name, boot, number = re.fullmatch(r"(.*\.tempstate)-(\w+)-(\d+)-\d+", left).groups()
    assert int(number) == process.pid
    # What somebody holds, what another machine wrote, and what is named otherwise stays.
    kept = [f"{name}-{boot}-1-0", f"{name}-00000000-1-0", f"{name}-{boot}-1-0x", f"{name}123", f"m{boot}-1-0"]
    for other in kept:
        (tmp_path / other).write_bytes(b"x")
    with open(tmp_path / kept[0], "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        save_once(tmp_path)
        assert {*os.listdir(tmp_path)} >= {*kept} and not {left} & {*os.listdir(tmp_path)}
    save_once(tmp_path)
    assert {*os.listdir(tmp_path)} >= {*kept[1:]} and kept[0] not in os.listdir(tmp_path)


def test_a_name_that_is_taken_by_a_dead_process_of_the_same_number_is_passed_over(tmp_path):
    """Processes of containers have the same numbers again and again."""
    program = """
import os, sys
import penstock.v2 as tf
boot = open("/proc/sys/kernel/random/boot_id").read(8)
for number in range(4):
    open(f"{sys.argv[1]}.data-00000-of-00001.tempstate-{boot}-{os.getpid()}-{number}", "w").close()
tf.train.Checkpoint(v=tf.Variable(1.0)).write(sys.argv[1])
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "m")], check=True)
    assert sorted(os.listdir(tmp_path)) == ["m.data-00000-of-00001", "m.index"]


def test_names_that_are_no_text(tmp_path):
    prefix = str(tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(tf.raw_ops.SaveV2(prefix=prefix, tensor_names=[b"a\xff\xfeb", b"ok"], shape_and_slices=["", ""],
                                   tensors=[[1.0], [2]]))
    reader = tf.train.load_checkpoint(prefix)
    for listing in (reader.get_variable_to_shape_map, reader.get_variable_to_dtype_map,
                    lambda: tf.train.list_variables(prefix)):
        with pytest.raises(tf.errors.DataLossError, match=re.escape(rf"{prefix} is no UTF-8: 'a\xff\xfeb'")):
            listing()
    assert reader.has_tensor(b"a\xff\xfeb") and list(reader.get_tensor(b"a\xff\xfeb")) == [1.0]
    assert reader.debug_string() == b"a\xff\xfeb (DT_FLOAT) [1]\nok (DT_INT32) [1]\n"
    shown = subprocess.run([sys.executable, "-m", "penstock", "inspect", prefix], capture_output=True, text=True)
    assert r"a\xff\xfeb" in shown.stdout
