"""The options of a profile, checked."""
import re

from penstock._src.graph import errors

# What a table may show and sort by, with the counter behind it and the heading of its column.
COLUMNS = {
    "bytes": ("requested_bytes", "requested bytes"),
    "peak_bytes": ("peak_bytes", "peak bytes"),
    "residual_bytes": ("residual_bytes", "residual bytes"),
    "output_bytes": ("output_bytes", "output bytes"),
    "micros": ("exec_micros", "total execution time"),
    "accelerator_micros": ("accelerator_exec_micros", "accelerator execution time"),
    "cpu_micros": ("cpu_exec_micros", "cpu execution time"),
    "params": ("parameters", "# parameters"),
    "float_ops": ("float_ops", "# float_ops"),
}
TIMES = ("micros", "accelerator_micros", "cpu_micros")
_DEFAULTS = {"max_depth": 10, "step": -1, "order_by": "name", "account_displayed_op_only": False, "output": "stdout",
             "dump_to_file": ""}
_MINIMA = {"min_" + name: counter for name, (counter, _) in COLUMNS.items()}
_REGEXES = ("account_type_regexes", "start_name_regexes", "trim_name_regexes", "show_name_regexes",
            "hide_name_regexes")
_OUTPUTS = ("timeline", "stdout", "file", "pprof", "none")


class Names:
    """Regular expressions, one of which a whole name must match."""

    def __init__(self, texts):
        self.texts = list(texts)
        try:
            self._patterns = [re.compile(text) for text in self.texts]
        except re.error as e:
            raise errors.InvalidArgumentError(None, None, f"{e.pattern!r} is no regular expression: {e}") from None

    @property
    def all(self):
        """Whether every name matches."""
        return self.texts == [".*"]

    def match(self, name):
        """Whether some expression matches the whole of `name`."""
        return self.all or any(pattern.fullmatch(name) for pattern in self._patterns)


class Options:
    """What ProfileOptionBuilder made. InvalidArgumentError if an output or a regular expression is wrong."""

    def __init__(self, options):
        values = {**_DEFAULTS, **options}
        self.given = values
        self.max_depth, self.step, self.order_by = values["max_depth"], values["step"], values["order_by"]
        self.account_displayed_op_only = values["account_displayed_op_only"]
        self.select = set(values.get("select", ()))
        self.min_occurrence = values.get("min_occurrence", 0)
        self.minima = {counter: values.get(name, 0) for name, counter in _MINIMA.items()}
        self.account_types, self.start, self.trim, self.show, self.hide = (
            Names(values.get(name, ())) for name in _REGEXES)
        self.output, self.outfile = _parse_output(values["output"] or "stdout")
        if values["dump_to_file"]:
            self.output, self.outfile = "file", values["dump_to_file"]

    def selected_columns(self, order):
        """The chosen ones of `order`; "micros" stands for all three times."""
        chosen = self.select | set(TIMES) if "micros" in self.select else self.select
        return [name for name in order if name in chosen]

    def as_table(self):
        """The lines that stand above a printed profile."""
        rows = [("max_depth", self.max_depth)]
        rows += [("min_" + name, self.minima[COLUMNS[name][0]]) for name in COLUMNS]
        rows += [("min_occurrence", self.min_occurrence), ("step", self.step), ("order_by", self.order_by)]
        rows += [(name, ",".join(self.given.get(name, ()))) for name in _REGEXES]
        rows += [("account_displayed_op_only", str(bool(self.account_displayed_op_only)).lower()),
                 ("select", ",".join(sorted(self.select))),
                 ("output", f"{self.output}:" + (f"outfile={self.outfile}" if self.outfile else ""))]
        return "".join(f"{'-' + name:<28}{value}\n" for name, value in rows)


def _parse_output(text):
    """("file", "/tmp/x") of "file:outfile=/tmp/x"; the second is None for what needs no file."""
    kind, _, settings = text.partition(":")
    if kind not in _OUTPUTS:
        raise errors.InvalidArgumentError(None, None, f"Unknown output type: {kind}, Valid types: "
                                          + ",".join(sorted(_OUTPUTS)))
    outfile = None
    for setting in filter(None, settings.split(",")):
        key, equals, value = setting.partition("=")
        if not equals or not value:
            raise errors.InvalidArgumentError(None, None, f"{setting!r} in output {text!r} is not key=value")
        if key != "outfile" or kind in ("stdout", "none"):
            raise errors.InvalidArgumentError(None, None, f"Unrecognized options {key} for output_type: {kind}")
        outfile = value
    if outfile is None and kind not in ("stdout", "none"):
        raise errors.InvalidArgumentError(None, None, f"Missing required output_options for {kind}: outfile")
    return kind, outfile
