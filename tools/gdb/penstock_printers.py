"""Printers for gdb of Tensor, Shape, PartialShape, Buffer, Node and Graph: `source tools/gdb/penstock_printers.py`.

./dev debug loads them. `print tensor` shows type, shape and the first elements, `print *graph` one line for each node.
"""
import gdb

MAX_ELEMENTS, MAX_NODES = 10, 40
# Types whose elements gdb can show: their names in C++.
ELEMENTS = {"DT_FLOAT": "float", "DT_DOUBLE": "double", "DT_INT32": "int", "DT_UINT8": "unsigned char",
            "DT_INT16": "short", "DT_INT8": "signed char", "DT_INT64": "long", "DT_BOOL": "bool",
            "DT_UINT16": "unsigned short", "DT_UINT32": "unsigned int", "DT_UINT64": "unsigned long"}


def text(string):
    """The contents of a std::string."""
    start, length = string["_M_dataplus"]["_M_p"], int(string["_M_string_length"])
    return start.string(length=length, errors="replace") if length else ""


def elements(vector):
    """The elements of a std::vector."""
    first, last = vector["_M_impl"]["_M_start"], vector["_M_impl"]["_M_finish"]
    return [first[i] for i in range(int(last - first))]


def dimensions(shape):
    """The sizes of a Shape."""
    rank = int(shape["rank_"])
    data = shape["inline_"] if rank <= 4 else shape["heap_"]
    return [int(data[i]) for i in range(rank)]


def bracketed(items):
    return "[" + ", ".join(map(str, items)) + "]"


class Shape:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return bracketed(dimensions(self.value))


class PartialShape(Shape):
    def to_string(self):
        if not self.value["known_rank_"]:
            return "<unknown rank>"
        return bracketed("?" if int(d) < 0 else int(d) for d in elements(self.value["dims_"]))


class Buffer(Shape):
    def to_string(self):
        owner = "borrowed" if self.value["borrowed_"] else f"{int(self.value['count_']['_M_i'])} owners"
        return f"Buffer {self.value['data_']}, {int(self.value['size_'])} bytes, {owner}"


class Tensor(Shape):
    def to_string(self):
        dtype, shape = str(self.value["dtype_"]).rsplit("::", 1)[-1], dimensions(self.value["shape_"])
        count = 1
        for d in shape:
            count *= d
        return f"Tensor {dtype[3:].lower()} {bracketed(shape)} {self.elements(dtype, count)}".rstrip()

    def elements(self, dtype, count):
        if dtype not in ELEMENTS or count == 0:
            return ""
        buffer = self.value["buffer_"]["p_"]
        start = self.value["inline_"].address if int(buffer) == 0 else buffer["data_"]
        start = start.cast(gdb.lookup_type("char").pointer()) + (int(self.value["offset_"]) if int(buffer) else 0)
        data = start.cast(gdb.lookup_type(ELEMENTS[dtype]).pointer())
        shown = [data[i].format_string(format="d") if ELEMENTS[dtype].endswith("char") else data[i].format_string()
                 for i in range(min(count, MAX_ELEMENTS))]
        return "{" + ", ".join(shown) + (", ...}" if count > MAX_ELEMENTS else "}")


class Node(Shape):
    def to_string(self):
        inputs = [f"{text(e['node'].dereference()['name_'])}:{int(e['index'])}"
                  for e in elements(self.value["inputs_"])]
        inputs += ["^" + text(n.dereference()["name_"]) for n in elements(self.value["control_inputs_"])]
        op = text(self.value["op_"].dereference()["name"])
        return f"{text(self.value['name_'])} = {op}({', '.join(inputs)})"


class Graph(Shape):
    def to_string(self):
        nodes = []
        for owner in elements(self.value["nodes_"]):
            # A std::unique_ptr is laid out as its pointer.
            pointer = owner.address.cast(owner.type.template_argument(0).pointer().pointer()).dereference()
            if int(pointer):
                nodes.append("  " + Node(pointer.dereference()).to_string())
        more = len(nodes) - MAX_NODES
        lines = nodes[:MAX_NODES] + ([f"  and {more} more"] if more > 0 else [])
        return "\n".join([f"Graph of {len(nodes)} nodes", *lines])


def find(value):
    """The printer for a value, or None."""
    name = value.type.unqualified().strip_typedefs().tag or ""
    kinds = {f"penstock::{kind.__name__}": kind for kind in (Tensor, Shape, PartialShape, Buffer, Node, Graph)}
    return kinds[name](value) if name in kinds else None


gdb.pretty_printers.append(find)
