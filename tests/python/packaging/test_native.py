"""What the built libraries export, and what copies of code for one instruction set may not share."""
import os
import re
import subprocess
from pathlib import Path

import pytest

NATIVE = Path(os.environ["PENSTOCK_NATIVE_DIR"])


def symbols(path, *options):
    out = subprocess.run(["nm", *options, str(path)], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^[0-9a-f]+ ([A-Za-z]) (.+)$", out, re.M)


def test_extension_exports_its_init_function_only():
    (extension,) = NATIVE.glob("_core*.so")
    assert [name for _, name in symbols(extension, "-D", "--defined-only")] == ["PyInit__core"]


@pytest.mark.parametrize("isa", ["avx2", "avx512"])
def test_loops_share_no_code_with_other_instruction_sets(isa):
    library = NATIVE.parent / f"libpenstock_loops_{isa}.a"
    if not library.exists():
        pytest.skip("no loops in this build")
    # A weak symbol without the instruction set in its name could be taken for the whole program by the linker.
    shared = [name for kind, name in symbols(library, "-C") if kind in "WVu" and isa not in name]
    assert not shared


@pytest.mark.parametrize("isa", ["baseline", "avx2"])
def test_families_for_one_instruction_set_define_their_registration_only(isa):
    joined = NATIVE.parent / f"penstock_multiversion_{isa}.o"
    if not joined.exists():
        pytest.skip("no such families in this build")
    # What other object files could be linked with; static variables (kind u) are data, the same for all.
    code = [name for kind, name in symbols(joined, "-C") if kind in "TWV"]
    assert code and all(re.match(rf"penstock::{isa}::(Register\w+Kernels|BlasLoops)\(", name) for name in code)


def test_no_two_files_make_one_symbol_of_names_of_their_own():
    """GCC gives a function template weak linkage although its argument is a template of an unnamed namespace: of two
    such in different files, with one name, the linker keeps one."""
    owners = {}
    for library in NATIVE.parent.glob("libpenstock_*.a"):
        out = subprocess.run(["nm", "-A", str(library)], capture_output=True, text=True, check=True).stdout
        for member, name in re.findall(r"^([^ ]+):[0-9a-f]+ [WVu] (.*_GLOBAL__N_1.*)$", out, re.M):
            owners.setdefault(name, set()).add(member)
    assert not {name: members for name, members in owners.items() if len(members) > 1}
