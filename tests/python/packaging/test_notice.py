"""NOTICE lists exactly what a wheel contains of others, and the text of each licence is there."""
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NATIVE = Path(os.environ["PENSTOCK_NATIVE_DIR"])

# What the policy of manylinux wheels takes from the system.
SYSTEM = {"linux-vdso", "ld-linux-x86-64", "ld-linux-aarch64", "libc", "libm", "libdl", "librt", "libpthread",
          "libstdc++", "libgcc_s"}
# Headers that come with the compiler, the C library, Python or a library that another test covers.
KNOWN_HEADERS = {"sys", "bits", "linux", "arpa", "netinet", "nanobind", "google", "gtest", "nghttp2", "re2"}


def rows():
    """The rows of the table, (name, how, as, licence, [text, ...])."""
    table = re.search(r"^-{5}.*\n((?:.+\n)+)", (ROOT / "NOTICE").read_text(), re.M).group(1)
    for line in table.splitlines():
        name, how, stands_as, licence, texts = re.split(r"\s{2,}", line.strip())
        yield name, how, stands_as, licence, texts.split(", ")


def listed(how):
    return {row[2] for row in rows() if row[1] == how}


def bundled():
    """The shared libraries that the native parts need and that the system cannot be expected to have."""
    found = set()
    for library in NATIVE.glob("*.so"):
        out = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=True).stdout
        names = {os.path.basename(line.split()[0]) for line in out.splitlines()}
        found |= {name.split(".so")[0] for name in names} - SYSTEM - {""}
    return {name + ".so" for name in found if not name.startswith("libasan")}


def linked():
    """The static libraries in the link command of the extension that are not folders of Penstock."""
    ninja = (NATIVE.parent / "build.ninja").read_text()
    command = re.search(r"^build python/_core\S*\.so:.*\n(?:  .*\n)+", ninja, re.M).group(0)
    own = {"penstock_" + name.replace("/", "_")
           for name in re.findall(r"^penstock_folder\((\S+?)[ )]", (ROOT / "CMakeLists.txt").read_text(), re.M)}
    own |= {"penstock_proto", "penstock_loops_baseline", "penstock_loops_avx2", "penstock_loops_avx512"}
    return {Path(path).stem[3:] for path in re.findall(r"\S+\.a\b", command)} - own


def headers():
    """Third-party header folders that the sources include: the first part of <Folder/file>."""
    found = set()
    for folder in ("src", "python/bindings"):
        for path in [*(ROOT / folder).rglob("*.cc"), *(ROOT / folder).rglob("*.h")]:
            found |= set(re.findall(r"^\s*#\s*include\s*<([^/>]+)/", path.read_text(), re.M))
    return found - KNOWN_HEADERS


def test_bundled_libraries():
    if not (NATIVE / "libpenstock_onednn.so").exists():
        pytest.skip("the oneDNN module is not in this build")
    assert bundled() == listed("bundled")


def test_linked_libraries():
    assert linked() == listed("linked")


def test_headers():
    assert headers() <= listed("headers")


def test_readme_gives_a_reason_for_each():
    table = re.search(r"^\| library .*\n((?:\|.+\n)+)", (ROOT / "README.md").read_text(), re.M).group(1)
    named = {line.split("|")[1] for line in table.splitlines()}
    missing = [row[0] for row in rows() if row[1] != "inside" and not any(row[0] in cell for cell in named)]
    assert not missing


def test_texts_and_copyrights_are_there():
    notice = (ROOT / "NOTICE").read_text()
    for name, _, stands_as, _, texts in rows():
        assert re.search(rf"^{re.escape(name)}: Copyright", notice, re.M), name
        for text in texts:
            assert (ROOT / text).stat().st_size > 500, text
    named = {text for row in rows() for text in row[4]} - {"LICENSE"}
    assert named == {f"licenses/{path.name}" for path in (ROOT / "licenses").iterdir()}


def test_a_part_of_another_row_names_it():
    names = {row[0] for row in rows()}
    assert listed("inside") <= names
