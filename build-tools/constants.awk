# Makes constants.inc of include/griddep.h: an entry for each enumerator between the ffi.cdef markers.
/ffi\.cdef begin/ { on = 1 }
/ffi\.cdef end/ { on = 0 }
on {
    sub(/\/\*.*/, "")
    while (match($0, /GRIDDEP_[A-Z0-9_]+ = -?[0-9]/)) {
        name = substr($0, RSTART, RLENGTH)
        sub(/ .*/, "", name)
        printf "    {\"%s\", %s},\n", name, name
        $0 = substr($0, RSTART + RLENGTH)
    }
}
