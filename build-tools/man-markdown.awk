# Makes a man page of a Markdown file: -v page=griddep-chain -v section=5 -v about="chain files". Knows what the files of doc/ use: headings,
# paragraphs, lists, tables, code blocks, code and bold words, links. Used with roff.awk by make.

function inline(text,    out, word) {
    out = ""
    while (match(text, /`[^`]*`|\*\*[^*]*\*\*|\[[^\]]*\]\([^)]*\)/)) {
        word = substr(text, RSTART, RLENGTH)
        out = out escape(substr(text, 1, RSTART - 1))
        text = substr(text, RSTART + RLENGTH)
        if (word ~ /^`/) out = out "\\fB" escape(substr(word, 2, length(word) - 2)) "\\fR"
        else if (word ~ /^\*/) out = out "\\fI" escape(substr(word, 3, length(word) - 4)) "\\fR"
        else { sub(/^\[/, "", word); sub(/\]\(.*/, "", word); out = out inline(word) }
    }
    return out escape(text)
}

function say(text) {
    text = inline(text)
    print (text ~ /^[.]/ ? "\\&" text : text)
}

function end_code() {
    if (!code) return
    print ".RE"
    code = 0
    fresh = 1
}

function begin_code() {
    if (code) return
    if (!at_heading) print ".PP"
    at_heading = 0
    print ".RS 4"
    code = 1
}

function begin_text() {
    if (fresh && !at_heading) print ".PP"
    fresh = at_heading = 0
}

# The cells of a row become cell[1...]; a bar that is part of the text is written \|.
function split_row(row,    count, i) {
    gsub(/\\\|/, "\001", row)
    sub(/^\| */, "", row)
    sub(/ *\|$/, "", row)
    count = split(row, cell, / *\| */)
    for (i = 1; i <= count; i++) gsub(/\001/, "|", cell[i])
    return count
}

function row(    count, i, rest) {
    count = split_row($0)
    if ($0 ~ /^\|[-| :]*\|$/) return
    if (!in_table) {
        in_table = 1
        return
    }
    rest = ""
    for (i = 2; i <= count; i++) rest = rest (rest == "" || cell[i] == "" ? "" : ". ") cell[i]
    print ".TP"
    at_heading = 0
    print inline(cell[1])
    say(rest)
    fresh = 1
}

BEGIN {
    head(page, section, section == 5 ? "File Formats" : "Miscellanea")
    print ".SH NAME\n" escape(page) " \\- " escape(about) "\n.SH DESCRIPTION"
    at_heading = 1
}

/^```/ { fence = !fence; if (fence) begin_code(); else end_code(); next }
fence { put_code($0); next }
/^<!--.*-->$/ { next }
/^# / { next }
/^    / && !item { begin_code(); put_code(substr($0, 5)); next }
code && /^$/ { next }
{ end_code() }
/^## / { print ".SH " toupper(inline(substr($0, 4))); at_heading = 1; fresh = item = in_table = 0; next }
/^### / { print ".SS " inline(substr($0, 5)); at_heading = 1; fresh = item = in_table = 0; next }
/^\|/ { row(); next }
{ in_table = 0 }
/^$/ { fresh = 1; item = 0; next }
/^- / { print ".IP \\(bu 3"; at_heading = 0; item = 1; fresh = 0; say(substr($0, 3)); next }
/^[0-9]+\. / { match($0, /^[0-9]+\./); print ".IP " substr($0, 1, RLENGTH) " 4"; at_heading = 0; item = 1; fresh = 0; say(substr($0, RLENGTH + 2)); next }
{ sub(/^ +/, ""); if (!item) begin_text(); say($0) }
END { end_code() }
