#!/bin/sh
# The Python binding's type hints and docstrings: mypy takes the binding in its strict mode and the programs that use it, and refuses what uses it wrongly;
# everything public has a docstring. PYTHON3 names the interpreter, MYPY the type checker.
# shellcheck disable=SC2317 # functions are called by way of check
set -u

source_root=${srcdir:-$(dirname "$0")/../..}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$source_root/tests/cases.sh"
python=${PYTHON3:-python3}
binding=$source_root/bindings/python/griddep.py
command -v "$python" >/dev/null || {
    echo "skipped: there is no python3"
    exit 77
}

# Of classes too that others are made from; not of the C structs, whose fields the header explains.
has_docstrings() {
    "$python" - "$binding" <<'END'
import ast
import sys


def missing(node, prefix=""):
    for each in node.body:
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            private = each.name.startswith(("_", "c_")) and not isinstance(each, ast.ClassDef)
            if not private and not each.name.startswith("c_") and not ast.get_docstring(each):
                yield f"{prefix}{each.name} (line {each.lineno})"
            if isinstance(each, ast.ClassDef):
                yield from missing(each, f"{each.name}.")


found = list(missing(ast.parse(open(sys.argv[1], encoding="utf-8").read())))
sys.exit(f"without a docstring: {', '.join(found)}" if found else 0)
END
}

check "all that is public has a docstring" has_docstrings
mypy=$(command -v "${MYPY:-mypy}") || {
    echo "skipped: there is no mypy, which checks the type hints"
    skipped=$((skipped + 1))
    finish
}

types() {
    MYPYPATH=$source_root/bindings/python "$mypy" --cache-dir "$work/cache" "$@"
}

# Lines of a program, which mypy judges together, and a word of what it must say of each; no word: it
# must take it.
read_lines() {
    printf 'import griddep\n'
    while IFS='|' read -r line said; do
        printf '%s|%s\n' "$line" "$said" >>"$work/lines"
        printf '\n\ndef use_%s(runtime: griddep.Runtime, chain: griddep.Chain, kernel: griddep.Kernel) -> None:\n    %s\n' \
            "$(wc -l <"$work/lines")" "$line"
    done
}

# judged NUMBER WORD: what was said of that line of the program.
judged() {
    grep "use.py:$1: error: " "$work/judged"
    if [ -n "$2" ]; then
        [ "$(grep -c "use.py:$1: error: " "$work/judged")" -eq 1 ] && grep "use.py:$1: " "$work/judged" | grep -q "$2"
    else
        ! grep -q "use.py:$1: error: " "$work/judged"
    fi
}
judged_all() {
    types --strict "$work/use.py" >"$work/judged"
    [ $? -eq 1 ] || { cat "$work/judged"; return 1; }
}

check "the binding in strict mode" types --strict "$binding"
check "the example" types --check-untyped-defs "$source_root/bindings/python/example.py"
check "the server" types --strict --ignore-missing-imports "$source_root/examples/server/server.py"
read_lines >"$work/use.py" <<'END'
kernel.launch(132, (256, 1), [runtime.allocate(4), 0.5, 7])|
kernel.launch("132", 256, [])|"launch" of "Kernel"
kernel.launch(132, 256)|"arguments"
runtime.stream(priority="high")|"priority"
runtime.load(5)|"load" of "Runtime"
runtime.notify(lambda failure: print(failure and failure.status))|
runtime.notify(runtime.allocate)|"notify" of "Runtime"
chain.run("pdl", runtime.stream())|
chain.run(stream=2.5)|"stream"
print(chain.add(kernel, 1, 32, []) + 1, len(chain))|
chain.rum()|"rum"
with griddep.Runtime() as opened: print(opened.info().multiprocessors)|
print(runtime.read(0, bytearray(4)).hex())|
print(runtime.read(0, bytearray(4)).hexes())|"hexes"
graph: int = runtime.graph()|"Graph"
print(griddep.Module.share(kernel.module, runtime).managed("count")[0] + 1)|
kernel.module.share(5)|"share" of "Module"
runtime.write_async(runtime.pinned(8), b"12345678")|"Pinned"
END
check "lines that are wrong" judged_all
number=0
while IFS='|' read -r line said; do
    number=$((number + 1))
    check "$line" judged $((number * 4 + 1)) "$said"
done <"$work/lines"
finish
