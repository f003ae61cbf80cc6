#!/usr/bin/env python3
"""Compares what export.py made of a checkpoint with the published network.

    pip install -r requirements-verify.txt
    export.py --random 1 --checkpoint random.pth random.onnx
    verify.py CHECKOUT random.pth random.onnx

CHECKOUT is a copy of github.com/Rudrabha/Wav2Lip, see reference.py. Its network
runs in PyTorch and the model in ONNX Runtime, on the same batch. How near they
must come depends on the type of the model's inputs, float32 or float16.
"""

import argparse
import sys

import numpy as np
import onnxruntime
import torch

from export import read

MOST = {"tensor(float)": 1e-4, "tensor(float16)": 1e-2}  # difference of a value between 0 and 1, by the inputs' type


def main():
    parser = argparse.ArgumentParser(description="Compare an exported model with the published network.")
    parser.add_argument("checkout")
    parser.add_argument("checkpoint")
    parser.add_argument("model")
    args = parser.parse_args()
    sys.path.insert(0, args.checkout)
    from models import Wav2Lip

    random = np.random.default_rng(1)
    sound = random.uniform(-4, 4, (3, 1, 80, 16)).astype(np.float32)
    face = random.uniform(0, 1, (3, 6, 96, 96)).astype(np.float32)
    network = Wav2Lip().eval()
    network.load_state_dict({name: torch.from_numpy(value) for name, value in read(args.checkpoint).items()})
    with torch.no_grad():
        want = network(torch.from_numpy(sound), torch.from_numpy(face)).numpy()
    session = onnxruntime.InferenceSession(args.model, providers=["CPUExecutionProvider"])
    kind = session.get_inputs()[0].type
    if kind not in MOST:
        sys.exit(f"{args.model} takes {kind}: only float32 and float16 can be compared")
    given = np.float16 if kind == "tensor(float16)" else np.float32
    got = session.run(None, {"sound": sound.astype(given), "face": face.astype(given)})[0].astype(np.float32)
    most = float(np.abs(got - want).max())
    print(f"{args.model}: differs by up to {most:.1e}, on values of {want.min():.2f} to {want.max():.2f}")
    if got.shape != want.shape or not most <= MOST[kind]:
        sys.exit(f"{args.model} is not the published network: at most {MOST[kind]:g} is right")


if __name__ == "__main__":
    main()
