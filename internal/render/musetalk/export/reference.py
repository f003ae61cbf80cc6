#!/usr/bin/env python3
"""Makes the files that the tests of package musetalk compare with, by the published code's libraries.

    pip install -r requirements-verify.txt
    export.py --random 1 --small --checkpoints SMALL FOLDER
    reference.py SMALL ../testdata

The networks are those of onnxtest.MuseTalk. Numbers are float32 of little ends:

    sound.wav    1.5 s of tones, clicks and noise
    mel.f32      80 × 160: the first columns of the spectrogram. All others are the lowest value.
    windows.f32  6 × 50 × 32: the sound of the frames 0, 1, 2, 15, 35 and 36 at 25 frames/s
    long.f32     of each of LENGTHS: every 997th number of the spectrogram of each stretch, and then at each of TIMES, of
                 each of RATES, every 37th number of the sound of a frame
    latents.f32  8 × 32 × 32: of picture, the lower half hidden and whole
    painted.f32  4 × 32 × 32: what the painter makes of the latents and the sound of frame 15
    painted.rgb  64 × 64 × 3 bytes: every fourth pixel of every fourth row of the picture of it
"""

import argparse
import math
import os
import wave

import numpy as np
import torch
from transformers import WhisperFeatureExtractor

from verify import Published, levels, quiet

RATE, STEPS = 16000, 50  # of samples and of states in a second
LENGTHS = 5, 35, 90  # s
RATES = (24000, 1001), (24, 1), (25, 1), (30000, 1001), (30, 1), (50, 1), (60, 1)  # frames in some seconds
# In ms: at the beginning, in silence and speech, where stretches meet, and at each end.
TIMES = 0, 60, 1000, 2510, 4900, 4990, 15000, 27930, 28010, 29960, 34900, 34990, 53950, 54020, 70000, 79980, 80050, 89900, 89990


def sound():
    """A tone that glides, another that comes and goes, clicks, and noise at the end."""
    t = np.arange(3 * RATE // 2) / RATE
    x = .3 * np.sin(2 * np.pi * (200 * t + 900 * t**2)) + .2 * np.sin(2 * np.pi * 5200 * t) * (np.sin(9 * t) > 0)
    x[::1600] += .5
    x[RATE:] += .1 * np.random.default_rng(1).uniform(-1, 1, RATE // 2)
    return np.round(x * 32767).astype("<i2")


def long_sound(seconds):
    """Two tones that glide, and noise: each second as loud as its number says, the first one silent. The test has the same formula."""
    n = np.arange(seconds * RATE, dtype=np.uint32)
    tones = sum(np.abs((n * n >> k).astype(np.uint16).astype(int) - 32768) - 16384 for k in (7, 9))
    noise = (n * n * 1103515245 >> 16).astype(int) - 32768
    second = n.astype(int) // RATE
    return (tones * (second**2 * 7 % 31) + noise * (second % 5) >> 6).astype("<i2")


def picture():
    """3 × 256 × 256 from -1 to 1. The test has the same formula."""
    c, y, x = np.meshgrid(np.arange(3), np.arange(256), np.arange(256), indexing="ij")
    return np.sin(x * .05 + c) * np.cos(y * .03 + x * y * .0005 - c)


def window(states, samples, i, fps):
    """The sound of a frame by the published rule, for a whole number of frames a second."""
    states = states[:math.floor(samples / RATE * STEPS)]
    behind = np.zeros((100, *states.shape[1:]), np.float32)
    before = behind[:2 * math.ceil(STEPS / fps)]
    first = math.floor(i * STEPS / fps)
    return np.concatenate([before, states, behind])[first:first + 10].reshape(50, -1)


def joined(heard, count):
    """The states of stretches of 30 s that overlap by 4 s, each used up to the middle of the overlap."""
    states = heard[0]
    for i, stretch in enumerate(heard[1:], 1):
        meet = 100 + i * 26 * STEPS
        states = np.concatenate([states[:meet], stretch[100:]])
    return states[:count]


def long(published):
    """The numbers of long.f32."""
    for seconds in LENGTHS:
        samples, heard = long_sound(seconds), []
        while not heard or len(heard) * 26 + 4 < seconds:
            part = samples[len(heard) * 26 * RATE:][:30 * RATE]
            mel = WhisperFeatureExtractor()(part / 32768, sampling_rate=RATE, return_tensors="pt").input_features
            yield mel.flatten()[::997]
            heard.append(published.hearing(mel)[0].numpy())
        states = joined(heard, seconds * STEPS)
        behind = np.zeros((20, *states.shape[1:]), np.float32)
        padded = np.concatenate([behind, states, behind])
        for ms in (ms for ms in TIMES if ms < 1000 * seconds):
            for frames, period in RATES:
                i = ms * frames // (1000 * period)
                first = i * STEPS * period // frames - 4
                part = padded[20 + first:30 + first].reshape(50, -1)
                if frames in (25, 30):
                    assert (part == window(states, len(samples), i, frames)).all()
                yield part.flatten()[::37]


def main():
    parser = argparse.ArgumentParser(description="Make the files that tests compare with.")
    parser.add_argument("models")
    parser.add_argument("folder")
    args = parser.parse_args()
    torch.set_grad_enabled(False)
    quiet()
    published = Published(args.models)

    def keep(name, value):
        np.ascontiguousarray(value, "<f4").tofile(os.path.join(args.folder, name))

    samples = sound()
    with wave.open(os.path.join(args.folder, "sound.wav"), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(samples.tobytes())
    mel = WhisperFeatureExtractor()(samples / 32768, sampling_rate=RATE, return_tensors="pt").input_features
    assert (mel[0, :, 160:] == mel[0, :, 160:].min()).all()
    keep("mel.f32", mel[0, :, :160])
    states = published.hearing(mel)[0].numpy()
    frames = [window(states, len(samples), i, 25) for i in (0, 1, 2, 15, 35, 36)]
    keep("windows.f32", frames)
    keep("long.f32", np.concatenate(list(long(published))))

    pictures = torch.from_numpy(np.stack([picture()] * 2)).float()
    pictures[0, :, 128:] = -1
    latents = published.encoder(pictures)
    keep("latents.f32", latents)
    painted = published.painter(latents.reshape(1, 8, 32, 32), torch.from_numpy(frames[3][None]))
    keep("painted.f32", painted)
    rgb = levels(published.decoder(painted))[0, :, ::4, ::4].permute(1, 2, 0).numpy().astype(np.uint8)
    rgb.tofile(os.path.join(args.folder, "painted.rgb"))


if __name__ == "__main__":
    main()
