"""Holds the program against Hugging Face Transformers, where that is installed (a GPU machine).

    transformers_judge.py agree LLAMA             random small models of each family, saved by
                                                  Transformers: 256 greedy tokens each, judged by
                                                  Transformers' logits in float32
    transformers_judge.py bench LLAMA [OPTION]... times a model of Llama-3.2-1B's shape, with random
                                                  weights, at contexts 512 and 4096; options go to
                                                  the program

A token agrees when its logit is within the precision of bf16 of the largest one, given all tokens
before it; 0.1 of the root mean square of all logits is that precision.
"""

import json
import subprocess
import sys
import tempfile

import torch
import transformers

SHAPE = dict(hidden_size=256, intermediate_size=640, num_hidden_layers=3, num_attention_heads=4,
             num_key_value_heads=2, vocab_size=1000, max_position_embeddings=2048,
             rms_norm_eps=1e-5, tie_word_embeddings=False, bos_token_id=1, eos_token_id=2,
             pad_token_id=0)
LLAMA3_ROPE = dict(rope_type="llama3", factor=32.0, low_freq_factor=1.0, high_freq_factor=4.0,
                   original_max_position_embeddings=128)


def families():
    c = transformers
    yield "llama 2", c.LlamaConfig(**SHAPE)
    yield "llama 3", c.LlamaConfig(**dict(SHAPE, rope_theta=500000.0, rope_scaling=LLAMA3_ROPE,
                                          tie_word_embeddings=True))
    yield "llama, heads of 128", c.LlamaConfig(**dict(SHAPE, head_dim=128, num_attention_heads=8,
                                                      num_key_value_heads=1))
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
    model = model.to(dtype)
    model.save_pretrained(folder, safe_serialization=True)
    return model.float()


def run(llama, folder, tokens, count, *options):
    command = [llama, folder, "--tokens", ",".join(map(str, tokens)), "-n", str(count), "--json",
               "--temperature", "0", "--ignore-stop", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def agree(llama):
    failed = 0
    for name, config in families():
        for dtype in (torch.bfloat16, torch.float16):
            with tempfile.TemporaryDirectory() as folder:
                model = make(config, folder, dtype)
                prompt = torch.randint(3, 1000, (37,)).tolist()
                tokens = run(llama, folder, prompt, 256)["tokens"]
                with torch.no_grad():
                    logits = model.cuda()(torch.tensor([prompt + tokens]).cuda()).logits[0].cpu()
            rows = logits[len(prompt) - 1 : len(prompt) - 1 + len(tokens)].double()
            scale = rows.pow(2).mean(1).sqrt()
            top = rows.topk(2).values
            short = (top[:, 0] - rows[torch.arange(len(tokens)), torch.tensor(tokens)]) / scale
            clear = ((top[:, 0] - top[:, 1]) / scale > 0.1).sum().item()
            same = (rows.argmax(1) == torch.tensor(tokens)).sum().item()
            print("%-20s %-8s %3d tokens, %3d the same as float32, %3d without a choice, worst "
                  "logit short by %.3f of the logits' scale"
                  % (name, str(dtype)[6:], len(tokens), same, clear, short.max().item()))
            failed += len(tokens) != 256 or short.max().item() > 0.1
    return 1 if failed else 0


def bench(llama, options):
    config = transformers.LlamaConfig(
        hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
        num_key_value_heads=8, head_dim=64, vocab_size=128256, max_position_embeddings=131072,
        rope_theta=500000.0, rope_scaling=LLAMA3_ROPE, tie_word_embeddings=True)
    with tempfile.TemporaryDirectory() as folder:
        torch.manual_seed(1)
        torch.set_default_dtype(torch.bfloat16)
        with torch.device("cuda"):
            model = transformers.AutoModelForCausalLM.from_config(config)
        model.save_pretrained(folder, safe_serialization=True)
        del model
        torch.cuda.empty_cache()
        for length in (496, 4080):
            tokens = torch.randint(3, 128000, (length,)).tolist()
            for mode in ("serial", "pdl", "graph", "graph-pdl"):
                told = run(llama, folder, tokens, 64, "--mode", mode, *options)
                print("context %d, mode %-9s  %.1f us a token, %.2f TB/s; %.1f ms to the first"
                      % (length + 16, mode, told["token_us"],
                         told["token_bytes"] / told["token_us"] / 1e6, told["first_us"] / 1e3))
    return 0


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "agree":
        return agree(arguments[1])
    if len(arguments) >= 2 and arguments[0] == "bench":
        return bench(arguments[1], arguments[2:])
    sys.stderr.write(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
