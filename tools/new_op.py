"""new_op.py NAME FAMILY: writes the definition, the kernel and the test of a new op, which compile and pass at once.

NAME is the op's name (`Xdivy`); FAMILY the file for it, an existing one (`math_unary`) or a new one with its folder
(`math/waves`). The new op takes a tensor of floats and returns it unchanged, element by element; shape, formula and
gradient are the parts to change.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OPS, KERNELS = ROOT / "src/penstock/ops", ROOT / "src/penstock/kernels/cpu"

DEFINITION = '''\
  ops.Add("{name}")
      .Input("x: T")
      .Output("y: T")
      .Attr("T: {{half, bfloat16, float, double}}")
      .Shape(shapes::SameAsInput0)
      .Elementwise()
      .Doc("Returns x.")
      .Gradient([](GradContext& g) {{ g.Set(0, g.dy()); }});
'''
STRUCT = '''\
struct {name} {{
  template <class T>
  T operator()(T x) const {{
    return x;
  }}
}};
'''
KERNEL = '  AddUnary<{name}>(kernels, "{name}", Floats{{}});\n'
OPS_FILE = '''\
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"

namespace penstock {{

void Register{family}Ops(OpRegistry& ops) {{
{body}}}

}}  // namespace penstock
'''
KERNELS_FILE = '''\
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"

namespace penstock {{
namespace {{

{struct}
}}  // namespace

void Register{family}Kernels(KernelRegistry& kernels) {{
{body}}}

}}  // namespace penstock
'''
TEST = '''\
"""{name}: values against NumPy, the gradient against differences."""
import numpy as np
import pytest

import penstock.v1 as tf

X = np.random.RandomState(0).uniform(-2, 2, [3, 5])


def expected(x):
    return x


@pytest.mark.parametrize("dtype", ["half", "float32", "float64"])
def test_values(dtype):
    with tf.Graph().as_default(), tf.Session() as sess:
        y = sess.run(tf.raw_ops.{name}(x=tf.constant(X.astype(dtype))))
    np.testing.assert_allclose(y, expected(X.astype(dtype)), rtol=1e-6)


def test_gradient():
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(X)
        y = tf.raw_ops.{name}(x=x)
        assert tf.test.compute_gradient_error(x, X.shape, y, X.shape) < 1e-6
'''


def camel(family):
    """The name of a family in functions: `math_unary` is MathUnary."""
    return "".join(part.capitalize() for part in family.split("_"))


def snake(name):
    """The name of an op in files: `MatMul` is mat_mul."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def declare(path, function, parameter, kind):
    """Adds a family's declaration and call to an all.cc, in alphabetical order."""
    text = path.read_text()
    for row, pattern in ((f"void {function}({kind}& {parameter});", r"^void Register\w+\([^\n]*;$"),
                         (f"  {function}({parameter});", rf"^  Register\w+\({parameter}\);$")):
        rows = [m.group() for m in re.finditer(pattern, text, re.M)]
        after = [known for known in rows if known > row]
        text = text.replace(after[0], row + "\n" + after[0], 1) if after else text.replace(
            rows[-1], rows[-1] + "\n" + row, 1)
    path.write_text(text)


def insert(path, function, body, struct="", include=""):
    """Adds to an existing family: lines at the end of its registration, a struct before it, an include."""
    text = path.read_text()
    m = re.search(rf"^void {function}\(.*?\) {{\n.*?^}}\n", text, re.M | re.S)
    if not m:
        sys.exit(f"new-op: {path.relative_to(ROOT)} does not define {function}")
    block = m.group()[:-2] + body + "}\n"
    space = f"namespace {{\n\n{struct}\n}}  // namespace\n\n" if struct else ""
    text = text[:m.start()] + space + block + text[m.end():]
    if include and include not in text:
        text = re.sub(r'^#include "penstock/', f'#include "{include}"\n\\g<0>', text, count=1, flags=re.M)
    path.write_text(text)


def find(family):
    """(folder, family) of an existing file of definitions; None if there is no such family."""
    found = [path for path in OPS.glob("*/*.cc") if path.stem == family]
    return (found[0].parent.name, family) if found else None


def main(name, family):
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", name):
        sys.exit(f"new-op: {name} is not an op's name, such as Xdivy")
    if any(re.search(rf'"{name}"', path.read_text()) for path in OPS.glob("*/*.cc")):
        sys.exit(f"new-op: {name} is defined already")
    folder, _, file = family.rpartition("/")
    folder, file = (folder, file) if folder else find(file) or (None, file)
    if folder is None:
        sys.exit(f"new-op: there is no family {file}; SUBJECT/{file} makes one in src/penstock/ops/SUBJECT")
    definitions, kernels = OPS / folder / f"{file}.cc", KERNELS / folder / f"{file}.cc"
    fields = {"name": name, "family": camel(file)}
    struct, body = STRUCT.format(**fields), KERNEL.format(**fields)
    if definitions.exists():
        insert(definitions, f"Register{fields['family']}Ops", DEFINITION.format(**fields),
               include="penstock/graph/gradient.h")
    else:
        definitions.parent.mkdir(exist_ok=True)
        definitions.write_text(OPS_FILE.format(body=DEFINITION.format(**fields), **fields))
        declare(OPS / "all.cc", f"Register{fields['family']}Ops", "ops", "OpRegistry")
    if kernels.exists():
        insert(kernels, f"Register{fields['family']}Kernels", body, struct,
               include="penstock/kernels/cpu/math/elementwise.h")
    else:
        kernels.parent.mkdir(exist_ok=True)
        kernels.write_text(KERNELS_FILE.format(struct=struct, body=body, **fields))
        declare(KERNELS / "all.cc", f"Register{fields['family']}Kernels", "kernels", "KernelRegistry")
    test = ROOT / f"tests/python/ops/test_{snake(name)}.py"
    test.write_text(TEST.format(**fields))
    for path in (definitions, kernels, test):
        print(path.relative_to(ROOT))
    print(f"""Next: ./dev build, ./dev test -k {snake(name)}; then change the formula in all three.
An op of TensorFlow also needs recorded answers (tests/oracle/ops), another one a reason in
tests/python/oracle/test_coverage.py; a public name is a row of python/penstock/api/v2.""")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
