"""python -m penstock: runs a TensorFlow program on Penstock."""
import os
import sys

_USAGE = """\
usage: python -m penstock [--v1 | --v2] SCRIPT [ARGUMENT...]
       python -m penstock [--v1 | --v2] -m MODULE [ARGUMENT...]
       python -m penstock doctor
       python -m penstock inspect FILE
       python -m penstock records {count,show,convert,shard} FILE...
       python -m penstock saved-model show|run|scan DIRECTORY [OPTION...]
       python -m penstock draw GRAPH -o GRAPH.svg [--depth N] [--expand SCOPE]...
       python -m penstock --version

SCRIPT, or MODULE, runs with `import tensorflow` giving Penstock: as TensorFlow 1.15 with --v1, as TensorFlow 2 with
--v2. Without either the script's source decides: tf.contrib, tf.Session, tf.placeholder and other names that only
version 1 has at the top level mean version 1.
"""


def main(arguments=None):
    """The command line, by default this process's; returns the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    version = None
    while arguments and arguments[0].startswith("-"):
        option = arguments.pop(0)
        if option == "-m" and arguments:
            return _run("run_module", arguments, version)
        if option in ("--v1", "--v2"):
            version = option[2:]
        elif option == "--version":
            import penstock
            print("penstock", penstock.__version__)
            return 0
        elif option in ("-h", "--help"):
            print(_USAGE, end="")
            return 0
        else:
            print("penstock: unknown option %s\n\n%s" % (option, _USAGE), end="", file=sys.stderr)
            return 2
    if not arguments:
        print(_USAGE, end="", file=sys.stderr)
        return 2
    if version is None and arguments[0] == "doctor":
        from penstock.alias import doctor
        doctor.doctor()
        return 0
    if version is None and arguments[0] == "inspect":
        if len(arguments) != 2:
            print("penstock inspect: one FILE, or directory, is to be named", file=sys.stderr)
            return 2
        from penstock._src.tools import inspect
        return inspect.inspect(arguments[1], sys.stdout)
    if version is None and arguments[0] == "records":
        from penstock._src.tools import records
        return records.main(arguments[1:])
    if version is None and arguments[0] == "saved-model":
        from penstock._src.tools import saved_model_cli
        return saved_model_cli.main(arguments[1:])
    if version is None and arguments[0] == "draw":
        from penstock._src.tools import draw
        return draw.main(arguments[1:])
    if not os.path.exists(arguments[0]):
        print("penstock: can't open file %r: No such file" % arguments[0], file=sys.stderr)
        return 2
    return _run("run_script", arguments, version)


def _run(how, arguments, version):
    from penstock.alias import runner
    return getattr(runner, how)(arguments[0], arguments[1:], version)


if __name__ == "__main__":
    sys.exit(main())
