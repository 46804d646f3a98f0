#!/bin/sh
# The language model program on small random models of each family, on the emulated driver: tokens
# against float64, modes against each other, the tokenizer's cases, and bad input. builddir is the
# build's root; GRIDDEP_DRIVER names another driver.
# shellcheck disable=SC2317 # functions are called by way of check
set -u

builddir=${builddir:-build}
source_root=${srcdir:-$(dirname "$0")/../..}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$source_root/tests/cases.sh"
python=$(make_value PYTHON3)
llama=$builddir/examples/llama/llama

[ -n "$python" ] || {
    echo "skipped: no python3, which makes the models"
    exit 77
}
[ -x "$llama" ] || {
    echo "skipped: PCRE2 or utf8proc is missing, so the program was not built"
    exit 77
}
GRIDDEP_DRIVER=${GRIDDEP_DRIVER:-emulated}
export GRIDDEP_DRIVER GRIDDEP_STORE=off
unset GRIDDEP_PDL GRIDDEP_LOG

# more WORD...: rounds for `./bootstrap check --all` alone. plain WORD...: those that sanitizers, of
# which the emulated driver gets slow, would teach nothing. many COUNT: tokens, or few.
more() { all_rounds && echo "$@"; }
plain() { [ "${SANITIZED-}" = 1 ] || echo "$@"; }
many() { [ "${SANITIZED-}" = 1 ] && echo 4 || echo "$1"; }
few=$(many 8)
: >"$work/judged"

small() { "$python" "$source_root/tests/llama/small.py" "$@"; }

# field FILE KEY: a member of a JSON document; lists as numbers with commas.
field() {
    "$python" -c 'import json, sys
value = json.load(open(sys.argv[1]))[sys.argv[2]]
print(",".join(map(str, value)) if isinstance(value, list) else value)' "$1" "$2"
}

# generate FOLDER OPTION...: the document goes to $work/out.json.
generate() {
    folder=$1
    shift
    "$llama" "$work/$folder" --json "$@" >"$work/out.json"
}

# judged FOLDER: the document's tokens are those of float64, which is asked about the same ones once.
judged() {
    # shellcheck disable=SC2086 # no word, or one
    set -- "$1" "$(field "$work/out.json" prompt)" "$(field "$work/out.json" tokens)" ${rounded-}
    grep -qxF -- "$*" "$work/judged" && return
    small judge "$work/$@" && echo "$*" >>"$work/judged"
}

# agrees FOLDER [OPTION]...: greedy tokens are those of float64.
agrees() {
    generate "$@" -p "the lazy dog jumps" -n "$few" --ignore-stop || return 1
    [ "$(field "$work/out.json" ended_by)" = count ] || return 1
    judged "$1"
}

# same_tokens EXPECTED FOLDER OPTION...
same_tokens() {
    expected=$1
    shift
    generate "$@" || return 1
    field "$work/out.json" tokens
    [ "$(field "$work/out.json" tokens)" = "$expected" ]
}

# refuses WORDS FOLDER OPTION...: status 1, one line of words, no token.
refuses() {
    words=$1
    folder=$2
    shift 2
    "$llama" "$work/$folder" "$@" >"$work/stdout" 2>"$work/stderr"
    status=$?
    cat "$work/stderr" "$work/stdout"
    [ "$status" -eq 1 ] && [ ! -s "$work/stdout" ] && [ "$(wc -l <"$work/stderr")" -eq 1 ] &&
        grep -qF -- "$words" "$work/stderr"
}

# ---- families

for family in llama2 llama3 mistral qwen2 qwen3; do
    check "make $family" small make "$work/$family" $family
done
for family in llama3 qwen2 $(plain llama2 mistral qwen3); do
    check "$family agrees with float64" agrees $family
done
# The check of the chains holds no launch back: audit finds only the embedding, which stands behind
# nothing in its chain, without the attribute that lets it start early.
overlaps() {
    LD_LIBRARY_PATH=$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} GRIDDEP_DRIVER='' \
        "$GRIDDEP" audit --driver emulated --report "$work/report" -- \
        "$llama" "$work/llama3" -t 5,6,7,8,9,10,11,12,13,14 -n 8 --ignore-stop --mode pdl "$@" >/dev/null
    cat "$work/report"
    [ "$(grep -c 'GD410' "$work/report")" -eq 1 ] && grep -q 'embedding_gather.*GD410' "$work/report"
}
check "no launch loses its overlap" overlaps
# All memory is one allocation: the audit calls it safe, and so does the check of what it recorded, of
# a prompt in parts and of steps alone.
recorded() {
    rm -rf "$work/recorded"
    LD_LIBRARY_PATH=$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} GRIDDEP_DRIVER='' \
        "$GRIDDEP" audit --driver emulated --report "$work/report" --record "$work/recorded" -- \
        "$llama" "$work/llama3" -t 5,6,7 -n 3 --ignore-stop --mode pdl "$@" >/dev/null
    cat "$work/report"
    [ "$(grep -c '^- name: buffer_' "$work/recorded/chain.yaml")" -eq 1 ] &&
        grep -q '^safe: ' "$work/report" && "$GRIDDEP" check "$work/recorded/chain.yaml"
}
check "the audit and the check of a recording agree" recorded
check "make f16" small make "$work/f16" llama3 dtype=F16 heads=2 kv_heads=1 head_dim=128
check "f16, heads of 128" agrees f16
check "make f32" small make "$work/f32" llama2 dtype=F32 tied=1 shards=3 layers=1
[ "${SANITIZED-}" = 1 ] || check "f32 in three files, tied" agrees f32
check "make deep" small make "$work/deep" llama3 layers=3
for folder in $(plain f32) $(more llama3 f16); do
    rounded=fp8
    check "$folder in 8 bits" agrees $folder --weights fp8
    unset rounded
done
# Of 8 bits a tied head is another matrix, and of the embedding a step reads one row.
halves_bytes() {
    for weights in bf16 fp8; do
        generate f32 -p dog -n 2 --weights $weights || return 1
        field "$work/out.json" token_bytes
    done >"$work/bytes"
    cat "$work/bytes"
    awk 'NR == 1 { whole = $1 } NR == 2 { exit !($1 < 0.6 * whole) }' "$work/bytes"
}
check "8 bits are half of the bytes, with a tied head too" halves_bytes
check "make wide" small make "$work/wide" llama3 layers=1 heads=8 kv_heads=1 hidden=136
for scale in $(plain tensor) row; do
    check "make 8 bits, a scale a $scale" small make "$work/e4m3_$scale" llama3 eight_bits=$scale
done
[ "${SANITIZED-}" = 1 ] || check "a file of 8 bits, a scale a tensor" agrees e4m3_tensor
# Blocks of 128 x 128, as two kinds of files have them; the second has a matrix of 64 rows.
check "make 8 bits in blocks" small make "$work/blocks" qwen3 eight_bits=fp8 feed_forward=256 hidden=256
check "a file of 8 bits in blocks" agrees blocks
for kind in $(plain compressed); do
    check "make 8 bits in blocks, $kind" small make "$work/$kind" llama3 eight_bits=$kind \
        feed_forward=256 hidden=256 kv_heads=1 layers=1
    check "a file of 8 bits in blocks, $kind" agrees $kind
done
# Four bits: as the files of GPTQ and AWQ have them, and made from more.
for kind in $(plain gptq gptq_v2) awq; do
    check "make 4 bits, $kind" small make "$work/$kind" llama3 four_bits=$kind feed_forward=256 hidden=256
    check "a file of 4 bits, $kind" agrees $kind
done
check "make a model for 4 bits" small make "$work/four_bits" qwen2 feed_forward=256
rounded=int4
check "4 bits, made" agrees four_bits --weights int4
unset rounded

# ---- prompts in parts

long="the quick brown fox jumps over the lazy dog and a kernel that waits for the one before it ends,
then the other dogs of the town may start before it 0123456789 0123456789 0123456789 0123456789"
# Three parts, the last of them short; the cache ends with the text.
parted() {
    generate "$@" -p "$long" -n "$few" --ignore-stop --part 32 || return 1
    judged "$1"
}
for folder in llama3 $(more qwen3 f16); do
    check "$folder: a prompt in parts agrees with float64" parted $folder
done
for folder in $(plain wide e4m3_row blocks) awq; do # eight heads to a key head; files of 8 and 4 bits
    check "$folder: a prompt in parts agrees with float64" parted $folder
done
rounded=fp8
all_rounds && check "8 bits, a prompt in parts" parted llama3 --weights fp8
rounded=int4
all_rounds && check "4 bits, a prompt in parts" parted four_bits --weights int4
unset rounded
for part in $(plain 17); do
    generate qwen2 -p "$long" -n 8 --ignore-stop
    check "the same tokens with parts of $part" same_tokens "$(field "$work/out.json" tokens)" \
        qwen2 -p "$long" -n 8 --ignore-stop --part $part
done

# ---- several sequences

# beside FOLDER OPTION...: each of three texts continues as it does alone.
beside() {
    generate "$@" -n "$(many 6)" -p "a kernel that waits for" -p dog -t 7,8,9,10,11 || return 1
    "$python" -c 'import json, sys
for one in json.load(open(sys.argv[1]))["sequences"]:
    print(",".join(map(str, one["tokens"])), one["ended_by"])' "$work/out.json" >"$work/beside"
    for i in 1 2 3; do
        text="-p|a kernel that waits for -p|dog -t|7,8,9,10,11"
        option=$(echo "$text" | sed 's/ -/\n-/g' | sed -n ${i}p)
        generate "$@" -n "$(many 6)" "${option%%|*}" "${option#*|}" ${seed:+--seed $((seed + i - 1))} ||
            return 1
        echo "$(field "$work/out.json" tokens) $(field "$work/out.json" ended_by)"
    done >"$work/alone"
    cat "$work/beside" "$work/alone"
    cmp -s "$work/beside" "$work/alone"
}
for folder in $(plain f16) $(more qwen3); do
    check "$folder: sequences beside each other" beside $folder --ignore-stop
done
all_rounds && check "8 bits beside each other" beside llama2 --ignore-stop --weights fp8
check "4 bits beside each other" beside awq --ignore-stop
all_rounds && check "8 bits in blocks beside each other" beside blocks --ignore-stop
drawn_beside() {
    seed=5
    beside llama3 --seed 5 --temperature 1.5 --repetition-penalty 1.3
}
check "sequences draw by seeds of their own" drawn_beside
unset seed

# ---- several devices: heads, rows and the vocabulary are shared

if [ "$GRIDDEP_DRIVER" = emulated ]; then
    GRIDDEP_EMULATOR_DEVICES=4
    export GRIDDEP_EMULATOR_DEVICES
    for folder in $(plain f32 awq blocks) $(more llama3 qwen2) e4m3_row; do
        check "$folder on two devices" agrees $folder --devices 0,1
    done
    for folder in $(plain qwen2); do
        check "a prompt in parts on two devices" parted $folder --devices 2,1
        rounded=fp8
        check "8 bits on two devices" parted llama3 --devices 0,1 --weights fp8
        unset rounded
    done
    all_rounds && check "sequences beside each other on two devices" \
        beside llama3 --ignore-stop --devices 0,1
    check "make four key heads, an odd vocabulary" small make "$work/four" llama3 heads=4 kv_heads=4 \
        vocabulary=401
    check "four devices, of which each has the whole vocabulary" agrees four --devices 3,2,1,0
    generate llama3 -p "a kernel" -n "$few" --ignore-stop --devices 0,1
    for mode in serial $(plain pdl graph); do
        check "two devices, mode $mode" same_tokens "$(field "$work/out.json" tokens)" \
            llama3 -p "a kernel" -n "$few" --ignore-stop --devices 0,1 --mode $mode
    done
    # A picture of both: none ends a hop before the other one begins it, since their lines stand on
    # one axis. The text is what it is without.
    pictured_both() {
        tokens=$(field "$work/out.json" tokens)
        generate llama3 -p "a kernel" -n "$few" --ignore-stop --devices 0,1 --trace "$work/picture" \
            "$@" || return 1
        cat "$work/picture"
        [ "$(field "$work/out.json" tokens)" = "$tokens" ] &&
            grep -q "^device 1's clock minus device 0's is .* us, by what hops show: " \
                "$work/picture" && "$python" -c 'import re, sys
rows = [re.match(r"([01]) (\S+) *\|(.*)\|", line) for line in open(sys.argv[1])]
rows = [row.groups() for row in rows if row]
assert len(rows) == 2 * 19, len(rows)
for (a, name, first), (b, other, second) in zip(rows[::2], rows[1::2]):
    assert (a, b) == ("0", "1") and name == other, (a, name, b, other)
    if name in ("sum_bf16", "move"):
        assert first.rindex("#") + 1 >= second.index("#"), (first, second)
        assert second.rindex("#") + 1 >= first.index("#"), (first, second)' "$work/picture"
    }
    check "a picture of two devices" pictured_both
    for mode in $(plain serial); do
        check "a picture of two devices, mode $mode" pictured_both --mode $mode
    done
    # Two processes, each with a device; the first one prints.
    joined() {
        "$GRIDDEP" spawn -n 2 -- "$llama" "$work/llama3" --join --json -p "a kernel" -n "$few" \
            --ignore-stop "$@" >"$work/joined.json" || return 1
        [ "$(field "$work/joined.json" tokens)" = "$(field "$work/out.json" tokens)" ]
    }
    check "a process for each device" joined
    for mode in $(plain pdl); do
        check "a process for each device, mode $mode" joined --mode $mode
    done
    # unlike WORDS FOLDER OPTIONS: process 1 has these, process 0 has llama3 and a prompt.
    unlike() {
        "$GRIDDEP" spawn -n 2 -- sh -c '[ "$RANK" = 0 ] && set -- $1 || set -- $2
            exec "$0" "$@" --join' "$llama" "$work/llama3 -p dog" "$work/$2 $3" >"$work/stdout" \
            2>"$work/stderr" && return 1
        cat "$work/stdout" "$work/stderr"
        grep -qF "processes 0 and 1 have different $1" "$work/stderr"
    }
    cp -r "$work/llama3" "$work/unlike"
    printf "8 others" | dd of="$work/unlike/model.safetensors" bs=1 seek=100000 conv=notrunc \
        2>/dev/null
    check "a process with other weights" unlike models unlike "-p dog"
    check "a process with other options" unlike options llama3 "-p dog --seed 1"
    check "a process with another prompt" unlike prompts llama3 "-p fox"
    rm -r "$work/unlike"
    check "a process alone" refuses "no launcher has set RANK" llama3 -p a --join
    check "devices that cannot share the heads" refuses "4 devices cannot share the model's 2 key" \
        llama3 -p a --devices 0,1,2,3
    check "a device twice" refuses "both of device 0" llama3 -p a --devices 0,0
    check "a device that is not there" refuses "device 9 does not exist" llama3 -p a --devices 0,9
    check "no device" refuses '"" is no whole number' llama3 -p a --devices 0,
    pictured_apart() {
        "$GRIDDEP" spawn -n 2 -- "$llama" "$work/llama3" --join -p a --trace - >"$work/stdout" \
            2>"$work/stderr" && return 1
        cat "$work/stdout" "$work/stderr"
        grep -qF -- "--trace draws the devices of one process" "$work/stderr"
    }
    check "a picture of several processes" pictured_apart
    [ "${SANITIZED-}" = 1 ] || check "sanitize, two devices" "${GRIDDEP:-$builddir/griddep}" sanitize -- "$llama" \
        "$work/llama3" -p "$long" -n 2 --part 64 --devices 0,1
    unset GRIDDEP_EMULATOR_DEVICES
fi

# ---- chips: other limits, and no wgmma

chipped() {
    chip=$1
    shift
    GRIDDEP_EMULATOR_CHIP=$chip
    export GRIDDEP_EMULATOR_CHIP
    "$@"
    status=$?
    unset GRIDDEP_EMULATOR_CHIP
    grep -q "Emulated $chip" "$work/out.json" && return $status
}
if [ "$GRIDDEP_DRIVER" = emulated ]; then
    for chip in $(plain sm_120) $(more sm_100); do
        check "$chip" chipped $chip parted llama3
        rounded=fp8
        check "$chip, 8 bits" chipped $chip agrees qwen2 --weights fp8
        unset rounded
        all_rounds && check "$chip, heads of 128, f16, two texts" \
            chipped $chip beside f16 --ignore-stop
    done
fi

# ---- modes, sampling, how a run ends

generate llama3 -p "a kernel" -n "$few" --ignore-stop
greedy=$(field "$work/out.json" tokens)
prompt=$(field "$work/out.json" prompt)
for mode in serial pdl graph; do
    check "mode $mode" same_tokens "$greedy" llama3 -p "a kernel" -n "$few" --ignore-stop --mode $mode
done
check "tokens as numbers" same_tokens "$greedy" llama3 -t "$prompt" -n "$few" --ignore-stop
printf 'a kernel' >"$work/prompt.txt"
check "text from a file" same_tokens "$greedy" llama3 -f "$work/prompt.txt" -n "$few" --ignore-stop
check "top-k 1 is greedy" same_tokens "$greedy" llama3 -p "a kernel" -n "$few" --ignore-stop \
    --temperature 2 --top-k 1

# The picture has a line a launch, and the text is what it is without.
pictured() {
    generate llama3 -p "a kernel" -n "$few" --ignore-stop --trace "$work/picture" || return 1
    cat "$work/picture"
    [ "$(field "$work/out.json" tokens)" = "$greedy" ] && grep -q '14 launches' "$work/picture" &&
        [ "$(grep -c '^attention_decode_bf16.*#' "$work/picture")" -eq 2 ] &&
        [ "$(wc -l <"$work/picture")" -eq 18 ]
}
check "a picture of a step" pictured
check "no room for a picture" refuses "--trace runs two steps" llama3 -p "a kernel" --context \
    "$(echo "$prompt" | tr , '\n' | wc -l)" --trace -

set -- llama3 -p "a kernel" -n "$few" --ignore-stop --temperature 1.5 --repetition-penalty 1.3 --seed
generate "$@" 5
drawn=$(field "$work/out.json" tokens)
check "a seed repeats" same_tokens "$drawn" "$@" 5 --mode serial
other_seed() { ! same_tokens "$drawn" "$@" 6; }
check "another seed differs" other_seed "$@"
penalized() {
    generate llama3 -p "a kernel" -n 30 --ignore-stop --repetition-penalty 100 || return 1
    field "$work/out.json" tokens | tr , '\n' | sort | uniq -d | wc -l | grep -qx 0
}
check "no token twice under a large penalty" penalized

# The third token that greedy gives ends the text, where the configuration says so.
third=$(echo "$greedy" | cut -d, -f3)
stops() {
    cp -r "$work/llama3" "$work/stop" &&
        echo "{\"eos_token_id\": [$third]}" >"$work/stop/generation_config.json" || return 1
    same_tokens "$(echo "$greedy" | cut -d, -f1,2)" stop -p "a kernel" -n "$few" || return 1
    [ "$(field "$work/out.json" ended_by)" = stop ]
}
check "a stop token ends the text and is not shown" stops
full() {
    generate llama3 -p "a kernel" -n 500 --ignore-stop --context 20 || return 1
    field "$work/out.json" tokens
    [ "$(field "$work/out.json" ended_by)" = context ] &&
        [ "$(field "$work/out.json" tokens | tr , '\n' | wc -l)" -eq \
            $((21 - $(echo "$prompt" | tr , '\n' | wc -l))) ]
}
check "a full context ends the text" full
says_room() {
    "$llama" "$work/llama3" -p "a kernel" -n 500 --context 20 --ignore-stop 2>&1 >"$work/text" |
        grep "a context of 20 holds $((21 - $(echo "$prompt" | tr , '\n' | wc -l))) tokens behind"
}
check "a count that the context does not hold" says_room
nothing() { same_tokens "" llama3 -p "a kernel" -n 0; }
check "no token" nothing

# Launch shapes: the same tokens behind a search, and with what it left in the store.
tuned() {
    small make "$work/one" llama3 layers=1 || return 1
    generate one -p "a kernel" -n 4 --ignore-stop || return 1
    plainly=$(field "$work/out.json" tokens)
    for tune in --tune ""; do
        # shellcheck disable=SC2086 # no word, or one
        GRIDDEP_STORE=$work/store same_tokens "$plainly" one -p "a kernel" -n 4 --ignore-stop \
            $tune 2>"$work/stderr$tune" || return 1
    done
    cat "$work/stderr--tune"
    grep -q "launch shapes tried, .* in place of" "$work/stderr--tune" && [ ! -s "$work/stderr" ] &&
        [ -n "$(ls "$work/store")" ]
}
for kind in $(more searched); do
    check "launch shapes, $kind" tuned
done

# No schedule of the emulated driver finds a race, nor a read of what nobody wrote.
sane() { "${GRIDDEP:-$builddir/griddep}" sanitize -- "$llama" "$@"; }
for mode in $(plain graph-pdl) $(more pdl); do
    check "sanitize, mode $mode" sane "$work/f32" -p "a kernel" -n 3 --mode $mode
    check "sanitize 4 bits, two texts, mode $mode" sane "$work/awq" -p "a kernel" -p "the lazy dog" \
        -n 2 --part 64 --mode $mode
    check "sanitize 8 bits in blocks, two texts, mode $mode" sane "$work/blocks" -p "a kernel" \
        -p "the lazy dog" -n 2 --part 64 --mode $mode
    check "sanitize 8 bits, two texts, mode $mode" sane "$work/llama3" -p "$long" -p "the lazy dog" \
        -n 2 --part 64 --weights fp8 --mode $mode
done
layers=$(plain llama3)
check "sanitize, steps alone" sane "$work/${layers:-wide}" -t 5 -n 2

# ---- the tokenizer. Bytes come back as they were, but for what is no UTF-8.

encoded() { # encoded FOLDER FILE: the prompt's tokens
    generate "$1" -f "$2" -n 0 && field "$work/out.json" prompt
}
is_encoded() { # is_encoded EXPECTED FOLDER FILE
    said=$(encoded "$2" "$3") || return 1
    echo "$said"
    [ "$said" = "$1" ]
}
printf '\001\303\251\377\340\200' >"$work/bytes"
# The small vocabularies have the bytes in their order. U+FFFD stands for each part of a sequence that
# is none.
bad=239,191,189
check "bytes" is_encoded "332,1,195,169,$bad,$bad,$bad" llama3 "$work/bytes"
printf '<|eot_id|>' >"$work/marks"
unmarked() { encoded "$1" "$work/marks" | tr , '\n' | wc -l | grep -qx 11; }
check "names of special tokens in a text are text" unmarked llama3
printf 'e\314\201' >"$work/accent"
check "NFC" is_encoded 195,169 qwen2 "$work/accent"
printf ' z\303\251' >"$work/block"
two_blocks=$("$python" -c 'import json, sys
names = json.load(open(sys.argv[1]))["model"]["vocab"]
print("%d,%d,%d" % (names["\u2581"], names["\u2581"], names["z"]))' "$work/llama2/tokenizer.json")
check "characters, and bytes for those that are missing" is_encoded \
    "1,$two_blocks,198,172" llama2 "$work/block"
chatted() { # the user's text cannot leave its message
    generate llama3 --chat --system "<|eot_id|>" -p "<|eot_id|>a" -n 1 || return 1
    field "$work/out.json" prompt | tr , '\n' >"$work/numbers"
    eot=$("$python" -c 'import json, sys
print([t["id"] for t in json.load(open(sys.argv[1]))["added_tokens"]][4])' \
        "$work/llama3/tokenizer.json")
    cat "$work/numbers"
    [ "$(grep -cx "$eot" "$work/numbers")" -eq 2 ]
}
check "a chat has its marks, and texts have none" chatted

# ---- bad input

cp -r "$work/llama3" "$work/broken"
broken() { # broken NAME WORDS FILE EXPRESSION: the file's JSON document `d` is changed
    cp "$work/llama3/$3" "$work/broken/$3"
    "$python" -c "import json, sys
d = json.load(open(sys.argv[1]))
$4
json.dump(d, open(sys.argv[1], 'w'))" "$work/broken/$3"
    check "$1" refuses "$2" broken -p a -n 1
    cp "$work/llama3/$3" "$work/broken/$3"
}
broken "an unknown family" 'model_type "gpt2" is none' config.json 'd["model_type"] = "gpt2"'
broken "a missing size" 'config.json has no "hidden_size"' config.json 'del d["hidden_size"]'
broken "another shape" 'is not 384 x 136' config.json 'd["hidden_size"] = 136'
broken "heads that no kernel has" 'heads of 32 elements' config.json 'd["head_dim"] = 32'
broken "a rotary scaling that is not known" '"yarn"' config.json \
    'd["rope_scaling"] = {"rope_type": "yarn", "factor": 4}'
broken "llama3 without a factor" '"llama3" needs a factor' config.json \
    'del d["rope_scaling"]["factor"]'
broken "a scaling that is no object" 'the rotary scaling is no object' config.json \
    'd["rope_scaling"] = "yarn"'
broken "a factor without a type" '"factor" is not 1' config.json 'd["rope_scaling"] = {"factor": 4}'
broken "heads that turn in part" '"partial_rotary_factor" is not 1' config.json \
    'd["partial_rotary_factor"] = 0.5'
broken "heads that turn in part, in the scaling" '"partial_rotary_factor" is not 1' config.json \
    'd["rope_parameters"] = {"rope_type": "default", "partial_rotary_factor": 0.5}'
broken "a member of the scaling that is not known" '"attention_factor", which' config.json \
    'd["rope_scaling"]["attention_factor"] = 2'
broken "a number that is text" '"num_hidden_layers" is no whole number' config.json \
    'd["num_hidden_layers"] = "2"'
broken "an epsilon that is no number of f32" '"rms_norm_eps" is no number from' config.json \
    'd["rms_norm_eps"] = 1e60'
broken "a base of angles below 1" '"rope_theta" is no number from' config.json 'd["rope_theta"] = 0.5'
broken "fewer layers than tensors" 'is no part of a model as config.json' config.json \
    'd["num_hidden_layers"] = 1'
broken "a head that differs, though tied" 'lm_head.weight is not model.embed_tokens.weight' config.json \
    'd["tie_word_embeddings"] = True'
for quantized in '"fp8"' '{"quant_method": "bitsandbytes"}' '{"quant_method": "fp8", "fmt": "e5m2"}' \
    '{"quant_method": "gptq", "checkpoint_format": "marlin"}' '{"quant_method": 3}' \
    '{"quant_method": "awq", "zero_point": False}' \
    '{"quant_method": "compressed-tensors", "transform_config": {"config_groups": {}}}'; do
    broken "quantization_config $quantized" 'config.json: ' config.json \
        "d['quantization_config'] = $quantized"
done
for sampled in '"temperature": -1' '"top_p": 5' '"repetition_penalty": 0'; do
    echo "{\"do_sample\": true, $sampled}" >"$work/broken/generation_config.json"
    check "generation_config.json, $sampled" refuses "${sampled%:*} is no number from" broken -p a
done
rm "$work/broken/generation_config.json"
broken "more layers than tensors" 'no tensor model.layers.2.input_layernorm.weight' config.json \
    'd["num_hidden_layers"] = 3'
broken "another activation" 'hidden_act "gelu"' config.json 'd["hidden_act"] = "gelu"'
broken "a vocabulary that does not fit" "the model's vocabulary 384" tokenizer.json \
    'd["added_tokens"][0]["id"] = 1000'
broken "a merge of nothing" 'merge 0' tokenizer.json 'd["model"]["merges"][0] = "zz qq"'
broken "an unknown step" 'step "Nmt"' tokenizer.json 'd["normalizer"] = {"type": "Nmt"}'
broken "a pattern that is none" 'the pattern that splits texts' tokenizer.json \
    'd["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {"Regex": "(a"}'
broken "a post-processor that is not known" 'post-processor "BertProcessing" is none' tokenizer.json \
    'd["post_processor"] = {"type": "BertProcessing"}'
broken "a normalizer without its list" 'no list "pretokenizers"' tokenizer.json \
    'd["normalizer"] = {"type": "Sequence", "pretokenizers": 3}'
broken "another model" 'the model is "Unigram"' tokenizer.json 'd["model"]["type"] = "Unigram"'

: >"$work/broken/config.json"
check "an empty file" refuses "broken/config.json is empty" broken -p a
echo '{"a": 1' >"$work/broken/config.json"
check "JSON that is cut" refuses "config.json, line" broken -p a
cp "$work/llama3/config.json" "$work/broken/config.json"

weights() { # weights NAME WORDS PYTHON: changes the bytes `b`
    "$python" -c "import sys
b = bytearray(open(sys.argv[1], 'rb').read())
$3
open(sys.argv[2], 'wb').write(b)" "$work/llama3/model.safetensors" "$work/broken/model.safetensors"
    check "$1" refuses "$2" broken -p a -n 1
}
weights "an empty file" "is no safetensors file" 'b = b""'
weights "a header longer than the file" "its header would have" 'b[0:8] = b"\xff" * 6 + b"\0\0"'
weights "a file that is cut" "the file is truncated" 'del b[-100:]'
weights "a header that is no JSON" "its header is no JSON object" 'b[8] = 0'
weights "offsets beyond the file" "the file is truncated, or its header wrong" \
    'b[:] = b.replace(b"[0, 98304]", b"[9,999304]")'
# changed FOLDER PYTHON: header `h` and data `d` of its weights are changed, in $work/other. put(TENSOR,
# NUMBER, FORM): its first number; retype(TENSOR, TYPE, DATA): all of them; add the same of a new one.
changed() {
    rm -rf "$work/other"
    cp -r "$work/$1" "$work/other"
    "$python" -c "import json, struct, sys
b = open(sys.argv[1], 'rb').read()
length = int.from_bytes(b[:8], 'little')
h, d = json.loads(b[8:8 + length]), bytearray(b[8 + length:])
def put(name, number, form):
    at = h[name]['data_offsets'][0]
    d[at:at + struct.calcsize(form)] = struct.pack(form, number)
def retype(name, dtype, data):
    h[name].update(dtype=dtype, data_offsets=[len(d), len(d) + len(data)])
    d.extend(data)
def add(name, shape, data):
    h[name] = {'shape': shape}
    retype(name, 'BF16', data)
q = 'model.layers.0.self_attn.q_proj.'
$2
t = json.dumps(h).encode()
open(sys.argv[1], 'wb').write(len(t).to_bytes(8, 'little') + t + d)" "$work/other/model.safetensors"
}
# tensors NAME WORDS FOLDER PYTHON [OPTION]...: what was changed so is refused.
tensors() {
    changed "$3" "$4"
    name=$1 words=$2
    shift 4
    check "$name" refuses "$words" other -p a -n 1 "$@"
}
for name in model.norm lm_head model.embed_tokens model.layers.0.self_attn.q_proj; do
    tensors "$name of integers" "$name.weight is of type I32, where floating" llama3 \
        "retype('$name.weight', 'I32', bytes(2 * (lambda a, b: b - a)(*h['$name.weight']['data_offsets'])))"
done
tensors "scales of integers" "q_proj.weight_scale is of type I32, where floating" e4m3_row \
    "h[q + 'weight_scale']['dtype'] = 'I32'"
for value in nan inf; do
    tensors "a norm of $value" "model.norm.weight has an element that is NaN or infinite" llama3 \
        "put('model.norm.weight', struct.unpack('<I', struct.pack('<f', float('$value')))[0] >> 16, '<H')"
    tensors "a matrix with $value" "q_proj.weight has an element that is NaN or infinite" llama3 \
        "put(q + 'weight', struct.unpack('<I', struct.pack('<f', float('$value')))[0] >> 16, '<H')"
    tensors "a scale of $value" "q_proj.weight_scale has an element that is NaN" e4m3_row \
        "put(q + 'weight_scale', float('$value'), '<f')"
    tensors "a scale of a block of $value" "q_proj.weight_scale_inv has an element that is NaN" blocks \
        "put(q + 'weight_scale_inv', float('$value'), '<f')"
    tensors "a scale of 4 bits of $value" "q_proj.scales has an element that is NaN" awq \
        "put(q + 'scales', float('$value'), '<e')"
done
tensors "a scale below 0" "q_proj.weight_scale has a scale below 0" e4m3_row \
    "put(q + 'weight_scale', -1, '<f')"
tensors "rows of 8 bits that are NaN" "q_proj.weight has an element that is NaN" e4m3_row \
    "put(q + 'weight', 255, 'B')"
tensors "an embedding that f16 cannot hold" "model.embed_tokens.weight has an element that F16 cannot" \
    llama3 "put('model.embed_tokens.weight', 0x4780, '<H')" --weights f16
tensors "activations that f16 cannot hold" "activations left the range of f16" \
    f16 "retype('model.norm.weight', 'F16', struct.pack('<128e', *[60000] * 128))"
tensors "tensors that overlap" "tensors model.layers.0.input_layernorm.weight and model.norm.weight overlap" \
    llama3 "h['model.norm.weight'] = h['model.layers.0.input_layernorm.weight']"
tensors "a bias that no llama has" "up_proj.bias is no part of a model" llama3 \
    "add('model.layers.0.mlp.up_proj.bias', [192], b'x' * 384)"
tensors "16 and 4 bits of a matrix" "q_proj.weight is no part of a model" awq \
    "add(q + 'weight', [8], b'x' * 16)"
idle() { # biases of zeros, and what serves activations of 8 bits, change nothing
    changed e4m3_row "add(q + 'bias', [8], bytes(16))
add(q + 'input_scale', [1], b'xx')
h[q + 'weight_scale_inv'] = h.pop(q + 'weight_scale')"
    generate e4m3_row -p a -n 2 && same_tokens "$(field "$work/out.json" tokens)" other -p a -n 2
}
check "biases of zeros, scales of activations" idle
versioned() { # compressed-tensors tells its own version
    cp -r "$work/blocks" "$work/versioned"
    sed "s/\"quant_method\": \"fp8\"/\"quant_method\": \"compressed-tensors\", \"version\": \"0.9\"/" \
        "$work/blocks/config.json" >"$work/versioned/config.json"
    grep -q '"version": "0.9"' "$work/versioned/config.json" && generate versioned -p a -n 1
}
check "the version of compressed-tensors" versioned
# --weights names what the files have, or nothing.
for pair in e4m3_row:bf16 e4m3_row:f16 blocks:bf16 blocks:int4 awq:bf16 awq:f16 awq:fp8; do
    check "--weights ${pair#*:} of ${pair%:*}" refuses "in the files, which --weights does not change" \
        "${pair%:*}" -p a --weights "${pair#*:}"
done
for pair in e4m3_row:fp8 blocks:fp8 awq:int4; do
    check "--weights ${pair#*:} of ${pair%:*}" generate "${pair%:*}" -p a -n 1 --weights "${pair#*:}"
done
weights "a type that is not read" "is of type I8" 'b[:] = b.replace(b"\"BF16\"", b"\"I8\"  ")'
# 4 bits that are not read, or do not fit.
four_bits() { # four_bits NAME WORDS OLD NEW: of config.json
    mkdir -p "$work/quantized"
    cp "$work/awq/tokenizer.json" "$work/awq/model.safetensors" "$work/quantized/"
    sed "s/$3/$4/" "$work/awq/config.json" >"$work/quantized/config.json"
    check "$1" refuses "$2" quantized -p a -n 1
}
four_bits "4 bits in groups of 64" "is not of 4 bits in groups of 128" '"group_size": 128' '"group_size": 64'
four_bits "8 bits of AWQ" "is not of 4 bits in groups of 128" '"bits": 4' '"bits": 8'
four_bits "another packing" 'has the version "gemv"' '"gemm"' '"gemv"'
four_bits "an order of columns that is not told" \
    "there is no tensor model.layers.0.self_attn.q_proj.g_idx, and" \
    '"desc_act": false' '"desc_act": true'
four_bits "4 bits that config.json does not tell of" "has no quantization_config of gptq or awq" \
    quantization_config quantized_config
four_bits "4 bits packed otherwise than told" "is not 32 x 256" '"quant_method": "awq", ' \
    '"quant_method": "gptq", '
# Blocks that are not read, or do not fit.
blocks() { # blocks NAME WORDS FILE PYTHON: changes the bytes `b` of a file
    rm -rf "$work/other_blocks" && cp -r "$work/blocks" "$work/other_blocks"
    "$python" -c "import sys
b = bytearray(open(sys.argv[1], 'rb').read())
$4
open(sys.argv[1], 'wb').write(b)" "$work/other_blocks/$3"
    check "$1" refuses "$2" other_blocks -p a -n 1
}
blocks "blocks of another size" "scales of other blocks are not read" config.json \
    'b[:] = b.replace(b"[128, 128]", b"[64, 128]")'
blocks "blocks that config.json does not tell of" "config.json tells of no blocks" config.json \
    'b[:] = b.replace(b"weight_block_size", b"weight_block_sizf")'
blocks "blocks without scales" "q_proj.weight_scale nor model.layers.0.self_attn.q_proj.weight_scale_inv" \
    model.safetensors 'b[:] = b.replace(b"q_proj.weight_scale_inv", b"q_proj.weight_scale_jnv", 1)'
blocks "scales of blocks that do not fit" "q_proj.weight_scale_inv is not 2 x 2" \
    model.safetensors 'b[:] = b.replace(b"\"shape\": [2, 2]", b"\"shape\": [4, 1]", 1)'
blocks "scales of blocks of another type" "is of type I32" model.safetensors \
    'b[:] = b.replace(b"{\"dtype\": \"F32\"", b"{\"dtype\": \"I32\"", 1)'
blocks "8 bits that are NaN" "q_proj.weight has an element that is NaN" model.safetensors \
    'b[8 + int.from_bytes(b[:8], "little") + 198000] = 0xff'
blocks "16 bits beside blocks" "k_proj.weight has no scales of blocks, which others" model.safetensors \
    'old = b"k_proj.weight\": {\"dtype\": \"F8_E4M3\", \"shape\": [128, 256]"
b[:] = b.replace(old, old.replace(b"\"F8_E4M3\"", b"\"BF16\"   ").replace(b"[128,", b"[ 64,"), 1)'
ordered() { # columns that were sorted
    mkdir -p "$work/sorted"
    cp "$work/gptq/tokenizer.json" "$work/gptq/config.json" "$work/sorted/"
    "$python" -c "import struct, sys
b = bytearray(open(sys.argv[1], 'rb').read())
groups = struct.pack('<256I', *(i // 128 for i in range(256)))
at = b.rindex(groups)
b[at:at + 4], b[at + 512:at + 516] = b[at + 512:at + 516], b[at:at + 4]
open(sys.argv[2], 'wb').write(b)" "$work/gptq/model.safetensors" "$work/sorted/model.safetensors" &&
        refuses "do not follow each other" sorted -p a -n 1
}
[ "${SANITIZED-}" = 1 ] || check "4 bits of sorted columns" ordered
check "4 bits of a model with other sizes" refuses "weights of 4 bits need" llama2 -p a --weights int4
weights "a shape that the bytes do not have" "its shape needs" \
    'b[:] = b.replace(b"[384, 128]", b"[384, 129]", 1)'
"$python" -c "import sys
b = open(sys.argv[1], 'rb').read()
open(sys.argv[2], 'wb').write(b.replace(b'0.self_attn.o_proj.weight_scale', b'0.self_attn.o_proj.weight_scalf'))" \
    "$work/e4m3_row/model.safetensors" "$work/broken/model.safetensors"
check "8 bits without their scales" refuses "and there is neither" broken -p a -n 1
rm "$work/broken/model.safetensors"
check "no weights" refuses "has neither model.safetensors nor" broken -p a
mkfifo "$work/broken/model.safetensors" "$work/fifo"
for name in "$work/fifo" /dev/zero /dev/null "$work"; do
    check "the text from $name" refuses "is no regular file" llama3 -f "$name"
done
check "weights in a FIFO" refuses "is no regular file" broken -p a
check "a picture into a FIFO without a reader" refuses "$work/fifo: this is a pipe from which no program reads" llama3 -p a --trace="$work/fifo"
rm "$work/broken/model.safetensors"
says_random() { make -n -C "$builddir" llama-demo | grep -q "are random, and so are its words"; }
check "the demonstration says that its words are random" says_random
# ends_with_error OPTION...: on a device that is full, and with standard output closed.
ends_with_error() {
    for closed in "standard output is closed" "standard output: "; do
        if [ "$closed" = "standard output: " ]; then
            "$llama" "$work/llama3" "$@" 2>"$work/stderr" >/dev/full
        else
            "$llama" "$work/llama3" "$@" 2>"$work/stderr" >&-
        fi
        status=$?
        cat "$work/stderr"
        [ "$status" -eq 1 ] && grep -q "$closed" "$work/stderr" || return 1
    done
}
check "a text that cannot be written" ends_with_error -p a -n 4
check "a document that cannot be written" ends_with_error -p a -n 4 --json
check "texts that cannot be written" ends_with_error -p a -p b -n 4
check "a help that cannot be written" ends_with_error --help
demo() { # makes its model where there is none
    (unset MAKEFLAGS MAKELEVEL MFLAGS &&
        "${MAKE:-make}" -s -C "$builddir" llama-demo) >"$work/demo.out" &&
        [ "$(wc -c <"$work/demo.out")" -gt 20 ]
}
check "make llama-demo" demo
check "no folder" refuses "config.json: No such file" nowhere -p a
no_room() { GRIDDEP_EMULATOR_MEMORY=4M refuses "$@"; }
check "a context that memory cannot hold" no_room "try --context" llama3 -p a --context 4096
no_weights() { GRIDDEP_EMULATOR_MEMORY=1M refuses "$@"; }
check "weights that memory cannot hold" no_weights "the weights need" deep -p a
check "a prompt longer than the context" refuses "the prompt has" llama3 -p "a kernel that waits" \
    --context 2
check "no prompt" refuses "give the text by --prompt" llama3
check "nine prompts" refuses "more than 8 texts" llama3 -p a -p a -p a -p a -p a -p a -p a -p a -p a
check "a part of nothing" refuses '--part: "0" is no whole number from 1' llama3 -p a --part 0
check "a token beyond the vocabulary" refuses "384 is no token of a vocabulary of 384" llama3 -t 384
check "tokens that are none" refuses "is no list of numbers" llama3 -t 1,,2
check "shapes of a mode without them" refuses "--tune is for the modes pdl and graph-pdl" llama3 \
    -p a --mode graph --tune
check "a mode that is none" refuses '"fast" is none of' llama3 -p a --mode fast
finish
