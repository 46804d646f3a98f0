#!/usr/bin/env python3
"""Chains of matrix times vector layers in bf16 at batch 1: griddep's four modes beside cuBLAS (through PyTorch, in a CUDA graph) and Triton with
dependent launch (in a CUDA graph), in one run on one machine.

    fc_chain.py [--suites PATH] [--repeat N] [--shape ROWSxCOLUMNS]... [--json FILE]

A chain is what `bench/suites fc-chain` says: a layer reads the first `columns` elements of a vector of max(rows, columns) and writes the first
`rows` of the next; each layer has weights of its own. Each peer's last vector is compared with float64. cuBLAS is the best of F.linear (where its
output is all of the next vector), mm and mv into the vector; Triton the best of the blocks below. Exit code 77: skipped, with the reason.
"""
import argparse
import math

import peer

# Rows and columns of a tile, warps. The first tile of weights is loaded before the wait; with the fastest blocks it is also tried behind it.
BLOCKS = [(1, 2048, 2), (2, 1024, 2), (2, 2048, 4), (2, 4096, 8), (4, 512, 2), (4, 1024, 4), (4, 2048, 8), (8, 512, 4), (8, 1024, 8), (16, 512, 8)]
TOLERANCE = 2e-2


def make_kernel(triton, language):
    """Triton compiles functions of a file, so names of the module must be globals here."""
    globals()["tl"] = language

    @triton.jit
    def layer(weight, x, y, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr, PREFETCH: tl.constexpr):
        tl.extra.cuda.gdc_launch_dependents()
        row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
        at = tl.arange(0, COLUMNS)
        line = weight + row[:, None].to(tl.int64) * columns
        inside = row[:, None] < rows
        if PREFETCH:
            first = tl.load(line + at[None, :], mask=inside & (at[None, :] < columns), other=0.0, eviction_policy="evict_first")
            tl.extra.cuda.gdc_wait()
        else:
            tl.extra.cuda.gdc_wait()
            first = tl.load(line + at[None, :], mask=inside & (at[None, :] < columns), other=0.0, eviction_policy="evict_first")
        part = tl.load(x + at, mask=at < columns, other=0.0)
        total = first.to(tl.float32) * part[None, :].to(tl.float32)
        for begin in range(COLUMNS, columns, COLUMNS):
            k = begin + at
            tile = tl.load(line + k[None, :], mask=inside & (k[None, :] < columns), other=0.0, eviction_policy="evict_first")
            part = tl.load(x + k, mask=k < columns, other=0.0)
            total += tile.to(tl.float32) * part[None, :].to(tl.float32)
        tl.store(y + row, tl.sum(total, axis=1).to(tl.bfloat16), mask=row < rows)

    return layer


class Chain:
    def __init__(self, torch, rows, columns, layers):
        self.torch, self.rows, self.columns, self.layers = torch, rows, columns, layers
        length = max(rows, columns)
        generator = torch.Generator(device="cuda").manual_seed(1)
        self.weights = [torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16, generator=generator) / math.sqrt(columns) for _ in range(layers)]
        self.vectors = [torch.randn(length, device="cuda", dtype=torch.bfloat16, generator=generator) for _ in range(layers + 1)]
        self.wanted = self.reference()

    def reference(self):
        vectors = [vector.clone() for vector in self.vectors]
        for i, weight in enumerate(self.weights):
            vectors[i + 1][:self.rows] = (weight.double() @ vectors[i][:self.columns].double()).to(self.torch.bfloat16)
        return vectors[-1][:self.rows]

    def spoil(self):
        for vector in self.vectors[1:]:
            vector[:self.rows] = float("nan")

    def right(self, got):
        self.torch.cuda.synchronize()
        return peer.relative_error(self.torch, got, self.wanted) <= TOLERANCE


def time_right(chain, function, result, samples):
    """A way's time, or None where its results are wrong."""
    graph = peer.capture(chain.torch, function)
    chain.spoil()
    graph.replay()
    if not chain.right(result()):
        return None
    return peer.time_graph(chain.torch, graph, samples)


def cublas_ways(chain):
    torch, rows, columns = chain.torch, chain.rows, chain.columns
    last = {}

    def linear():
        x = chain.vectors[0][:columns]
        for weight in chain.weights:
            y = torch.nn.functional.linear(x, weight)
            x = y[:columns]
        last["y"] = y

    def mm():
        for i, weight in enumerate(chain.weights):
            torch.mm(chain.vectors[i][None, :columns], weight.t(), out=chain.vectors[i + 1][None, :rows])

    def mv():
        for i, weight in enumerate(chain.weights):
            torch.mv(weight, chain.vectors[i][:columns], out=chain.vectors[i + 1][:rows])

    ways = [("mm", mm, lambda: chain.vectors[-1][:rows]), ("mv", mv, lambda: chain.vectors[-1][:rows])]
    return ways + ([("F.linear", linear, lambda: last["y"])] if rows >= columns else [])


def triton_way(chain, triton, layer, rows, columns, warps, prefetch):
    grid = (triton.cdiv(chain.rows, rows),)

    def run():
        for i, weight in enumerate(chain.weights):
            layer[grid](weight, chain.vectors[i], chain.vectors[i + 1], chain.rows, chain.columns, ROWS=rows, COLUMNS=columns, PREFETCH=prefetch,
                        num_warps=warps, launch_pdl=True)

    return run


def search(chain, ways):
    """The fastest right way by a few samples, or None."""
    tried = [(time_right(chain, function, result, 3), name, function, result) for name, function, result in ways]
    right = [item for item in tried if item[0] is not None]
    return min(right, key=lambda item: item[0]["median"])[1:] if right else None


def best(chain, ways, samples):
    found = search(chain, ways)
    if found is None:
        return None
    name, function, result = found
    timing = time_right(chain, function, result, samples)
    return {"way": name, "us": {key: value / chain.layers for key, value in timing.items()}}


def triton_ways(chain, triton, layer):
    result = lambda: chain.vectors[-1][:chain.rows]

    def way(blocks, prefetch):
        rows, columns, warps = blocks
        return f"{rows}x{columns}, {warps} warps{'' if prefetch else ', no prefetch'}", triton_way(chain, triton, layer, *blocks, prefetch), result

    early = {way(blocks, True)[0]: blocks for blocks in BLOCKS}
    found = search(chain, [way(blocks, True) for blocks in BLOCKS])
    return [way(early[found[0]], True), way(early[found[0]], False)] if found else []


def measure(torch, triton, layer, ours, samples):
    chain = Chain(torch, ours["rows"], ours["columns"], ours["layers"])
    return {"cublas": best(chain, cublas_ways(chain), samples), "triton": best(chain, triton_ways(chain, triton, layer), samples)}


TITLES = ["rows x columns", "serial", "pdl", "graph", "graph-pdl", "of ceiling", "cuBLAS", "Triton", "cuBLAS/ours", "Triton/ours", "Triton's blocks"]


def cells(ours, peers):
    modes = {mode["mode"]: mode for mode in ours["modes"]}
    mine = modes["graph-pdl"]["us"]["median"]
    times = [peers[name]["us"]["median"] if peers[name] else float("nan") for name in ("cublas", "triton")]
    return ([f"{ours['rows']} x {ours['columns']}"] + [f"{modes[name]['us']['median']:.2f}" for name in ("serial", "pdl", "graph", "graph-pdl")] +
            [f"{100 * modes['graph-pdl']['of_ceiling']:.1f} %"] + [f"{time:.2f}" for time in times] + [f"{time / mine:.2f}" for time in times] +
            [peers["triton"]["way"] if peers["triton"] else "-"])


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--suites", default="bench/suites", help="the program that `make bench/suites` builds")
    options.add_argument("--repeat", type=int, default=30)
    options.add_argument("--shape", action="append")
    options.add_argument("--json", metavar="FILE", help="also write all figures there")
    options = options.parse_args()
    torch, triton, tl = peer.find_torch(triton=True)
    runs = [["fc-chain", "--repeat", str(options.repeat)] + (["--shape", shape] if shape else []) for shape in options.shape or [None]]
    documents = [peer.run_suites(options.suites, run) for run in runs]
    layer = make_kernel(triton, tl)
    ours = [item for document in documents for item in document["fc_chain"] if item["kernel"] == "matvec_bf16"]
    print(f"us a layer; memory read at {documents[0]['ceilings']['read_bytes_per_second'] * 1e-12:.3f} TB/s in the same run")
    table, results = peer.Table(TITLES), []
    for item in ours:
        results.append((item, measure(torch, triton, layer, item, options.repeat)))
        table.row(cells(*results[-1]))
    if options.json:
        versions = {"torch": torch.__version__, "triton": triton.__version__, "cuda": torch.version.cuda, "device": torch.cuda.get_device_name()}
        peer.write(options.json, {"versions": versions, "ceilings": documents[0]["ceilings"], "chains": [{"griddep": a, **b} for a, b in results]})


if __name__ == "__main__":
    main()
