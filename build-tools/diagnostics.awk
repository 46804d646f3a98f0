# Makes doc/diagnostics.md of what 'griddep explain' prints: the list of codes, then all pages.
# Headings are linked to by their text in lower case.

# What would mean something to Markdown outside of an example.
function escaped(text) {
    gsub(/[*<`|]/, "\\\\&", text)
    return text
}

BEGIN {
    print "# Diagnostics\n"
    print "What `griddep check` and `griddep rewrite` report, by code. The text of each code is what"
    print "`griddep explain` prints.\n"
    print "A finding looks like this, and its code never changes its meaning:\n"
    print "    FILE:LINE:COLUMN: SEVERITY: what is wrong [CODE]"
    print "      LINE | the source line"
    print "           |     ^"
    print "      hint: what to do\n"
    print "| severity | meaning |\n|---|---|"
    print "| error | the contract of dependent launch is broken on a path that the text shows, or the text is no PTX |"
    print "| warning | the contract is likely broken, or cannot be shown to be kept |"
    print "| note | correct, but overlap is not gained, or less than could be; or what the rewriter did |\n"
    print "The severity below is the one that a code usually has; a finding may be milder where less is"
    print "certain. [json.md](json.md) describes findings in JSON.\n"
    print "| code | severity | |\n|---|---|---|"
}

FNR == NR {
    title = $0
    sub(/^[^ ]+ +[^ ]+ +/, "", title)
    printf "| [%s](#%s) | %s | %s |\n", $1, tolower($1), $2, escaped(title)
    next
}

/^GD[0-9]+, (error|warning|note): / {
    title = $0
    sub(/^[^:]+: /, "", title)
    severity = substr($2, 1, length($2) - 1)
    printf "%s## %s\n\n**%s** (%s)\n", pages++ ? "" : "\n", substr($1, 1, length($1) - 1), escaped(title), severity
    next
}

{ print /^    / ? $0 : escaped($0) }
