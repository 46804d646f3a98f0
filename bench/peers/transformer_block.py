#!/usr/bin/env python3
"""A decoder layer in bf16 at batch 1: griddep's four modes beside PyTorch in a CUDA graph, eager and by torch.compile, in one run on one machine.

    transformer_block.py [--suites PATH] [--repeat N] [--layers N] [--model NAME]... [--context N]... [--no-tuning] [--json FILE]

Shapes are those of `bench/suites transformer-block`. A layer has weights and a cache of its own, the new token stands last in its context. Each way's
result of one layer is compared with float64. torch.compile is given what serves it best: a matrix for q, k and v, one for gate and up, and the search of
its tuner (--no-tuning: without). Exit code 77: skipped, with the reason.
"""
import argparse
import math

import peer

TOLERANCE = 2e-2
EPSILON = 1e-5


class Layer:
    def __init__(self, torch, shape, generator):
        hidden, heads, kv, dim, wide = (shape[key] for key in ("hidden", "heads", "kv_heads", "head_dim", "feed_forward"))

        def normal(*size, scale=1.0):
            return torch.randn(*size, device="cuda", dtype=torch.bfloat16, generator=generator) * scale

        def norm():
            return torch.rand(hidden, device="cuda", generator=generator).add(0.5).to(torch.bfloat16)

        rows = (heads + 2 * kv) * dim
        self.w_qkv = normal(rows, hidden, scale=1 / math.sqrt(hidden))
        self.w_o = normal(hidden, heads * dim, scale=1 / math.sqrt(heads * dim))
        self.w_gate_up = normal(2 * wide, hidden, scale=1 / math.sqrt(hidden))
        self.w_down = normal(hidden, wide, scale=1 / math.sqrt(wide))
        self.norm_1, self.norm_2 = norm(), norm()
        self.k, self.v = normal(1, kv, shape["context"], dim), normal(1, kv, shape["context"], dim)

    def tensors(self):
        return self.w_qkv, self.w_o, self.w_gate_up, self.w_down, self.norm_1, self.norm_2, self.k, self.v


def make_step(torch, shape):
    """One layer as a function of tensors alone, so that compiled code serves all layers."""
    heads, kv, dim, last = shape["heads"], shape["kv_heads"], shape["head_dim"], shape["context"] - 1
    functional = torch.nn.functional

    def norm(x, weight):
        wide = x.float()
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + EPSILON)).to(x.dtype) * weight

    def rotate(x, cosine, sine):
        a, b = x.float().chunk(2, -1)
        return torch.cat((a * cosine - b * sine, b * cosine + a * sine), -1).to(x.dtype)

    def step(h, cosine, sine, w_qkv, w_o, w_gate_up, w_down, norm_1, norm_2, k_cache, v_cache):
        q, k, v = functional.linear(norm(h, norm_1), w_qkv).view(1, heads + 2 * kv, dim).split((heads, kv, kv), 1)
        k_cache[:, :, last] = rotate(k, cosine, sine)
        v_cache[:, :, last] = v
        q = rotate(q, cosine, sine).view(1, heads, 1, dim)
        attention = functional.scaled_dot_product_attention(q, k_cache, v_cache, enable_gqa=True)
        h2 = h + functional.linear(attention.reshape(1, heads * dim), w_o)
        gate, up = functional.linear(norm(h2, norm_2), w_gate_up).chunk(2, -1)
        return h2 + functional.linear(functional.silu(gate) * up, w_down)

    return step


def reference(torch, shape, layer, h, cosine, sine):
    """The same in float64, without rounding in between."""
    heads, kv, dim, last = shape["heads"], shape["kv_heads"], shape["head_dim"], shape["context"] - 1
    w_qkv, w_o, w_gate_up, w_down, norm_1, norm_2, k_cache, v_cache = (tensor.double() for tensor in layer.tensors())
    h, cosine, sine = h.double(), cosine.double(), sine.double()

    def norm(x, weight):
        return x / torch.sqrt(x.square().mean(-1, keepdim=True) + EPSILON) * weight

    def rotate(x):
        a, b = x.chunk(2, -1)
        return torch.cat((a * cosine - b * sine, b * cosine + a * sine), -1)

    q, k, v = (norm(h, norm_1) @ w_qkv.t()).view(heads + 2 * kv, dim).split((heads, kv, kv), 0)
    keys, values = k_cache[0].clone(), v_cache[0].clone()
    keys[:, last], values[:, last] = rotate(k), v
    q = rotate(q).view(kv, heads // kv, dim)
    attention = torch.softmax(q @ keys.transpose(1, 2) / math.sqrt(dim), -1) @ values
    h2 = h + attention.reshape(1, heads * dim) @ w_o.t()
    gate, up = (norm(h2, norm_2) @ w_gate_up.t()).chunk(2, -1)
    return h2 + (gate * torch.sigmoid(gate) * up) @ w_down.t()


def find_steps(torch, shape, tuning, known):
    """The two functions for a shape, compiled once for any number of layers."""
    key = (shape["model"], shape["context"])
    if key not in known:
        step = make_step(torch, shape)
        options = {"coordinate_descent_tuning": True} if tuning else None
        known[key] = {"eager": step, "compiled": torch.compile(step, fullgraph=True, dynamic=False, options=options)}
    return known[key]


def measure(torch, shape, samples, steps):
    generator = torch.Generator(device="cuda").manual_seed(1)
    layers = [Layer(torch, shape, generator) for _ in range(shape["layers"])]
    h = torch.randn(1, shape["hidden"], device="cuda", dtype=torch.bfloat16, generator=generator)
    angle = torch.rand(shape["head_dim"] // 2, device="cuda", generator=generator) * 6.28
    cosine, sine = torch.cos(angle), torch.sin(angle)
    wanted = reference(torch, shape, layers[0], h, cosine, sine)
    results = {}
    for name, function in steps.items():
        out = {}

        def run():
            x = h
            for i, layer in enumerate(layers):
                x = function(x, cosine, sine, *layer.tensors())
                if i == 0:
                    out["first"] = x

        with torch.no_grad():
            graph = peer.capture(torch, run)
        graph.replay()
        torch.cuda.synchronize()
        error = peer.relative_error(torch, out["first"], wanted)
        timing = peer.time_graph(torch, graph, samples)
        results[name] = {"us": {key: value / len(layers) for key, value in timing.items()}, "relative_error": error,
                         "as_expected": error <= TOLERANCE}
        del graph
    return results


TITLES = ["model", "context", "layers", "serial", "pdl", "graph", "graph-pdl", "of ceiling", "eager", "compiled", "eager/ours", "compiled/ours"]


def cells(ours, peers):
    modes = {mode["mode"]: mode for mode in ours["modes"]}
    mine = modes["graph-pdl"]["us"]["median"]
    times = [peers[name]["us"]["median"] if peers[name]["as_expected"] else float("nan") for name in ("eager", "compiled")]
    return ([ours["model"], str(ours["context"]), str(ours["layers"])] +
            [f"{modes[name]['us']['median']:.2f}" for name in ("serial", "pdl", "graph", "graph-pdl")] +
            [f"{100 * modes['graph-pdl']['of_ceiling']:.1f} %"] + [f"{time:.2f}" for time in times] + [f"{time / mine:.2f}" for time in times])


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--suites", default="bench/suites", help="the program that `make bench/suites` builds")
    options.add_argument("--repeat", type=int, default=30)
    options.add_argument("--layers", type=int, default=16)
    options.add_argument("--model", action="append")
    options.add_argument("--context", type=int, action="append")
    options.add_argument("--no-tuning", action="store_true")
    options.add_argument("--json", metavar="FILE", help="also write all figures there")
    options = options.parse_args()
    torch = peer.find_torch()
    arguments = ["transformer-block", "--repeat", str(options.repeat), "--layers", str(options.layers)]
    documents = [peer.run_suites(options.suites, arguments + (["--decoder", name] if name else [])) for name in options.model or [None]]
    document = documents[0]
    ours = [item for each in documents for item in each["transformer_block"] if not options.context or item["context"] in options.context]
    print(f"us a layer; memory read at {document['ceilings']['read_bytes_per_second'] * 1e-12:.3f} TB/s in the same run")
    table, results, known = peer.Table(TITLES), [], {}
    for item in ours:
        results.append((item, measure(torch, item, options.repeat, find_steps(torch, item, not options.no_tuning, known))))
        table.row(cells(*results[-1]))
    if options.json:
        versions = {"torch": torch.__version__, "cuda": torch.version.cuda, "device": torch.cuda.get_device_name()}
        peer.write(options.json, {"versions": versions, "ceilings": document["ceilings"], "blocks": [{"griddep": a, **b} for a, b in results]})


if __name__ == "__main__":
    main()
