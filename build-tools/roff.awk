# Functions for the scripts that make man pages: text as roff wants it.

# Of a text's backslashes, dashes and quotes, so that it is printed as it stands.
function escape(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/'/, "\\(aq", text)
    gsub(/`/, "\\(ga", text)
    gsub(/\^/, "\\(ha", text)
    gsub(/~/, "\\(ti", text)
    return text
}

# A line of text: one that begins with a dot would be a request.
function put(text) {
    text = escape(text)
    print (text ~ /^\./ ? "\\&" text : text)
}

function head(name, section, manual) {
    print ".\\\" Made from other files by the scripts of build-tools."
    printf ".TH %s %s \"\" \"griddep %s\" \"%s\"\n", escape(toupper(name)), section, version, manual
    print ".nh"
    print ".ad l"
}

function bold(text) { return "\\fB" escape(text) "\\fR" }
