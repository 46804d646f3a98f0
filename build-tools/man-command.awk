# Makes the man page of a subcommand (-v page=run), or of the command (-v page=), of what 'griddep help --table' prints.
# -v version is the library's. Used with roff.awk by make.
BEGIN { FS = "\t" }

# ---- reading

$1 == "exit" { exit_code[++exits] = $2; exit_text[exits] = $3 }
$1 == "command" {
    command = $2
    commands[++command_count] = $2
    short[$2] = $3
}
command == page && page != "" {
    if ($1 == "summary") summary = summary (summary == "" ? "" : " ") $2
    if ($1 == "synopsis") synopsis = synopsis (synopsis == "" ? "" : "\n") $2
    if ($1 == "option") { option[++options] = $2; value[options] = $3; several[options] = $4 == "several"; help[options] = $5 }
    if ($1 == "detail") detail[++details] = $2
}
command == page && $1 == "example" { example[++examples] = $2 }

# ---- writing

# Lines of help text: paragraphs, and lists of "  word  meaning".
function write_details(first, last,    i, line, word, meaning, fresh) {
    fresh = 1
    for (i = first; i <= last; i++) {
        line = detail[i]
        if (line == "") {
            fresh = 1
        } else if (line ~ /^  [^ ]/ && match(line, /[^ ]   *[^ ]/) && RSTART > 2) {
            word = substr(line, 3, RSTART - 2)
            meaning = substr(line, RSTART + RLENGTH - 1)
            print ".TP"
            print bold(word)
            put(meaning)
        } else {
            sub(/^ +/, "", line)
            if (fresh) print ".PP"
            fresh = 0
            put(line)
        }
    }
}

function write_exits(    i) {
    for (i = 1; i <= exits; i++) {
        print ".TP"
        print bold(exit_code[i])
        put(exit_text[i])
    }
}

function write_options(    i) {
    print ".SH OPTIONS"
    for (i = 1; i <= options; i++) {
        print ".TP"
        print bold("--" option[i]) (value[i] == "" ? "" : " \\fI" escape(value[i]) "\\fR")
        put(help[i] (several[i] ? "; may be given several times" : ""))
    }
}

function write_examples(    i, code) {
    if (examples == 0) return
    print ".SH EXAMPLES"
    for (i = 1; i <= examples; i++) {
        if (example[i] ~ /^    / && !code) { print ".PP"; print ".RS 4"; code = 1 }
        if (example[i] !~ /^    / && code) { print ".RE"; print ".PP"; code = 0 }
        if (example[i] == "") continue
        if (code) put_code(substr(example[i], 5)); else put(example[i])
    }
    if (code) { print ".RE" }
}

function write_command_page(    i, name) {
    head("griddep", 1, "User Commands")
    print ".SH NAME\ngriddep \\- programmatic dependent launch for PTX"
    print ".SH SYNOPSIS\n.B griddep\n.I COMMAND\n.RI [ OPTION ]...\n.RI [ WORD ]..."
    print ".br\n.B griddep help\n.RI [ COMMAND ]\n.br\n.B griddep \\-\\-version"
    print ".SH DESCRIPTION"
    put("griddep is for people who launch many short CUDA kernels, one after the other. It lets kernels overlap where that is safe,")
    put("shows the time saved, and says why other kernels do not overlap. It finds races and invalid PTX without a GPU: by reading the")
    put("PTX, and by running it on an emulated driver.")
    put("Without an NVIDIA driver, griddep uses the emulated driver; --driver nvidia prevents that.")
    print ".SH COMMANDS"
    for (i = 1; i <= command_count; i++) {
        name = commands[i]
        print ".TP\n" bold("griddep-" name) "(1)"
        put(short[name])
    }
}

function write_subcommand_page(    i, count) {
    if (!(page in short)) {
        print "there is no command " page >"/dev/stderr"
        exit 1
    }
    head("griddep-" page, 1, "User Commands")
    print ".SH NAME"
    print "griddep\\-" page " \\- " escape(short[page])
    print ".SH SYNOPSIS\n" bold("griddep " page)
    count = split(synopsis, form, "\n")
    for (i = 1; i <= count; i++) {
        if (i > 1) print ".br\n" bold("griddep " page)
        put(form[i])
    }
    print ".SH DESCRIPTION"
    put(summary)
}

function details_before_exits(    i) {
    for (i = 1; i <= details; i++)
        if (detail[i] == "exit codes:") return i - 1
    return details
}

function write_see_also(    i, list) {
    print ".SH SEE ALSO"
    list = page == "" ? "" : "\\fBgriddep\\fR(1), "
    for (i = 1; i <= command_count; i++)
        if (commands[i] != page)
            list = list bold("griddep-" commands[i]) "(1), "
    print list "\\fBgriddep\\-chain\\fR(5), \\fBgriddep\\-json\\fR(5), \\fBgriddep\\-environment\\fR(7),"
    print "\\fBgriddep\\-emulator\\fR(7), \\fBgriddep\\-guide\\fR(7), \\fBlibgriddep\\fR(3)"
}

END {
    if (page == "") write_command_page(); else write_subcommand_page()
    end = details_before_exits()
    while (end > 0 && detail[end] == "") end--
    if (end > 0) write_details(1, end)
    if (page != "") write_options()
    print ".SH EXIT STATUS"
    for (start = end + 1; start <= details && detail[start] !~ /^exit codes:/; start++);
    if (start < details) write_details(start + 1, details); else write_exits()
    write_examples()
    write_see_also()
}
