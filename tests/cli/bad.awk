# Writes the chain files of bad.txt, bad_NAME.yaml, and the message that each gets, bad_NAME.expect. "= NAME:LINE:COLUMN: MESSAGE" begins a file. It
# has the lines that follow behind "| "; or it is the base with a line replaced (N text), lines behind one (N+ text) or without one (N-).
BEGIN {
    count = split("name: bad\nbuffers:\n  - {name: x, type: f32, count: 16}\n  - {name: y, type: f32, count: 16}\nlaunches:\n  - kernel: vector_add\n" \
        "    grid: [1]\n    block: [32]\n    arguments: [{buffer: x, access: read}, {buffer: x, access: read}, {buffer: y, access: write}, {u32: 16}]", base, "\n")
}
function finish(i) {
    for (i = 0; file != "" && !whole && i <= count; i++)
        printf "%s%s", (i == 0 || i in left_out) ? "" : ((i in new) ? new[i] : base[i]) "\n", behind[i] > file
    if (file != "")
        close(file)
}
/^= / {
    finish()
    name = $0
    sub(/^= /, "", name)
    message = name
    sub(/[: ].*/, "", name)
    sub(/^[a-z0-9_]*/, "", message)
    file = folder "/bad_" name ".yaml"
    printf "" > file
    print "bad_" name ".yaml" message > (folder "/bad_" name ".expect")
    close(folder "/bad_" name ".expect")
    whole = 0
    split("", left_out); split("", new); split("", behind)
    next
}
/^\|/ { whole = 1; print substr($0, 3) > file; next }
/^[0-9]+-$/ { left_out[$0 + 0] = 1; next }
/^[0-9]+\+ / { at = $0 + 0; text = $0; sub(/^[0-9]+\+ /, "", text); behind[at] = behind[at] text "\n"; next }
/^[0-9]+ / { at = $0 + 0; text = $0; sub(/^[0-9]+ /, "", text); new[at] = text }
END { finish() }
