#!/bin/sh
# summary.sh [--all] [--failed=STEP]... DIRECTORY...: sums up the test cases that `make check` ran in these build directories.
#
# Reads automake's .trs file of each test program and the .log beside it. In the log stands check's line
# "100%: Checks: 34, Failures: 0, Errors: 0", or a script's line "3 passed, 0 failed, 1 skipped". A program without such a
# line is one case, and so is one that exited 77 (skipped). A program that failed although its lines count no failure has one
# more failed case: a leak that was found at its end, for example. Each STEP is one failed case too. With --all a skip is honest where it
# says that there is no GPU, or no tool of NVIDIA's; any other is a failed case.
# Prints what failed and what was skipped, each with its reason; the sum is the last line. Exits 1 when something failed.
set -u

all=0
if [ "${1-}" = --all ]; then
    all=1
    shift
fi
if [ $# -eq 0 ]; then
    echo "usage: summary.sh [--all] [--failed=STEP]... DIRECTORY..." >&2
    exit 2
fi

results() {
    for argument in "$@"; do
        case $argument in
        --failed=*) printf 'step %s\n' "${argument#--failed=}" ;;
        *)
            found=$(find "$argument/tests" -name '*.trs' 2>/dev/null | LC_ALL=C sort)
            if [ -n "$found" ]; then
                printf '%s\n' "$found" | sed 's/^/program /'
            else
                printf 'step tests in %s: none was run\n' "$argument"
            fi
            ;;
        esac
    done
}

results "$@" | awk -v all=$all '
    # What the outcome in a .trs file is: PASS, FAIL, SKIP, ERROR ...
    function outcome_of(file,    line, outcome) {
        outcome = "ERROR"
        while ((getline line < file) > 0)
            if (line ~ /^:global-test-result:/) {
                sub(/^:global-test-result: */, "", line)
                outcome = line
            }
        close(file)
        return outcome
    }

    # Fills the counts of one program, the lines that tell why, and the last line that says something.
    function read_log(file,    line, words) {
        counted = passed = failed = skipped = reasons = dishonest = 0
        last = "no reason given"
        while ((getline line < file) > 0) {
            if (line ~ /^[0-9]+%: Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+$/) {
                gsub(/[^0-9 ]/, "", line)
                split(line, words, " ")
                counted = 1
                passed += words[2] - words[3] - words[4]
                failed += words[3] + words[4]
            } else if (line ~ /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/) {
                split(line, words, " ")
                counted = 1
                passed += words[1]
                failed += words[3]
                skipped += words[5]
            } else if (line ~ /^skipped: / || line ~ /^failed: / || line ~ /:[FE]:[^:]*:[^:]*:[0-9]+: /) {
                reason[++reasons] = line
                if (line ~ /^skipped: / && line !~ /no GPU|no ptxas|no toolkit/)
                    dishonest = 1
            }
            else if (line != "" && line !~ /^(SKIP|FAIL|ERROR|PASS) .* \(exit status: [0-9]+\)$/)
                last = line
        }
        close(file)
    }

    function tell(what, name,    i) {
        print what " " name
        for (i = 1; i <= reasons && i <= 20; i++)
            print "    " reason[i]
        if (reasons > 20)
            print "    and " reasons - 20 " more"
        if (reasons == 0)
            print "    " last
    }

    $1 == "step" {
        print "FAILED " substr($0, 6)
        sum_failed++
        next
    }

    {
        name = substr($0, 9)
        outcome = outcome_of(name)
        sub(/\.trs$/, "", name)
        read_log(name ".log")
        if (outcome == "SKIP") {
            if (!counted || skipped == 0) {
                passed = failed = 0
                skipped = 1
            }
        } else if (outcome == "PASS") {
            if (!counted)
                passed = 1
        } else if (failed == 0)
            failed = 1
        if (all && skipped > 0 && (dishonest || !reasons)) {
            failed += skipped
            skipped = 0
        }
        if (failed > 0)
            tell("FAILED", name)
        else if (skipped > 0)
            tell("skipped", name)
        sum_passed += passed
        sum_failed += failed
        sum_skipped += skipped
    }

    END {
        printf "%d passed, %d failed, %d skipped\n", sum_passed, sum_failed, sum_skipped
        exit sum_failed > 0
    }'
