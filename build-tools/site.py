#!/usr/bin/env python3
"""Writes the documentation as a static site: python3 build-tools/site.py --source DIR --made DIR --command GRIDDEP
--output DIR.

A page for each file of doc/ (those that the build makes are in doc/ of --made), for the README, NEWS and HACKING, for each subcommand, for each section of the public header, and for
the shelf. Markdown is cmark-gfm's; this file knows links, the header and the frame. Nothing is loaded from a network: style and
search are files of the site. A link to what does not exist ends the run with 1."""
import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

MARKDOWN = ["cmark-gfm", "--unsafe", "-e", "table", "-e", "autolink"]
SEARCHED = 1500  # letters of a section that the search looks into

# What the menu has, in its order: titles, and stems of files of doc/ or names of the tree.
MENU = [
    ("Begin", ["README.md", "doc/guide.md", "doc/questions.md"]),
    ("Use", ["commands", "doc/griddep-chain.md", "doc/code.md", "api", "doc/languages.md", "kernels", "doc/shelf.md"]),
    ("Measure", ["doc/timeline.md", "doc/tuning.md", "doc/performance.md", "doc/programs.md", "doc/compared.md"]),
    ("Look up", ["doc/diagnostics.md", "doc/instructions.md", "doc/emulator.md", "doc/environment.md", "doc/json.md", "NEWS.md"]),
    ("Work on it", ["HACKING.md", "doc/design.md"]),
]
problems = []


def escape(text):
    return html.escape(text, quote=True)


def words_of(markup):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", markup))).strip()


class Site:
    def __init__(self, source, made_in, output):
        self.source, self.made_in, self.output = source, made_in, output
        self.pages = {}  # path in the tree, or a name -> file of the site
        self.made = []  # (file, title, body)
        self.copied = {}

    def find(self, name):
        """A file of the tree, or one that the build made."""
        return next((top / name for top in (self.made_in, self.source) if (top / name).is_file()), None)

    # ---- links

    def target(self, page, link):
        """What a link of a file in the tree becomes."""
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            return link
        path, _, anchor = link.partition("#")
        name = os.path.normpath(os.path.join(os.path.dirname(page), path))
        if name in self.pages:
            return self.pages[name] + ("#" + anchor if anchor else "")
        if self.find(name):
            self.copied[name] = "files/" + name
            return self.copied[name]
        problems.append(f"{page}: no file {link}")
        return link

    # ---- Markdown

    def markdown(self, page, text):
        body = subprocess.run(MARKDOWN, input=text, capture_output=True, text=True, check=True).stdout
        body = re.sub(r'(href|src)="([^"]*)"', lambda m: f'{m[1]}="{escape(self.target(page, html.unescape(m[2])))}"', body)
        body = re.sub(r"<table>.*?</table>|<p><img[^>]*></p>", lambda m: f'<div class="wide" tabindex="0">{m[0]}</div>', body, flags=re.S)
        body = body.replace("<pre>", '<pre tabindex="0">')
        seen = {}

        def heading(match):
            slug = re.sub(r"[^\w\- ]", "", words_of(match[2]).lower()).replace(" ", "-")
            seen[slug] = seen.get(slug, -1) + 1
            slug += f"-{seen[slug]}" if seen[slug] else ""
            return f'<h{match[1]} id="{slug}">{match[2]}</h{match[1]}>'

        return re.sub(r"<h([1-6])>(.*?)</h\1>", heading, body, flags=re.S)

    def add(self, file, title, body):
        self.made.append((file, title, body))

    # ---- the frame

    def menu(self, current):
        out = []
        titles = {file: title for file, title, _ in self.made}
        for group, names in MENU:
            out.append(f"<h2>{escape(group)}</h2><ul>")
            for name in names:
                file = self.pages[name]
                here = ' aria-current="page"' if file == current else ""
                out.append(f'<li><a href="{file}"{here}>{escape(titles[file])}</a></li>')
            out.append("</ul>")
        return "".join(out)

    def write(self):
        self.output.mkdir(parents=True, exist_ok=True)
        for file, title, body in self.made:
            name = title if title == "libgriddep" else f"{title} - libgriddep"
            (self.output / file).write_text(
                f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(name)}</title>\n'
                '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
                '<link rel="stylesheet" href="site.css">\n<link rel="icon" href="data:,">\n</head>\n<body>\n'
                '<a class="skip" href="#main">To the text</a>\n<header><a class="home" href="index.html">libgriddep</a>\n'
                '<label for="search">Search</label> <input id="search" type="search" autocomplete="off">\n</header>\n'
                '<ol id="found" hidden></ol>\n'
                f'<details class="menu" open><summary>Pages</summary><nav>{self.menu(file)}</nav></details>\n'
                f'<main id="main">\n{body}\n</main>\n<script src="index.js"></script>\n<script src="site.js"></script>\n</body>\n</html>\n'
            )
        for name, to in self.copied.items():
            (self.output / to).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.find(name), self.output / to)
        for name in ("site.css", "site.js"):
            shutil.copyfile(self.source / "build-tools" / name, self.output / name)
        entries = [entry for file, title, body in self.made for entry in sections(file, title, body)]
        (self.output / "index.js").write_text("const entries = " + json.dumps(entries, ensure_ascii=False, separators=(",", ":")) + ";\n")


def sections(file, title, body):
    """What the search knows of a page: each heading or name with what stands below it."""
    parts = re.split(r'<(?:h[1-6]|section) id="([^"]*)">', body)
    for anchor, part in zip([""] + parts[1::2], parts[0::2]):
        if not words_of(part):
            continue
        found = re.match(r"(?:<h[1-6][^>]*>)?(.*?)</h[1-6]>", part, re.S)
        head = words_of(found[1]) if found else title
        yield [title, head, file + ("#" + anchor if anchor else ""), words_of(part)[:SEARCHED]]


# ---- the header

def bare(comment):
    lines = re.sub(r"^/\*+ ?|\s*\*+/\s*$", "", comment).split("\n")
    return "\n".join(re.sub(r"^ \*( |$)", "", line) for line in lines)


def prose(text):
    """Paragraphs; what is indented, or a list of words with their meanings, keeps its columns."""
    out = []
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        kept = any(re.match(r"\S+ {2,}\S| {2,}\S", line) for line in part.split("\n"))
        out.append(f'<pre tabindex="0">{escape(part)}</pre>' if kept else f"<p>{marked(part)}</p>" if part.strip() else "")
    return "\n".join(out)


def marked(text):
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))


def declarations(text):
    """Comment and code by turns: each comment at the margin belongs to the code below it."""
    comment, code = "", []
    for line in re.findall(r"^/\*[\s\S]*?\*/$|^.*$", text, re.M):
        if line.startswith("/*"):
            if any(code) or comment:
                yield comment, "\n".join(code).strip("\n")
            comment, code = line, []
        else:
            code.append(line)
    if any(code) or comment:
        yield comment, "\n".join(code).strip("\n")


def add_header(site):
    text = (site.source / "include/griddep.h").read_text()
    parts = re.split(r"^/\* -{60,}\n(.*?)\*/$", text, flags=re.S | re.M)
    rows = []
    site.pages["api"] = "api.html"
    for head, body in zip(parts[1::2], parts[2::2]):
        title, _, rest = bare(head).strip().partition("\n")
        file = "api-" + re.match(r"[A-Za-z]+", title)[0].lower() + ".html"
        if any(file == other for other, _, _ in site.made):
            file = "api-" + re.sub(r"\W+", "-", title.lower()).strip("-") + ".html"
        noun, _, about = title.partition(": ")
        out = [f"<h1>{marked(noun)}</h1>", f"<p>{marked(about[:1].upper() + about[1:])}</p>" if about else "", prose(rest)]
        names = []
        for comment, code in declarations(re.sub(r"\n#.*|^ *(#ifdef|#endif|extern \"C\").*", "", body)):
            own = re.findall(r"\b(griddep_\w+)\(|^} (griddep_\w+);|^typedef struct \w+ (griddep_\w+);", code, re.M)
            own = [a or b or c for a, b, c in own]
            names += own
            heading = f'<h2>{", ".join(map(escape, own))}</h2>' if own else ""
            at = f' id="{own[0]}"' if own else ""
            anchors = "".join(f'<a id="{name}"></a>' for name in own[1:])
            listing = f'<pre tabindex="0"><code>{escape(code)}</code></pre>' if code.strip() else ""
            out.append(f"<section{at}>{anchors}{heading}{prose(bare(comment)) if comment else ''}{listing}</section>")
        site.add(file, noun, "\n".join(out))
        links = ", ".join(f'<a href="{file}#{name}">{name}</a>' for name in names)
        rows.append(f'<h2><a href="{file}">{marked(noun)}</a></h2><p>{marked(about[:1].upper() + about[1:])}</p><p>{links}</p>')
    intro = bare(parts[0][: parts[0].index("*/") + 2]).split("\n", 1)[1]
    site.add("api.html", "API in C", "<h1>API in C</h1>\n" + "\n".join(rows) + "\n<h2 id=\"conventions\">Conventions</h2>\n" + prose(intro))


# ---- the command

def blocks_of(lines):
    """Lines of help: paragraphs, and rows of two columns, such as those of exit codes."""
    out, rows = [], []
    for line in lines + [""]:
        row = re.match(r"  (\S+) {2,}(.*)", line)
        if row:
            rows.append((f"<code>{escape(row[1])}</code>", escape(row[2])))
            continue
        if rows:
            out.append(definitions(rows))
            rows = []
        if line:
            out.append(f'<pre tabindex="0">{escape(line)}</pre>' if line.startswith(" ") else f"<p>{escape(line)}</p>")
    return "".join(out)


def definitions(rows):
    return "<dl>" + "".join(f"<dt>{term}</dt><dd>{text}</dd>" for term, text in rows) + "</dl>"


def kept_together(synopsis):
    """A synopsis whose lines break between options alone."""
    return re.sub(r"\[[^][]*(?:\[[^]]*\])?\]\S*|[^\s|]+\|?", lambda m: f"<span>{escape(m[0])}</span>", synopsis)


def command_page(name, rows):
    """The help of a subcommand, of its rows of 'griddep help --table'."""
    of = lambda kind: [row[1:] for row in rows if row[0] == kind]
    usage = "".join(f"<li><code>griddep {escape(name)} {kept_together(line)}</code></li>" for line, in of("synopsis"))
    options = [(f"<code>--{escape(' '.join(row[:2]).strip())}</code>", escape(row[3])) for row in of("option")]
    examples = []
    for line, in of("example"):
        if not line.startswith(" "):
            examples.append((line, []))
        else:
            examples[-1][1].append(line.strip())
    shown = "".join(f'<p>{escape(about)}</p><pre tabindex="0"><code>{escape(chr(10).join(lines))}</code></pre>' for about, lines in examples)
    return (f"<h1>griddep {escape(name)}</h1><p>{escape(of('summary')[0][0])}</p>"
            f'<h2 id="usage">Usage</h2><ul class="usage">{usage}</ul><h2 id="options">Options</h2>{definitions(options)}'
            f'<h2 id="details">Details</h2>{blocks_of([line for line, in of("detail")])}<h2 id="examples">Examples</h2>{shown}')


def add_commands(site, command):
    table = subprocess.run([command, "help", "--table"], capture_output=True, text=True, check=True).stdout
    commands = re.split(r"^command\t", table, flags=re.M)[1:]
    rows = []
    for part in commands:
        (name, about, *_), *more = [line.split("\t") for line in part.splitlines()]
        file = f"command-{name}.html"
        site.add(file, f"griddep {name}", command_page(name, more))
        rows.append((f'<a href="{file}">{escape(name)}</a>', escape(about)))
    site.pages["commands"] = "commands.html"
    body = "<h1>The command</h1>\n<p>Each subcommand shows its page with <code>--help</code>.</p>\n"
    site.add("commands.html", "The command", body + definitions(rows))


def add_kernels(site, command):
    listed = subprocess.run([command, "kernels", "list", "--json"], capture_output=True, text=True, check=True).stdout
    out, family, chips = ["<h1>Kernels of the shelf</h1>"], None, {}
    kernels = json.loads(listed)["kernels"]
    for kernel in kernels:
        chips.setdefault(kernel["name"], []).append(f"sm_{kernel['capability']}")
    for kernel in {kernel["name"]: kernel for kernel in kernels}.values():
        if kernel["family"] != family:
            family = kernel["family"]
            out.append(f'<h2 id="family-{escape(family)}">{escape(family.capitalize())}</h2>')
        shown = subprocess.run([command, "kernels", "show", kernel["name"]], capture_output=True, text=True, check=True,
                               env={**os.environ, "COLUMNS": "80"}).stdout
        out.append(f'<h3 id="{kernel["name"]}">{kernel["name"]}</h3><p>{escape(kernel["purpose"])} '
                   f'({" and ".join(sorted(chips[kernel["name"]]))})</p>'
                   f'<details><summary>Parameters and launch</summary><pre tabindex="0">{escape(shown)}</pre></details>')
    site.pages["kernels"] = "kernels.html"
    site.add("kernels.html", "Kernels", "\n".join(out))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, required=True, help="the top of the source tree")
    parser.add_argument("--made", type=Path, required=True, help="the top of the build folder")
    parser.add_argument("--command", required=True, help="griddep, built")
    parser.add_argument("--output", type=Path, required=True, help="the folder to write")
    asked = parser.parse_args()
    if not shutil.which(MARKDOWN[0]):
        sys.exit("site: cmark-gfm is not installed (Debian: apt-get install cmark-gfm)")
    site = Site(asked.source, asked.made, asked.output)
    files = ["README.md", "NEWS.md", "HACKING.md"] + sorted({"doc/" + path.name for top in (asked.source, asked.made) for path in (top / "doc").glob("*.md")})
    files += sorted(str(path.relative_to(asked.source)) for path in (asked.source / "doc").glob("*/*.md"))
    for name in files:
        site.pages[name] = "index.html" if name == "README.md" else re.sub(r"^doc/|\.md$", "", name).lower().replace("/", "-") + ".html"
    for name in files:
        text = site.find(name).read_text()
        title = re.search(r"^# (.*)", text, re.M)[1]
        site.add(site.pages[name], words_of(title.replace("`", "")), site.markdown(name, text))
    add_commands(site, asked.command)
    add_header(site)
    add_kernels(site, asked.command)
    site.write()
    for problem in problems:
        print(f"site: {problem}", file=sys.stderr)
    print(f"{len(site.made)} pages in {asked.output}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
