# Makes the completions of a shell (-v shell=bash, zsh or fish) of what 'griddep help --table' prints. An option's words are those of its help
# ("auto, off or force"); an option without any, and a word, completes to files. Run by make.
BEGIN { FS = "\t" }

# The words of a help text that lists some, separated by blanks: "for launches: auto (the default), off or force" gives "auto off force".
function words_of(text,    count, part, i, found, list) {
    gsub(/ *\([^)]*\)/, "", text)
    sub(/;.*/, "", text)
    sub(/^[^,]*: /, "", text)
    gsub(/ or | and /, ", ", text)
    gsub(/, ,/, ",", text)
    count = split(text, part, /, */)
    found = 0
    list = ""
    for (i = 1; i <= count; i++)
        if (part[i] ~ /^[a-z][a-z-]*(:SEED)?$/) {
            found++
            sub(/SEED$/, "", part[i])
            list = list (list == "" ? "" : " ") part[i]
        }
    return found >= 2 ? list : ""
}

function add(list, word) { return list (list == "" ? "" : " ") word }

# Of zsh's and fish's single-quoted strings.
function quoted(text) {
    gsub(/'/, shell == "fish" ? "\\'" : "'\\''", text)
    return text
}

function zsh_text(text) {
    gsub(/\[|\]|:/, "\\\\&", text)
    return quoted(text)
}

$1 == "command" { command[++commands] = $2; about[$2] = $3 }
$1 == "words" { takes_files[command[commands]] = $2 == "files" }
$1 == "option" {
    n = ++options[command[commands]]
    name[command[commands], n] = $2
    value[command[commands], n] = $3
    several[command[commands], n] = $4 == "several"
    help[command[commands], n] = $5
}

function all_commands(    i, list) {
    for (i = 1; i <= commands; i++) list = add(list, command[i])
    return add(list, "help")
}

function bash_command(c,    i, list, words, cases) {
    for (i = 1; i <= options[c]; i++) {
        list = add(list, "--" name[c, i])
        if (value[c, i] == "") continue
        words = words_of(help[c, i])
        cases = cases sprintf("        %s:--%s) words='%s' ;;\n", c, name[c, i], words == "" ? "@" : words)
    }
    print "        " c ") options='" list "' ;;"
    all_cases = all_cases cases
}

function bash(    i) {
    print "# bash completion for griddep. Made by build-tools/completion.awk; bash-completion loads it by its name.\n"
    print "# What a kernel or a finding may be called, asked of the command itself."
    print "_griddep_names() {"
    print "    case $1 in"
    print "    kernels) \"$griddep\" kernels list 2>/dev/null | awk '!seen[$1]++ { print $1 }' ;;"
    print "    explain) \"$griddep\" explain 2>/dev/null | awk '/^ *GD[0-9]/ { print $1 }' ;;"
    print "    esac\n}\n"
    print "_griddep_files() {\n    local IFS=$'\\n'\n    compopt -o filenames 2>/dev/null\n    COMPREPLY=($(compgen -f -- \"$1\"))\n}\n"
    print "_griddep() {"
    print "    local griddep=$1 current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} options= words= files=1"
    print "    COMPREPLY=()"
    print "    if [[ $COMP_CWORD -eq 1 ]]; then"
    print "        COMPREPLY=($(compgen -W '" all_commands() " --help --version' -- \"$current\"))"
    print "        return\n    fi"
    print "    [[ $current == = ]] && current="
    print "    [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]}"
    print "    case $command in"
    print "        help) COMPREPLY=($(compgen -W '" all_commands() "' -- \"$current\")); return ;;"
    all_cases = ""
    for (i = 1; i <= commands; i++) bash_command(command[i])
    print "        *) return ;;\n    esac"
    print "    case $command:$before in"
    printf "%s", all_cases
    print "    esac"
    print "    if [[ $words == @ ]]; then\n        _griddep_files \"$current\"\n        return"
    print "    elif [[ -n $words ]]; then\n        [[ $words != *: && $words != *': '* ]] || compopt -o nospace 2>/dev/null"
    print "        COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n        return\n    fi"
    print "    if [[ $current == -* ]]; then\n        COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n        return\n    fi"
    print "    case $command in"
    print "        kernels) [[ $COMP_CWORD -eq 2 ]] && words='list show' || words=$(_griddep_names kernels); files=0 ;;"
    print "        explain) words=$(_griddep_names explain); files=0 ;;"
    for (i = 1; i <= commands; i++)
        if (!takes_files[command[i]]) print "        " command[i] ") files=0 ;;"
    print "    esac"
    print "    if [[ -n $words ]]; then\n        COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))"
    print "    elif [[ $files -eq 1 ]]; then\n        _griddep_files \"$current\"\n    fi\n}\n"
    print "complete -F _griddep griddep"
}

function zsh_command(c,    i, words) {
    print "        " c ")"
    print "            _arguments \\"
    for (i = 1; i <= options[c]; i++) {
        words = words_of(help[c, i])
        printf "                '%s--%s%s[%s]%s' \\\n", several[c, i] ? "*" : "", name[c, i], value[c, i] == "" ? "" : "=", zsh_text(help[c, i]),
            value[c, i] == "" ? "" : ":" zsh_text(value[c, i]) ":" (words == "" ? "_files" : "(" quoted(words) ")")
    }
    if (c == "kernels") print "                '1: :(list show)' '2: :_griddep_kernels'"
    else if (c == "explain") print "                '*: :_griddep_codes'"
    else if (takes_files[c]) print "                '*:file:_files'"
    else print "                ;"
    print "            ;;"
}

function zsh(    i) {
    print "#compdef griddep\n# zsh completion for griddep. Made by build-tools/completion.awk.\n"
    print "_griddep_kernels() { compadd -- ${(f)\"$(griddep kernels list 2>/dev/null | awk '!seen[$1]++ { print $1 }')\"} }"
    print "_griddep_codes() { compadd -- ${(f)\"$(griddep explain 2>/dev/null | awk '/^ *GD[0-9]/ { print $1 }')\"} }\n"
    print "_griddep() {\n    local -a commands\n    local command\n    commands=("
    for (i = 1; i <= commands; i++) print "        '" command[i] ":" zsh_text(about[command[i]]) "'"
    print "        'help:print a help text'\n    )"
    print "    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi"
    print "    command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command in\n        help) _describe command commands ;;"
    for (i = 1; i <= commands; i++) zsh_command(command[i])
    print "    esac\n}\n"
    print "if [[ $funcstack[1] == _griddep ]]; then\n    _griddep \"$@\"\nelse\n    compdef _griddep griddep\nfi"
}

function fish_command(c,    i, words, seen) {
    seen = "__fish_seen_subcommand_from " c
    for (i = 1; i <= options[c]; i++) {
        words = words_of(help[c, i])
        printf "complete -c griddep -n '%s' -l %s%s -d '%s'\n", seen, name[c, i], value[c, i] == "" ? "" : (words == "" ? " -r -F" : " -x -a '" words "'"),
            quoted(help[c, i])
    }
    if (c == "kernels") {
        print "complete -c griddep -n '" seen "; and not __fish_seen_subcommand_from list show' -a 'list show'"
        print "complete -c griddep -n '" seen "; and __fish_seen_subcommand_from show' -a '(griddep kernels list 2>/dev/null | string match -r \"^\\\\S+\")'"
    } else if (c == "explain")
        print "complete -c griddep -n '" seen "' -a '(griddep explain 2>/dev/null | string match -r \"GD[0-9]+\")'"
    else if (takes_files[c])
        print "complete -c griddep -n '" seen "' -F"
}

function fish(    i) {
    print "# fish completion for griddep. Made by build-tools/completion.awk.\n"
    print "complete -c griddep -f"
    for (i = 1; i <= commands; i++)
        print "complete -c griddep -n __fish_use_subcommand -a " command[i] " -d '" quoted(about[command[i]]) "'"
    print "complete -c griddep -n __fish_use_subcommand -a help -d 'print a help text'"
    print "complete -c griddep -n '__fish_seen_subcommand_from help' -a '" all_commands() "'"
    print "complete -c griddep -n __fish_use_subcommand -l help -d 'print a help text'"
    print "complete -c griddep -n __fish_use_subcommand -l version -d 'print the version'"
    for (i = 1; i <= commands; i++) fish_command(command[i])
}

END { if (shell == "bash") bash(); else if (shell == "zsh") zsh(); else fish() }
