# Makes files in `folder` of the chains of chains.txt.
function make() {
    if (name)
        printf "# %s\nname: %s\n%s%s%s", what, name, head, middle, tail > (folder "/" name ".yaml")
    name = ""
}
/^\* / { make(); head = tail = ""; part = 1; next }
/^@$/ { part = 2; next }
/^= / { make(); part = 3; middle = ""; name = substr($2, 1, length($2) - 1); what = substr($0, length($2) + 4); next }
part == 1 { head = head $0 "\n" }
part == 2 { tail = tail $0 "\n" }
part == 3 { middle = middle $0 "\n" }
END { make() }
