#!/usr/bin/env python3
"""Compares the models that export.py wrote with the networks of the published code.

    pip install -r requirements-verify.txt
    verify.py MODELS FOLDER

MODELS and FOLDER are those that export.py got, but whisper must be that of
transformers, and not openai's tiny.pt. The published code runs the networks of
diffusers and transformers, and so does this: in PyTorch with 32 bits, and the models
in ONNX Runtime, on the same random inputs. The last line is of all four in a row, from
two pictures and a sound to the bytes of a picture, without the noise that the
published code adds to latents. How near they must come depends on the type of the
models' inputs, float32 or float16.
"""

import argparse
import gc
import json
import os
import sys

import numpy as np
import onnxruntime
import torch
import transformers
from diffusers import AutoencoderKL, UNet2DConditionModel
from diffusers.utils import logging

from export import CHECKPOINTS, CONFIGURATION, find
from networks import SCALE

# The largest difference in parts of the range, and the root of the mean square in parts of the standard deviation.
MOST = {"float32": (1e-4, 1e-4), "float16": (1e-2, 3e-3)}
# Of bytes in a row: the mean, what 99.9 % don't exceed, and what none exceeds.
LEVELS = {"float32": (1, 1, 1), "float16": (.5, 3, 255)}


class Published:
    """The networks of the published code. Memory holds one at a time."""

    def __init__(self, models):
        self.models = models

    def folder(self, kind):
        return os.path.join(self.models, CHECKPOINTS[kind][0])

    def hearing(self, mel):
        encoder = transformers.WhisperModel.from_pretrained(self.folder("whisper"), dtype=torch.float32).encoder.eval()
        return torch.stack(encoder(mel, output_hidden_states=True).hidden_states, 2)

    def vae(self):
        return AutoencoderKL.from_pretrained(self.folder("vae"), torch_dtype=torch.float32).eval()

    def encoder(self, picture):
        return SCALE * self.vae().encode(picture).latent_dist.mean

    def decoder(self, latent):
        return self.vae().decode(latent / SCALE).sample / 2 + .5

    def painter(self, latents, sound):
        path = find(self.models, "painter")
        if path.endswith(".safetensors"):
            from safetensors.torch import load_file as load
        else:
            def load(path):
                return torch.load(path, map_location="cpu", weights_only=True, mmap=True)
        with open(os.path.join(self.models, CONFIGURATION)) as file, torch.device("meta"):
            network = UNet2DConditionModel(**json.load(file))
        network.load_state_dict(load(path), assign=True)
        return network.eval().float()(latents, torch.tensor([0]), encoder_hidden_states=placed(sound)).sample


def placed(sound):
    """The sound with the published table of sines and cosines."""
    _, length, d = sound.shape
    place = torch.arange(length).unsqueeze(1)
    rate = torch.exp(torch.arange(0, d, 2) * (-np.log(10000.) / d))
    table = torch.zeros(length, d)
    table[:, 0::2], table[:, 1::2] = torch.sin(place * rate), torch.cos(place * rate)
    return sound + table


class Exported:
    """The models of a folder. Memory holds one at a time."""

    def __init__(self, folder):
        self.folder = folder
        self.kind = None  # of the inputs of the model that ran last
        self.kinds = set()

    def run(self, role, *inputs):
        path = os.path.join(self.folder, role + ".onnx")
        onnxruntime.set_default_logger_severity(3)  # it warns of the weights for GPUs, which it doesn't use
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        wanted = session.get_inputs()
        self.kind = {"tensor(float)": "float32", "tensor(float16)": "float16"}[wanted[0].type]
        self.kinds.add(self.kind)
        given = {i.name: value.numpy().astype(self.kind) for i, value in zip(wanted, inputs, strict=True)}
        return torch.from_numpy(session.run(None, given)[0].astype(np.float32))


def compare(role, kind, got, want):
    """Prints a line, and tells whether the numbers are near enough."""
    if got.shape != want.shape:
        sys.exit(f"{role} gives {tuple(got.shape)}, and the published network {tuple(want.shape)}")
    off, (most, rms) = (got - want).double(), MOST[kind]
    largest = float(off.abs().max() / (want.max() - want.min()))
    usual = float(off.square().mean().sqrt() / want.double().std())
    print(f"{role:17} {kind} {str(tuple(got.shape)):20} {largest:.1e} of the range (at most {most:g}), "
          f"rms {usual:.1e} of the deviation (at most {rms:g})", flush=True)
    return largest <= most and usual <= rms


def check_whisper(models):
    """Fails if the checkpoint of whisper is one that transformers can't read."""
    path = find(models, "whisper")
    if path.endswith("tiny.pt"):
        raise ValueError(f"{path} is openai's file, which the published code can't read: put model.safetensors and config.json "
                         "of openai/whisper-tiny beside it, and export again")


def quiet():
    """Lets the libraries print no warnings, such as of the missing decoder of random weights."""
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    logging.set_verbosity_error()


def levels(picture):
    """The picture from 0 to 1 as bytes."""
    return (picture.clamp(0, 1) * 255).round()


def main():
    parser = argparse.ArgumentParser(description="Compare exported models with the published networks.")
    parser.add_argument("models")
    parser.add_argument("folder")
    args = parser.parse_args()
    try:
        check_whisper(args.models)
    except ValueError as e:
        sys.exit(f"verify.py: {e}")
    torch.set_grad_enabled(False)
    quiet()
    published, exported, right = Published(args.models), Exported(args.folder), True
    random = torch.Generator().manual_seed(1)

    # Whole pictures, and in the first of them the lower half hidden: their tones change slowly, as those of faces do.
    pictures = torch.nn.functional.interpolate(torch.rand(2, 3, 9, 9, generator=random) * 2 - 1, (256, 256), mode="bicubic").clamp(-1, 1)
    pictures[0, :, 128:] = -1
    want = got = torch.rand(1, 80, 3000, generator=random) * 2 - 1
    steps = {}  # the results of each network, given the same inputs and given its own of before
    for role, name in (("musetalk-hearing", "hearing"), ("musetalk-encoder", "encoder"), ("musetalk", "painter"), ("musetalk-decoder", "decoder")):
        if role == "musetalk-encoder":
            ours = theirs = [pictures]
        elif role == "musetalk":
            theirs, ours = ([latents.reshape(1, 8, 32, 32), states[:, 500:510].reshape(1, 50, -1)] for states, latents in
                            zip(steps["musetalk-hearing"], steps["musetalk-encoder"]))
        else:
            theirs, ours = [want], [got]
        want = getattr(published, name)(*theirs)
        gc.collect()
        same = exported.run(role, *theirs)
        got = same if ours is theirs else exported.run(role, *ours)
        gc.collect()
        steps[role] = want, got
        right = compare(role, exported.kind, same, want) and right
    off = (levels(got) - levels(want)).abs()
    kind = min(exported.kinds)  # float16, if any has it
    mean, most, largest = LEVELS[kind]
    near = float(off.flatten().quantile(.999))
    print(f"{'all in a row':17} {kind} {'bytes':20} mean {float(off.mean()):.2f} (at most {mean:g}), "
          f"99.9 % within {near:g} (at most {most:g}), largest {float(off.max()):g} (at most {largest:g})")
    if not right or not (off.mean() <= mean and near <= most and off.max() <= largest):
        sys.exit("the models are not the published networks")


if __name__ == "__main__":
    main()
