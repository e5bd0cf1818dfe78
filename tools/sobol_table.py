"""Writes src/penstock/kernels/cpu/random/sobol_table.inc: the first direction numbers of Sobol's sequence.

    python tools/sobol_table.py    in a Python with SciPy, which has the numbers that Joe and Kuo published

S. Joe and F. Y. Kuo, Constructing Sobol sequences with better two-dimensional projections, SIAM J. Sci. Comput. 30,
2635-2654 (2008); new-joe-kuo-6.21201.
"""
import pathlib

import numpy as np
import scipy.stats

DIMENSIONS = 2056
PATH = pathlib.Path(__file__).parent.parent / "src/penstock/kernels/cpu/random/sobol_table.inc"


def bits(polynomials, numbers):
    """Of each dimension but the first m_2, m_3, ... of as many numbers as its polynomial's degree says: m_i is odd and
    less than 2 ** i, so i - 1 bits tell it, highest first."""
    for polynomial, row in zip(polynomials[1:], numbers[1:]):
        for i in range(2, int(polynomial).bit_length()):
            yield from format((int(row[i - 1]) - 1) // 2, f"0{i - 1}b")


def main():
    """Writes the table: six bits a character, from '0' on, in raw strings."""
    table = np.load(pathlib.Path(scipy.stats.__file__).parent / "_sobol_direction_numbers.npz")
    text = "".join(bits(table["poly"][:DIMENSIONS], table["vinit"][:DIMENSIONS]))
    text += "0" * (-len(text) % 6)
    letters = "".join(chr(48 + int(text[i:i + 6], 2)) for i in range(0, len(text), 6))
    lines = [f'  R"({letters[i:i + 112]})"' for i in range(0, len(letters), 112)]
    PATH.write_text("// Made by tools/sobol_table.py.\nconstexpr char kSobolNumbers[] =\n" + "\n".join(lines) + ";\n")


if __name__ == "__main__":
    main()
