"""24 small layers of PyTorch, launched one by one or in a graph: us a step."""
import statistics
import sys
import time

import torch

torch.manual_seed(0)
layers = []
for _ in range(24):
    layers += [torch.nn.Linear(4096, 256), torch.nn.ReLU(), torch.nn.Linear(256, 4096)]
model = torch.nn.Sequential(*layers).cuda().half()
x = torch.randn(8, 4096, device="cuda", dtype=torch.half)
step = lambda: model(x)
times = []
with torch.no_grad():
    for _ in range(20):
        step()
    if "graph" in sys.argv:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        step = graph.replay
    for _ in range(15):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(50):
            step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - began) / 50)
print(f"us a step: {1e6 * statistics.median(times):.1f}")
