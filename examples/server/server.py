#!/usr/bin/env python3
"""The launch server of this folder in Python: 8 threads, each with an event loop, that run requests in batches and wait for file
descriptors alone.

    PYTHONPATH=/usr/share/griddep/python ./server.py --compare

A request asks for 2 x + y of two vectors in device memory; it takes two kernels, of which the second may start before the first has ended
and writes the answer into pinned memory of the host, where each element is compared with the value that it must have. `--compare` runs the
same server on cuda.core too, where that is installed: it has no completion that an event loop could wait for, so its events are asked in turns.
"""

from __future__ import annotations

import argparse
import array
import asyncio
import collections
import contextlib
import ctypes
import statistics
import sys
import threading
import time
from typing import Any, NamedTuple

import griddep

SLOTS = 2  # batches that a thread has on the device at a time
SIZES = (8, 4, 2, 1)  # of batches
VECTORS = 64  # that requests choose from


class Client:
    """Sends one request at a time: the next when the answer has come."""

    def __init__(self, service: Service, number: int) -> None:
        nbytes = 4 * service.elements
        self.service, self.random = service, number
        self.sum = service.sums.address + number * nbytes
        self.out = service.answers.handle + number * nbytes
        self.answer = (ctypes.c_float * service.elements).from_address(self.out)

    def _choose(self) -> int:
        self.random = (self.random * 1664525 + 1013904223) % 2**32
        return self.random // 2**16 % VECTORS

    def request(self) -> None:
        """Its next request: other pointers than the last."""
        self.numbers = self._choose(), self._choose()
        self.x, self.y = (self.service.vectors.address + 4 * self.service.elements * number for number in self.numbers)
        self.sent = time.perf_counter()

    def is_right(self) -> bool:
        """Element i of vector n is n + i: all sums are exact in f32."""
        first = 2 * self.numbers[0] + self.numbers[1]
        return bytes(self.answer) == self.service.ramps(first)


class Queue:
    """Requests in their order, for event loops of many threads."""

    def __init__(self) -> None:
        self.lock, self.ended = threading.Lock(), False
        self.requests: collections.deque[Client] = collections.deque()
        self.sleepers: collections.deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = collections.deque()

    def put(self, client: Client) -> None:
        with self.lock:
            self.requests.append(client)
            self._wake(1)

    def end(self) -> None:
        with self.lock:
            self.ended = True
            self._wake(len(self.sleepers))

    def _wake(self, count: int) -> None:
        for _ in range(min(count, len(self.sleepers))):
            loop, future = self.sleepers.popleft()
            with contextlib.suppress(RuntimeError):  # the loop was closed after a failure
                loop.call_soon_threadsafe(wake, future)

    async def take(self) -> list[Client] | None:
        """The largest batch that there is a size for; None at the end."""
        while True:
            with self.lock:
                if self.ended:
                    return None
                for size in SIZES:
                    if len(self.requests) >= size:
                        return [self.requests.popleft() for _ in range(size)]
                loop = asyncio.get_running_loop()
                future = loop.create_future()
                self.sleepers.append((loop, future))
            await future


def wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class Runner:
    """What runs one batch at a time."""

    name: str

    def __init__(self, service: Service) -> None:
        self.service = service

    async def run(self, batch: list[Client]) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class WithGriddep(Runner):
    """A chain for each size of batch, with a lane for each request, whose arguments change from run to run."""

    name = "griddep"

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self.stream, self.completion = service.runtime.stream(), service.runtime.completion()
        self.chains = {size: self._chain(size) for size in SIZES}

    def _chain(self, size: int) -> griddep.Chain:
        service, chain = self.service, self.service.runtime.chain()
        anything = service.vectors.address
        for lane in range(size):
            for name in ("first", "second"):
                arguments = [anything, anything, service.clients[0].sum, service.elements]
                chain.add(service.add, service.grid, 256, arguments, lane=lane, name=f"{name}{lane}")
        chain.prepare("graph-pdl")
        return chain

    async def run(self, batch: list[Client]) -> None:
        chain, elements = self.chains[len(batch)], self.service.elements
        for lane, client in enumerate(batch):
            chain.set_arguments(2 * lane, [client.x, client.y, client.sum, elements])
            chain.set_arguments(2 * lane + 1, [client.sum, client.x, client.out, elements])
        chain.run("graph-pdl", self.stream)
        self.completion.arm(self.stream)
        await self.completion.reached()

    def close(self) -> None:
        for chain in self.chains.values():
            chain.close()
        self.completion.close()
        self.stream.close()


class WithCudaCore(Runner):
    """Launches by cuda.core, in order in one stream; an event tells when they are over, and has to be asked."""

    name = "cuda.core"

    def __init__(self, service: Service) -> None:
        from cuda import core

        super().__init__(service)
        self.core: Any = core
        self.device = core.Device(service.runtime.info().device)
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.event = self.device.create_event()
        self.kernel = core.ObjectCode.from_ptx(service.ptx.encode()).get_kernel("vector_add")
        self.config = core.LaunchConfig(grid=service.grid, block=256)
        try:
            self.early = core.LaunchConfig(grid=service.grid, block=256, programmatic_stream_serialization=True)
        except TypeError:  # an older cuda.core
            self.early = self.config

    async def run(self, batch: list[Client]) -> None:
        self.device.set_current()
        count = ctypes.c_uint32(self.service.elements)
        for client in batch:
            self.core.launch(self.stream, self.config, self.kernel, client.x, client.y, client.sum, count)
            self.core.launch(self.stream, self.early, self.kernel, client.sum, client.x, client.out, count)
        self.stream.record(self.event)
        while not self.event.is_done:
            await asyncio.sleep(0)

    def close(self) -> None:
        self.stream.close()


class Figures(NamedTuple):
    """What one round measured; times in microseconds."""

    rate: float
    p50: float
    p99: float
    answers: int
    wrong: int


class Service:
    """What all rounds share, and one round: serve()."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.elements = options, options.elements
        self.runtime = griddep.Runtime(driver=options.driver)
        self.grid = (self.elements + 1023) // 1024
        self.module = self.runtime.load_shelf("vector_add")
        self.add, self.ptx = self.module.kernel(), shelf_text("vector_add", self.runtime.info().capability)
        values = array.array("f", (number + i for number in range(VECTORS) for i in range(self.elements)))
        self.vectors = self.runtime.copy_in(values)
        self.sums = self.runtime.allocate(4 * self.elements * options.clients)
        self.answers = self.runtime.pinned(4 * self.elements * options.clients)
        self.clients = [Client(self, number) for number in range(options.clients)]
        self._ramps: dict[int, bytes] = {}

    def ramps(self, first: int) -> bytes:
        """The bytes of first, first + 3, first + 6, ..."""
        if first not in self._ramps:
            self._ramps[first] = array.array("f", (first + 3 * i for i in range(self.elements))).tobytes()
        return self._ramps[first]

    def serve(self, kind: type[Runner]) -> Figures:
        """One round."""
        self.queue, self.wrong = Queue(), 0
        self.latencies: list[float] = []
        self.failures: list[Exception] = []
        self.lock, self.sent, self.active = threading.Lock(), 0, len(self.clients)
        runners = [[kind(self) for _ in range(SLOTS)] for _ in range(self.options.threads)]
        began = time.perf_counter()
        self.deadline = began + self.options.seconds if self.options.seconds else None
        threads = [threading.Thread(target=self._work, args=(each,)) for each in runners]
        for client in self.clients:
            self._send(client)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        elapsed = time.perf_counter() - began
        if self.failures:
            raise self.failures[0]
        for runner in (runner for each in runners for runner in each):
            runner.close()
        latencies = sorted(self.latencies)
        p50, p99 = (latencies[min(len(latencies) - 1, int(share * len(latencies)))] * 1e6 for share in (0.5, 0.99))
        return Figures(len(latencies) / elapsed, p50, p99, len(latencies), self.wrong)

    def _send(self, client: Client) -> None:
        """The client's next request; the last client that has none left ends the server."""
        with self.lock:
            self.sent += 1
            over = time.perf_counter() >= self.deadline if self.deadline else self.sent > self.options.requests
            self.active -= over
            last = over and self.active == 0
        if last:
            self.queue.end()
        elif not over:
            client.request()
            self.queue.put(client)

    def _work(self, runners: list[Runner]) -> None:
        try:
            asyncio.run(self._serve(runners))
        except Exception as failure:
            self.failures.append(failure)
            self.queue.end()

    async def _serve(self, runners: list[Runner]) -> None:
        await asyncio.gather(*(self._run_batches(runner) for runner in runners))

    async def _run_batches(self, runner: Runner) -> None:
        while batch := await self.queue.take():
            await runner.run(batch)
            over = time.perf_counter()
            for client in batch:
                right = client.is_right()
                with self.lock:
                    self.latencies.append(over - client.sent)
                    self.wrong += not right
                self._send(client)


def shelf_text(name: str, capability: int) -> str:
    info = griddep.c_shelf_info()
    griddep.call(griddep.raw.shelf_find, name.encode(), capability, ctypes.byref(info))
    return str(info.text.decode())


def read_options() -> argparse.Namespace:
    def count(text: str) -> int:
        value = int(text)
        if value <= 0:
            raise argparse.ArgumentTypeError("give a number above 0")
        return value

    def time_span(text: str) -> float:
        value = float(text)
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError("give a number above 0")
        return value

    parser = argparse.ArgumentParser(description="Answers requests of its own clients, in batches on the device, and measures.")
    parser.add_argument("--threads", type=count, default=8)
    parser.add_argument("--clients", type=count, default=64, help="each has one request at a time (64)")
    parser.add_argument("--elements", type=count, default=1024, help="of each vector (1024)")
    parser.add_argument("--requests", type=count, default=5000, help="of a round (5000)")
    parser.add_argument("--seconds", type=time_span, help="of a round, in place of --requests")
    parser.add_argument("--rounds", type=count, default=3, help="the medians are printed (3)")
    parser.add_argument("--compare", action="store_true", help="cuda.core too, in turns")
    parser.add_argument("--driver", help="nvidia, emulated, or a path")
    return parser.parse_args()


def why_not_cuda_core(service: Service) -> str | None:
    if service.runtime.info().emulated:
        return "the driver is the emulated one, which cuda.core does not open"
    try:
        from cuda import core
    except ImportError as problem:
        return f"it cannot be imported ({problem})"
    return None if hasattr(core, "LaunchConfig") else "its classes are still experimental; a newer one is needed"


def main() -> int:
    options = read_options()
    service = Service(options)
    kinds: list[type[Runner]] = [WithGriddep]
    if options.compare:
        reason = why_not_cuda_core(service)
        kinds += [] if reason else [WithCudaCore]
        if reason:
            print(f"cuda.core is left out: {reason}")
    rounds: dict[type[Runner], list[Figures]] = {kind: [] for kind in kinds}
    for index in range(options.rounds):
        for kind in kinds if index % 2 == 0 else reversed(kinds):
            rounds[kind].append(service.serve(kind))
    for kind, figures in rounds.items():
        rate, p50, p99 = (statistics.median(figure[i] for figure in figures) for i in range(3))
        answers, wrong = (sum(figure[i] for figure in figures) for i in (3, 4))
        print(f"{kind.name:9} {rate:9.0f} answers/s   p50 {p50:9.1f} us   p99 {p99:9.1f} us   {answers} answers, {wrong} wrong")
    if len(kinds) == 2:
        ratios = [statistics.median(ours[i] / theirs[i] for ours, theirs in zip(*rounds.values())) for i in range(3)]
        print("ratio     {:9.3f}             p50 {:9.3f}      p99 {:9.3f}".format(*ratios))
    return 1 if any(figure.wrong for figures in rounds.values() for figure in figures) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except griddep.Error as failure:
        sys.exit(str(failure))
