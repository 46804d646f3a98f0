#!/bin/sh
# Sources, headers and Markdown stay within 100 columns. Of Markdown the prose does: tables, code may be
# wider. PYTHON3 runs it.
#
# srcdir: the top of the source tree.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-$here/../..}" && pwd)
python=${PYTHON3:-python3}
if ! command -v "$python" >/dev/null 2>&1; then
    echo "skipped: no Python to measure lines"
    exit 77
fi
exec "$python" - "$top" <<'END'
import pathlib
import re
import sys

top, WIDTH = pathlib.Path(sys.argv[1]), 100
folders = ("include", "src", "bench", "doc", "examples", "tests", "bindings")
failed, lines, files = [], 0, 0


def prose(text):
    """The numbered lines of Markdown that are neither code nor a table nor a heading."""
    code = False
    for number, line in enumerate(text, 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code and not re.match(r"\||#|<|    ", line):
            yield number, line


found = [path for folder in folders for path in (top / folder).rglob("*") if path.suffix in (".c", ".h", ".md")]
for path in found + list(top.glob("*.md")):
    name = path.relative_to(top).as_posix()
    if not path.is_file():
        continue
    text = path.read_text(encoding="utf-8").split("\n")
    files += 1
    for number, line in prose(text) if path.suffix == ".md" else enumerate(text, 1):
        lines += 1
        if len(line) > WIDTH:
            failed.append(f"{name}:{number}: {len(line)} columns")
print(*failed[:40], sep="\n")
print(f"{files} files, {lines} lines, {len(failed)} too long")
sys.exit(bool(failed) or files < 400)
END
