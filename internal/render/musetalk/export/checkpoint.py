"""Reads checkpoints without torch: the files of safetensors, and those of torch.save.

A file is mapped into memory, and a weight is read when it is asked for. Nothing in a
file is run: the pickle in a file of torch.save may only name tensors, as torch's own
weights_only does it.
"""

import collections
import json
import math
import mmap
import os
import pickle
import re
import struct
import zipfile

import numpy as np

TYPES = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16}  # of safetensors
STORAGES = {"FloatStorage": "F32", "HalfStorage": "F16", "BFloat16Storage": "BF16"}  # of torch

# Names of weights in older and other files, and the names here.
RENAMED = {
    "painter": [],
    "vae": [(rf"(mid_block\.attentions\.0)\.{old}\.", rf"\1.{new}.")  # diffusers' names until 2023
            for old, new in (("query", "to_q"), ("key", "to_k"), ("value", "to_v"), ("proj_attn", "to_out.0"))],
    "whisper": [
        (r"^(model\.)?encoder\.", ""),
        # OpenAI's own names
        (r"^ln_post\.", "layer_norm."), (r"^positional_embedding$", "embed_positions.weight"),
        (r"^blocks\.(\d+)\.attn\.(query|key|value)\.", lambda m: f"layers.{m[1]}.self_attn.{m[2][0]}_proj."),
        (r"^blocks\.(\d+)\.attn\.out\.", r"layers.\1.self_attn.out_proj."),
        (r"^blocks\.(\d+)\.attn_ln\.", r"layers.\1.self_attn_layer_norm."),
        (r"^blocks\.(\d+)\.mlp\.0\.", r"layers.\1.fc1."), (r"^blocks\.(\d+)\.mlp\.2\.", r"layers.\1.fc2."),
        (r"^blocks\.(\d+)\.mlp_ln\.", r"layers.\1.final_layer_norm."),
    ],
}


class Tensor:
    """A weight in a mapped file."""

    def __init__(self, content, kind, start, shape):
        self.content, self.kind, self.start, self.shape = content, kind, start, tuple(shape)

    def read(self):
        """The weight as float32."""
        count = math.prod(self.shape)
        value = np.frombuffer(self.content, TYPES[self.kind], count, self.start).reshape(self.shape)
        if self.kind == "BF16":
            return (value.astype(np.uint32) << 16).view(np.float32)
        return value.astype(np.float32)


def read(path):
    """The weights of a checkpoint by their names."""
    with open(path, "rb") as file:
        content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    try:
        return (torch_weights if content[:4] == b"PK\3\4" else safetensors)(path, content)
    except (zipfile.BadZipFile, pickle.UnpicklingError, struct.error, KeyError, IndexError, TypeError, AttributeError, EOFError) as e:
        raise ValueError(f"{path} is no checkpoint, or not all of one: {e!r}") from None


def safetensors(path, content):
    size = struct.unpack("<Q", content[:8])[0]
    if size > min(len(content) - 8, 100 << 20) or content[8:9] != b"{":
        raise ValueError(f"{path} is neither a file of safetensors nor one of torch.save of torch 1.6 or later")
    weights = {}
    for name, about in json.loads(bytes(content[8:8 + size])).items():
        if name != "__metadata__" and about["dtype"] in TYPES:
            weights[name] = Tensor(content, about["dtype"], 8 + size + about["data_offsets"][0], about["shape"])
    return weights


class Storage:
    """The name of a type of storage, in place of torch's class."""

    def __init__(self, name):
        self.kind = STORAGES.get(name)


class Unpickler(pickle.Unpickler):
    """Reads the pickle of a file of torch.save. Whatever is no weight is left out."""

    def __init__(self, file, starts, content):
        super().__init__(file)
        self.starts, self.content = starts, content

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if module == "torch" and name.endswith("Storage"):
            return Storage(name)
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return self.tensor
        if (module, name) == ("torch._utils", "_rebuild_parameter"):
            return lambda tensor, *_: tensor
        raise ValueError(f"the checkpoint is no plain list of weights: it names {module}.{name}")

    def persistent_load(self, about):
        _, storage, key, *_ = about
        return storage.kind, self.starts[key]

    def tensor(self, storage, offset, shape, strides, *_):
        kind, start = storage
        if kind is None:  # such as the counts of steps
            return None
        plain = [math.prod(shape[i + 1:]) for i in range(len(shape))]
        if any(s != p for s, p, n in zip(strides, plain, shape) if n > 1):
            raise ValueError("the checkpoint has weights in an order other than torch's own: save it again with contiguous ones")
        return Tensor(self.content, kind, start + offset * np.dtype(TYPES[kind]).itemsize, shape)


def torch_weights(path, content):
    starts = {}
    with zipfile.ZipFile(path) as members:
        for member in members.infolist():
            folder, _, key = member.filename.rpartition("/")
            if os.path.basename(folder) != "data":
                continue
            if member.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"{path} is compressed: torch.save writes no such file")
            head = member.header_offset
            name, extra = struct.unpack("<HH", content[head + 26:head + 30])
            starts[key] = head + 30 + name + extra
        names = [name for name in members.namelist() if name.endswith("data.pkl")]
        if len(names) != 1:
            raise ValueError(f"{path} is no file of torch.save")
        with members.open(names[0]) as file:
            state = Unpickler(file, starts, content).load()
    for key in "state_dict", "model_state_dict":
        state = state.get(key, state)
    return {name: value for name, value in state.items() if isinstance(value, Tensor)}


def write(path, weights):
    """Writes a file of safetensors. The weights are pairs of a shape and a function that makes the values."""
    about, end = {}, 0
    for name, (shape, _) in weights.items():
        size = 4 * math.prod(shape)
        about[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [end, end + size]}
        end += size
    head = json.dumps(about).encode()
    head += b" " * (-len(head) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        for _, make in weights.values():
            make().astype(np.float32).tofile(file)


def renamed(kind, name):
    for old, new in RENAMED[kind]:
        name = re.sub(old, new, name)
    return name


class Checkpoint:
    """The weights of a checkpoint."""

    def __init__(self, kind, path):
        self.path = path
        self.weights = {renamed(kind, name): weight for name, weight in read(path).items()}
        self.unused = set(self.weights)

    def take(self, name, *shape):
        """A function that reads a weight, which must have the shape."""
        weight = self.weights.get(name)
        if weight is None:
            raise ValueError(f"{self.path} is of another network: it has no {name}")
        if weight.shape != shape:
            raise ValueError(f"{self.path} is of another network: its {name} has the shape {weight.shape}, not {shape}")
        self.unused.discard(name)
        return weight.read
