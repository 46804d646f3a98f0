#!/usr/bin/env python3
"""Holds the functions that a binding's objects call against include/griddep.h.

    left_out.py TOP           every function is called by a binding's own part, or listed as left out
    left_out.py TOP --write   writes the list anew: look at the difference

tests/bindings/left_out.txt has a line for each function that a binding leaves out on purpose: its
name, and the languages (or "all") whose users call it by `raw` (`griddep.C` in LuaJIT). A function
that is new in the header, and one that a binding calls now, fail until the list says so.
"""

import pathlib
import re
import sys

FILES = {"cxx": "cxx/griddep.hpp", "luajit": "luajit/griddep.lua", "node": "node/griddep.js",
         "perl": "perl/Griddep.pm", "python": "python/griddep.py", "ruby": "ruby/griddep.rb",
         "rust": "rust/griddep.rs"}
COMMENT = {"cxx": "//", "luajit": "--", "node": "//", "perl": "#", "python": "#", "ruby": "#",
           "rust": "//"}

top = pathlib.Path(sys.argv[1])
header = re.sub(r"/\*.*?\*/", "", (top / "include/griddep.h").read_text(), flags=re.S)
functions = sorted(set(re.findall(r"^[a-z][^;={]*?\bgriddep_([a-z0-9_]+)\(", header, re.M))
                   - {"wait", "launch_dependents"})


def called(language):
    """Names in the binding's own part; the declarations in front of it are made of the header."""
    text = (top / "bindings" / FILES[language]).read_text()
    text = re.sub(r"---- generated from.*---- end of generated", "", text, flags=re.S)
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(COMMENT[language])]
    return set(re.findall(r"\b(?:griddep_)?([a-z][a-z0-9_]*)\b", "\n".join(
        word for line in lines
        for word in re.findall(r"griddep_[a-z0-9_]+|raw\.[a-z0-9_]+|\b[cC]\.(?:griddep_)?[a-z0-9_]+|"
                               r"Griddep::[a-z0-9_]+|:[a-z0-9_]+|[a-z0-9_]+ =>|['\"][a-z0-9_]+['\"]",
                               line))))


left_out = {}
for language in FILES:
    for function in set(functions) - called(language):
        left_out.setdefault(function, []).append(language)
found = ["%s: %s" % (name, "all" if len(left_out[name]) == len(FILES)
                     else " ".join(sorted(left_out[name]))) for name in sorted(left_out)]
path = top / "tests/bindings/left_out.txt"
if "--write" in sys.argv:
    path.write_text("\n".join(found) + "\n")
    sys.exit()
listed = path.read_text().split("\n")[:-1]
for line in sorted(set(found) ^ set(listed)):
    print("%s: %s" % ("listed, not so" if line in listed else "left out and not listed", line))
print("%d functions, %d listed as left out by some binding" % (len(functions), len(listed)))
sys.exit(found != listed or len(functions) < 100)
