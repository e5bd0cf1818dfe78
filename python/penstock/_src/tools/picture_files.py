"""Pictures of graphs in other forms than SVG: Graphviz's text, and PNG by whichever program there is."""
import os
import shutil
import subprocess
import tempfile


def dot(boxes, edges):
    """A graph in Graphviz's language: boxes and {(source, target): (tensors, control edges)}."""
    numbers = {box: number for number, box in enumerate(boxes)}
    lines = ["digraph {", "  node [fontname=monospace fontsize=12];"]
    for box, number in numbers.items():
        style = 'shape=box style=filled fillcolor="#dde8f5"' if box.folded else "shape=ellipse"
        lines.append("  n%d [label=%s tooltip=%s %s];" % (number, _quoted(box.label), _quoted(box.title), style))
    for (source, target), (data, _) in edges.items():
        lines.append("  n%d -> n%d%s;" % (numbers[source], numbers[target], "" if data else " [style=dashed]"))
    return "\n".join([*lines, "}\n"])


def _quoted(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def png(svg):
    """The bytes of a PNG of an SVG's text. ValueError: no program for it is installed."""
    try:
        import cairosvg
        return cairosvg.svg2png(svg.encode())
    except ImportError:
        pass
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "a.svg"), os.path.join(folder, "a.png")
        with open(source, "w", encoding="utf-8") as f:
            f.write(svg)
        for program in ("rsvg-convert", "inkscape"):
            if shutil.which(program):
                subprocess.run([program, source, "-o", target], check=True, capture_output=True)
                with open(target, "rb") as f:
                    return f.read()
    raise ValueError("a PNG needs the package cairosvg, or the program rsvg-convert: write .svg or .dot instead")
