"""check_style.py: what the formatters do not see: length of lines and files, forgotten notes, tabs, ends of lines."""
import re
import subprocess
import sys

MAX_LINES, MAX_COLUMNS = 800, 120
SOURCES = (".cc", ".h", ".py", ".pyi", ".cmake", ".md", ".proto")


def main():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
                            capture_output=True, text=True, check=True).stdout
    found = []
    for name in sorted(set(listed.split("\0"))):
        if not name.endswith(SOURCES):
            continue
        try:
            with open(name, encoding="utf-8") as file:
                lines = file.read().split("\n")
        except FileNotFoundError:  # deleted, not yet committed
            continue
        if len(lines) > MAX_LINES:
            found.append(f"{name}: {len(lines)} lines, more than {MAX_LINES}")
        for number, line in enumerate(lines, 1):
            if len(line) > MAX_COLUMNS and not name.endswith(".md") and "http" not in line:
                found.append(f"{name}:{number}: {len(line)} columns")
            if line != line.rstrip() or "\t" in line:
                found.append(f"{name}:{number}: tab or space at the end of the line")
            if re.search(r"\b(TO" "DO|FIX" "ME|XX" "X)\\b", line):
                found.append(f"{name}:{number}: a note that should be an issue")
    print("\n".join(found) or "style: nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
