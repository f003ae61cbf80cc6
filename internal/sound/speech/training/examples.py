"""The examples that train the network, and how batches of them are drawn."""
import pickle
from pathlib import Path

import numpy as np
import torch
from scipy.signal import resample_poly

import features, negatives, phones

TESTS = ("festival-ked", "festival-lj", "festival-mv", "festival-nsk", "human", "german")  # only test, and so Finnish, Hindi and Telugu
STOPS = ("stops", "flite-rms")  # say when to stop, and decide
# How often espeak-ng, the many who read a sentence each, and the actors who say the same sentences are drawn, against other voices.
ESPEAK, PEOPLE, LABELLED = .4, .25, .5
STRETCHES = [(20, 17), (10, 9), (17, 16), (15, 16), (9, 10), (6, 7)]
HOPS, ITEMS, SILENT = 320, 24, 3  # of a batch: the length, how many, and of those how many without speech
SILENCE = features.OUTPUTS - 1


def examples(folder):
    """-> ({voice: [(log power, targets, phones)]} to train on, also at other speeds, and the same to stop by)"""
    train, stop, rng = {}, {}, np.random.RandomState(3)
    for path in sorted(Path(folder).glob("*.pkl")):
        if path.stem.startswith(TESTS):
            continue
        stops = path.stem in STOPS
        for u in pickle.load(open(path, "rb")):
            x, other = u["samples"] / 32768, STRETCHES[rng.randint(len(STRETCHES))]
            for up, down in [(1, 1)] if stops else [(1, 1), other]:
                power = features.features(resample_poly(x, up, down) if up != down else x)
                y, said = features.targets(u["sounds"], len(power), up / down), features.phones_at(u["sounds"], len(power), up / down)
                (stop if stops else train).setdefault(u["voice"], []).append((np.log(power).astype(np.float16), y.astype(np.float16), said))
    return train, stop


def silent(count):
    """-> power of sounds that no mouth makes"""
    rng = np.random.RandomState(5)
    return [torch.from_numpy(features.features(negatives.make(rng))) for _ in range(count)]


class Batches:
    def __init__(self, voices, quiet, rng):
        self.quiet, self.rng = quiet, rng
        self.all = [e for v in voices.values() for e in v]
        weights = np.concatenate([[_share(name, len(v)) * len(e[0]) ** .5 for e in v] for name, v in voices.items()])
        self.weights = weights / weights.sum()

    def draw(self):
        """-> power, targets, phones, how much each hop counts"""
        power, y, counts = torch.full((ITEMS, HOPS, features.BANDS), features.FLOOR), torch.zeros(ITEMS, HOPS, features.TARGETS), torch.full((ITEMS, HOPS), .3)
        said = torch.full((ITEMS, HOPS), phones.CLASSES.index(phones.SILENCE))
        y[..., SILENCE] = 1
        for b, i in enumerate(self.rng.choice(len(self.all), ITEMS, p=self.weights)):
            if b < SILENT:
                power[b], counts[b] = self._quiet(HOPS), 1
                continue
            log, target, names = self.all[i]
            start = self.rng.randint(0, max(len(log) - HOPS, 0) + 1)
            log, target, names = log[start:start + HOPS], target[start:start + HOPS], names[start:start + HOPS]
            at = self.rng.randint(0, HOPS - len(log) + 1)
            inside = slice(at, at + len(log))
            power[b, inside] = torch.from_numpy(log.astype(np.float32)).exp()
            y[b, inside], said[b, inside], counts[b, inside] = torch.from_numpy(target.astype(np.float32)), torch.from_numpy(names), 1
            if self.rng.rand() < .15:
                self._interrupt(power[b], y[b], said[b], counts[b])
        return power, y, said, counts

    def shares(self):
        """-> the share of each phone in what is drawn, as CLASSES"""
        said = sum(w * np.bincount(names, minlength=len(phones.CLASSES)) / max(len(names), HOPS) for w, (_, _, names) in zip(self.weights, self.all))
        return said / said.sum()

    def _quiet(self, hops):
        clip = self.quiet[self.rng.randint(len(self.quiet))]
        start = self.rng.randint(0, len(clip) - hops + 1)
        return clip[start:start + hops]

    def _interrupt(self, power, y, said, counts):
        """put a sound that no mouth makes at the start or the end"""
        hops = self.rng.randint(30, 130)
        where = slice(0, hops) if self.rng.rand() < .5 else slice(HOPS - hops, HOPS)
        other = self._quiet(hops)
        power[where] = other * 10 ** self.rng.uniform(-2, .3) * power.sum(-1).quantile(.95) / other.sum(-1).quantile(.95) + features.FLOOR
        y[where], counts[where] = 0, 1
        y[where, SILENCE], said[where] = 1, phones.CLASSES.index(phones.SILENCE)


def _share(voice, count):
    """of a voice: the many sentences of one don't drown the others"""
    return count ** -.6 * (ESPEAK if voice.startswith("espeak") else PEOPLE if voice.startswith("libri") else LABELLED if voice.startswith("emodb") else 1)
