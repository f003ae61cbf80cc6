#!/usr/bin/env python3
"""How well the networks hear voices that didn't train them; flite's rms and LibriSpeech's said when to stop.

usage: evaluate.py FOLDER... [--network ../articulation.bin] [--each]

FOLDERs hold what the other programs made. The opening has the inertia that the loss has: see README.md. A line for each group of voices, or with --each for each voice, and each condition:

n         how many m, b and p
closed    the share of them during which the opening falls under .15
opened    the share of open vowels during which it stays under .15: should be 0
r         the correlation of the opening with the one that the phones ask for
rounded   d': the difference of Rounding in rounded and in spread sounds, over the pooled standard deviation
teeth     of the f and v, the share in which Labiodental passes .5 and Closure; and of the runs of hops where it does, the share at an f or v
heard     the share of the m, b and p in which Closure passes .5, up to 20 ms before or after
wrong     the runs of hops with Closure over .5 at no m, b or p, over n
nasals    the share of n and ng in which it does
"""
import argparse, pickle
from pathlib import Path

import numpy as np
import torch
from scipy.signal import butter, fftconvolve, resample_poly, sosfilt

import features, network, phones

COLUMNS = ["n", "closed", "opened", "r", "rounded", "found", "right", "heard", "wrong", "nasals"]
HERE = Path(__file__).resolve().parent.parent
GROUPS = {"readers": "human-", "German": "german", "English": "festival-ked", "Finnish": ("festival-lj", "festival-mv"), "Hindi, Telugu": "festival-nsk", "rms": "flite-rms", "LibriSpeech": "stops"}
OPENING, CLOSURE, LABIODENTAL, ROUNDING, SPREAD, SILENCE = range(6)


def clean(x, rng):
    return x


def noisy(x, rng):
    return x + 10 ** (-15 / 20) * loudness(x) * rng.standard_normal(len(x))


def telephone(x, rng):
    narrow = sosfilt(butter(4, [300, 3400], "band", fs=16000, output="sos"), x)
    narrow = resample_poly(narrow, 1, 2)
    top = np.abs(narrow).max() + 1e-9
    companded = np.sign(narrow) * np.log1p(255 * np.abs(narrow) / top) / np.log(256)
    companded = np.round(companded * 127) / 127
    return resample_poly(np.sign(companded) * (256 ** np.abs(companded) - 1) / 255 * top, 2, 1)[:len(x)]


def room(x, rng):
    """a large hard room: 0.8 s, as much reverberation as direct sound"""
    t = np.arange(int(.8 * 16000)) / 16000
    tail = rng.standard_normal(len(t)) * 10 ** (-3 * t / .8)
    tail[:80] = 0
    return x + fftconvolve(x, tail / np.sqrt((tail ** 2).sum()))[:len(x)]


def loudness(x):
    """of what is spoken"""
    blocks = x[:len(x) // 400 * 400].reshape(-1, 400).std(1)
    return np.sqrt((blocks[blocks > np.quantile(blocks, .4)] ** 2).mean())


CONDITIONS = {"clean": clean, "15 dB noise": noisy, "telephone": telephone, "heavy reverb": room}


def hear(networks, samples):
    """-> what the networks say (hops, 6)"""
    with torch.no_grad():
        return network.run(networks, features.normalise(torch.from_numpy(features.features(samples))[None]))[0].numpy()


def compose(y):
    """-> articulation (hops, 6)"""
    return features.compose(torch.from_numpy(y)[None])[0].numpy()


def runs(on):
    """-> the [start, end) of each run of True"""
    edges = np.flatnonzero(np.diff(np.r_[0, on.astype(int), 0]))
    return edges.reshape(-1, 2)


class Tally:
    def __init__(self):
        self.low, self.high, self.rounded, self.spread, self.found, self.right, self.nasal, self.heard, self.wrong, self.pairs = ([] for _ in range(10))

    def add(self, y, sounds):
        asked = features.targets(sounds, len(y))
        opening, closure = y[:, OPENING], y[:, CLOSURE]
        teeth = (y[:, LABIODENTAL] > .5) & (y[:, LABIODENTAL] > closure)
        self.pairs.append((opening, asked[:, OPENING]))
        at_teeth, at_lips = np.zeros(len(y), bool), np.zeros(len(y), bool)
        for start, end, name in sounds:
            a, b = round(start * 100), max(round(end * 100), round(start * 100) + 1)
            if b > len(y):
                continue
            if name in phones.CLOSED:
                self.low.append(opening[a:b].min())
                self.heard.append(closure[max(a - 2, 0):b + 2].max() > .5)
                at_lips[max(a - 2, 0):b + 2] = True
            if name in phones.OPEN_VOWELS:
                self.high.append(opening[a:b].max())
            if name in phones.ROUNDED:
                self.rounded.append(y[a:b, ROUNDING].mean())
            if name in phones.SPREAD:
                self.spread.append(y[a:b, ROUNDING].mean())
            if name in phones.NASALS:
                self.nasal.append(closure[min(a + 1, b - 1):max(b - 1, a + 2)].max() > .5)
            if name in phones.TEETH:
                self.found.append(teeth[a:b].any())
            if name in phones.TEETH | {"P", "M"}:
                at_teeth[max(a - 2, 0):b + 2] = True
        self.right += [at_teeth[a:b].any() for a, b in runs(teeth)]
        self.wrong += [not at_lips[a:b].any() for a, b in runs(closure > .5)]

    def line(self):
        said, asked = (np.concatenate(a) for a in zip(*self.pairs))
        mean = lambda x: np.mean(x) if len(x) else np.nan
        rounded, spread = np.array(self.rounded), np.array(self.spread)
        d = (rounded.mean() - spread.mean()) / np.sqrt((rounded.var() + spread.var()) / 2)
        return [len(self.low), mean(np.array(self.low) < .15), mean(np.array(self.high) < .15), np.corrcoef(said, asked)[0, 1], d,
                mean(self.found), mean(self.right), mean(self.heard), sum(self.wrong) / max(len(self.low), 1), mean(self.nasal)]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folders", nargs="+")
    p.add_argument("--network", default=HERE / "articulation.bin")
    p.add_argument("--each", action="store_true")
    a = p.parse_args()
    networks = network.load(a.network)
    voices = {f.stem: pickle.load(open(f, "rb")) for folder in a.folders for f in sorted(Path(folder).glob("*.pkl"))}
    groups = {v: v for prefix in GROUPS.values() for v in voices if v.startswith(prefix)} if a.each else GROUPS
    print("| voices | sound | n | closed | opened | r | rounded | teeth found | teeth right | heard | wrong | nasals |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for group, prefix in groups.items():
        for condition, harm in CONDITIONS.items():
            tally, rng = Tally(), np.random.default_rng(1)
            for u in (u for v, us in voices.items() if v.startswith(prefix) for u in us):
                tally.add(compose(hear(networks, harm(u["samples"] / 32768, rng))), u["sounds"])
            if tally.pairs:
                n, *rest = tally.line()
                print(f"| {group} | {condition} | {n} | " + " | ".join(f"{v:.2f}" for v in rest) + " |", flush=True)


if __name__ == "__main__":
    main()
