"""Tests of checkpoint.py, which needs numpy only. A test in Go runs them."""

import collections
import io
import json
import os
import pickle
import struct
import sys
import tempfile
import types
import unittest
import zipfile

import numpy as np

import checkpoint


class FloatStorage:
    """Stands for torch's class in a pickle."""


def rebuild(*_):
    """Stands for torch's function that makes a tensor."""


FloatStorage.__module__, FloatStorage.__qualname__ = "torch", "FloatStorage"
rebuild.__module__, rebuild.__qualname__ = "torch._utils", "_rebuild_tensor_v2"


class Weight:
    def __init__(self, key, shape, strides, offset=0):
        self.key, self.about = key, (offset, shape, strides, False, collections.OrderedDict())

    def __reduce__(self):
        return rebuild, (Key(self.key), *self.about)


class Key(str):
    """The name of a storage."""


class Pickler(pickle.Pickler):
    def persistent_id(self, value):
        return ("storage", FloatStorage, str(value), "cpu", 0) if isinstance(value, Key) else None


def save(path, state, storages, compression=zipfile.ZIP_STORED):
    """Writes a file as torch.save does."""
    sys.modules["torch"] = types.SimpleNamespace(FloatStorage=FloatStorage)
    sys.modules["torch._utils"] = types.SimpleNamespace(_rebuild_tensor_v2=rebuild)
    text = io.BytesIO()
    Pickler(text, 2).dump(state)
    with zipfile.ZipFile(path, "w", compression) as members:
        members.writestr("unet/data.pkl", text.getvalue())
        for key, values in storages.items():
            members.writestr(f"unet/data/{key}", np.array(values, "<f4").tobytes())


class Test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "checkpoint")

    def refused(self, part):
        with self.assertRaisesRegex(ValueError, part):
            checkpoint.read(self.path)

    def test_torch(self):
        weights = collections.OrderedDict(a=Weight("0", (2, 2), (2, 1), 1), b=Weight("1", (), ()))
        for state in weights, {"state_dict": weights, "epoch": 3}, {"dims": {"n_mels": 80}, "model_state_dict": weights}:
            save(self.path, state, {"0": [0, 1, 2, 3, 4], "1": [7]})
            read = checkpoint.read(self.path)
            self.assertEqual({name: w.read().tolist() for name, w in read.items()}, {"a": [[1, 2], [3, 4]], "b": 7})

    def test_torch_refused(self):
        save(self.path, {"a": Weight("0", (2, 2), (1, 2))}, {"0": [1, 2, 3, 4]})
        self.refused("order other than torch's own")
        save(self.path, {"a": os.getcwd}, {})
        self.refused("it names .*getcwd")
        save(self.path, {"a": Weight("0", (1,), (1,))}, {"0": [1]}, zipfile.ZIP_DEFLATED)
        self.refused("is compressed")
        save(self.path, {"a": Weight("1", (1,), (1,))}, {"0": [1]})
        self.refused("no checkpoint, or not all of one")
        save(self.path, {"a": Weight("0", (1,), (1,))}, {"0": [1]})
        with open(self.path, "rb+") as file:
            file.truncate(os.path.getsize(self.path) - 30)
        self.refused("no checkpoint, or not all of one")

    def test_safetensors(self):
        checkpoint.write(self.path, {"a": ((2, 2), lambda: np.arange(4.).reshape(2, 2)), "b": ((1,), lambda: np.array([5.]))})
        self.assertEqual({name: w.read().tolist() for name, w in checkpoint.read(self.path).items()}, {"a": [[0, 1], [2, 3]], "b": [5]})

    def test_halves(self):
        for kind, values in ("F16", np.array([1.5, -2], "<f2").tobytes()), ("BF16", struct.pack("<HH", 0x3fc0, 0xc000)):
            head = json.dumps({"__metadata__": {}, "a": {"dtype": kind, "shape": [2], "data_offsets": [0, 4]}}).encode()
            with open(self.path, "wb") as file:
                file.write(struct.pack("<Q", len(head)) + head + values)
            self.assertEqual(checkpoint.read(self.path)["a"].read().tolist(), [1.5, -2])

    def test_safetensors_refused(self):
        for content in b"some text that is long enough", struct.pack("<Q", 1 << 40) + b"{}", struct.pack("<Q", 2) + b"{", b"x":
            with open(self.path, "wb") as file:
                file.write(content)
            with self.assertRaises(ValueError):
                checkpoint.read(self.path)

    def test_names(self):
        for kind, old, new in (
            ("vae", "decoder.mid_block.attentions.0.query.weight", "decoder.mid_block.attentions.0.to_q.weight"),
            ("vae", "encoder.mid_block.attentions.0.proj_attn.bias", "encoder.mid_block.attentions.0.to_out.0.bias"),
            ("vae", "encoder.conv_in.weight", "encoder.conv_in.weight"),
            ("whisper", "model.encoder.layers.3.self_attn.k_proj.weight", "layers.3.self_attn.k_proj.weight"),
            ("whisper", "model.encoder.layer_norm.bias", "layer_norm.bias"),
            ("whisper", "encoder.blocks.2.attn.value.bias", "layers.2.self_attn.v_proj.bias"),
            ("whisper", "encoder.blocks.2.attn.out.bias", "layers.2.self_attn.out_proj.bias"),
            ("whisper", "encoder.blocks.2.attn_ln.weight", "layers.2.self_attn_layer_norm.weight"),
            ("whisper", "encoder.blocks.2.mlp.0.weight", "layers.2.fc1.weight"),
            ("whisper", "encoder.blocks.2.mlp_ln.weight", "layers.2.final_layer_norm.weight"),
            ("whisper", "encoder.positional_embedding", "embed_positions.weight"),
            ("whisper", "encoder.ln_post.bias", "layer_norm.bias"),
            ("painter", "mid_block.attentions.0.norm.weight", "mid_block.attentions.0.norm.weight"),
        ):
            self.assertEqual(checkpoint.renamed(kind, old), new)

    def test_other_network(self):
        checkpoint.write(self.path, {"a": ((2,), lambda: np.zeros(2)), "b": ((1,), lambda: np.zeros(1))})
        c = checkpoint.Checkpoint("painter", self.path)
        with self.assertRaisesRegex(ValueError, "it has no c"):
            c.take("c", 1)
        with self.assertRaisesRegex(ValueError, r"its a has the shape \(2,\), not \(3,\)"):
            c.take("a", 3)
        self.assertEqual(c.take("a", 2)().tolist(), [0, 0])
        self.assertEqual(c.unused, {"b"})


if __name__ == "__main__":
    unittest.main()
