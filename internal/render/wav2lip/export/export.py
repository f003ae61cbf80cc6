#!/usr/bin/env python3
"""Writes the Wav2Lip network as an ONNX model.

    pip install -r requirements-checkpoint.txt
    export.py wav2lip_gan.pth wav2lip.onnx           the published checkpoint
    export.py --random 1 wav2lip.onnx                the same layers, random weights
    export.py --random 1 --checkpoint a.pth a.onnx   and a checkpoint of them beside

Random weights need only requirements.txt. --fp16 halves the file and suits
a GPU.

The network is the one of Prajwal, Mukhopadhyay, Namboodiri and Jawahar, "A Lip
Sync Expert Is All You Need for Speech to Lip Generation In the Wild" (2020), for
faces of 96 pixels, with 36.3 million parameters. The tables below say its layers
in the order of the checkpoint's names. What batch normalisation does to the
output of a layer is folded into the layer's weights.

Inputs: sound n×1×80×16, face n×6×96×96. Output: painted n×3×96×96.
"""

import argparse
from collections import namedtuple

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

Layer = namedtuple("Layer", "inputs outputs kernel stride pad kind", defaults=[1, "conv"])


def down(inputs, outputs, stride=2, kernel=3):
    return Layer(inputs, outputs, kernel, stride, kernel // 2)


def up(inputs, outputs):
    return Layer(inputs, outputs, 3, 2, 1, "up")


def same(channels, times):
    return [Layer(channels, channels, 3, 1, 1, "residual")] * times


def point(inputs, outputs):
    return Layer(inputs, outputs, 1, 1, 0)


SOUND = [
    down(1, 32, 1), *same(32, 2),
    down(32, 64, (3, 1)), *same(64, 2),
    down(64, 128, 3), *same(128, 2),
    down(128, 256, (3, 2)), *same(256, 1),
    Layer(256, 512, 3, 1, 0), point(512, 512),
]
FACE = [
    [down(6, 16, 1, 7)],
    [down(16, 32), *same(32, 2)],
    [down(32, 64), *same(64, 3)],
    [down(64, 128), *same(128, 2)],
    [down(128, 256), *same(256, 2)],
    [down(256, 512), *same(512, 1)],
    [Layer(512, 512, 3, 1, 0), point(512, 512)],
]
# Each block of the decoder is joined with what the encoder saw at its size.
DECODER = [
    [point(512, 512)],
    [Layer(1024, 512, 3, 1, 0, "up"), *same(512, 1)],
    [up(1024, 512), *same(512, 2)],
    [up(768, 384), *same(384, 2)],
    [up(512, 256), *same(256, 2)],
    [up(320, 128), *same(128, 2)],
    [up(160, 64), *same(64, 2)],
]
OUTPUT = Layer(80, 32, 3, 1, 1)
PAINT = Layer(32, 3, 1, 1, 0, "plain")


def layers():
    """All layers, by the names that the checkpoint has for them."""
    for i, layer in enumerate(SOUND):
        yield f"audio_encoder.{i}.conv_block.", layer
    for part, blocks in ("face_encoder_blocks", FACE), ("face_decoder_blocks", DECODER):
        for b, block in enumerate(blocks):
            for i, layer in enumerate(block):
                yield f"{part}.{b}.{i}.conv_block.", layer
    yield "output_block.0.conv_block.", OUTPUT
    yield "output_block.1.", PAINT


def read(path):
    """The weights of a checkpoint."""
    import torch

    state = torch.load(path, map_location="cpu", weights_only=True)
    state = state.get("state_dict", state)
    return {name.removeprefix("module."): value.numpy() for name, value in state.items()}


def write(path, state):
    """The weights as a checkpoint like the published one."""
    import torch

    torch.save({"state_dict": {"module." + name: torch.from_numpy(value) for name, value in state.items()}}, path)


def random_state(seed):
    """Weights that keep the size of what goes through them. Only their signs are random, so that the file can be made small."""
    random = np.random.default_rng(seed)
    state = {}
    for name, layer in layers():
        shape = [layer.outputs, layer.inputs, layer.kernel, layer.kernel]
        if layer.kind == "up":
            shape[:2] = shape[1::-1]
        spread = (1 / (layer.inputs * layer.kernel**2)) ** 0.5
        bn = name + "1."
        if layer.kind != "plain":
            name += "0."
            state[bn + "weight"] = random.uniform(0.8, 1.2, layer.outputs)
            state[bn + "bias"] = random.normal(0, 0.1, layer.outputs)
            state[bn + "running_mean"] = random.normal(0, 0.1, layer.outputs)
            state[bn + "running_var"] = random.uniform(0.5, 1.5, layer.outputs)
        state[name + "weight"] = spread * random.choice([-1, 1], shape)
        state[name + "bias"] = random.normal(0, 0.1, layer.outputs)
    state = {name: value.astype(np.float32) for name, value in state.items()}
    for name in [n for n in state if n.endswith("running_mean")]:
        state[name.replace("running_mean", "num_batches_tracked")] = np.array(1, np.int64)
    return state


def fold(state, name, layer):
    """The weights and biases of a layer with its batch normalisation."""
    if layer.kind == "plain":
        return state[name + "weight"], state[name + "bias"]
    weight, bias = state[name + "0.weight"], state[name + "0.bias"]
    scale = state[name + "1.weight"] / np.sqrt(state[name + "1.running_var"] + 1e-5)
    shape = (1, -1, 1, 1) if layer.kind == "up" else (-1, 1, 1, 1)
    return weight * scale.reshape(shape), (bias - state[name + "1.running_mean"]) * scale + state[name + "1.bias"]


class Graph:
    """The graph while it is made."""

    def __init__(self, state, dtype):
        self.state, self.dtype = state, dtype
        self.nodes, self.weights = [], []

    def node(self, op, inputs, **attributes):
        output = f"x{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def layer(self, x, name, layer):
        inputs = [x]
        for kind, value in zip(("weight", "bias"), fold(self.state, name, layer)):
            inputs.append(name + kind)
            self.weights.append(numpy_helper.from_array(value.astype(self.dtype), name + kind))
        stride = layer.stride if isinstance(layer.stride, tuple) else (layer.stride,) * 2
        attributes = {"strides": stride, "pads": [layer.pad] * 4}
        if layer.kind == "up":
            attributes["output_padding"] = [layer.stride - 1] * 2
        y = self.node("ConvTranspose" if layer.kind == "up" else "Conv", inputs, **attributes)
        if layer.kind == "plain":
            return y
        if layer.kind == "residual":
            y = self.node("Add", [y, x])
        return self.node("Relu", [y])

    def build(self):
        named = iter(list(layers()))
        x = "sound"
        for _ in SOUND:
            x = self.layer(x, *next(named))
        sound, x, seen = x, "face", []
        for block in FACE:
            for _ in block:
                x = self.layer(x, *next(named))
            seen.append(x)
        x = sound
        for block in DECODER:
            for _ in block:
                x = self.layer(x, *next(named))
            x = self.node("Concat", [x, seen.pop()], axis=1)
        for _ in OUTPUT, PAINT:
            x = self.layer(x, *next(named))
        self.nodes.append(helper.make_node("Sigmoid", [x], ["painted"]))


def export(state, path, half):
    graph = Graph(state, np.float16 if half else np.float32)
    graph.build()
    kind = TensorProto.FLOAT16 if half else TensorProto.FLOAT

    def info(name, *shape):
        return helper.make_tensor_value_info(name, kind, ["n", *shape])

    model = helper.make_model(
        helper.make_graph(graph.nodes, "wav2lip", [info("sound", 1, 80, 16), info("face", 6, 96, 96)],
                          [info("painted", 3, 96, 96)], graph.weights),
        opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(model)
    save(model, path)


def main():
    parser = argparse.ArgumentParser(description="Write the Wav2Lip network as an ONNX model.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="the checkpoint, unless --random, and the model to write")
    parser.add_argument("--random", type=int, metavar="SEED", help="random weights instead of a checkpoint")
    parser.add_argument("--checkpoint", metavar="FILE", help="write the weights also as a checkpoint")
    parser.add_argument("--fp16", action="store_true", help="weights, inputs and outputs of 16 bits")
    args = parser.parse_args()
    if len(args.files) != (2 if args.random is None else 1):
        parser.error("give a checkpoint and the model to write, or --random SEED and the model to write")
    state = read(args.files[0]) if args.random is None else random_state(args.random)
    missing = [name for name, layer in layers() if name + ("weight" if layer.kind == "plain" else "0.weight") not in state]
    if missing:
        parser.error(f"the checkpoint is of another network: it has no {missing[0]}")
    export(state, args.files[-1], args.fp16)
    if args.checkpoint:
        write(args.checkpoint, state)
    count = sum(value.size for name, value in state.items() if name.endswith(("weight", "bias")))
    print(f"{args.files[-1]}: {count / 1e6:.1f} million parameters")


if __name__ == "__main__":
    main()
