"""Kernels of Triton that wait and trigger, with launch_pdl or without (`plain`): us a launch."""
import statistics
import sys
import time

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.extra.cuda.gdc_wait()
    tl.extra.cuda.gdc_launch_dependents()
    tl.store(z + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


n, early = 1 << 16, "plain" not in sys.argv
a, b = torch.ones(n, device="cuda"), torch.zeros(n, device="cuda")
one = torch.ones(n, device="cuda")
times = []
for _ in range(15):
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(100):
        add[(n // 1024,)](a, one, b, n, BLOCK=1024, launch_pdl=early)
        add[(n // 1024,)](b, one, a, n, BLOCK=1024, launch_pdl=early)
    torch.cuda.synchronize()
    times.append((time.perf_counter() - began) / 200)
assert a[0].item() == 1 + 2 * 1500 and a[-1].item() == a[0].item()
print(f"us a launch: {1e6 * statistics.median(times):.2f}")
