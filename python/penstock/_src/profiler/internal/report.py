"""A profile as text: one line for each row."""
from penstock._src.profiler.internal.options import COLUMNS, TIMES

_BYTES = ("bytes", "peak_bytes", "residual_bytes", "output_bytes")
_TREE_ORDER = ("params", "float_ops") + _BYTES + TIMES
_LIST_ORDER = _BYTES + TIMES + ("params", "float_ops")
_DOCS = {
    "bytes": "requested bytes: all memory that an operation asked for, whether it gave it back or not",
    "peak_bytes": "peak bytes: the most memory that an operation held at one time",
    "residual_bytes": "residual bytes: memory that an operation still held when it had ended",
    "output_bytes": "output bytes: the size of an operation's results, whoever allocated them",
    "micros": "total execution time: accelerator and cpu execution time together",
    "accelerator_micros": "accelerator execution time: as the accelerator itself measured it",
    "cpu_micros": "cpu execution time: from an operation's start to its end, waiting included",
    "params": "params: how many numbers a variable holds",
    "float_ops": "flops: floating-point operations, by the formulas of the statistic \"flops\"",
    "tensor_value": "tensor_value: not shown",
    "device": "device: where an operation ran",
    "op_types": "op_types: op type, device, and types that the op log gives",
    "occurrence": "occurrence: how often operations ran, and how many there are",
    "input_shapes": "input_shapes: shapes of the inputs",
}
_VIEWS = {
    "scope": "scope: nodes by name scope",
    "graph": "graph: nodes, and below each those that it reads",
    "code": "code: lines of the program, and below each those that it calls",
    "op": "op: types of operations",
}


def number(n):
    """1234 as 1.23k."""
    for size, unit in ((1e9, "b"), (1e6, "m"), (1e3, "k")):
        if n >= size:
            return f"{n / size:.2f}{unit}"
    return f"{n}"


def time(micros):
    """Microseconds as us, ms or sec."""
    if micros < 10**3:
        return f"{micros}us"
    return f"{micros / 1e3:.2f}ms" if micros < 10**6 else f"{micros / 1e6:.2f}sec"


def memory(size):
    """Bytes as B, KB or MB."""
    if size < 10**3:
        return f"{size}B"
    return f"{size / 1e3:.2f}KB" if size < 10**6 else f"{size / 1e6:.2f}MB"


def _value(column, n):
    if column in _BYTES:
        return memory(n)
    return time(n) if column in TIMES else number(n)


def documentation(command, options):
    """What stands above the table."""
    lines = [_VIEWS[command]] + [_DOCS.get(name, f"Unknown select: {name}") for name in sorted(options.select)]
    return "\nDoc:\n" + "\n".join(lines) + "\n\nProfile:\n"


def _legend(options, order, occurrence):
    names = [COLUMNS[column][1] for column in options.selected_columns(order)]
    more = {"device": "assigned devices", "op_types": "op types", "occurrence": occurrence,
            "input_shapes": "input shapes"}
    names += [text for name, text in more.items() if name in options.select]
    return f"node name | {' | '.join(names)}\n"


# --- Trees


def tree(command, root, options):
    """The table of a scope, graph or code view."""
    is_code = command == "code"
    order = _LIST_ORDER if is_code else _TREE_ORDER
    describe = _describe_line if is_code else _describe_node
    occurrence = "op occurrence (run|defined)" if is_code else "op count (run|defined)"
    lines = [_legend(options, order, occurrence)]
    todo = [(root, 0)]
    while todo:
        row, depth = todo.pop()
        cells = describe(row, options, [_of_total(row, c) for c in options.selected_columns(order)])
        lines.append(f"{' ' * 2 * depth}{row.name} ({', '.join(cells)})\n")
        todo.extend((child, depth + 1) for child in reversed(row.below))
    return "".join(lines)


def _of_total(row, column):
    """"own/total", or "--/total" for a row that is there only for those below it."""
    counter = COLUMNS[column][0]
    own = _value(column, row.own[counter]) if row.counted else "--"
    unit = {"params": " params", "float_ops": " flops"}.get(column, "")
    return f"{own}/{_value(column, row.total[counter])}{unit}"


def _describe_node(row, options, cells):
    if "params" in options.select and row.shape:
        cells.insert(0, "x".join(map(str, row.shape)))
    if "device" in options.select and row.devices:
        cells.append("|".join(row.devices))
    if "op_types" in options.select:
        cells.append("|".join(sorted(row.types)))
    if "occurrence" in options.select:
        own = number(row.own["run_count"]) if row.counted else "--"
        cells.append(f"{own}/{number(row.total['run_count'])}|{'1' if row.counted else '--'}/"
                     f"{number(row.total['definition_count'])}")
    if "input_shapes" in options.select:
        cells.append("|".join(_shape(place, shape) for place, shape in row.input_shapes.items()))
    return cells


def _shape(place, shape):
    return f"{place}:{'x'.join(map(str, shape)) or 'unknown'}"


def _describe_line(row, options, cells):
    if "device" in options.select and row.devices:
        cells.append("|".join(row.devices))
    if "op_types" in options.select:
        cells.append("|".join(sorted(row.types)))
    return cells + [f"{name} N/A in code view" for name in ("occurrence", "input_shapes") if name in options.select]


# --- Op types


def types(root, options):
    """The table of the op view."""
    columns = options.selected_columns(_LIST_ORDER)
    lines = [_legend(options, _LIST_ORDER, "op occurrence (run|defined)")]
    row = root
    while row.below:
        row = row.below[0]
        cells = [_with_percent(row, root, column) for column in columns]
        if "device" in options.select:
            cells.append("|".join(row.devices))
        if "op_types" in options.select:
            cells.append("|".join(sorted(row.types)))
        if "occurrence" in options.select:
            cells.append(f"{row.own['run_count']}|{len(row.rows)}".rjust(10))
        line = f"{row.name:<25}{', '.join(cells)}\n"
        shapes = _input_types(row) if "input_shapes" in options.select else ""
        lines.append(f"{line}\n{shapes}\n\n" if shapes else line)
    return "".join(lines)


def _with_percent(row, root, column):
    """Its own, and in percent of the whole list: those from here on, and its own."""
    counter = COLUMNS[column][0]
    own, rest, whole = row.own[counter], row.total[counter], root.total[counter]
    there = own if column in _BYTES else rest
    percents = (100.0 * rest / whole, 100.0 * own / whole) if there > 0 else (0.0, 0.0)
    unit = {"params": " params", "float_ops": " float_ops"}.get(column, "")
    return f"{_value(column, own)}{unit} ({percents[0]:.2f}%, {percents[1]:.2f}%)".rjust(30)


def _input_types(row):
    """One line for each combination of input shapes, the most frequent first."""
    found = {}
    for member in row.rows:
        text = "input_type: " + ",\t".join(_shape(place, shape) for place, shape in member.input_shapes.items())
        defined, runs, micros = found.get(text, (0, 0, 0))
        found[text] = defined + 1, runs + member.own["run_count"], micros + member.own["exec_micros"]
    rows = sorted(sorted(found.items()), key=lambda item: -item[1][1])
    return "\n".join(f"{text}\t(run*{runs}|defined*{defined})\texec_time: {time(micros)}"
                     for text, (defined, runs, micros) in rows)
