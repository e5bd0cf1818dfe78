"""Which version the program of this process is of, where nobody runs it by `python -m penstock`."""
import os
import sys

from penstock.alias import children, choice, program

_MOST_TESTS = 500


def version():
    """"v1" or "v2", as PENSTOCK_TENSORFLOW says; version 1 if the program has imported penstock.v1; else its source
    decides, and a line on stderr reports the choice."""
    chosen = children.wanted()
    if chosen is not None:
        return chosen
    from penstock.api import version_two
    if "penstock.v1" in sys.modules and not version_two.beside_version_one:
        return "v1"
    what, chosen, why = _decided()
    say(what, chosen, why)
    return chosen


def say(what, chosen, why):
    """The line that says which version was chosen, and why."""
    from penstock.alias.finder import VERSIONS
    print("penstock: %s runs as TensorFlow %s (%s; --v1 and --v2, or PENSTOCK_TENSORFLOW=1 and =2, choose)" %
          (what, VERSIONS[chosen], why), file=sys.stderr)


def _decided():
    """(name of the program, its version, why)."""
    path = getattr(sys.modules.get("__main__"), "__file__", None) or ""
    if "pytest" in sys.modules and ("pytest" in path or "py.test" in path or "xdist" in path):
        return "pytest", *choice.told(_uses_of_tests(), os.curdir)
    if "IPython" in sys.modules:
        shell = sys.modules["IPython"].get_ipython()
        if shell is not None:
            from penstock.alias import notebook
            return "the notebook", *choice.decide(notebook.source(shell))
    if os.path.isfile(path):
        with open(path, "rb") as f:
            return path, *choice.decide(f.read(), path)
    arguments = getattr(sys, "orig_argv", [])
    source = arguments[arguments.index("-c") + 1] if "-c" in arguments[:-1] else ""
    return "the program", *choice.decide(source)


def _uses_of_tests():
    """The uses of TensorFlow's names in the Python files that pytest's arguments name, or the current folder has."""
    uses = []
    for count, file in enumerate(_tests()):
        if count == _MOST_TESTS:
            break
        try:
            with open(file, "rb") as f:
                uses += program.Source(f.read(), file).uses
        except OSError:
            pass
    return uses


def _tests():
    places = [argument.split("::")[0] for argument in sys.argv[1:] if not argument.startswith("-")]
    for place in [place for place in places if os.path.exists(place)] or [os.curdir]:
        if os.path.isfile(place):
            yield place
        for folder, folders, files in os.walk(place):
            folders[:] = [each for each in folders if not each.startswith((".", "build", "node_modules"))]
            yield from (os.path.join(folder, file) for file in sorted(files) if file.endswith(".py"))
