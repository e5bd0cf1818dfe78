"""tf.einsum of version 2: the op Einsum, of two inputs at a time."""
import itertools
import math
import re
import string

from penstock._src.graph import gen
from penstock._src.graph import ops


def einsum(equation, *inputs, **kwargs):
    """Sums of products over axes named by letters: "ij,jk->ik" is the matrix product, "...ii->...i" diagonals.

    More than two inputs are contracted two at a time, each time the two whose product is smallest beside them;
    `optimize`, the name of another way to choose, is accepted and changes nothing. TypeError: an unknown keyword.
    ValueError: an equation that is none, or for another number of inputs. InvalidArgumentError: shapes that do not fit.
    """
    name = kwargs.pop("name", None)
    kwargs.pop("optimize", None)
    if kwargs:
        raise TypeError(f"Invalid keyword arguments for einsum: {', '.join(kwargs)}. Valid arguments: name, optimize, "
                        "greedy.")
    with ops.name_scope(name, "einsum", [equation, inputs]):
        of_tensor = next((x.dtype for x in inputs if isinstance(x, ops.Tensor)), None)
        inputs = [x if isinstance(x, ops.Tensor) else ops.convert_to_tensor(x, of_tensor) for x in inputs]
        labels, output, ellipsis = _parse(equation, len(inputs))

        def joined(of_inputs, of_output):
            whole = ",".join(of_inputs) + "->" + of_output
            return whole.replace(ellipsis, "...") if ellipsis else whole

        operands = list(zip(labels, inputs))
        sizes = _sizes(operands, ellipsis) if len(operands) > 2 else {}
        while len(operands) > 2:
            i, j, kept = _cheapest(operands, output, sizes)
            (second, y), (first, x) = operands.pop(j), operands.pop(i)
            operands.append((kept, gen.einsum([y, x], joined([second, first], kept))))
        return gen.einsum([x for _, x in operands], joined([of_input for of_input, _ in operands], output))


def _parse(equation, count):
    """(labels of each input, of the output, the letter for the ellipsis or "")."""
    plain = equation.replace(" ", "")
    ellipsis = ""
    if "..." in plain:
        ellipsis = next((c for c in string.ascii_letters if c not in plain), "")
        if not ellipsis:
            raise ValueError(f"Unable to resolve ellipsis, too many distinct labels: {equation}")
        plain = plain.replace("...", ellipsis)
    match = re.fullmatch("([a-zA-Z0-9,]*)(?:->([a-zA-Z0-9]*))?", plain)
    if not match:
        raise ValueError(f"Subscripts have incorrect format: {equation}")
    labels, output = match.group(1).split(","), match.group(2)
    if len(labels) != count:
        raise ValueError(f'Got {count} inputs for equation "{equation}", expecting {len(labels)}')
    together = "".join(labels)
    if output is None:
        output = ellipsis + "".join(sorted(c for c in set(together) if together.count(c) == 1 and c != ellipsis))
    for label in output:
        if label not in together and label != ellipsis:
            raise ValueError(f"Output subscripts contain the label {label} not present in the input subscripts.")
        if output.count(label) > 1:
            raise ValueError(f"Output subscripts contain a label appearing more than once: {equation}")
    return labels, output, ellipsis


def _sizes(operands, ellipsis):
    """Label -> its largest known dimension; 1 for unknown ones, and for an ellipsis."""
    sizes = {}
    for labels, x in operands:
        dims = x.shape.as_list() if x.shape.ndims == len(labels) and ellipsis not in (labels or ellipsis) else []
        for label, dim in itertools.zip_longest(labels, dims):
            sizes[label] = max(sizes.get(label, 1), dim or 1)
    return sizes


def _cheapest(operands, output, sizes):
    """(i, j, labels of the product) of the two operands to contract next, i < j."""
    def size(labels):
        return math.prod(sizes[label] for label in labels)

    best = None
    for i, j in itertools.combinations(range(len(operands)), 2):
        rest = set(output).union(*(labels for k, (labels, _) in enumerate(operands) if k not in (i, j)))
        first, second = operands[i][0], operands[j][0]
        kept = "".join(sorted((set(first) | set(second)) & rest, key=lambda label: (sizes[label], label)))
        cost = size(kept) - size(first) - size(second)
        if best is None or cost < best[0]:
            best = cost, i, j, kept
    return best[1:]
