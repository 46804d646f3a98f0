# Functions for the scripts that make man pages: text as roff wants it.

# The text with a mark behind each of the characters, in words that are longer than so many. The
# caller may be at work on a match.
function allow_breaks(text, characters, longest,    out, word, start, length_of_match) {
    out = ""
    start = RSTART
    length_of_match = RLENGTH
    while (match(text, /[^ \001]+/)) {
        word = substr(text, RSTART, RLENGTH)
        out = out substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        if (length(word) > longest) gsub(characters, "&\001", word)
        out = out word
    }
    RSTART = start
    RLENGTH = length_of_match
    return out text
}

# Of a text's backslashes, dashes and quotes, so that it is printed as it stands; long words may
# break where the terminal ends.
function escape(text) {
    text = allow_breaks(allow_breaks(text, "[(,|=]|\342\224\254", 30), "[_./]", 44)
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/'/, "\\(aq", text)
    gsub(/`/, "\\(ga", text)
    gsub(/\^/, "\\(ha", text)
    gsub(/~/, "\\(ti", text)
    gsub(/\001/, "\\:", text)
    return text
}

# A line of text: one that begins with a dot would be a request.
function put(text) {
    text = escape(text)
    print (text ~ /^\./ ? "\\&" text : text)
}

# A line that keeps its columns: it breaks only where the terminal ends, at a blank, and what is left
# of it is indented by four more. What stands far to the right moves to the left.
function put_code(text,    columns) {
    if (text == "") { print ".sp"; return }
    match(text, /^ */)
    columns = (RLENGTH > 16 && text ~ /^ *[a-zA-Z{.]/ ? 16 : RLENGTH) + 4
    print ".in +" columns "n\n.ti -4n"
    put(substr(text, RLENGTH + 1))
    print ".in -" columns "n"
}

function head(name, section, manual) {
    print ".\\\" Made from other files by the scripts of build-tools."
    printf ".TH %s %s \"\" \"griddep %s\" \"%s\"\n", escape(toupper(name)), section, version, manual
    print ".nh"
    print ".ad l"
}

function bold(text) { return "\\fB" escape(text) "\\fR" }
