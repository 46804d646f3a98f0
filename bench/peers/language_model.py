#!/usr/bin/env python3
"""A language model's step: examples/llama in its four modes beside others, in one run.

    language_model.py LLAMA [--shape 1b|8b | --model FOLDER] [--weights bf16|fp8|int4]...
                      [--context N]... [--sequences N]... [--prompt N]... [--rounds N] [--count N]
                      [--no-peers] [--llama-cpp CHECKOUT] [--vllm] [--json FILE]

LLAMA is the program. --shape makes a model of random weights: 1b, the shape of Llama-3.2-1B, is
the default. A row of the table is a step of so many sequences, each behind so many tokens: us a
step, the median of rounds in which our modes take turns. TB/s are the bytes of weights and cache
that our fastest mode reads in its time. The peers run bf16, on one device:

    compiled   Transformers' model with a static cache, by torch.compile in a CUDA graph
    generate   what its users call: generate(cache_implementation="static")
    llama.cpp  build/bin/llama-bench of the checkout; one sequence alone, and a cache in f16
    vLLM       vllm bench latency, started twice: the difference of two lengths

--prompt measures the time to the first token beside PyTorch's compiled forward. A peer that is
absent or fails is told on stderr, and the others go on. By default one step in each of bf16,
fp8 and int4 is measured. Exit code 77: skipped, with the reason.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

import peer

MODES = ("serial", "graph", "pdl", "graph-pdl")
SHAPES = {
    "1b": {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16,
           "head_dim": 64, "tie_word_embeddings": True},
    "8b": {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
           "head_dim": 128, "tie_word_embeddings": False}}
ROPE = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192}


def make_model(torch, transformers, shape, folder):
    config = transformers.LlamaConfig(
        **SHAPES[shape], num_attention_heads=32, num_key_value_heads=8, vocab_size=128256,
        max_position_embeddings=131072, rope_theta=500000.0, rope_scaling=ROPE)
    torch.manual_seed(1)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = transformers.AutoModelForCausalLM.from_config(config)
    model.save_pretrained(folder, safe_serialization=True)
    del model
    torch.cuda.empty_cache()


def random_tokens(folder, sequences, length):
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        vocabulary = json.load(file)["vocab_size"]
    chance = random.Random(7)
    return [[chance.randrange(3, vocabulary) for _ in range(length)] for _ in range(sequences)]


def output_of(command):
    """What a program prints; an exception with its last line where it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(lines[-1] if lines else f"{command[0]}: exit code {done.returncode}")
    return done.stdout


def run_ours(options, folder, tokens, count, *more):
    command = [options.llama, folder, "-n", str(count), "--bench", "--json", "--temperature", "0",
               "--ignore-stop", *more]
    for row in tokens:
        command += ["--tokens", ",".join(map(str, row))]
    try:
        return json.loads(output_of(command))
    except (OSError, RuntimeError) as problem:
        sys.exit(f"{options.llama}: {problem}")


def ours(options, folder, case, tokens):
    """The medians of our modes, and the bytes of a step."""
    runs = [[run_ours(options, folder, tokens, options.count, "--mode", mode,
                      "--weights", case["weights"]) for mode in MODES]
            for _ in range(options.rounds)]
    times = [statistics.median(told[i]["token_us"] for told in runs) for i in range(len(MODES))]
    return times, runs[0][0]["token_bytes"]


class Transformers:
    """Transformers' model in bf16 on the device, until `close`."""

    def __init__(self, torch, transformers, folder):
        self.torch, self.transformers = torch, transformers
        self.model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.bfloat16).cuda().eval()

    def close(self):
        self.model = None
        self.torch.compiler.reset()  # no shape of this case makes the next one's code dynamic
        self.torch.cuda.empty_cache()

    def compiled(self, tokens, count, rounds):
        """A greedy step, each behind the one before: the caches of newer versions count steps by
        themselves. A step reads all of a static cache, so ours and theirs are as long."""
        torch, ids = self.torch, self.torch.tensor(tokens).cuda()
        steps = max(1, count // (rounds + 1))
        cache = self.transformers.StaticCache(
            config=self.model.config, max_cache_len=ids.shape[1] + rounds * (steps + 1) + 8)
        token, position = ids[:, -1:].clone(), torch.tensor([ids.shape[1]]).cuda()

        def forward(token, position):
            told = self.model(token, past_key_values=cache, cache_position=position,
                              position_ids=position[None].expand(token.shape[0], 1))
            return told.logits[:, -1:].argmax(-1)

        with torch.no_grad():
            self.model(ids, past_key_values=cache,
                       cache_position=torch.arange(ids.shape[1]).cuda())
            step = torch.compile(forward, fullgraph=True, dynamic=False,
                                 options={"coordinate_descent_tuning": True})

            def move():
                token.copy_(step(token, position))
                position.add_(1)

            graph = peer.capture(torch, move)
            return statistics.median(
                peer.time_batch(torch, graph, steps) / steps for _ in range(rounds))

    def generate(self, tokens, count, rounds):
        """The difference between a long and a short text."""
        torch, ids = self.torch, self.torch.tensor(tokens).cuda()

        def seconds(new):
            begin = time.perf_counter()
            self.model.generate(
                ids, attention_mask=torch.ones_like(ids), min_new_tokens=new, max_new_tokens=new,
                do_sample=False, cache_implementation="static", pad_token_id=0)
            torch.cuda.synchronize()
            return time.perf_counter() - begin

        short = max(2, count // 8)
        for new in (short, count, short, count):
            seconds(new)
        return statistics.median(1e6 * (seconds(count) - seconds(short)) / (count - short)
                                 for _ in range(rounds))

    def prompt(self, tokens, rounds):
        """Milliseconds to the first token of a prompt."""
        torch, ids, times = self.torch, self.torch.tensor(tokens).cuda(), []
        compiled = torch.compile(lambda ids: self.model(ids, logits_to_keep=1).logits.argmax(-1))
        with torch.no_grad():
            for _ in range(rounds + 3):
                torch.cuda.synchronize()
                begin = time.perf_counter()
                compiled(ids)
                torch.cuda.synchronize()
                times.append(1e3 * (time.perf_counter() - begin))
        return statistics.median(times[3:])


class LlamaCpp:
    """llama-bench of a checkout that is built, and the model as a file for it."""

    def __init__(self, checkout, folder, made):
        self.checkout, self.file = checkout, os.path.join(made, "model.gguf")
        if folder == made:  # random weights have no tokenizer; the converter insists on one
            import sentencepiece
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(["a word"]), model_prefix=os.path.join(made, "tokenizer"),
                model_type="char", byte_fallback=True, vocab_size=512, hard_vocab_limit=False,
                minloglevel=2)
        output_of([sys.executable, os.path.join(checkout, "convert_hf_to_gguf.py"), folder,
                   "--outtype", "bf16", "--outfile", self.file])

    def step(self, tokens, count, rounds):
        if len(tokens) > 1:
            return None
        told = json.loads(output_of([
            os.path.join(self.checkout, "build", "bin", "llama-bench"), "-m", self.file, "-p", "0",
            "-n", str(count), "-d", str(len(tokens[0])), "-r", str(rounds), "-ngl", "99",
            "-fa", "1", "-o", "json"]))
        return statistics.median(told[0]["samples_ns"]) / 1e3 / count


def vllm_step(folder, tokens, count, rounds):
    length = len(tokens[0])

    def seconds(new):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            output_of(["vllm", "bench", "latency", "--model", folder, "--dtype", "bfloat16",
                       "--skip-tokenizer-init", "--disable-detokenize",
                       "--gpu-memory-utilization", "0.5", "--max-model-len", str(length + count),
                       "--input-len", str(length), "--output-len", str(new),
                       "--batch-size", str(len(tokens)), "--num-iters-warmup", "3",
                       "--num-iters", str(rounds), "--output-json", file.name])
            return statistics.median(json.load(file)["latencies"])

    short = max(2, count // 8)
    return 1e6 * (seconds(count) - seconds(short)) / (count - short)


def attempt(name, function, *arguments):
    """None where a peer fails, whatever its version throws."""
    try:
        return function(*arguments)
    except Exception as problem:
        print(f"{name}: {type(problem).__name__}: {problem}", file=sys.stderr)
        return None


def way_of(torch, transformers, folder, method):
    """A method of Transformers, with a model that is on the device while it runs."""
    def run(*arguments):
        model = Transformers(torch, transformers, folder)
        try:
            return getattr(model, method)(*arguments)
        finally:
            model.close()

    return run


def find_peers(torch, transformers, options, folder, made):
    """Peers by name: functions of tokens, count and rounds."""
    if options.no_peers:
        return {}
    peers = {name: way_of(torch, transformers, folder, name) for name in ("compiled", "generate")}
    if options.llama_cpp:
        bench = attempt("llama.cpp", LlamaCpp, options.llama_cpp, folder, made)
        if bench:
            peers["llama.cpp"] = bench.step
    if options.vllm:
        peers["vLLM"] = lambda *arguments: vllm_step(folder, *arguments)
    return peers


def steps(options, folder, peers):
    table, results = peer.Table(["model", "weights", "context", "sequences", *MODES, "TB/s",
                                 *peers, "best peer / ours"]), []
    for case in options.cases:
        # The steps lie around the context.
        tokens = random_tokens(folder, case["sequences"], case["context"] - options.count // 4)
        mine, read = ours(options, folder, case, tokens)
        told = {name: attempt(name, way, tokens, options.count, options.rounds)
                for name, way in peers.items() if case["weights"] == "bf16"}
        right = [value for value in told.values() if value is not None]
        results.append({**case, "us": dict(zip(MODES, mine)), "bytes": read, "peers_us": told})
        table.row([options.name, *map(str, case.values()), *(f"{value:.1f}" for value in mine),
                   f"{read / min(mine) / 1e6:.2f}",
                   *("-" if told.get(name) is None else f"{told[name]:.1f}" for name in peers),
                   f"{min(right) / min(mine):.2f}" if right else "-"])
    return results


def prompts(options, folder, way):
    if not options.prompt:
        return []
    table, results = peer.Table(["prompt", "part", "ours, ms", "compiled, ms"]), []
    for length in options.prompt:
        tokens = random_tokens(folder, 1, length)
        their = None if options.no_peers else attempt("prompt", way, tokens, options.rounds)
        for part in sorted({min(length, 512), min(length, 2048)}):
            mine = statistics.median(
                run_ours(options, folder, tokens, 1, "--part", str(part))["first_us"] / 1e3
                for _ in range(options.rounds))
            results.append({"tokens": length, "part": part, "ms": mine, "compiled_ms": their})
            table.row([str(length), str(part), f"{mine:.2f}",
                       "-" if their is None else f"{their:.2f}"])
    return results


def read_options():
    options = argparse.ArgumentParser()
    options.add_argument("llama", help="the program of examples/llama")
    options.add_argument("--shape", choices=sorted(SHAPES), default="1b")
    options.add_argument("--model", metavar="FOLDER", help="in place of random weights")
    options.add_argument("--weights", choices=("bf16", "fp8", "int4"), action="append")
    options.add_argument("--context", type=int, action="append", help="512")
    options.add_argument("--sequences", type=int, action="append", help="of a step: 1")
    options.add_argument("--prompt", type=int, action="append", default=[],
                         help="tokens before the first one")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--count", type=int, default=64, help="tokens of a round")
    options.add_argument("--no-peers", action="store_true")
    options.add_argument("--llama-cpp", metavar="CHECKOUT")
    options.add_argument("--vllm", action="store_true")
    options.add_argument("--json", metavar="FILE", help="also write all figures there")
    options = options.parse_args()
    options.name = os.path.basename((options.model or options.shape).rstrip("/"))
    options.cases = [{"weights": weights, "context": context, "sequences": sequences}
                     for weights in options.weights or ["bf16", "fp8", "int4"]
                     for context in options.context or [512]
                     for sequences in options.sequences or [1]]
    return options


def main():
    options = read_options()
    torch = peer.find_torch()
    try:
        import transformers
    except ImportError as problem:
        peer.skip(f"no Transformers: {problem}")
    with tempfile.TemporaryDirectory() as made:
        folder = options.model or made
        if not options.model:
            make_model(torch, transformers, options.shape, made)
        document = {"device": torch.cuda.get_device_name(), "torch": torch.__version__,
                    "transformers": transformers.__version__}
        print(f"us a step on {document['device']}, PyTorch {document['torch']}, "
              f"Transformers {document['transformers']}")
        document["steps"] = steps(
            options, folder, find_peers(torch, transformers, options, folder, made))
        document["prompts"] = prompts(
            options, folder, way_of(torch, transformers, folder, "prompt"))
    if options.json:
        peer.write(options.json, document)


if __name__ == "__main__":
    main()
