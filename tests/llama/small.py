"""Small random models in the folders that Hugging Face's libraries write, and what they compute in
float64. Nothing but Python's own library is needed.

    small.py make FOLDER FAMILY [KEY=VALUE]...   writes config.json, tokenizer.json and the weights
    small.py judge FOLDER PROMPT TOKENS [TYPE]   holds generated tokens against float64; TYPE: of a
                                                 model whose matrices are rounded, fp8 or int4

FAMILY: llama2, llama3, mistral, qwen2, qwen3. Keys: seed, dtype (BF16, F16, F32), eight_bits (tensor,
row: the layers' matrices in F8_E4M3, with a scale for each of these; fp8, compressed: with one for
each block of 128 x 128, as files of that quant_method have them), four_bits (gptq, gptq_v2,
awq: the layers' matrices in 4 bits, in groups of 128 columns), layers, hidden,
feed_forward, heads, kv_heads, head_dim, tied (0, 1), shards, vocabulary.
judge reads lists of numbers; each token must be as likely as the likeliest one within the precision
of bf16, given the tokens before it. It prints how many of them left no choice.
"""

import bisect
import json
import math
import operator
import os
import random
import struct
import sys

# ---- numbers of 16 bits ----


def to_f32(values):
    return list(struct.unpack("<%df" % len(values), struct.pack("<%df" % len(values), *values)))


def to_bf16(values):
    every = struct.unpack("<%dI" % len(values), struct.pack("<%df" % len(values), *values))
    return [((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) & 0xFFFF for bits in every]


def from_bf16(words):
    wide = struct.pack("<%dI" % len(words), *[word << 16 for word in words])
    return list(struct.unpack("<%df" % len(words), wide))


PACK = {
    "BF16": lambda values: struct.pack("<%dH" % len(values), *to_bf16(values)),
    "F16": lambda values: struct.pack("<%de" % len(values), *values),
    "F32": lambda values: struct.pack("<%df" % len(values), *values),
    "I32": lambda values: struct.pack("<%dI" % len(values), *values),
}

UNPACK = {
    "BF16": lambda data: from_bf16(struct.unpack("<%dH" % (len(data) // 2), data)),
    "F16": lambda data: list(struct.unpack("<%de" % (len(data) // 2), data)),
    "F32": lambda data: list(struct.unpack("<%df" % (len(data) // 4), data)),
    "I32": lambda data: list(struct.unpack("<%dI" % (len(data) // 4), data)),
}


def e4m3_values():
    """The magnitudes, by their seven bits."""
    return [math.ldexp(code & 7, -9) if code < 8 else math.ldexp(8 + (code & 7), (code >> 3) - 10)
            for code in range(127)]


E4M3 = e4m3_values()
# The largest value that is rounded to each magnitude, but for the last.
E4M3_ENDS = [(low + high) / 2 if code % 2 == 0 else math.nextafter((low + high) / 2, 0)
             for code, (low, high) in enumerate(zip(E4M3, E4M3[1:]))]
E4M3_CODE = {value: code for code, value in enumerate(E4M3)}


def from_e4m3(byte):
    return -E4M3[byte & 127] if byte & 128 else E4M3[byte & 127]


UNPACK["F8_E4M3"] = lambda data: [from_e4m3(byte) for byte in data]


# ---- tokenizers ----

LLAMA3_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

SAMPLE = (
    "the quick brown fox jumps over the lazy dog and the other dogs of the town there; "
    "a kernel that waits for the one before it may start before the one before it ends. "
) * 4


def visible(byte):
    if 33 <= byte <= 126 or 161 <= byte <= 172 or byte >= 174:
        return chr(byte)
    others = [i for i in range(256) if not (33 <= i <= 126 or 161 <= i <= 172 or i >= 174)]
    return chr(256 + others.index(byte))


def train(words, symbols, count):
    """Merges of the most frequent pairs, `count` of them."""
    merges = []
    for _ in range(count):
        pairs = {}
        for word in words:
            for pair in zip(word, word[1:]):
                pairs[pair] = pairs.get(pair, 0) + 1
        if not pairs:
            break
        best = max(sorted(pairs), key=pairs.get)
        merges.append(best)
        joined = best[0] + best[1]
        if joined not in symbols:
            symbols.append(joined)
        for word in words:
            i = 0
            while i + 1 < len(word):
                if (word[i], word[i + 1]) == best:
                    word[i : i + 2] = [joined]
                i += 1
    return merges


def added(token, content):
    return {"id": token, "content": content, "special": True, "lstrip": False, "rstrip": False,
            "normalized": False, "single_word": False}


def byte_level_tokenizer(family, vocabulary):
    symbols = [visible(byte) for byte in range(256)]
    words = [[visible(b) for b in (" " + word).encode()] for word in SAMPLE.split()]
    merges = train(words, symbols, vocabulary - 256 - 8)
    names = (["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>",
              "<|eot_id|>"] if family == "llama3" else
             ["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    special = {name: len(symbols) + i for i, name in enumerate(names)}
    tokenizer = {
        "version": "1.0",
        "added_tokens": [added(token, name) for name, token in special.items()],
        "normalizer": None if family == "llama3" else {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": LLAMA3_PATTERN}, "behavior": "Isolated",
             "invert": False},
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
             "use_regex": False}]},
        "post_processor": {"type": "TemplateProcessing",
                           "single": [{"SpecialToken": {"id": names[0], "type_id": 0}},
                                      {"Sequence": {"id": "A", "type_id": 0}}],
                           "special_tokens": {names[0]: {"id": names[0], "ids": [special[names[0]]],
                                                         "tokens": [names[0]]}}}
        if family == "llama3" else {"type": "ByteLevel"},
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "ignore_merges": family == "llama3",
                  "vocab": {s: i for i, s in enumerate(symbols)},
                  "merges": [" ".join(m) if family == "llama3" else list(m) for m in merges]},
    }
    stop = special["<|eot_id|>" if family == "llama3" else "<|im_end|>"]
    return tokenizer, stop


def block_tokenizer(vocabulary):
    block = "\u2581"
    symbols = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % i for i in range(256)]
    text = block + SAMPLE.strip().replace(" ", block)
    symbols += sorted(set(text))
    words = [list(block + word) for word in SAMPLE.split()]
    merges = train(words, symbols, vocabulary - len(symbols))
    tokenizer = {
        "version": "1.0",
        "added_tokens": [added(i, symbols[i]) for i in range(3)],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": block},
            {"type": "Replace", "pattern": {"String": " "}, "content": block}]},
        "pre_tokenizer": None,
        "post_processor": {"type": "TemplateProcessing",
                           "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                                      {"Sequence": {"id": "A", "type_id": 0}}],
                           "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": block}, "content": " "},
            {"type": "ByteFallback"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True,
                  "vocab": {s: i for i, s in enumerate(symbols)},
                  "merges": [" ".join(m) for m in merges]},
    }
    return tokenizer, 2


# ---- models ----

MODEL_TYPE = {"llama2": "llama", "llama3": "llama", "mistral": "mistral", "qwen2": "qwen2",
              "qwen3": "qwen3"}


def make_config(family, keys):
    config = {
        "model_type": MODEL_TYPE[family],
        "architectures": [{"llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM",
                           "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM"}
                          [MODEL_TYPE[family]]],
        "hidden_size": int(keys.get("hidden", 128)),
        "intermediate_size": int(keys.get("feed_forward", 192)),
        "num_hidden_layers": int(keys.get("layers", 2)),
        "num_attention_heads": int(keys.get("heads", 4)),
        "num_key_value_heads": int(keys.get("kv_heads", 2)),
        "head_dim": int(keys.get("head_dim", 64)),
        "vocab_size": int(keys.get("vocabulary", 384)),
        "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-5,
        "rope_theta": 500000.0 if family == "llama3" else 10000.0,
        "hidden_act": "silu",
        "tie_word_embeddings": bool(int(keys.get("tied", 0))),
        "torch_dtype": {"BF16": "bfloat16", "F16": "float16", "F32": "float32"}
        [keys.get("dtype", "BF16")],
    }
    if family == "llama3":
        config["rope_scaling"] = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                                  "high_freq_factor": 4.0,
                                  "original_max_position_embeddings": 64}
    if family == "mistral":
        config["sliding_window"] = None
    return config


def shapes(config):
    hidden, wide = config["hidden_size"], config["intermediate_size"]
    head = config["head_dim"]
    q, kv = config["num_attention_heads"] * head, config["num_key_value_heads"] * head
    names = {"model.embed_tokens.weight": (config["vocab_size"], hidden)}
    for i in range(config["num_hidden_layers"]):
        layer = "model.layers.%d." % i
        names[layer + "input_layernorm.weight"] = (hidden,)
        for part, rows in (("q", q), ("k", kv), ("v", kv)):
            names[layer + "self_attn.%s_proj.weight" % part] = (rows, hidden)
            if config["model_type"] == "qwen2":
                names[layer + "self_attn.%s_proj.bias" % part] = (rows,)
        if config["model_type"] == "qwen3":
            names[layer + "self_attn.q_norm.weight"] = (head,)
            names[layer + "self_attn.k_norm.weight"] = (head,)
        names[layer + "self_attn.o_proj.weight"] = (hidden, q)
        names[layer + "post_attention_layernorm.weight"] = (hidden,)
        names[layer + "mlp.gate_proj.weight"] = (wide, hidden)
        names[layer + "mlp.up_proj.weight"] = (wide, hidden)
        names[layer + "mlp.down_proj.weight"] = (hidden, wide)
    names["model.norm.weight"] = (hidden,)
    if not config["tie_word_embeddings"]:
        names["lm_head.weight"] = (config["vocab_size"], hidden)
    return names


def random_values(name, shape, generator):
    count = math.prod(shape)
    if "norm" in name:
        return [generator.uniform(0.5, 1.5) for _ in range(count)]
    if name.endswith("bias"):
        return [generator.gauss(0, 0.3) for _ in range(count)]
    deviation = 1.0 if "embed" in name else 1.4 / math.sqrt(shape[-1])
    if name == "lm_head.weight":
        deviation *= 3
    return [generator.gauss(0, deviation) for _ in range(count)]


def write_tensors(path, tensors, dtype):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, (shape, values) in tensors.items():
        own = "F8_E4M3" if isinstance(values, bytes) else \
            "F32" if name.endswith("_scale_inv") else \
            "F32" if name.endswith("_scale") and math.prod(shape) == shape[0] else \
            "I32" if name.endswith(("qweight", "qzeros", "g_idx")) else \
            "F16" if name.endswith("scales") else dtype
        packed = values if isinstance(values, bytes) else PACK[own](values)
        header[name] = {"dtype": own, "shape": list(shape),
                        "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def to_eight_bits(tensors, kind):
    """The layers' matrices by the scale of a row or of the tensor, and the scales."""
    out = {}
    for name, (shape, values) in tensors.items():
        if not name.endswith("_proj.weight"):
            out[name] = (shape, values)
            continue
        width = shape[1] if kind == "row" else len(values)
        scales, data = [], bytearray()
        for i in range(0, len(values), width):
            part = values[i : i + width]
            scale = to_f32([max(map(abs, part)) / 448.0])[0] or 1.0
            scales.append(scale)
            for value in part:
                rounded = round_e4m3(value / scale)
                data.append(E4M3_CODE[abs(rounded)] | (128 if rounded < 0 else 0))
        out[name] = (shape, bytes(data))
        out[name + "_scale"] = ((len(scales), 1) if kind == "row" else (1,), scales)
    return out


def to_blocks(tensors, kind, config):
    """The layers' matrices with a scale for each block; the scales differ by more than the values."""
    config["quantization_config"] = {
        "quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic",
        "weight_block_size": [128, 128]} if kind == "fp8" else {
        "quant_method": "compressed-tensors", "format": "float-quantized", "ignore": ["lm_head"],
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": {
            "num_bits": 8, "type": "float", "strategy": "block", "block_structure": [128, 128]}}}}
    out = {}
    for name, (shape, values) in tensors.items():
        out[name] = (shape, values)
        if not name.endswith("_proj.weight"):
            continue
        rows, columns = shape
        data, scales = bytearray(rows * columns), []
        for top in range(0, rows, 128):
            for left in range(0, columns, 128):
                places = [row * columns + column for row in range(top, min(top + 128, rows))
                          for column in range(left, min(left + 128, columns))]
                scale = max(abs(values[i]) for i in places) / 448.0 * (1, 4, 16)[len(scales) % 3]
                scales += from_bf16(to_bf16([1.01 * scale]))
                for i in places:
                    rounded = round_e4m3(values[i] / scales[-1])
                    data[i] = E4M3_CODE[abs(rounded)] | (128 if rounded < 0 else 0)
        out[name] = (shape, bytes(data))
        out[name + ("_scale_inv" if kind == "fp8" else "_scale")] = (
            (-(-rows // 128), -(-columns // 128)), scales)
    return out


# AWQ packs rows (here: outputs) in this order, the lowest bits first; GPTQ packs columns as they are.
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)


def pack(codes, order):
    return sum(codes[index] << 4 * place for place, index in enumerate(order))


def round_group(values):
    """Codes of 4 bits, scale and zero of 128 neighbours, as the program makes them."""
    low, high = min(0.0, *values), max(0.0, *values)
    scale = struct.unpack("<e", struct.pack("<e", to_f32([to_f32([high - low])[0] / 15])[0]))[0] or 1.0
    zero = min(round(to_f32([-low / scale])[0]), 15)
    codes = [round(v) + zero for v in to_f32([v / scale for v in values])]
    return [code if 0 <= code <= 15 else min(max(code, 0), 15) for code in codes], scale, zero


def round_groups(matrix):
    """A matrix as it is in 4 bits."""
    out = []
    for row in matrix:
        wide = []
        for i in range(0, len(row), 128):
            codes, scale, zero = round_group(row[i : i + 128])
            wide += [(code - zero) * scale for code in codes]
        out.append(wide)
    return out


def to_four_bits(tensors, kind, config):
    """The layers' matrices as files of that kind have them; GPTQ's zeros are stored less 1."""
    awq, less = kind == "awq", 1 if kind == "gptq" else 0
    config["quantization_config"] = {"quant_method": "awq" if awq else "gptq", "bits": 4,
                                     "group_size": 128, "desc_act": False}
    config["quantization_config"].update({"version": "gemm", "zero_point": True} if awq else
                                         {"checkpoint_format": kind, "sym": False})
    out = {}
    for name, (shape, values) in tensors.items():
        if not name.endswith("_proj.weight"):
            out[name] = (shape, values)
            continue
        rows, columns = shape
        groups = columns // 128
        codes, scales, zeros = [], [[0.0] * rows for _ in range(groups)], [[0] * rows for _ in range(groups)]
        for row in range(rows):
            codes.append([])
            for group in range(groups):
                begin = row * columns + 128 * group
                part, scale, zero = round_group(values[begin : begin + 128])
                zero = max(zero, less)
                codes[row] += part
                scales[group][row], zeros[group][row] = scale, zero - less
        order = AWQ_ORDER if awq else range(8)
        words = ([pack([codes[8 * r + i][c] for i in range(8)], order)
                  for c in range(columns) for r in range(rows // 8)] if awq else
                 [pack(codes[r][8 * c : 8 * c + 8], order) for c in range(columns // 8) for r in range(rows)])
        zero_words = [pack(line[8 * r : 8 * r + 8], order) for line in zeros for r in range(rows // 8)]
        stem = name[: -len("weight")]
        out[stem + "qweight"] = ((columns, rows // 8) if awq else (columns // 8, rows), words)
        out[stem + "qzeros"] = ((groups, rows // 8), zero_words)
        out[stem + "scales"] = ((groups, rows), [scale for line in scales for scale in line])
        if not awq:
            out[stem + "g_idx"] = ((columns,), [c // 128 for c in range(columns)])
    return out


def from_four_bits(tensors, config):
    """Matrices in place of what files of 4 bits have of them."""
    kind = config["quantization_config"]
    awq = kind["quant_method"] == "awq"
    more = 1 if not awq and kind["checkpoint_format"] == "gptq" else 0
    for name in [name for name in tensors if name.endswith("qweight")]:
        stem = name[: -len("qweight")]
        words, zeros, scales = (tensors.pop(stem + part) for part in ("qweight", "qzeros", "scales"))
        tensors.pop(stem + "g_idx", None)
        rows, columns = len(scales[0]), 128 * len(scales)
        places = [4 * (AWQ_ORDER.index(i) if awq else i) for i in range(8)]
        matrix = []
        for r in range(rows):
            shift, line = places[r % 8], []
            for group in range(columns // 128):
                zero, scale = (zeros[group][r // 8] >> shift & 15) + more, scales[group][r]
                levels = [(code - zero) * scale for code in range(16)]
                if awq:
                    line += [levels[row[r // 8] >> shift & 15] for row in words[128 * group : 128 * group + 128]]
                else:
                    line += [levels[row[r] >> place & 15] for row in words[16 * group : 16 * group + 16]
                             for place in places]
            matrix.append(line)
        tensors[stem + "weight"] = matrix


def make(folder, family, keys):
    os.makedirs(folder, exist_ok=True)
    config = make_config(family, keys)
    vocabulary = config["vocab_size"]
    tokenizer, stop = (byte_level_tokenizer(family, vocabulary)
                       if family in ("llama3", "qwen2", "qwen3") else block_tokenizer(vocabulary))
    config["eos_token_id"] = stop
    generator = random.Random(int(keys.get("seed", 1)))
    tensors = {name: (shape, random_values(name, shape, generator))
               for name, shape in shapes(config).items()}
    if keys.get("eight_bits") in ("fp8", "compressed"):
        tensors = to_blocks(tensors, keys["eight_bits"], config)
    elif "eight_bits" in keys:
        tensors = to_eight_bits(tensors, keys["eight_bits"])
    if "four_bits" in keys:
        tensors = to_four_bits(tensors, keys["four_bits"], config)
    dtype, shards = keys.get("dtype", "BF16"), int(keys.get("shards", 1))
    if shards == 1:
        write_tensors(os.path.join(folder, "model.safetensors"), tensors, dtype)
    else:
        names, where = list(tensors), {}
        for i in range(shards):
            file = "model-%05d-of-%05d.safetensors" % (i + 1, shards)
            part = names[i::shards]
            where.update({name: file for name in part})
            write_tensors(os.path.join(folder, file), {n: tensors[n] for n in part}, dtype)
        with open(os.path.join(folder, "model.safetensors.index.json"), "w") as file:
            json.dump({"metadata": {}, "weight_map": where}, file)
    for name, document in (("config.json", config), ("tokenizer.json", tokenizer)):
        with open(os.path.join(folder, name), "w") as file:
            json.dump(document, file)


# ---- what a model computes ----


def read_tensors(folder, narrow):
    tensors = {}
    for file in sorted(os.listdir(folder)):
        if not file.endswith(".safetensors"):
            continue
        with open(os.path.join(folder, file), "rb") as opened:
            data = opened.read()
        length = struct.unpack("<Q", data[:8])[0]
        header = json.loads(data[8 : 8 + length])
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            values = UNPACK[entry["dtype"]](data[begin:end])
            if (entry["dtype"] == "F32" and "_scale" not in name) or (
                    narrow and entry["dtype"] in ("F16", "F32") and not name.endswith("scales")):  # the program rounds these
                values = from_bf16(to_bf16(values))
            shape = entry["shape"]
            if len(shape) == 2:
                values = [values[i * shape[1] : (i + 1) * shape[1]] for i in range(shape[0])]
            tensors[name] = values
    for name in [name for name in tensors if "_scale" in name]:
        scales = [row if isinstance(row, list) else [row] for row in tensors.pop(name)]
        matrix = tensors[name[: name.index("_scale")]]
        high = 1 if len(scales) == len(matrix) else len(matrix) if len(scales[0]) == 1 else 128
        for i, row in enumerate(matrix):
            own = scales[i // high]
            matrix[i] = [value * own[j // 128 if len(own) > 1 else 0] for j, value in enumerate(row)]
    return tensors


def round_e4m3(value):
    """The nearest e4m3, of even mantissa when two are as near; its largest beyond that."""
    return math.copysign(E4M3[bisect.bisect_left(E4M3_ENDS, abs(value))], value)


def round_rows(matrix):
    """As the program makes weights of 8 bits: each row by its largest magnitude."""
    out = []
    for row in matrix:
        scale = to_f32([max(map(abs, row)) / 448.0])[0] or 1.0
        scaled = to_f32([value / scale for value in row])
        out.append([round_e4m3(value) * scale for value in scaled])
    return out


def multiply(matrix, x, bias=None):
    y = [sum(map(operator.mul, row, x)) for row in matrix]
    return [a + b for a, b in zip(y, bias)] if bias else y


def rms_norm(x, weight, epsilon):
    scale = 1 / math.sqrt(sum(v * v for v in x) / len(x) + epsilon)
    return [v * scale * w for v, w in zip(x, weight)]


def frequencies(config):
    half, base = config["head_dim"] // 2, config["rope_theta"]
    plain = [base ** (-i / half) for i in range(half)]
    scaling = config.get("rope_scaling")
    if not scaling:
        return plain
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    original, factor = scaling["original_max_position_embeddings"], scaling["factor"]
    out = []
    for one in plain:
        wave = 2 * math.pi / one
        if wave < original / high:
            out.append(one)
        elif wave > original / low:
            out.append(one / factor)
        else:
            kept = (original / wave - low) / (high - low)
            out.append((1 - kept) * one / factor + kept * one)
    return out


def turn(x, position, turns):
    half = len(turns)
    out = list(x)
    for i, one in enumerate(turns):
        c, s = math.cos(position * one), math.sin(position * one)
        out[i] = x[i] * c - x[i + half] * s
        out[i + half] = x[i + half] * c + x[i] * s
    return out


class Reference:
    def __init__(self, folder, rounded=None):
        with open(os.path.join(folder, "config.json")) as file:
            self.config = json.load(file)
        method = self.config.get("quantization_config", {}).get("quant_method")
        four_bits = method in ("gptq", "awq")
        self.tensors = read_tensors(folder, rounded or four_bits)
        if four_bits:
            from_four_bits(self.tensors, self.config)
        self.head = self.tensors["model.embed_tokens.weight" if self.config["tie_word_embeddings"]
                                 else "lm_head.weight"]
        if rounded:
            self.head = round_rows(self.head)
            narrower = round_rows if rounded == "fp8" else round_groups
            for name in self.tensors:
                if name.endswith("_proj.weight"):
                    self.tensors[name] = narrower(self.tensors[name])
        self.turns = frequencies(self.config)
        self.cache = [([], []) for _ in range(self.config["num_hidden_layers"])]
        self.position = 0

    def attend(self, layer, q, k, v):
        config = self.config
        head, kv_heads = config["head_dim"], config["num_key_value_heads"]
        group = config["num_attention_heads"] // kv_heads
        split = lambda x: [x[i : i + head] for i in range(0, len(x), head)]
        q, k, v = split(q), split(k), split(v)
        name = "model.layers.%d.self_attn." % layer
        if config["model_type"] == "qwen3":
            q = [rms_norm(x, self.tensors[name + "q_norm.weight"], config["rms_norm_eps"])
                 for x in q]
            k = [rms_norm(x, self.tensors[name + "k_norm.weight"], config["rms_norm_eps"])
                 for x in k]
        keys, values = self.cache[layer]
        keys.append([turn(x, self.position, self.turns) for x in k])
        values.append(v)
        out = []
        for i, one in enumerate(q):
            one = turn(one, self.position, self.turns)
            scores = [sum(map(operator.mul, one, row[i // group])) / math.sqrt(head)
                      for row in keys]
            most = max(scores)
            weights = [math.exp(score - most) for score in scores]
            total = sum(weights)
            out += [sum(map(operator.mul, weights, column)) / total
                    for column in zip(*(row[i // group] for row in values))]
        return out

    def step(self, token, read=True):
        """Logits of what follows the token, where they are to be read."""
        config, tensors = self.config, self.tensors
        epsilon = config["rms_norm_eps"]
        h = list(tensors["model.embed_tokens.weight"][token])
        last = config["num_hidden_layers"] - 1
        for i in range(last + 1):
            layer = "model.layers.%d." % i
            x = rms_norm(h, tensors[layer + "input_layernorm.weight"], epsilon)
            q, k, v = (multiply(tensors[layer + "self_attn.%s_proj.weight" % part], x,
                                tensors.get(layer + "self_attn.%s_proj.bias" % part))
                       if read or i < last or part != "q" else [] for part in "qkv")
            attended = self.attend(i, q, k, v)
            if not read and i == last:  # later tokens ask for its key and value alone
                break
            h = [a + b for a, b in
                 zip(h, multiply(tensors[layer + "self_attn.o_proj.weight"], attended))]
            x = rms_norm(h, tensors[layer + "post_attention_layernorm.weight"], epsilon)
            gate = multiply(tensors[layer + "mlp.gate_proj.weight"], x)
            up = multiply(tensors[layer + "mlp.up_proj.weight"], x)
            f = [g / (1 + math.exp(-g)) * u for g, u in zip(gate, up)]
            h = [a + b for a, b in zip(h, multiply(tensors[layer + "mlp.down_proj.weight"], f))]
        self.position += 1
        if not read:
            return None
        x = rms_norm(h, tensors["model.norm.weight"], epsilon)
        return multiply(self.head, x)


def judge(folder, prompt, tokens, rounded=None):
    reference = Reference(folder, rounded)
    clear = 0
    for token in prompt[:-1]:
        reference.step(token, read=False)
    before = prompt[-1]
    for i, token in enumerate(tokens):
        logits = reference.step(before)
        best, second = sorted(logits, reverse=True)[:2]
        scale = math.sqrt(sum(x * x for x in logits) / len(logits))
        if logits[token] < best - 0.05 * scale:
            print("token %d is %d, whose logit is %.4f; the largest is %.4f, of token %d"
                  % (i, token, logits[token], best, logits.index(best)))
            return 1
        clear += best - second > 0.05 * scale
        before = token
    print("%d tokens, %d of them without a choice" % (len(tokens), clear))
    return 0 if 2 * clear >= len(tokens) else 1


def numbers(text):
    return [int(part) for part in text.split(",") if part]


def main(arguments):
    if len(arguments) >= 3 and arguments[0] == "make":
        make(arguments[1], arguments[2], dict(part.split("=", 1) for part in arguments[3:]))
        return 0
    if len(arguments) >= 4 and arguments[0] == "judge":
        return judge(arguments[1], numbers(arguments[2]), numbers(arguments[3]),
                     *arguments[4:])
    sys.stderr.write(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
