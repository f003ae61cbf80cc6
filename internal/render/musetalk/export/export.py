#!/usr/bin/env python3
"""Writes the networks of MuseTalk 1.5 as four ONNX models.

    pip install -r ../../wav2lip/export/requirements.txt
    export.py MODELS FOLDER                   the published checkpoints
    export.py --random 1 FOLDER               the same layers, random weights
    export.py --random 1 --small FOLDER       fewer and smaller layers, for tests
    export.py --random 1 --checkpoints MODELS FOLDER
                                              and checkpoints of them

MODELS is the folder of checkpoints as the published code wants it:

    musetalkV15/unet.pth, musetalkV15/musetalk.json   the painter
    sd-vae/diffusion_pytorch_model.bin                sd-vae-ft-mse of stabilityai
    whisper/pytorch_model.bin                         whisper-tiny of openai

Each may be a file of safetensors instead, such as sd-vae/diffusion_pytorch_model.safetensors,
and the last may be openai's tiny.pt. torch isn't needed, nor much memory. The models
have numbers of 16 bits. With --fp32 they have 32, except the painter of full size, which
would be too large for ONNX. Copies of the published checkpoints are checked: names and
shapes of all weights, and the painter's configuration.
"""

import argparse
import hashlib
import json
import math
import os
import sys
import zlib

import numpy as np

import checkpoint
import networks
from graph import Graph

# The folder of each checkpoint, and the names that its file can have.
CHECKPOINTS = {
    "painter": ("musetalkV15", "unet.pth", "unet.safetensors"),
    "vae": ("sd-vae", "diffusion_pytorch_model.safetensors", "diffusion_pytorch_model.bin"),
    "whisper": ("whisper", "model.safetensors", "pytorch_model.bin", "tiny.pt"),
}
CONFIGURATION = "musetalkV15/musetalk.json"

# The model of each role: its checkpoint, its network, and what its licence says.
MODELS = {
    "musetalk-hearing": ("whisper", networks.hearing, "whisper-tiny of OpenAI: MIT"),
    "musetalk-encoder": ("vae", networks.encoder, "sd-vae-ft-mse of Stability AI: MIT"),
    "musetalk": ("painter", networks.painter, "MuseTalk 1.5 of Lyra Lab: any purpose, also commercially"),
    "musetalk-decoder": ("vae", networks.decoder, "sd-vae-ft-mse of Stability AI: MIT"),
}

# What the painter's configuration must say. Its attention_head_dim is the number of heads.
WANTED = {
    "act_fn": "silu", "attention_head_dim": networks.HEADS, "block_out_channels": list(networks.FULL.unet),
    "center_input_sample": False, "cross_attention_dim": networks.FULL.d,
    "down_block_types": ["CrossAttnDownBlock2D"] * 3 + ["DownBlock2D"], "downsample_padding": 1, "flip_sin_to_cos": True,
    "freq_shift": 0, "in_channels": 8, "layers_per_block": networks.FULL.blocks, "mid_block_scale_factor": 1, "norm_eps": 1e-5,
    "norm_num_groups": 32, "out_channels": 4, "up_block_types": ["UpBlock2D"] + ["CrossAttnUpBlock2D"] * 3,
}


class Random:
    """Random weights that keep the size of what goes through them.

    With a period each weight repeats so many numbers, so that the file can be made small."""

    def __init__(self, seed, period):
        self.seed, self.period, self.weights = seed, period, {}

    def take(self, name, *shape):
        self.weights[name] = shape, lambda: self.make(name, shape)
        return self.weights[name][1]

    def make(self, name, shape):
        count = math.prod(shape)
        random = np.random.default_rng([self.seed, zlib.crc32(name.encode())])
        value = np.resize(random.standard_normal(min(count, self.period or count), np.float32), shape)
        if len(shape) > 1:
            return value / np.sqrt(count / shape[0], dtype=np.float32)
        return value / 10 + (name.endswith("weight"))


def find(models, kind):
    folder, *names = CHECKPOINTS[kind]
    for name in names:
        path = os.path.join(models, folder, name)
        if os.path.exists(path):
            return path
    raise ValueError(f"{os.path.join(models, folder)} has none of {', '.join(names)}")


def check_configuration(path):
    """Fails if the painter's configuration says that it has other layers."""
    with open(path) as file:
        said = json.load(file)
    for key, wanted in WANTED.items():
        if said.get(key) != wanted:
            raise ValueError(f"{path} is of another network: its {key} is {said.get(key)}, not {wanted}")


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_checkpoints(models, states, size):
    """Writes random weights as the published code and verify.py read them."""
    about = {
        CONFIGURATION: WANTED | {"block_out_channels": size.unet, "cross_attention_dim": size.d, "layers_per_block": size.blocks},
        "sd-vae/config.json": {
            "_class_name": "AutoencoderKL", "block_out_channels": size.vae, "layers_per_block": size.blocks, "latent_channels": 4,
            "down_block_types": ["DownEncoderBlock2D"] * networks.PARTS, "up_block_types": ["UpDecoderBlock2D"] * networks.PARTS},
        "whisper/config.json": {
            "model_type": "whisper", "d_model": size.d, "encoder_layers": networks.LAYERS, "encoder_attention_heads": size.heads,
            "encoder_ffn_dim": size.inner, "decoder_layers": 1, "decoder_attention_heads": size.heads, "decoder_ffn_dim": size.inner},
    }
    for kind, (folder, *names) in CHECKPOINTS.items():
        os.makedirs(os.path.join(models, folder), exist_ok=True)
        prefix = "model.encoder." if kind == "whisper" else ""
        name = next(name for name in names if name.endswith(".safetensors"))
        checkpoint.write(os.path.join(models, folder, name), {prefix + name: weight for name, weight in states[kind].weights.items()})
    for name, said in about.items():
        with open(os.path.join(models, name), "w") as file:
            json.dump(said, file, indent=1)


def main():
    parser = argparse.ArgumentParser(description="Write the networks of MuseTalk 1.5 as ONNX models.")
    parser.add_argument("folders", nargs="+", metavar="FOLDER", help="the folder of checkpoints, unless --random, and the folder for the models")
    parser.add_argument("--random", type=int, metavar="SEED", help="random weights instead of checkpoints")
    parser.add_argument("--small", action="store_true", help="fewer and smaller layers, of random weights")
    parser.add_argument("--checkpoints", metavar="FOLDER", help="write the random weights also as checkpoints")
    parser.add_argument("--fp32", action="store_true", help="weights, inputs and outputs of 32 bits")
    args = parser.parse_args()
    published = args.random is None
    if len(args.folders) != 1 + published or published and (args.small or args.checkpoints):
        parser.error("give the folder of checkpoints and the folder for the models, or --random SEED and the folder for the models")
    try:
        if published:
            check_configuration(os.path.join(args.folders[0], CONFIGURATION))
            states = {kind: checkpoint.Checkpoint(kind, find(args.folders[0], kind)) for kind in CHECKPOINTS}
        else:
            states = {kind: Random(args.random, 127 if args.small else None) for kind in CHECKPOINTS}
        size = networks.SMALL if args.small else networks.FULL
        export(states, args.folders[-1], size, not args.fp32)
        if args.checkpoints:
            write_checkpoints(args.checkpoints, states, size)
    except (ValueError, OSError) as e:
        sys.exit(f"export.py: {e}")


def export(states, folder, size, half):
    """Writes the models, and prints the digests of all files and how to add the models."""
    os.makedirs(folder, exist_ok=True)
    graphs = {}
    for role, (kind, network, _) in MODELS.items():
        graph = Graph(states[kind], half or (kind == "painter" and size is networks.FULL))
        graphs[role] = graph, network(graph, size)
    for kind, state in states.items():
        if isinstance(state, checkpoint.Checkpoint):
            if state.unused and kind != "whisper":  # whose decoder isn't wanted
                raise ValueError(f"{state.path} is of another network: it also has {min(state.unused)}")
            print(f"read {digest(state.path)} {state.path}")
    for role, (graph, (inputs, output)) in graphs.items():
        path = os.path.join(folder, role + ".onnx")
        graph.save(path, role, inputs, output)
        count = sum(math.prod(shape) for shape, _, _ in graph.weights.values())
        print(f"wrote {digest(path)} {path}: {count / 1e6:.1f} million parameters, {os.path.getsize(path) / 1e6:.1f} MB", flush=True)
    for role, (_, _, licence) in MODELS.items():
        licence = licence if isinstance(next(iter(states.values())), checkpoint.Checkpoint) else "random numbers"
        print(f"lipsync models add {role} {os.path.join(folder, role)}.onnx --licence '{licence}'")


if __name__ == "__main__":
    main()
