"""check_prose.py: counts wordings that are not plain English; tools/prose_counts.json limits them by area.

    python tools/check_prose.py            fails if an area has more marks than its permitted count
    python tools/check_prose.py --update   lowers permitted counts to the present ones; never raises one
    python tools/check_prose.py --list X   prints the marks of the areas whose names begin with X

It reads documents, docstrings, comments, texts of errors, and the subjects of commits since the recorded one. For an
area above its count it prints the marks in lines that changed since the counts were last committed.
"""
import ast
import collections
import io
import json
import re
import subprocess
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COUNTS = ROOT / "tools" / "prose_counts.json"

# Each with the usual words for it. A "what" in a question is none.
MARKS = {
    r"\bwhat\b(?![^.;:]*\?)": "name the thing: 'the result', 'the arguments of f'",
    r"\bwhoever\b": "'the caller', 'the reader'",
    r"\bbehind\b": "'after', 'below', 'downstream of'",
    r"\b(?:stand|stands|stood|standing)\b": "'is', 'is defined in', 'represents'",
    r"\btold\b": "'notified', 'passed', 'distinguished'",
    r"\banew\b": "'again', 'for each step'",
    r"\bask(?:s|ed|ing)?\s+for\b": "'requests', 'requested'",
    r"\b(?:lie|lies|lay|lain|lying)\b": "'is', 'is stored'",
    r"\bwants\b": "'needs', 'expects'",
    r"\bof\s+(?:its|their|his|her|our|your)\s+own\b": "'its own X', 'separate'",
    r"\bnot\s+there\b": "'missing', 'not implemented'",
    r"\bhang(?:s|ing)?\s+(?:on|together)\b": "'depends on', 'connected'",
    r"\bpass(?:ed|es)?\s+over\b": "'skipped'",
    r"\bin\s+(?:the\s+)?hands?\s+of\b": "'owned by'",
    r"\bby\s+itself\b": "'alone', 'automatically'",
    r"\bof\s+old\b": "'former'",
    r"\bkin\b": "'related'",
    r"\bstumbl\w+": "'fails'",
}
_ANY = re.compile("|".join(f"(?:{mark})" for mark in MARKS), re.I)

Text = collections.namedtuple("Text", "line text")


def marks_of(text):
    """(offset, words) of each mark in `text`."""
    return [(m.start(), " ".join(m.group().split())) for m in _ANY.finditer(text)]


def markdown(source):
    """The document without code: blocks and `names` are blanked out, so that lines keep their numbers."""
    source = re.sub(r"^```.*?^```", lambda m: re.sub(r"[^\n]", " ", m.group()), source, flags=re.M | re.S)
    yield Text(1, re.sub(r"`[^`\n]*`", lambda m: "x" * len(m.group()), source))


def _blocks(comments):
    """Comments of adjoining lines as one text."""
    block = []
    for line, text in comments:
        if block and line != block[-1][0] + 1:
            yield Text(block[0][0], "\n".join(text for _, text in block))
            block = []
        block.append((line, text))
    if block:
        yield Text(block[0][0], "\n".join(text for _, text in block))


def python(source):
    """Docstrings, comments, and strings of raised errors."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) \
                    and isinstance(first.value.value, str):
                yield Text(first.lineno, first.value.value)
        elif isinstance(node, ast.Raise):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and " " in part.value:
                    yield Text(part.lineno, part.value)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    yield from _blocks([(t.start[0], t.string.lstrip("# ")) for t in tokens if t.type == tokenize.COMMENT])


_CPP = re.compile(r'//(?P<comment>[^\n]*)|/\*(?P<block>.*?)\*/|R"\((?P<raw>.*?)\)"|"(?P<string>(?:[^"\\\n]|\\.)*)"'
                  r"|'(?:[^'\\\n]|\\.)'", re.S)


def cpp(source):
    """Comments and strings of several words."""
    comments = []
    line, end = 1, 0
    for m in _CPP.finditer(source):
        line += source.count("\n", end, m.start())
        end = m.start()
        if m["comment"] is not None:
            comments.append((line, m["comment"].lstrip("/ ")))
        elif m["block"] is not None:
            yield Text(line, m["block"])
        else:
            text = m["string"] or m["raw"] or ""
            if text.count(" ") > 1:
                yield Text(line, text)
    yield from _blocks(comments)


READERS = {".md": markdown, ".py": python, ".pyi": python, ".cc": cpp, ".h": cpp}


def area_of(name):
    """The area of a file: `docs`, or its folder down to the layer."""
    if name.endswith(".md"):
        return "docs"
    parts = name.split("/")[:-1]
    depth = {"python": 4 if parts[2:3] == ["_src"] else 2, "src": 3, "tests": 2}.get(parts[0], 1) if parts else 0
    return "/".join(parts[:depth]) or "."


def _git(*args):
    return subprocess.run(["git", *args], cwd=ROOT, capture_output=True, text=True)


def found_in_files():
    """{area: [(file, line, words)]}, with an entry for each area that has files."""
    found = collections.defaultdict(list)
    listed = _git("ls-files", "--cached", "--others", "--exclude-standard", "-z").stdout.split("\0")
    for name in sorted(set(listed)):
        path = ROOT / name
        if path.suffix not in READERS or name == "tools/check_prose.py" or not path.is_file():
            continue
        marks = found[area_of(name)]
        for line, text in READERS[path.suffix](path.read_text()):
            marks += [(name, line + text.count("\n", 0, at), words) for at, words in marks_of(text)]
    return dict(found)


def found_in_commits(since):
    """[(commit, 1, words)] of the subjects since that commit; none where the history does not have it."""
    log = _git("log", "--format=%h\t%s", f"{since}..HEAD")
    if log.returncode:
        return []
    found = []
    for commit, subject in (line.split("\t", 1) for line in log.stdout.splitlines()):
        found += [(commit, 1, words) for _, words in marks_of(subject)]
        if len(subject) > 72:
            found.append((commit, 1, f"{len(subject)} columns"))
    return found


def changed_lines():
    """{file: its lines that changed since the counts were last committed}, or None if git cannot say."""
    last = _git("log", "-1", "--format=%H", "--", str(COUNTS.relative_to(ROOT))).stdout.strip()
    diff = _git("diff", "-U0", "--no-color", last) if last else None
    if diff is None or diff.returncode:
        return None
    lines, name = collections.defaultdict(set), None
    for row in diff.stdout.splitlines():
        if row.startswith("+++ b/"):
            name = row[6:]
        elif (m := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))?", row)) and name:
            lines[name].update(range(int(m[1]), int(m[1]) + int(m[2] or 1)))
    return lines


def advice(words):
    """The usual words for a mark."""
    return next((usual for mark, usual in MARKS.items() if re.match(mark.split("(?!")[0], words, re.I)), "at most 72")


def main(arguments):
    known = json.loads(COUNTS.read_text())
    found = {**found_in_files(), "commits": found_in_commits(known["since"])}
    if arguments[:1] == ["--list"]:
        for area, marks in found.items():
            if area.startswith(arguments[1]):
                print("\n".join(f"{name}:{line}: {words}" for name, line, words in sorted(marks)))
        return 0
    permitted = known["permitted"]
    over = {area: marks for area, marks in found.items() if len(marks) > permitted.get(area, 0)}
    if arguments == ["--update"]:
        permitted = {area: min(len(marks), permitted.get(area, 0)) for area, marks in sorted(found.items())}
        COUNTS.write_text(json.dumps({**known, "permitted": permitted}, indent=1) + "\n")
    changed = changed_lines() if over else None
    for area, marks in over.items():
        print(f"{area}: {len(marks)} marks, {permitted.get(area, 0)} are permitted")
        for name, line, words in sorted(marks):
            if area == "commits" or changed is None or line in changed.get(name, ()) or not permitted.get(area):
                print(f"  {name}:{line}: '{words}': {advice(words)}")
    print(f"prose: {sum(map(len, found.values()))} marks")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
