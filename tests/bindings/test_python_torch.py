"""The Python binding on a GPU that PyTorch uses too. PTX names the text that is loaded; the last line sums up the cases."""

import os
import pathlib
import sys
import unittest

import griddep

try:
    import torch
except ImportError:
    torch = None

PTX = pathlib.Path(os.environ["PTX"]).read_text()
COUNT, BLOCK = 1000, 128
GRID = (8, 1, 1)


class Torch(unittest.TestCase):
    def setUp(self):
        self.runtime = griddep.Runtime(driver="nvidia")
        self.module = self.runtime.load(PTX, name="chain.ptx")
        self.x = torch.arange(COUNT, dtype=torch.float32, device="cuda")
        self.y, self.z = torch.empty_like(self.x), torch.empty_like(self.x)

    def expect(self):
        self.assertTrue(torch.equal(self.z, self.x * self.x + 0.5))

    def test_chain_in_each_mode_and_in_streams_of_both(self):
        chain = self.runtime.chain()
        chain.add(self.module.kernel("square"), GRID, BLOCK, [self.x, self.y, COUNT])
        chain.add(self.module.kernel("shift"), GRID, BLOCK, [self.y, self.z, 0.5, COUNT])
        for stream in (None, torch.cuda.Stream().cuda_stream, self.runtime.stream()):
            for mode in ("serial", "pdl", "graph", "graph-pdl"):
                self.z.zero_()
                torch.cuda.synchronize()
                chain.run(mode, stream)
                self.runtime.synchronize(stream)
                self.expect()

    def test_work_pending_in_a_stream_of_torch_comes_first(self):
        slow, late, stream = torch.cuda.Stream(), torch.zeros_like(self.x), self.runtime.stream()
        self.y.zero_()
        torch.cuda.synchronize()
        with torch.cuda.stream(slow):
            torch.cuda._sleep(200_000_000)
            late.copy_(self.x)
            self.module.kernel("square").launch(GRID, BLOCK, [late, self.y, COUNT], stream=stream)
        stream.synchronize()
        self.assertTrue(torch.equal(self.y, self.x * self.x))

    def test_every_type_has_an_address_and_a_size(self):
        data = torch.zeros(64, dtype=torch.uint8, device="cuda")
        for name in ("bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn_x2", "int64", "bool"):
            if hasattr(torch, name):
                self.assertEqual(griddep._device_memory(data.view(getattr(torch, name)), None, None), (data.data_ptr(), 64), name)
        self.assertEqual(griddep._device_memory(data[3:], None, None), (data.data_ptr() + 3, 61))
        self.assertEqual(griddep._device_memory(data[::2], None, None), (data.data_ptr(), None))
        self.assertEqual(griddep._device_memory(data.view(8, 8).t(), None, None), (data.data_ptr(), None))
        with self.assertRaisesRegex(TypeError, "Tensor is not on a CUDA device"):
            griddep.device_address(data.cpu())

    def test_capture_by_torch(self):
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            stream = torch.cuda.current_stream().cuda_stream
            self.module.kernel("square").launch(GRID, BLOCK, [self.x, self.y, COUNT], stream=stream)
            self.module.kernel("shift").launch(GRID, BLOCK, [self.y, self.z, 0.5, COUNT], stream=stream)
        self.z.zero_()
        graph.replay()
        torch.cuda.synchronize()
        self.expect()

    def test_conditional_graph_and_tensor_map_of_tensors(self):
        import test_python

        def word(value):
            return torch.tensor([value], dtype=torch.int32, device="cuda")

        x, y, start = word(0), word(0), word(7)
        loop, body, more = self.runtime.graph(), self.runtime.graph(), self.runtime.conditional(1)
        body.kernel(self.runtime.load(test_python.LOOP).kernel("step"), 1, 1, [x, y, more])
        loop.edge(loop.copy(x, start, 4), loop.when(griddep.CONDITIONAL_WHILE, more, [body]))
        loop.launch()
        self.runtime.synchronize()
        self.assertEqual((int(x), int(y)), (0, 28))

        matrix, out = torch.arange(32 * 8, dtype=torch.int32, device="cuda").view(8, 32), torch.zeros(2, 8, dtype=torch.int32, device="cuda")
        tiles = self.runtime.tensor_map(matrix, griddep.TENSOR_U32, dimensions=(32, 8), strides=(128,), box=(8, 2))
        self.runtime.load(test_python.BOX).kernel("box").launch(1, 1, [tiles, out])
        self.runtime.synchronize()
        self.assertTrue(torch.equal(out, matrix[2:4, 4:12]))

    def test_memory_of_the_library_becomes_a_tensor(self):
        memory = self.runtime.copy_in(bytes(range(200)))
        tensor = torch.as_tensor(memory, device="cuda")
        self.assertEqual((tensor.data_ptr(), tensor.dtype, tensor.tolist()), (memory.address, torch.uint8, list(range(200))))


if __name__ == "__main__":
    if torch is None or not torch.cuda.is_available():
        print(f"skipped: no GPU{', nor PyTorch' if torch is None else ' that PyTorch sees'}")
        sys.exit(77)
    program = unittest.main(argv=[sys.argv[0], "-q"], exit=False)
    outcome = program.result
    bad = len(outcome.failures) + len(outcome.errors)
    print(f"{outcome.testsRun - bad - len(outcome.skipped)} passed, {bad} failed, {len(outcome.skipped)} skipped", flush=True)
    sys.exit(bad > 0)
