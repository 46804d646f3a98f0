#!/usr/bin/env python3
"""Writes the declarations of include/griddep.h into the bindings: one table of functions, structs and constants for each language.

    build-tools/bindings.py            renew what stands between the marker lines of the files under bindings/
    build-tools/bindings.py --check    only compare; exit 1 where a file has drifted from the header
    build-tools/bindings.py --layout   print a C program that compares sizes and offsets as computed here with the compiler's

Needed by maintainers alone: what it writes is in the repository. A binding keeps its declarations and its own code in one file;
the lines between "generated" and "end of generated" are this script's.
"""

import keyword
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARKER = re.compile(r"^(?P<begin>[^\n]*\bgenerated from griddep\.h[^\n]*\n).*?^(?P<end>[^\n]*\bend of generated\b[^\n]*\n)", re.M | re.S)
WIDTH = 118

# name: (size, Python, Node, Ruby, Perl function type, Perl pack code, Rust)
SCALARS = {
    "char": (1, "c_char", "char", "char", "char", "Z", "c_char"),
    "int8_t": (1, "c_int8", "int8_t", "int8_t", "sint8", "c", "i8"),
    "uint8_t": (1, "c_uint8", "uint8_t", "uint8_t", "uint8", "C", "u8"),
    "int16_t": (2, "c_int16", "int16_t", "int16_t", "sint16", "s", "i16"),
    "uint16_t": (2, "c_uint16", "uint16_t", "uint16_t", "uint16", "S", "u16"),
    "int32_t": (4, "c_int32", "int32_t", "int32_t", "sint32", "l", "i32"),
    "uint32_t": (4, "c_uint32", "uint32_t", "uint32_t", "uint32", "L", "u32"),
    "int64_t": (8, "c_int64", "int64_t", "int64_t", "sint64", "q", "i64"),
    "uint64_t": (8, "c_uint64", "uint64_t", "uint64_t", "uint64", "Q", "u64"),
    "float": (4, "c_float", "float", "float", "float", "f", "f32"),
    "double": (8, "c_double", "double", "double", "double", "d", "f64"),
    "void": (0, "None", "void", "void", "void", "", "()"),
}
PYTHON, NODE, RUBY, PERL, PACK, RUST = range(1, 7)
NUMBERS = set(SCALARS) - {"char", "void"}

RUST_KEYWORDS = set(
    "abstract as async await become box break const continue do dyn else enum extern false final fn for gen if impl in let loop macro match mod move "
    "mut override priv pub ref return static struct trait true try type typeof unsafe unsized use virtual where while yield".split()
)


# ---- the header, read


class Value:
    """A parameter, a field or a result: `const char *const *constants`, `uint32_t grid[3]`."""

    def __init__(self, text):
        text = text.strip()
        match = re.fullmatch(r"(?P<type>.*?)(?P<name>\b[a-z_0-9]+)?(?:\[(?P<count>\d+)\])?", text, re.S)
        spelled = match["type"]
        if not spelled.strip(" *"):
            spelled, match = text, {"name": None, "count": None}
        self.name = match["name"]
        self.count = int(match["count"]) if match["count"] else None
        self.depth = spelled.count("*")
        words = spelled.replace("*", " ").split()
        self.base = next(word for word in words if word != "const")
        self.constant = words[0] == "const"
        self.spelled = re.sub(r"\s*\*\s*", " *", re.sub(r"\s+", " ", spelled.strip())).replace("* *", "**").replace("*const", "*const ")
        self.is_text = self.base == "char" and self.depth == 1 and self.constant

    def c(self, name=None):
        """As C declares it."""
        name = self.name if name is None else name
        space = "" if self.spelled.endswith("*") else " "
        return f"{self.spelled}{space}{name or ''}{f'[{self.count}]' if self.count else ''}".rstrip()


class Header:
    """What griddep.h declares between its marker lines, in its order."""

    def __init__(self, text):
        text = text[text.index("/* ffi.cdef begin */") : text.index("/* ffi.cdef end */")]
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        self.constants, self.structs, self.handles, self.callbacks, self.functions = [], {}, [], {}, []
        rest = re.sub(r"enum \{(.*?)\};", lambda found: self.take_enum(found[1]), text, flags=re.S)
        rest = re.sub(r"typedef struct (\w+) \{(.*?)\} \1;", lambda found: self.take_struct(found[1], found[2]), rest, flags=re.S)
        for statement in filter(None, (" ".join(part.split()) for part in rest.split(";"))):
            self.take(statement)
        self.check_types()

    def take_enum(self, body):
        self.constants += [(name, int(value)) for name, value in re.findall(r"GRIDDEP_(\w+)\s*=\s*(-?\d+)", body)]
        return ""

    def take_struct(self, name, body):
        self.structs[name] = []
        for line in filter(None, (part.strip() for part in body.split(";"))):
            first, *others = line.split(",")
            kind = first.rsplit(None, 1)[0]
            self.structs[name] += [Value(first)] + [Value(f"{kind} {other}") for other in others]
        return ""

    def take(self, statement):
        handle = re.fullmatch(r"typedef struct (\w+) \1", statement)
        callback = re.fullmatch(r"typedef (.+?)\(\*(\w+)\)\((.*)\)", statement)
        function = re.fullmatch(r"(.+?\W)(griddep_\w+)\((.*)\)", statement)
        if handle:
            self.handles.append(handle[1])
        elif callback:
            self.callbacks[callback[2]] = (Value(callback[1]), self.parameters(callback[3]))
        elif function:
            self.functions.append((function[2], Value(function[1]), self.parameters(function[3])))
        else:
            raise SystemExit(f"bindings.py: not understood: {statement}")

    def check_types(self):
        known = {*SCALARS, *self.structs, *self.handles, *self.callbacks}
        values = [value for fields in self.structs.values() for value in fields]
        for _, result, parameters in self.functions:
            values += [result, *parameters]
        for value in values:
            if value.base not in known:
                raise SystemExit(f"bindings.py: no type {value.base} is known, of {value.name}")

    @staticmethod
    def parameters(text):
        return [] if text.strip() == "void" else [Value(part) for part in text.split(",")]

    def layout(self, name):
        """Size of a struct, and the offset of each field, by the rules that x86-64 and AArch64 share."""
        offsets, at, most = [], 0, 1
        for field in self.structs[name]:
            size = 8 if field.depth or field.base in self.callbacks else SCALARS[field.base][0]
            at = -(-at // size) * size
            offsets.append(at)
            at += size * (field.count or 1)
            most = max(most, size)
        return -(-at // most) * most, offsets


def short(name):
    return name.removeprefix("griddep_")


def camel(name):
    return "".join(word.capitalize() for word in short(name).split("_"))


def wrap(items, indent, separator=" "):
    """Lines of at most WIDTH characters."""
    lines, line = [], indent
    for item in items:
        if len(line) + len(item) + 1 > WIDTH and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += item + separator
    return lines + ([line.rstrip()] if line.strip() else [])


# ---- the languages


def python(header):
    def kind(value, pointers=True):
        if value.is_text:
            return "c_char_p"
        if value.depth:
            return "c_void_p"
        if value.base in header.callbacks:
            return short(value.base)
        name = SCALARS[value.base][PYTHON]
        return f"{name} * {value.count}" if value.count else name

    yield from (f"{name} = {value}" for name, value in header.constants)
    yield ""
    for name, (result, parameters) in header.callbacks.items():
        yield f"{short(name)} = ctypes.CFUNCTYPE({', '.join(map(kind, [result, *parameters]))})"
    for name, fields in header.structs.items():
        yield from ["", "", f"class c_{short(name)}(_Struct):", "    _fields_ = ["]
        yield from (f'        ("{field.name}{"_" * keyword.iskeyword(field.name)}", {kind(field)}),' for field in fields)
        yield "    ]"
    yield from ["", "", "_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {"]
    for name, result, parameters in header.functions:
        arguments = ", ".join(map(kind, parameters))
        line = f'    "{short(name)}": ({kind(result)}, [{arguments}]),'
        if len(line) <= WIDTH:
            yield line
        else:
            yield from [f'    "{short(name)}": (', f"        {kind(result)},", f"        [{arguments}],", "    ),"]
    yield "}"


def luajit(header):
    """Plain C for ffi.cdef. Callbacks stand before the structs, which may have them as fields."""

    def early(value):
        return value.c().replace(value.base, f"struct {value.base}") if value.base in header.structs else value.c()

    yield "ffi.cdef([["
    yield from ["enum {", *(f"    GRIDDEP_{name} = {value}," for name, value in header.constants), "};"]
    yield from (f"typedef struct {name} {name};" for name in header.handles)
    for name, (result, parameters) in header.callbacks.items():
        yield f"typedef {result.c('')} (*{name})({', '.join(map(early, parameters))});"
    for name, fields in header.structs.items():
        yield from [f"typedef struct {name} {{", *wrap([field.c() + ";" for field in fields], "    "), f"}} {name};"]
    for name, result, parameters in header.functions:
        yield from wrap([result.c(name) + "(" + ", ".join(p.c() for p in parameters) + ");"], "")
    yield "]])"


def node(header):
    def field_kind(field):
        if field.is_text:
            return "'const char *'"
        if field.depth or field.base in header.callbacks:
            return "'void *'"
        if field.base == "char":
            return f"koffi.array('char', {field.count}, 'String')"
        return f"koffi.array('{field.base}', {field.count}, 'Array')" if field.count else f"'{field.base}'"

    def parameter(value):
        """What the library writes is marked; buffers of the caller's, constant ones too, are plain pointers."""
        if value.base in header.structs and not value.constant:
            return f"_Inout_ {value.c()}"
        if value.depth == 2 and not value.constant:
            return f"_Out_ void **{value.name}"
        if value.base in header.handles or value.base == "void" and value.depth:
            return f"void *{value.name}"
        if value.depth and not value.constant and value.base in NUMBERS:
            return f"_Out_ {value.c()}"
        return value.c() if value.base != "char" or value.constant else f"void *{value.name}"

    yield from ["const constants = {", *(f"  {name}: {value}," for name, value in header.constants), "};", ""]
    for name, fields in header.structs.items():
        yield f"koffi.struct('{name}', {{"
        yield from wrap([f"{field.name}: {field_kind(field)}," for field in fields], "  ")
        yield "});"
    for name, (result, parameters) in header.callbacks.items():
        yield f"koffi.proto('{result.c(name)}({', '.join(p.c() for p in parameters)})');"
    yield from ["", "const structs = [", *wrap([f"'{name}'," for name in header.structs], "  "), "];"]
    yield from ["", "const prototypes = ["]
    for name, result, parameters in header.functions:
        prototype = "void *" + name if result.depth and not result.is_text else result.c(name)
        line = f"  '{prototype}({', '.join(map(parameter, parameters)) or 'void'})',"
        yield line
    yield "];"


def ruby(header):
    def declare(value):
        if value.depth or value.base in header.callbacks:
            return f"void *{value.name or ''}".strip()
        return value.c()

    yield from (f"    {name} = {value}" for name, value in header.constants)
    for name, fields in header.structs.items():
        yield ""
        yield from [f"    C{camel(name)} = struct(["]
        yield from wrap([f'"{declare(field)}",' for field in fields], "      ")
        yield "    ])"
    yield from ["", "    FUNCTIONS = ["]
    for name, result, parameters in header.functions:
        kind = "const char *" if result.is_text else result.c("")
        text = f"{kind}{'' if kind.endswith('*') else ' '}{name}({', '.join(map(declare, parameters)) or 'void'})"
        yield f'      "{text}",'
    yield "    ].freeze"


def perl(header):
    def kind(value):
        if value.is_text:
            return "string"
        if value.depth == 2 and not value.constant and value.base != "char":
            return "opaque*"
        if value.depth == 1 and not value.constant and value.base in NUMBERS:
            return SCALARS[value.base][PERL] + "*"
        return "opaque" if value.depth or value.base in header.callbacks else SCALARS[value.base][PERL]

    def code(field):
        if field.base == "char" and field.count:
            return f"Z{field.count}"
        letter = "Q" if field.depth or field.base in header.callbacks else SCALARS[field.base][PACK]
        return f"{letter}{field.count or ''}"

    yield from ["use constant {", *(f"    {name} => {value}," for name, value in header.constants), "};", ""]
    yield from ["# Of each struct its size, then of each field the offset, the code for pack, and the number of values.", "my %STRUCTS = ("]
    for name, fields in header.structs.items():
        size, offsets = header.layout(name)
        yield f"    {short(name)} => [{size},"
        items = []
        for field, offset in zip(fields, offsets):
            count = field.count if field.count and field.base != "char" else 1
            items.append(f"{field.name} => [{offset}, '{code(field)}', {count}],")
        yield from wrap(items, "        ")
        yield "    ],"
    yield from [");", "", "my @FUNCTIONS = ("]
    for name, result, parameters in header.functions:
        kinds = " ".join(map(kind, parameters))
        yield f"    [{short(name)} => [qw({kinds})] => '{kind(result)}'],"
    yield ");"


def rust(header):
    def kind(value):
        if value.base in header.callbacks:
            return f"Option<{camel(value.base)}>"
        name = SCALARS[value.base][RUST] if value.base in SCALARS else camel(value.base)
        if value.depth:
            name = "c_void" if value.base == "void" else name
            inner = "*const " if value.constant else "*mut "
            outer = inner if value.depth == 2 and value.constant else "*mut "
            return (inner if value.depth == 1 else outer + inner) + name
        return f"[{name}; {value.count}]" if value.count else name

    def name_of(value):
        return f"r#{value.name}" if value.name in RUST_KEYWORDS else value.name

    def arrow(result):
        return "" if result.base == "void" and not result.depth else f" -> {kind(result)}"

    yield from (f"pub const {name}: i32 = {value};" for name, value in header.constants)
    yield ""
    yield from (f"pub enum {camel(name)} {{}}" for name in header.handles)
    for name, (result, parameters) in header.callbacks.items():
        yield f"pub type {camel(name)} = unsafe extern \"C\" fn({', '.join(f'{name_of(p)}: {kind(p)}' for p in parameters)}){arrow(result)};"
    for name, fields in header.structs.items():
        yield from ["", "#[repr(C)]", "#[derive(Clone, Copy)]", f"pub struct {camel(name)} {{"]
        yield from (f"    pub {name_of(field)}: {kind(field)}," for field in fields)
        yield "}"
    sized = [camel(name) for name, fields in header.structs.items() if fields[0].name == "size"]
    yield from ["", "sized! {", *wrap([f"{name}," for name in sized], "    "), "}", "", "functions! {"]
    for name, result, parameters in header.functions:
        listed = ", ".join(f"{name_of(parameter)}: {kind(parameter)}" for parameter in parameters)
        yield f"    fn {short(name)}({listed}){arrow(result)};"
    yield "}"


FILES = {
    "python/griddep.py": python,
    "luajit/griddep.lua": luajit,
    "node/griddep.js": node,
    "ruby/griddep.rb": ruby,
    "perl/Griddep.pm": perl,
    "rust/griddep.rs": rust,
}


# ---- commands


def layout_program(header):
    yield from ["#include <griddep.h>", "#include <stddef.h>", "#include <stdio.h>", "", "int main(void)", "{"]
    yield "    int wrong = 0;"
    for name, fields in header.structs.items():
        size, offsets = header.layout(name)
        facts = [(f"sizeof({name})", size)]
        facts += [(f"offsetof({name}, {field.name})", offset) for field, offset in zip(fields, offsets)]
        for fact, value in facts:
            yield f'    wrong += {fact} != {value} && printf("{fact} is %zu, not {value}\\n", {fact});'
    yield from ["    return wrong != 0;", "}"]


def main():
    header = Header((ROOT / "include/griddep.h").read_text(encoding="utf-8"))
    if sys.argv[1:] == ["--layout"]:
        print("\n".join(layout_program(header)))
        return 0
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    drifted = 0
    for file, write in FILES.items():
        path = ROOT / "bindings" / file
        text = path.read_text(encoding="utf-8")
        body = "\n".join(write(header)) + "\n"
        renewed, count = MARKER.subn(lambda found: found["begin"] + body + found["end"], text)
        if count != 1:
            print(f"bindings.py: bindings/{file} has {count} generated parts, not 1", file=sys.stderr)
            return 2
        if renewed == text:
            continue
        drifted += 1
        if sys.argv[1:]:
            print(f"bindings/{file} is not what build-tools/bindings.py makes of include/griddep.h")
        else:
            path.write_text(renewed, encoding="utf-8")
            print(f"renewed bindings/{file}")
    return 1 if drifted and sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
