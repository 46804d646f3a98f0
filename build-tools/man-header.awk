# Makes the man page of one noun of include/griddep.h: -v page=griddep_chain takes the section whose title is "Chain", and -v page=libgriddep
# the head comment with a list of all pages. -v list=1 prints the pages' names instead. Used with roff.awk by make and tests/doc/generated.sh.

# The page of a section by its title's first word.
function page_of(title,    word) {
    word = tolower(title)
    sub(/[^a-z].*/, "", word)
    if (word == "rewriting") word = "rewrite"
    if (title ~ /^Launch attributes/) word = "attribute"
    return "griddep_" word
}

# A comment's line without what marks it as one.
function bare(line) {
    sub(/^ *\/\*+ ?/, "", line)
    sub(/^ \*( |$)/, "", line)
    sub(/ *\*\/ *$/, "", line)
    return line
}

function end_rows() {
    if (rows) print ".RE"
    rows = 0
}

# Paragraphs of prose. In a list a word stands in front of two blanks or more, and what is indented
# behind it belongs to it, where a list of capitals may stand; other indented lines keep their
# columns.
function write_text(text,    lines, count, i, item, word) {
    count = split(text, lines, "\n")
    rows = 0
    for (i = 1; i <= count; i++) {
        if (lines[i] ~ /^[^ ]+  +[^ ]/) {
            item = 1
            word = lines[i]
            sub(/ .*/, "", word)
            sub(/^[^ ]+ +/, "", lines[i])
            end_rows()
            print ".TP\n" bold(word)
        } else if (item && lines[i] ~ /^ +[^ ]/) {
            sub(/^ +/, "", lines[i])
            if (lines[i] ~ /^(-|[A-Z]+)  +[^ ]/) {
                if (!rows++) print ".RS"
                word = lines[i]
                sub(/ .*/, "", word)
                sub(/^[^ ]+ +/, "", lines[i])
                print ".TP 5\n" bold(word)
            }
        } else if (item) {
            item = 0
            end_rows()
            if (lines[i] != "") print ".PP"
        }
        if (lines[i] == "") {
            if (i < count && lines[i + 1] !~ /^[^ ]+  +[^ ]/)
                print (lines[i + 1] ~ /^ / ? ".sp" : ".PP")
        }
        else if (lines[i] ~ /^ /) put_code(lines[i])
        else put(lines[i])
    }
    end_rows()
}

# How many parentheses a line leaves open.
function left_open(line) {
    sub(/\/\*.*/, "", line)
    return gsub(/\(/, "", line) - gsub(/\)/, "", line)
}

# Lines of C. A comment behind code becomes one line with it, and so does a declaration.
function write_lines(text,    lines, count, i, line) {
    count = split(text, lines, "\n")
    for (i = 1; i <= count; i++) {
        line = lines[i]
        while (line ~ /\/\*/ && line !~ /\*\// && i < count) {
            i++
            sub(/^ *\*? */, "", lines[i])
            line = line " " lines[i]
        }
        sub(/   *\/\*/, "  /*", line)
        while (left_open(line) > 0 && i < count) {
            i++
            sub(/^ +/, "", lines[i])
            line = line (line ~ /\($/ ? "" : " ") lines[i]
        }
        put_code(line)
    }
}

function write_code(text) {
    if (!at_heading) print ".PP"
    at_heading = 0
    print ".RS 4"
    write_lines(text)
    print ".RE"
}

function names_of(text,    out, name) {
    out = ""
    gsub(/\/\*([^*]|\*[^\/])*\*\//, "", text)
    while (match(text, /griddep_[a-z0-9_]+ *\(/)) {
        name = substr(text, RSTART, RLENGTH)
        sub(/ *\($/, "", name)
        out = out (out == "" ? "" : ", ") name
        text = substr(text, RSTART + RLENGTH)
    }
    return out
}

# What was gathered up to an empty line: a comment, declarations, or both.
function finish_item() {
    if (comment == "" && code == "") return
    items++
    item_comment[items] = comment
    item_code[items] = code
    item_names[items] = code ~ /^(enum|typedef)/ ? "" : names_of(code)
    comment = code = ""
}

function add(text, line) { return text (text == "" ? "" : "\n") line }

function read_item(line) {
    if (line ~ /^$/) { finish_item(); return }
    if (code == "" && (in_comment || line ~ /^\/\*/)) {
        in_comment = line !~ /\*\/ *$/
        comment = add(comment, bare(line))
        return
    }
    if (code != "" && line ~ /^\/\*/) {
        finish_item()
        read_item(line)
        return
    }
    code = add(code, line)
}

/ffi\.cdef end/ { finish_item(); here = 0 }
FNR == 1 && /^\/\*/ { preamble = bare($0); reading_preamble = 1; next }
reading_preamble { if (/^ \*\/$/) reading_preamble = 0; else preamble = add(preamble, bare($0)); next }
/^\/\* -----/ { finish_item(); expect_title = 1; here = 0; next }
expect_title {
    expect_title = 0
    title = bare($0)
    pages[++page_count] = page_of(title)
    about[page_count] = title
    sub(/\.$/, "", about[page_count])
    here = page_of(title) == page
    if (here) own_title = about[page_count]
    in_intro = !/\*\/ *$/
    next
}
here && in_intro { if (/^ \*\/$/) { in_intro = 0; next } intro = add(intro, bare($0)); next }
!here && in_intro { if (/^ \*\/$/) in_intro = 0; next }
here { read_item($0) }

function write_names(    i, list) {
    for (i = 1; i <= items; i++)
        if (item_names[i] != "") list = list (list == "" ? "" : ", ") item_names[i]
    return list
}

function write_noun(    i) {
    head(page, 3, "Library Functions")
    short = own_title
    sub(/^[^:]*: */, "", short)
    print ".SH NAME\n" escape(write_names() " ") "\\- " escape(short)
    print ".SH SYNOPSIS"
    put_code("#include <griddep.h>")
    for (i = 1; i <= items; i++)
        if (item_names[i] != "") { print ".sp"; write_lines(item_code[i]) }
    print ".SH DESCRIPTION"
    write_text(own_title "." (intro == "" ? "" : "\n\n" intro))
    for (i = 1; i <= items; i++) {
        if (item_names[i] != "") { print ".SS " escape(item_names[i]); at_heading = item_comment[i] == ""; write_text(item_comment[i]); continue }
        if (item_comment[i] != "") { if (!at_heading) print ".PP"; at_heading = 0; write_text(item_comment[i]) }
        if (item_code[i] != "") write_code(item_code[i])
    }
    print ".SH RETURN VALUE"
    put("Functions of type int32_t return GRIDDEP_OK (0) or one of the negative GRIDDEP_ERROR_* of griddep_status(3), unless it is said otherwise above.")
    print ".SH SEE ALSO\n\\fBlibgriddep\\fR(3), \\fBgriddep_status\\fR(3)"
}

function write_library(    i) {
    head(page, 3, "Library Functions")
    print ".SH NAME\nlibgriddep \\- programmatic dependent launch for PTX"
    print ".SH SYNOPSIS"
    put_code("#include <griddep.h>")
    print ".sp"
    put_code("cc app.c $(pkg-config --cflags --libs griddep)")
    print ".SH DESCRIPTION"
    write_text(preamble)
    print ".SH PAGES"
    for (i = 1; i <= page_count; i++) {
        print ".TP\n" bold(pages[i]) "(3)"
        put(about[i])
    }
    print ".SH VERSION AND FEATURES"
    put("GRIDDEP_VERSION_MAJOR, _MINOR and _PATCH are the header's; griddep_version() and griddep_version_text() are those of the library that is")
    put("loaded. griddep_constant_find() tells whether that library knows a constant. What device and driver can do are the bits")
    put("GRIDDEP_FEATURE_* of griddep_runtime_info.features, from griddep_runtime_get_info(); 'griddep info' prints them.")
    print ".SH SEE ALSO\n\\fBgriddep\\fR(1), \\fBgriddep\\-environment\\fR(7), \\fBgriddep\\-emulator\\fR(7), \\fBgriddep\\-guide\\fR(7)"
}

END {
    if (list) { print "libgriddep"; for (i = 1; i <= page_count; i++) print pages[i]; exit }
    if (page == "libgriddep") write_library()
    else if (own_title != "") write_noun()
    else { print "include/griddep.h has no section for " page >"/dev/stderr"; exit 1 }
}
