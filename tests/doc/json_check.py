"""Compares a JSON document of the command with doc/json.md.

    json_check.py doc/json.md SECTION FILE...   each FILE against the tables under "## SECTION"; prints what differs
    json_check.py doc/json.md --seen NOTES      which documented members no document had; NOTES is what the other form appended to it

A table has the columns member, type, meaning. A member is a path: `a.b` in an object, `a[]` each element of a list. A type is string, integer,
number, boolean, list or object, or the name of a section that describes one; "or null" and "or absent" may follow.
"""
import json
import re
import sys


def read_sections(path):
    sections, rows = {}, None
    for line in open(path, encoding="utf-8"):
        heading = re.match(r"## `?([a-z ]+?)`?$", line)
        row = re.match(r"\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$", line)
        if line.startswith("## "):
            rows = sections.setdefault(heading.group(1), {}) if heading else None
        elif row and rows is not None:
            rows[row.group(1)] = row.group(2).strip()
    return sections


def type_of(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return {str: "string", list: "list", dict: "object"}[type(value)]


class Checker:
    def __init__(self, sections):
        self.sections = sections
        self.wrong = []
        self.seen = set()

    def fits(self, value, types, where):
        is_type = type_of(value)
        for word in types:
            if word == is_type or (word == "number" and is_type == "integer"):
                return True
            if word in self.sections and is_type == "object":
                self.members(value, word, "", where + ".")
                return True
        return False

    def value(self, value, section, path, where):
        declared = self.sections[section].get(path)
        if declared is None:
            self.wrong.append(f"{where}: not documented")
            return
        self.seen.add((section, path))
        if not self.fits(value, declared.split(" or "), where):
            self.wrong.append(f"{where}: is {type_of(value)}, documented as {declared}")
        elif isinstance(value, dict) and any(row.startswith(path + ".") for row in self.sections[section]):
            self.members(value, section, path + ".", where + ".")
        elif isinstance(value, list):
            for element in value:
                self.value(element, section, path + "[]", where + "[]")

    def members(self, value, section, prefix, where):
        for key, member in value.items():
            self.value(member, section, prefix + key, where + key)
        for row, declared in self.sections[section].items():
            key = row[len(prefix):]
            if row.startswith(prefix) and re.fullmatch(r"\w+", key) and key not in value and "absent" not in declared:
                self.wrong.append(f"{where}{key}: documented, and not there")


def main():
    sections = read_sections(sys.argv[1])
    if sys.argv[2] == "--seen":
        seen = {tuple(line.rstrip("\n").split("\t")) for line in open(sys.argv[3], encoding="utf-8")}
        missing = [f"{section}: {row}" for section, rows in sections.items() for row in rows if (section, row) not in seen]
        for text in missing:
            print(text)
        return len(missing) > 0
    checker = Checker(sections)
    for path in sys.argv[3:]:
        with open(path, encoding="utf-8") as file:
            checker.members(json.load(file), sys.argv[2], "", "")
    for section, path in sorted(checker.seen):
        print(f"{section}\t{path}")
    for text in sorted(set(checker.wrong)):
        print(text, file=sys.stderr)
    return len(checker.wrong) > 0


sys.exit(main())
