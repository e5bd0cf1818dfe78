"""tf.app: runs a program's main function after reading its flags."""
import sys

from penstock._src.files import flags  # noqa: F401  (tf.app.flags)


def run(main=None, argv=None):
    """Reads the flags in `argv` and exits with what `main` returns, given the words that are no flags.

    main: by default the function `main` of the script.
    """
    main = main or sys.modules["__main__"].main
    try:
        from absl import app as absl_app
    except ImportError:
        rest = flags.FLAGS(sys.argv if argv is None else argv, known_only=True)
        sys.exit(main(rest))
    absl_app.run(main=main, argv=argv, flags_parser=lambda args: flags.FLAGS(
        sys.argv if args is None else args, known_only=True))
