#!/usr/bin/env python3
"""Makes the seed corpus and the dictionary of fuzz_ptx from the tree's own files:
make_corpus.py SOURCE_DIRECTORY OUTPUT_DIRECTORY. A seed is four bytes of options and a text."""
import pathlib
import re
import sys

source, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
corpus = output / "corpus"
corpus.mkdir(parents=True, exist_ok=True)

texts = sorted(p for folder in ("tests/golden", "ptx", "tests/fuzz/seeds") for p in (source / folder).rglob("*.ptx"))
for number, path in enumerate(texts):
    data = path.read_bytes()
    if len(data) > 16384 or ".out." in path.name:
        continue
    for wait, trigger in ((1, 3), (2, 4), (2, 5), (4, 2), (3, 1), (1, 6)):
        options = bytes((wait | 128, trigger, 128 | number & 127, (number * 37 + trigger) & 255))
        (corpus / f"{path.stem}-{number}-{wait}{trigger}").write_bytes(options + data)

words = set()
for name, form in (("ops.def", r'GD_OP\(\w+, "([^"]+)"'), ("types.def", r'GD_TYPE\(\w+, "([^"]+)"'),
                   ("keywords.def", r'GD_WORD\("([^"]+)"')):
    found = re.findall(form, (source / "src/ptx/text" / name).read_text())
    words.update(found if name == "ops.def" else ("." + word for word in found))
words.update(("%tid.x", "%ctaid.x", "%laneid", "%r1", "%rd1", "%p1", "@%p1 ", "@!%p1 ", "[%rd1+4]", "{%r1, %r2}", "_",
              "0f3F800000", "0d3FF0000000000000", "L:", "bra L;", "ret;", "exit;", "{\n", "}\n", ".global", ".shared::cta",
              ".sync", ".uni", ".nc", "griddepcontrol.wait;\n", "griddepcontrol.launch_dependents;\n", "/*", "*/", "//",
              "\r\n", ".b8 x[16]", "<4>", "sm_90a", "cvta.to.global.u64", "// constant: "))


def quote(word):
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\x{ord(c):02x}" for c in word) + '"'


(output / "ptx.dict").write_text("".join(quote(word) + "\n" for word in sorted(words)))
