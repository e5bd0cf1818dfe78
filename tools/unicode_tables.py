"""Writes src/penstock/kernels/cpu/strings/unicode_tables.inc: the case and the script of every character.

    python tools/unicode_tables.py    in a Python with TensorFlow, which knows ICU's numbers of scripts

kUpperRuns, kLowerRuns: {first, last, step, distance}; every step-th character of the run lies as far from its other
case. kUpperLong, kLowerLong: a character, and the two or three that its other case is made of. kCased, kCaseIgnorable:
first and last characters of ranges, for the sigma at the end of a word. kScripts: {first character, script}, up to the
next one.
"""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
OUTPUT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src", "penstock", "kernels", "cpu",
                      "unicode_tables.inc")
CHARACTERS = [i for i in range(0x110000) if not 0xD800 <= i < 0xE000]


def case_runs(change):
    """Runs and long forms of one case."""
    pairs, long_forms = [], []
    for i in CHARACTERS:
        other = change(chr(i))
        if len(other) > 1:
            long_forms.append([i] + [ord(c) for c in other] + [0] * (3 - len(other)))
        elif ord(other) != i:
            pairs.append((i, ord(other) - i))
    runs = []
    for i, distance in pairs:
        if runs and runs[-1][3] == distance:
            first, last, step, _ = runs[-1]
            gap = i - last
            if (first == last and gap <= 2) or gap == step:
                runs[-1] = [first, i, gap, distance]
                continue
        runs.append([i, i, 1, distance])
    return runs, long_forms


def ranges(test):
    found = []
    for i in CHARACTERS:
        if test(chr(i)):
            if found and found[-1][1] == i - 1:
                found[-1][1] = i
            else:
                found.append([i, i])
    return found


def is_cased(c):
    """Whether a capital sigma behind it, at the end of a word, becomes a final one."""
    return (c + "Σ").lower().endswith("ς")


def is_ignorable(c):
    """Whether it may stand between a letter and a final sigma."""
    return not is_cased(c) and ("a" + c + "Σ").lower().endswith("ς")


def scripts():
    import tensorflow as tf
    numbers = tf.strings.unicode_script(list(range(0x110000))).numpy().tolist()
    return [[i, n] for i, n in enumerate(numbers) if i == 0 or numbers[i - 1] != n]


def table(kind, name, rows):
    lines, line = [], " "
    for row in rows:
        text = " {" + ",".join(str(n) for n in row) + "},"
        if len(line + text) > 118:
            lines.append(line)
            line = " "
        line += text
    return [f"constexpr {kind} {name}[] = {{"] + lines + [line, "};"]


def main():
    lines = ["// Made by tools/unicode_tables.py."]
    for name, change in (("Upper", str.upper), ("Lower", str.lower)):
        runs, long_forms = case_runs(change)
        lines += table("CaseRun", f"k{name}Runs", runs) + table("LongCase", f"k{name}Long", long_forms)
    lines += table("CharacterRange", "kCased", ranges(is_cased))
    lines += table("CharacterRange", "kCaseIgnorable", ranges(is_ignorable))
    lines += table("Script", "kScripts", scripts())
    with open(OUTPUT, "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
