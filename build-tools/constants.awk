# Makes constants.inc of include/griddep.h: an entry for each enumerator between the ffi.cdef markers.
/ffi\.cdef begin/ { on = 1 }
/ffi\.cdef end/ { on = 0 }
on && /^    GRIDDEP_[A-Z0-9_]+ = / { printf "    {\"%s\", %s},\n", $1, $1 }
