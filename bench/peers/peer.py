"""What the peers' scripts share: finding PyTorch and Triton, running griddep, timing a CUDA graph as griddep does."""
import json
import statistics
import subprocess
import sys

SKIPPED = 77
SAMPLE_US = 2000.0   # a sample lasts at least this long
WARM_UP_US = 20000.0


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def find_torch(triton=False):
    """PyTorch (and Triton), or the end of the script with a reason."""
    try:
        import torch
    except ImportError as problem:
        skip(f"no PyTorch: {problem}")
    if not torch.cuda.is_available():
        skip("PyTorch sees no GPU")
    if torch.cuda.get_device_capability()[0] < 9:
        skip(f"{torch.cuda.get_device_name()} has no dependent launch: compute capability 9.0 is needed")
    if not triton:
        return torch
    try:
        import triton as module
        import triton.language as language
    except ImportError as problem:
        skip(f"no Triton: {problem}")
    if not hasattr(language.extra.cuda, "gdc_wait"):
        skip(f"Triton {module.__version__} has no gdc_wait")
    return torch, module, language


def run_suites(command, arguments):
    """The JSON document of `bench/suites ...`; its results must have been right."""
    result = subprocess.run([command, *arguments, "--json"], capture_output=True, text=True)
    if result.returncode != 0:
        sys.stderr.write(result.stderr or result.stdout)
        sys.exit(f"{command} {' '.join(arguments)}: exit code {result.returncode}")
    return json.loads(result.stdout)


def capture(torch, function):
    """A CUDA graph of what the function launches, after a run outside of it."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        function()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function()
    torch.cuda.synchronize()
    return graph


def time_batch(torch, graph, batch):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    graph.replay()  # keeps the device busy while the timed ones are queued
    start.record()
    for _ in range(batch):
        graph.replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1000.0


def time_graph(torch, graph, samples):
    """Microseconds of a replay: median, 10th and 90th percentile of samples of several replays each."""
    batch, spent, elapsed = 1, 0.0, 0.0
    while spent < WARM_UP_US or elapsed < SAMPLE_US:
        elapsed = time_batch(torch, graph, batch)
        spent += elapsed
        if elapsed < SAMPLE_US:
            batch = min(4096, max(batch + 1, min(16 * batch, int(1.2 * batch * SAMPLE_US / max(elapsed, 1.0)))))
    times = sorted(time_batch(torch, graph, batch) / batch for _ in range(samples))
    return {"median": statistics.median(times), "percentile_10": times[len(times) // 10],
            "percentile_90": times[-1 - len(times) // 10]}


def relative_error(torch, got, wanted):
    wanted = wanted.double()
    return float((got.double() - wanted).norm() / wanted.norm())


class Table:
    """Rows that are printed as they come: a run that is cut short has shown what it had."""

    def __init__(self, titles, first=18):
        self.widths = [first] + [max(len(title), 9) for title in titles[1:]]
        self.row(titles)

    def row(self, cells):
        print("  ".join(cell.ljust(self.widths[0]) if i == 0 else cell.rjust(self.widths[i]) for i, cell in enumerate(cells)), flush=True)


def write(path, document):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
