#!/usr/bin/env python3
"""Writes what the published networks answer for the picture of picture() in eyes_test.go, as ../testdata/*.bin.

    pip install --require-hashes -r requirements-reference.txt
    reference.py mesh.onnx search.onnx ../testdata

The networks are the published .tflite files as ONNX, made by other code than export.py: their inputs and outputs are
those that eyes.go describes, with the names rgb, landmarks, flag, lips, boxes and scores. ONNX Runtime runs them. Numbers
are 32-bit floats, little-endian: those of the outputs one after the other, and of the boxes each 36th.
"""

import sys
from pathlib import Path

import numpy as np
import onnxruntime

# Ellipses: the middle, the half axes, and the colour.
ELLIPSES = [
    (96, 100, 52, 70, (205, 165, 140)),
    (74, 82, 11, 6, (250, 245, 240)), (118, 82, 11, 6, (250, 245, 240)),
    (74, 82, 5, 5, (40, 30, 25)), (118, 82, 5, 5, (40, 30, 25)),
    (74, 68, 14, 3, (70, 50, 40)), (118, 68, 14, 3, (70, 50, 40)),
    (96, 108, 7, 12, (185, 140, 115)),
    (96, 136, 22, 8, (160, 70, 70)), (96, 136, 18, 2, (60, 20, 20)),
]


def picture():
    """A drawn face, from 0 to 1."""
    y, x = np.mgrid[0:192, 0:192]
    pixels = np.full((192, 192, 3), (60, 70, 90))
    for cx, cy, rx, ry, colour in ELLIPSES:
        pixels[((x - cx) * ry) ** 2 + ((y - cy) * rx) ** 2 <= (rx * ry) ** 2] = colour
    pixels += ((7 * x + 13 * y) % 17 // 4)[..., None]
    return (pixels.transpose(2, 0, 1)[None] / 255).astype(np.float32)


def answer(path, rgb):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return dict(zip((o.name for o in session.get_outputs()), session.run(None, {"rgb": rgb})))


def write(path, *outputs):
    path.write_bytes(b"".join(o.astype("<f4").tobytes() for o in outputs))


def main():
    mesh, search, folder = sys.argv[1:]
    told = answer(mesh, picture())
    write(Path(folder, "mesh.bin"), told["landmarks"], told["lips"], told["flag"])
    told = answer(search, 2 * picture() - 1)
    write(Path(folder, "search.bin"), told["boxes"][0, ::36], told["scores"])


if __name__ == "__main__":
    main()
