# What the tests of another C library and of another processor share: the program of doc/guide.md, in the
# current folder. To be read with `.` from a script that has `top`, the top of the source tree.

# guide NAME: the file of that name in the guide.
guide() {
    awk -v mark="<!-- file: $1 -->" '
        $0 == mark { here = 1; next }
        here && /^```/ { if (++fence == 2) exit; next }
        here' "$top/doc/guide.md"
}

# guide_sources: app.c, and scale-pdl.ptx, which it loads.
guide_sources() {
    guide app.c >app.c
    guide scale.ptx | sed 's/^    mov.u32 %i, %tid.x;/    griddepcontrol.wait;\n&/' >scale-pdl.ptx
}

# guide_runs [COMMAND]: the program, by an emulator of the processor where one is named.
guide_runs() {
    GRIDDEP_STORE=off GRIDDEP_DRIVER=emulated LD_LIBRARY_PATH=.libs "$@" ./app |
        grep '^quarter of 4095: 1023.75$'
}
