"""Nested structures: lists, tuples, namedtuples, dicts, attrs and data classes of anything. Strings and arrays
are leaves."""
import collections
import collections.abc
import weakref


class _Dot:
    def __str__(self):
        return "."

    __repr__ = __str__


_DOT = _Dot()


def _is_mapping(value):
    return isinstance(value, collections.abc.Mapping)


def _is_attrs(value):
    return hasattr(type(value), "__attrs_attrs__")


def _is_dataclass(value):
    """Whether it is an instance of a class that says which of its fields are parts: `__tf_flatten__` gives the others,
    as one value, and the parts; the class method `__tf_unflatten__` takes both."""
    return hasattr(type(value), "__tf_flatten__") and hasattr(type(value), "__tf_unflatten__")


def _is_namedtuple(value):
    return isinstance(value, tuple) and isinstance(getattr(value, "_fields", None), tuple)


def is_namedtuple(instance):
    """Whether it is a tuple with named fields."""
    return _is_namedtuple(instance)


def is_mapping(obj):
    """Whether it is a dict, or another mapping."""
    return isinstance(obj, collections.abc.Mapping)


def is_attrs(obj):
    """Whether its class is one of the package attrs."""
    return _is_attrs(obj)


def _is_composite(value):
    return getattr(value, "_is_composite_tensor", False)


def _is_spec(value):
    """Whether it is the spec of a composite value."""
    return getattr(value, "_is_composite_spec", False)


def _spec_of(value):
    return value if _is_spec(value) else value._type_spec


def _sorted(keys):
    try:
        return sorted(keys)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


_leaf_types = {}  # by id: types whose values were found to be leaves, which takes a microsecond to tell


def is_sequence(seq):
    """Whether it is a structure and not a leaf."""
    if isinstance(seq, (list, tuple, dict)):
        return True
    kind = type(seq)
    if id(kind) in _leaf_types:
        return False
    if not isinstance(seq, (str, bytes, memoryview)) and isinstance(
            seq, (collections.abc.Sequence, collections.abc.Mapping, collections.abc.MappingView)) \
            or _is_attrs(seq) or _is_dataclass(seq):
        return True
    if seq.__class__ is kind:  # else it stands for another object, which decides
        _leaf_types[id(kind)] = weakref.ref(kind, lambda _, key=id(kind): _leaf_types.pop(key, None))
    return False


is_nested = is_sequence


def is_sequence_or_composite(seq):
    """Whether it is a structure, a value made of tensors, or the spec of one."""
    return is_sequence(seq) or _is_composite(seq) or _is_spec(seq)


def _test(expand_composites):
    """What tells structures from leaves: `expand_composites` itself may be such a function."""
    if callable(expand_composites):
        return expand_composites
    return is_sequence_or_composite if expand_composites else is_sequence


def _items(structure):
    """(key, value) of each part; dicts in the order of their sorted keys."""
    if _is_mapping(structure):
        return [(key, structure[key]) for key in _sorted(structure)]
    if _is_attrs(structure):
        return [(a.name, getattr(structure, a.name)) for a in type(structure).__attrs_attrs__]
    if _is_namedtuple(structure):
        return list(zip(structure._fields, structure))
    if _is_dataclass(structure):
        return list(enumerate(structure.__tf_flatten__()[1]))
    if _is_composite(structure):
        spec = structure._type_spec
        return [(spec.value_type.__name__, spec._to_components(structure))]
    if _is_spec(structure):
        return [(structure.value_type.__name__, structure._component_specs)]
    return list(enumerate(structure))


def _yield_sorted_items(iterable):
    """(key, value) of each part, in the order of flatten."""
    yield from _items(iterable)


def _yield_value(iterable):
    """Each part, in the order of flatten."""
    yield from _values(iterable)


def _values(structure):
    if type(structure) in (list, tuple):
        return structure
    return [value for _, value in _items(structure)]


def _sequence_like(instance, args):
    """A structure of the kind of `instance` made of `args`."""
    kind = type(instance)
    if kind in (list, tuple):
        return kind(args)
    if _is_mapping(instance):
        result = dict(zip(_sorted(instance), args))
        if isinstance(instance, collections.defaultdict):
            made = collections.defaultdict(instance.default_factory)
            made.update((key, result[key]) for key in instance)
            return made
        return kind((key, result[key]) for key in instance)
    if isinstance(instance, (collections.abc.MappingView, range)):
        return list(args)
    if _is_namedtuple(instance) or _is_attrs(instance):
        return kind(*args)
    if _is_dataclass(instance):
        return instance.__tf_unflatten__(instance.__tf_flatten__()[0], tuple(args))
    if _is_composite(instance) or _is_spec(instance):
        components, = args
        return _spec_of(instance)._from_components(components)
    return kind(args)


def flatten(structure, expand_composites=False):
    """The leaves as a list; a leaf alone as a list of one."""
    test = _test(expand_composites)
    if not test(structure):
        return [structure]
    found = []
    _collect(structure, test, found)
    return found


def _collect(structure, test, found):
    """A function inside of `flatten` that calls itself would keep what it found until the next garbage collection."""
    for value in _values(structure):
        if test(value):
            _collect(value, test, found)
        else:
            found.append(value)


def _same_namedtuples(a, b):
    return type(a).__name__ == type(b).__name__ and a._fields == b._fields


def same_namedtuples(nest1, nest2):
    """Whether two namedtuples have the same class name and fields."""
    return _same_namedtuples(nest1, nest2)


def _shown(value):
    return f"type={type(value).__name__} str={value!s}"


def _assert_same(a, b, check_types, test):
    nested = test(a)
    if nested != test(b):
        which = (a, b) if nested else (b, a)
        raise ValueError(f'Substructure "{_shown(which[0])}" is a sequence, while substructure "{_shown(which[1])}" '
                         "is not")
    if not nested:
        return
    if check_types:
        _assert_same_types(a, b)
    first, second = _items(a), _items(b)
    if len(first) != len(second):
        raise ValueError("The two structures don't have the same number of elements. First structure: "
                         f"{_shown(a)}. Second structure: {_shown(b)}")
    for (_, x), (_, y) in zip(first, second):
        _assert_same(x, y, check_types, test)


def _assert_same_types(a, b):
    if (_is_composite(a) or _is_spec(a)) and (_is_composite(b) or _is_spec(b)):
        first, second = _spec_of(a), _spec_of(b)
        if type(first) is not type(second):
            raise TypeError("The two structures don't have the same sequence type. First structure has type "
                            f"{type(a)}, while second structure has type {type(b)}")
        try:
            first.most_specific_compatible_type(second)
        except (TypeError, ValueError) as e:
            raise ValueError(f"Incompatible CompositeTensor TypeSpecs: {first} vs. {second} -- {e}") from None
        return
    if _is_namedtuple(a) and _is_namedtuple(b):
        same = _same_namedtuples(a, b)
    elif _is_mapping(a) and _is_mapping(b):
        if set(a) != set(b):
            raise ValueError("The two dictionaries don't have the same set of keys. First structure has keys "
                             f"{_shown(_sorted(a))}, while second structure has keys {_shown(_sorted(b))}")
        return
    else:
        same = type(a) is type(b) or isinstance(a, list) and isinstance(b, list)
    if not same:
        raise TypeError(f"The two namedtuples don't have the same sequence type. First structure {_shown(a)} has type "
                        f"{type(a).__name__}, while second structure {_shown(b)} has type {type(b).__name__}")


def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """ValueError unless both have the same number of parts everywhere; with `check_types`, TypeError unless the kinds
    of the sequences and the keys of the dicts are the same as well."""
    try:
        _assert_same(nest1, nest2, check_types, _test(expand_composites))
    except (ValueError, TypeError) as e:
        plain = [map_structure(lambda _: _DOT, nest) for nest in (nest1, nest2)]
        raise type(e)(
            f"The two structures don't have the same nested structure.\n\nFirst structure: {_shown(nest1)}\n\n"
            f"Second structure: {_shown(nest2)}\n\nMore specifically: {e}\n"
            f"Entire first structure:\n{plain[0]}\nEntire second structure:\n{plain[1]}") from None


def flatten_dict_items(dictionary):
    """A dict whose keys and values may be nested alike, as one of the leaves. ValueError if they do not fit, or if a
    key occurs twice."""
    if not _is_mapping(dictionary):
        raise TypeError("input must be a dictionary")
    result = {}
    for key, value in dictionary.items():
        keys, values = ([key], [value]) if not is_sequence(key) else (flatten(key), flatten(value))
        if len(keys) != len(values):
            raise ValueError(f"Could not flatten dictionary. Key had {len(keys)} elements, but value had {len(values)} "
                             f"elements. Key: {keys}, value: {values}.")
        for one, item in zip(keys, values):
            if one in result:
                raise ValueError(f"Could not flatten dictionary: key {one} is not unique.")
            result[one] = item
    return result


def _pack(structure, flat, index, test):
    packed = []
    for part in _values(structure):
        if test(part):
            index, child = _pack(part, flat, index, test)
            packed.append(_sequence_like(part, child))
        else:
            packed.append(flat[index])
            index += 1
    return index, packed


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """A structure like `structure` with the leaves of `flat_sequence`. ValueError if their numbers differ, TypeError if
    it is no sequence, KeyError of a dict that does not have its places as keys."""
    test = _test(expand_composites)
    if not test(flat_sequence) and not isinstance(flat_sequence, list):
        raise TypeError(f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found incompatible type "
                        f"`{type(flat_sequence)}` instead." if _version_two() else "flat_sequence must be a sequence")
    if not test(structure):
        if len(flat_sequence) != 1:
            raise ValueError(
                f"The target structure is of type `{type(structure)}`\n  {structure}\nHowever the input is a sequence "
                f"({type(flat_sequence)}) of length {len(flat_sequence)}.\n  {flat_sequence}\nnest cannot guarantee "
                "that it is safe to map one to the other." if _version_two() else
                f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)} > 1")
        return flat_sequence[0]
    given = [flat_sequence[i] for i in range(len(flat_sequence))] if _is_mapping(flat_sequence) else list(flat_sequence)
    wanted = len(flatten(structure, expand_composites))
    if wanted != len(given):
        one, other = ("atoms", "items") if _version_two() else ("elements", "elements")
        raise ValueError(f"Could not pack sequence. Structure had {wanted} {one}, but flat_sequence had {len(given)} "
                         f"{other}.  Structure: {structure}, flat_sequence: {flat_sequence}.")
    return _sequence_like(structure, _pack(structure, given, 0, test)[1])


def _version_two():
    from penstock._src.base import tf2
    return tf2.enabled()


def map_structure(func, *structure, **kwargs):
    """A structure like the first one with what `func` makes of the leaves of all, which must be alike."""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError("Only valid keyword arguments are `check_types` and `expand_composites`, not: "
                         f"`{'`, `'.join(kwargs)}`")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types=check_types, expand_composites=expand)
    leaves = zip(*[flatten(s, expand) for s in structure])
    return pack_sequence_as(structure[0], [func(*x) for x in leaves], expand_composites=expand)


def map_structure_with_paths(func, *structure, **kwargs):
    """map_structure whose function also gets the leaf's path as a text with slashes."""
    def with_text(path, *leaves, **more):
        return func("/".join(str(p) for p in path), *leaves, **more)
    return map_structure_with_tuple_paths_up_to(structure[0], with_text, *structure, **kwargs)


def map_structure_with_tuple_paths(func, *structure, **kwargs):
    """map_structure whose function also gets the leaf's path as a tuple."""
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def _flat_up_to(shallow, tree, test, path=()):
    if not test(shallow):
        yield path, tree
        return
    parts = dict(_items(tree))
    for key, part in _items(shallow):
        yield from _flat_up_to(part, parts[key], test, path + (key,))


def assert_shallow_structure(shallow_tree, input_tree, check_types=True, expand_composites=False,
                             check_subtrees_length=True):
    """TypeError, ValueError unless `input_tree` has at least the structure of `shallow_tree`."""
    test = _test(expand_composites)
    if not test(shallow_tree):
        return
    if not test(input_tree):
        raise TypeError("If shallow structure is a sequence, input must also be a sequence. Input has type: "
                        f"{type(input_tree)}.")
    if check_types and not isinstance(input_tree, type(shallow_tree)):
        same = _is_namedtuple(shallow_tree) and _is_namedtuple(input_tree) and _same_namedtuples(shallow_tree,
                                                                                                 input_tree)
        if not same and not (_is_mapping(shallow_tree) and _is_mapping(input_tree)):
            raise TypeError("The two structures don't have the same sequence type. Input structure has type "
                            f"{type(input_tree)}, while shallow structure has type {type(shallow_tree)}.")
    many, few = len(_items(input_tree)), len(_items(shallow_tree))
    if check_subtrees_length and many != few:
        raise ValueError("The two structures don't have the same sequence length. Input structure has length "
                         f"{many}, while shallow structure has length {few}.")
    if many < few:
        raise ValueError(f"The input_tree has fewer elements than the shallow_tree. Input structure has length {many}, "
                         f"while shallow structure has length {few}.")
    if _is_mapping(shallow_tree):
        absent = set(shallow_tree) - set(input_tree)
        if absent:
            raise ValueError("The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree has "
                             f"the following keys that are not in the input_tree: {sorted(absent)}.")
    parts = dict(_items(input_tree))
    for key, part in _items(shallow_tree):
        branch = parts[key] if key in parts else _values(input_tree)[0]
        assert_shallow_structure(part, branch, check_types, expand_composites, check_subtrees_length)


def flatten_up_to(shallow_tree, input_tree, check_types=True, expand_composites=False, check_subtrees_length=True):
    """The parts of `input_tree` that stand where `shallow_tree` has leaves."""
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length)
    return [value for _, value in _flat_up_to(shallow_tree, input_tree, _test(expand_composites))]


def flatten_with_tuple_paths_up_to(shallow_tree, input_tree, check_types=True, expand_composites=False,
                                   check_subtrees_length=True):
    """flatten_up_to with each part's path."""
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length)
    return list(_flat_up_to(shallow_tree, input_tree, _test(expand_composites)))


def map_structure_up_to(shallow_tree, func, *inputs, **kwargs):
    """map_structure over the parts that stand where `shallow_tree` has leaves."""
    return map_structure_with_tuple_paths_up_to(shallow_tree, lambda _, *values: func(*values), *inputs, **kwargs)


def map_structure_with_tuple_paths_up_to(shallow_tree, func, *inputs, **kwargs):
    """map_structure_up_to whose function also gets the path."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    lengths = kwargs.pop("check_subtrees_length", True)
    flat = [flatten_up_to(shallow_tree, tree, check_types, expand, lengths) for tree in inputs]
    paths = [path for path, _ in _flat_up_to(shallow_tree, inputs[0], _test(expand))]
    results = [func(*args, **kwargs) for args in zip(paths, *flat)]
    return pack_sequence_as(shallow_tree, results, expand_composites=expand)


def get_traverse_shallow_structure(traverse_fn, structure, expand_composites=False):
    """The structure of True and False down to where `traverse_fn` says False."""
    test = _test(expand_composites)
    to_traverse = traverse_fn(structure)
    if not test(structure):
        if not isinstance(to_traverse, bool):
            raise TypeError(f"traverse_fn returned structure: {to_traverse} for non-structure: {structure}")
        return to_traverse
    if isinstance(to_traverse, bool):
        if not to_traverse:
            return False
        return _sequence_like(structure, [get_traverse_shallow_structure(traverse_fn, part, expand_composites)
                                          for part in _values(structure)])
    if not test(to_traverse):
        raise TypeError(f"traverse_fn returned a non-bool scalar: {to_traverse} for input: {structure}")
    assert_shallow_structure(to_traverse, structure, expand_composites=expand_composites)
    level = []
    for go, part in zip(_values(to_traverse), _values(structure)):
        if not isinstance(go, bool):
            raise TypeError(f"traverse_fn didn't return a depth=1 structure of bools.  saw: {to_traverse}  for "
                            f"structure: {structure}")
        level.append(get_traverse_shallow_structure(traverse_fn, part) if go else False)
    return _sequence_like(structure, level)


def yield_flat_paths(nest, expand_composites=False):
    """The paths of the leaves."""
    for path, _ in _flat_up_to(nest, nest, _test(expand_composites)):
        yield path


def flatten_with_joined_string_paths(structure, separator="/", expand_composites=False):
    """The leaves with their paths as text."""
    return [(separator.join(str(p) for p in path), value)
            for path, value in flatten_with_tuple_paths(structure, expand_composites)]


def flatten_with_tuple_paths(structure, expand_composites=False):
    """The leaves with their paths."""
    return list(zip(yield_flat_paths(structure, expand_composites), flatten(structure, expand_composites)))


def list_to_tuple(structure):
    """The structure with tuples in the place of lists."""
    if isinstance(structure, list):
        return tuple(map(list_to_tuple, structure))
    if _is_mapping(structure) or isinstance(structure, tuple):
        return _sequence_like(structure, [list_to_tuple(value) for value in _values(structure)])
    return structure
