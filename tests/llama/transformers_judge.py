"""Holds the program against Hugging Face Transformers, where that is installed (a GPU machine).

    transformers_judge.py agree LLAMA [OPTION]...
        random small models of each family, saved by Transformers: 256 greedy tokens each behind a
        prompt in parts, judged by Transformers' logits in float32
    transformers_judge.py attention GRIDDEP [TOKENS]...
        attention_prefill_bf16 beside PyTorch's scaled_dot_product_attention, causal, 32 heads at 8

A token agrees when it is the one of the largest logit in float32, given all tokens before it, or
when the choice is within the precision of the weights' format: twice what Transformers' own logits
in that format differ from those in float32, at most, at any of the places.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

SHAPE = dict(hidden_size=256, intermediate_size=640, num_hidden_layers=3, num_attention_heads=4,
             num_key_value_heads=2, vocab_size=1000, max_position_embeddings=2048,
             rms_norm_eps=1e-5, tie_word_embeddings=False, bos_token_id=1, eos_token_id=2,
             pad_token_id=0)
LLAMA3_ROPE = dict(rope_type="llama3", factor=32.0, low_freq_factor=1.0, high_freq_factor=4.0,
                   original_max_position_embeddings=128)


try:
    import torch
    import transformers
except ImportError as problem:
    torch = transformers = None
    missing = problem


def families():
    c = transformers
    yield "llama 2", c.LlamaConfig(**SHAPE)
    yield "llama 3", c.LlamaConfig(**dict(SHAPE, rope_theta=500000.0, rope_scaling=LLAMA3_ROPE,
                                          tie_word_embeddings=True))
    yield "llama, heads of 128", c.LlamaConfig(**dict(SHAPE, head_dim=128, num_attention_heads=16,
                                                      num_key_value_heads=2))
    yield "mistral", c.MistralConfig(**dict(SHAPE, sliding_window=None))
    yield "qwen 2", c.Qwen2Config(**SHAPE)
    yield "qwen 3", c.Qwen3Config(**dict(SHAPE, head_dim=128))


def make(config, folder, dtype):
    """A random model whose layers matter, in 16 bits."""
    torch.manual_seed(7)
    model = transformers.AutoModelForCausalLM.from_config(config)
    for name, parameter in model.named_parameters():
        with torch.no_grad():
            if "norm" in name:
                parameter.uniform_(0.5, 1.5)
            elif name.endswith("bias"):
                parameter.normal_(0, 0.3)
            elif "embed" in name:
                parameter.normal_(0, 1)
            else:
                parameter.normal_(0, 1.4 / parameter.shape[-1] ** 0.5)
    model.to(dtype).save_pretrained(folder, safe_serialization=True)


def run(llama, folder, tokens, count, *options):
    command = [llama, folder, "--tokens", ",".join(map(str, tokens)), "-n", str(count), "--json",
               "--temperature", "0", "--ignore-stop", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def logits_of(folder, dtype, tokens, last):
    """Of a model as it is loaded: one that is converted has rotary frequencies of 16 bits."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)
    with torch.no_grad():
        return model.cuda()(torch.tensor([tokens]).cuda()).logits[0, -last - 1 : -1].double().cpu()


def agree(llama, options):
    failed = 0
    for name, config in families():
        for dtype in (torch.bfloat16, torch.float16):
            with tempfile.TemporaryDirectory() as folder:
                make(config, folder, dtype)
                prompt = torch.randint(3, 1000, (301,)).tolist()
                tokens = run(llama, folder, prompt, 256, "--part", "128", *options)["tokens"]
                rows = logits_of(folder, torch.float32, prompt + tokens, len(tokens))
                rounded = logits_of(folder, dtype, prompt + tokens, len(tokens))
            precision = 2 * (rows - rounded).abs().max().item()
            top = rows.topk(2).values
            chosen = rows[torch.arange(len(tokens)), torch.tensor(tokens)]
            theirs = rows[torch.arange(len(tokens)), rounded.argmax(1)]
            wrong = (top[:, 0] - chosen > precision).sum().item()
            clear = (top[:, 0] - top[:, 1] > precision).sum().item()
            print("%-20s %-8s %3d tokens, %3d the same as float32 (Transformers in this format: "
                  "%3d), %3d beyond its precision, of which %d differ; worst logit short by %.4f "
                  "(theirs %.4f)"
                  % (name, str(dtype)[6:], len(tokens), (chosen == top[:, 0]).sum().item(),
                     (theirs == top[:, 0]).sum().item(), clear, wrong,
                     (top[:, 0] - chosen).max().item(), (top[:, 0] - theirs).max().item()))
            failed += len(tokens) != 256 or wrong
    return 1 if failed else 0


def median_time(function, repeats=15):
    """Milliseconds of a call that ends on the device."""
    times = []
    for _ in range(repeats + 3):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        function()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return sorted(times[3:])[repeats // 2]


def attention_chain(tokens, head_dim, launches=8, heads=32, kv_heads=8):
    """A chain file: each attention's output is the next one's queries."""
    queries, cache = tokens * heads * head_dim, tokens * kv_heads * head_dim
    lines = ["name: attention of %d tokens, heads of %d" % (tokens, head_dim), "buffers:",
             "  - {name: first, type: u32, count: 1}"]
    for name, count in [("k", cache), ("v", cache)] + [("y%d" % i, queries)
                                                       for i in range(launches + 1)]:
        random = ", random: {seed: 1, distribution: normal, deviation: 1}"
        lines.append("  - {name: %s, type: bf16, count: %d%s}"
                     % (name, count, random if name in ("k", "v", "y0") else ""))
    lines.append("launches:")
    for i in range(launches):
        lines += ["  - kernel: attention_prefill_bf16",
                  "    grid: [%d, %d, 1]" % (heads, (tokens + 127) // 128),
                  "    block: [128]", "    shared: %d" % (768 * head_dim), "    arguments:"]
        lines += ["      - {%s}" % argument for argument in (
            "buffer: y%d, access: read" % i, "buffer: k, access: read", "buffer: v, access: read",
            "buffer: first, access: read", "u64: 0", "buffer: y%d, access: write" % (i + 1),
            "u32: %d" % tokens, "u32: %d" % kv_heads, "u32: %d" % head_dim, "u32: %d" % tokens,
            "f32: %.9g" % head_dim ** -0.5)]
    return "\n".join(lines) + "\n", launches


def time_chain(griddep, tokens, head_dim):
    """Microseconds of an attention, the fastest mode's."""
    text, launches = attention_chain(tokens, head_dim)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "attention.yaml")
        with open(path, "w") as file:
            file.write(text)
        done = subprocess.run([griddep, "run", path, "--json"], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr or done.stdout)
    return min(mode["timing"]["median_us"] for mode in json.loads(done.stdout)["modes"]) / launches


def attention(griddep, sizes):
    for tokens in sizes or (512, 2048, 4096, 8192):
        for head_dim in (64, 128):
            work = 2 * 32 * head_dim * tokens * (tokens + 1)  # multiplications and additions
            ours = time_chain(griddep, tokens, head_dim)
            line = "%5d tokens, heads of %3d: %8.1f us, %6.1f TFLOP/s" % (
                tokens, head_dim, ours, work / ours / 1e6)
            if torch:
                q, k, v = (torch.randn(1, heads, tokens, head_dim, dtype=torch.bfloat16).cuda()
                           for heads in (32, 8, 8))
                theirs = 1e3 * median_time(
                    lambda q=q, k=k, v=v: [torch.nn.functional.scaled_dot_product_attention(
                        q, k, v, is_causal=True, enable_gqa=True) for _ in range(8)]) / 8
                line += "; PyTorch %8.1f us, %.2f of its speed" % (theirs, theirs / ours)
            print(line)
    return 0


def main(arguments):
    if len(arguments) >= 2 and arguments[0] == "attention":
        return attention(arguments[1], [int(size) for size in arguments[2:]])
    if not torch:
        print("skipped: %s" % missing)
        return 77
    if len(arguments) >= 2 and arguments[0] == "agree":
        return agree(arguments[1], arguments[2:])
    sys.stderr.write(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
