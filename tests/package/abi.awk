# Makes a C program of include/griddep.h that prints the size of each struct and the place of each of its fields.
BEGIN { print "#include <griddep.h>\n#include <stddef.h>\n#include <stdio.h>\n\nint main(void)\n{" }
/ffi\.cdef begin/ { on = 1 }
/ffi\.cdef end/ { on = 0 }
!on { next }
{
    line = $0
    if (in_comment) { if (!sub(/^.*\*\//, "", line)) next; in_comment = 0 }
    gsub(/\/\*[^*]*(\*[^\/][^*]*)*\*\//, "", line)
    if (sub(/\/\*.*$/, "", line)) in_comment = 1
}
line ~ /^typedef struct griddep_[a-z_]+ \{/ { name = line; sub(/^typedef struct /, "", name); sub(/ .*/, "", name); next }
name != "" && line ~ /^\}/ {
    printf "    printf(\"struct %s %%zu\\n\", sizeof(%s));\n", name, name
    name = ""
    next
}
name != "" && line ~ /;/ {
    sub(/;.*/, "", line)
    count = split(line, part, ",")
    for (i = 1; i <= count; i++) {
        field = part[i]
        sub(/\[.*/, "", field)
        sub(/^.*[ *]/, "", field)
        printf "    printf(\"field %s.%s %%zu %%zu\\n\", offsetof(%s, %s), sizeof(((%s *)0)->%s));\n", name, field, name, field, name, field
    }
}
END {
    print "    int32_t value = 0;\n    const char *constant = NULL;"
    print "    for (uint32_t i = 0; (constant = griddep_constant_name(i, &value)) != NULL; i++)\n        printf(\"constant %s %d\\n\", constant, (int)value);"
    print "    return 0;\n}"
}
