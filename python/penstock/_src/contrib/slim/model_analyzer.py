"""tf.contrib.slim.model_analyzer: how large variables and results are."""


def tensor_description(var):
    """(type sizes), as in (float32 3x4)."""
    return "(%s %s)" % (var.dtype.name, "x".join(str(size) for size in var.shape.as_list()))


def _title(text, print_info):
    if print_info:
        print("---------\n%s\n---------" % text)


def analyze_ops(graph, print_info=False):
    """The number of elements of all results of a graph, each operation printed if asked for."""
    _title("Operations: name -> (type shapes) [size]", print_info)
    total = 0
    for op in graph.get_operations():
        size = sum(output.shape.num_elements() or 0 for output in op.outputs)
        if print_info:
            shapes = [tensor_description(output) for output in op.outputs if output.shape]
            print(op.name, "\t->", ", ".join(shapes), "[%d]" % size)
        total += size
    return total


def analyze_vars(variables, print_info=False):
    """(elements, bytes) of all variables together, each of them printed if asked for."""
    _title("Variables: name (type shape) [size]", print_info)
    sizes = [(var, var.shape.num_elements() or 0) for var in variables]
    if print_info:
        for var, size in sizes:
            print(var.name, tensor_description(var), "[%d, bytes: %d]" % (size, size * var.dtype.size))
    total, total_bytes = sum(size for _, size in sizes), sum(size * var.dtype.size for var, size in sizes)
    if print_info:
        print("Total size of variables: %d\nTotal bytes of variables: %d" % (total, total_bytes))
    return total, total_bytes
