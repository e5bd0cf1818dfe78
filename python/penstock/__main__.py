"""python -m penstock, or penstock: runs a TensorFlow program on Penstock, and looks at TensorFlow's files."""
import os
import sys

# Each command but run: the function that takes its arguments, and a line of the help.
COMMANDS = {
    "check": ("penstock.alias.check:main", "list what will fail in a program, or a folder of programs"),
    "time": ("penstock._src.tools.timing:main", "measure the steps of a model: percentiles, memory"),
    "freeze": ("penstock._src.tools.freezing:main", "write a model as one graph whose variables are constants"),
    "optimize": ("penstock._src.tools.freezing:main_optimize", "rewrite a frozen graph for inference"),
    "inspect": ("penstock._src.tools.inspect:main",
                "print the contents of checkpoints, graphs, models, event and record files"),
    "draw": ("penstock._src.tools.draw:main", "draw a graph"),
    "records": ("penstock._src.tools.records:main", "count, show, convert or split files of records"),
    "saved-model": ("penstock._src.tools.saved_model_cli:main", "show, run or scan a SavedModel, as saved_model_cli"),
    "alias": ("penstock.alias.installer:main", "write a package `tensorflow` that is Penstock, or remove it"),
    "doctor": ("penstock.alias.doctor:main", "print versions, devices and environment, for reports of problems"),
}
_HELP = """\
usage: penstock [run] [OPTION...] SCRIPT [ARGUMENT...]
       penstock [run] [OPTION...] -m MODULE [ARGUMENT...]
       penstock COMMAND [ARGUMENT...]

SCRIPT, or MODULE, runs with `import tensorflow` giving Penstock. `python -m penstock` is the same command.

options of run:
  --v1, --v2        TensorFlow 1.15 or 2; without either PENSTOCK_TENSORFLOW=1 or =2 chooses, else the names in the
                    script and in the modules of its folder
  --compat          put back names that Python, NumPy and SciPy have dropped: np.float, xrange, scipy.misc.imread
  --soft-placement  run on the CPU what the program places on devices that are not there
  --progress        print steps per second, memory and the current line every ten seconds, and on SIGUSR1
other options:
  --version         print the version
  -h, --help        print this

commands (penstock COMMAND --help tells more):
  run          run a program
"""


def usage():
    """The text of --help."""
    return _HELP + "".join("  %-12s %s\n" % (name, text) for name, (_, text) in COMMANDS.items())


def main(arguments=None):
    """The command line, by default this process's; returns the exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments and arguments[0] in COMMANDS:
        return _command(arguments[0], arguments[1:])
    named = arguments[:1] == ["run"]
    return _run(arguments[1:] if named else arguments, named)


def _run(arguments, named):
    version = None
    while arguments and arguments[0].startswith("-"):
        option = arguments.pop(0)
        if option == "-m" and arguments:
            return _start("run_module", arguments, version)
        if option in ("--v1", "--v2"):
            version = option[2:]
        elif option in ("--compat", "--soft-placement", "--progress"):
            os.environ["PENSTOCK_" + option[2:].replace("-", "_").upper()] = "1"
        elif option == "--version" and not named:
            import penstock
            print("penstock", penstock.__version__)
            return 0
        elif option in ("-h", "--help"):
            print(usage(), end="")
            return 0
        else:
            print("penstock: unknown option %s\n\n%s" % (option, usage()), end="", file=sys.stderr)
            return 2
    if not arguments:
        print(usage(), end="", file=sys.stderr)
        return 2
    if not os.path.exists(arguments[0]):
        print("penstock: can't open file %r: No such file%s" % (arguments[0], _meant(arguments[0])), file=sys.stderr)
        return 2
    return _start("run_script", arguments, version)


def _meant(name):
    import difflib
    near = difflib.get_close_matches(name, COMMANDS)
    return ", and no command (%s?)" % near[0] if near else ""


def _start(how, arguments, version):
    from penstock.alias import runner
    return getattr(runner, how)(arguments[0], arguments[1:], version)


def _command(name, arguments):
    import importlib
    module, _, function = COMMANDS[name][0].partition(":")
    try:
        status = getattr(importlib.import_module(module), function)(arguments)
        sys.stdout.flush()
        return status
    except SystemExit as e:  # of the parser of arguments
        return e.code if isinstance(e.code, int) else int(e.code is not None)
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main())
