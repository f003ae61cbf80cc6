#!/usr/bin/env python3
"""Train the network that hears articulation.

usage: train.py FOLDER [--steps 3000] [--threads 2]      (FOLDER is what data.py made; at most an hour on 2 cores)

Writes ../articulation.bin, and ../testdata/network.bin, which holds inputs and outputs that Go's inference must reproduce.
"""
import argparse, copy, pickle, time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from scipy.signal import resample_poly

import features, negatives, network

HERE = Path(__file__).resolve().parent.parent
STOPS = "flite-rms"
TESTS = ("festival-ked", "festival-lj", "festival-mv", "festival-nsk", "human")  # only test, and so Finnish, Hindi and Telugu
SURER = [0, 1, .3]  # added to the logits of opening, closure and labiodental: to miss one is worse than to hear one too many
ESPEAK = .4  # how often espeak-ng is drawn, against voices that were recorded
STRETCHES = [(20, 17), (10, 9), (17, 16), (15, 16), (9, 10), (6, 7)]
HOPS, ITEMS, SILENT = 320, 24, 3  # of a batch: the length, how many, and of those how many without speech
OPENING, CLOSURE, LABIODENTAL, ROUNDING, SPREAD, SILENCE, NASAL = range(7)


def examples(folder):
    """-> {voice: [(log power, targets)]}, also at other speeds"""
    out, rng = {}, np.random.RandomState(3)
    for path in sorted(Path(folder).glob("*.pkl")):
        if path.stem.startswith(TESTS):
            continue
        for u in pickle.load(open(path, "rb")):
            x = u["samples"] / 32768
            up, down = STRETCHES[rng.randint(len(STRETCHES))]
            for up, down in [(1, 1)] if path.stem == STOPS else [(1, 1), (up, down)]:
                power = features.features(resample_poly(x, up, down) if up != down else x)
                y = features.targets(u["sounds"], len(power), up / down)
                out.setdefault(path.stem, []).append((np.log(power).astype(np.float16), y.astype(np.float16)))
    return out


def silent(count):
    """-> power of sounds that no mouth makes"""
    rng = np.random.RandomState(5)
    return [torch.from_numpy(features.features(negatives.make(rng))) for _ in range(count)]


class Batches:
    def __init__(self, voices, quiet, rng):
        self.quiet, self.rng = quiet, rng
        self.all = [e for v in voices.values() for e in v]
        share = {name: len(v) ** -.6 * (ESPEAK if name.startswith("espeak") else 1) for name, v in voices.items()}
        weights = np.concatenate([[share[name] * len(e[0]) ** .5 for e in v] for name, v in voices.items()])
        self.weights = weights / weights.sum()

    def draw(self):
        """-> power, targets, how much each hop counts"""
        power, y, counts = torch.full((ITEMS, HOPS, features.BANDS), features.FLOOR), torch.zeros(ITEMS, HOPS, 7), torch.full((ITEMS, HOPS), .3)
        y[..., SILENCE] = 1
        for b, i in enumerate(self.rng.choice(len(self.all), ITEMS, p=self.weights)):
            if b < SILENT:
                power[b], counts[b] = self._quiet(HOPS), 1
                continue
            log, target = self.all[i]
            start = self.rng.randint(0, max(len(log) - HOPS, 0) + 1)
            log, target = log[start:start + HOPS], target[start:start + HOPS]
            at = self.rng.randint(0, HOPS - len(log) + 1)
            inside = slice(at, at + len(log))
            power[b, inside] = torch.from_numpy(log.astype(np.float32)).exp()
            y[b, inside], counts[b, inside] = torch.from_numpy(target.astype(np.float32)), 1
            if self.rng.rand() < .15:
                self._interrupt(power[b], y[b], counts[b])
        return power, y, counts

    def _quiet(self, hops):
        clip = self.quiet[self.rng.randint(len(self.quiet))]
        start = self.rng.randint(0, len(clip) - hops + 1)
        return clip[start:start + hops]

    def _interrupt(self, power, y, counts):
        """put a sound that no mouth makes at the start or the end"""
        hops = self.rng.randint(30, 130)
        where = slice(0, hops) if self.rng.rand() < .5 else slice(HOPS - hops, HOPS)
        other = self._quiet(hops)
        power[where] = other * 10 ** self.rng.uniform(-2, .3) * power.sum(-1).quantile(.95) / other.sum(-1).quantile(.95) + features.FLOOR
        y[where], counts[where] = 0, 1
        y[where, SILENCE] = 1


def loss(logits, y, counts):
    target = y[..., :6]
    positive, weight = torch.tensor([1, 4, 3, 2, 1, 1.0]), torch.tensor([2, 2, 1.5, 1, 1, .7])
    each = F.binary_cross_entropy_with_logits(logits, target, pos_weight=positive, reduction="none") * weight
    hard = torch.ones_like(each)
    hard[..., CLOSURE] += 3 * y[..., NASAL] + 2 * y[..., LABIODENTAL]  # n is not m, nor is v
    hard[..., LABIODENTAL] += 2 * y[..., CLOSURE]
    said = torch.sigmoid(logits)
    opening = said[..., OPENING] * (1 - said[..., CLOSURE]) * (1 - said[..., SILENCE])  # as ../articulation.go composes it
    error = (opening - target[..., OPENING]) ** 2 * (1 + 2 * target[..., CLOSURE])
    return (((each * hard).sum(-1) / 6 + 4 * error) * counts).sum() / counts.sum()


def validation(voice, quiet):
    """-> batches of one, clean and harmed, always the same"""
    g, out = torch.Generator().manual_seed(7), []
    pad = lambda a, fill: F.pad(a, (0, 0, 0, HOPS - len(a)), value=fill)
    items = [e for e in voice if len(e[0]) <= HOPS][:72]
    power = torch.stack([pad(torch.from_numpy(p.astype(np.float32)).exp(), features.FLOOR) for p, _ in items])
    y = torch.stack([pad(torch.from_numpy(t.astype(np.float32)), 0) for _, t in items])
    counts = torch.stack([(torch.arange(HOPS) < len(p)).float() for p, _ in items])
    y[..., SILENCE] = torch.where(counts > 0, y[..., SILENCE], 1.0)
    for p in (power, features.harm(power, quiet, g)):
        out.append((features.normalise(p), y, counts))
    return out


@torch.no_grad()
def check(net, batches):
    net.eval()
    losses, said = zip(*[(float(loss(z, y, c)), (torch.sigmoid(z), y, c)) for x, y, c in batches for z in [net(x)]])
    z, y, c = said[0]
    inside = c > 0
    r = [round(float(np.corrcoef(z[..., i][inside], y[..., i][inside])[0, 1]), 3) for i in range(6)]
    return losses, r


def train(net, batches, checks, quiet, steps, seed, keep_best):
    g, average = torch.Generator().manual_seed(seed), copy.deepcopy(net)
    best, began, total = 9.0, time.time(), 0.0
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps, pct_start=.1)
    for step in range(1, steps + 1):
        power, y, counts = batches.draw()
        x = features.mask(features.normalise(features.harm(power, quiet, g)), g)
        net.train()
        l = loss(net(x), y, counts)
        optimizer.zero_grad()
        l.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 2)
        optimizer.step()
        schedule.step()
        with torch.no_grad():
            keep = min(.99, step / (step + 20))
            for a, b in zip(average.state_dict().values(), net.state_dict().values()):
                a.mul_(keep).add_(b, alpha=1 - keep) if a.dtype.is_floating_point else a.copy_(b)
        total += l.item()
        if step % 100 == 0 or step == steps:
            losses, r = check(average, checks)
            better = sum(losses) < best
            if better:
                best = sum(losses)
                keep_best(average.fold())
            print(f"{step:5} {time.time() - began:5.0f} s, loss {total / 100:.4f}, {STOPS} {losses[0]:.4f}, harmed {losses[1]:.4f}, r {r}{' *' if better else ''}", flush=True)
            total = 0.0


def golden(layers, path):
    """inputs drawn at random and what they give, for the test of ../network.go"""
    x = torch.randn(1, 96, features.INPUTS, generator=torch.Generator().manual_seed(1))
    y = network.run(layers, x)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(a[0].numpy().astype("<f4").tobytes() for a in (x, y)))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder")
    p.add_argument("--steps", type=int, default=3000)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--out", default=HERE / "articulation.bin")
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(a.seed)
    began = time.time()
    voices, quiet = examples(a.folder), silent(400)
    stop = voices.pop(STOPS)
    hours = sum(len(p) for v in voices.values() for p, _ in v) / 360000
    net = network.Network()
    print(f"{len(voices)} voices, {hours:.1f} hours, {sum(p.numel() for p in net.parameters())} parameters, {time.time() - began:.0f} s to read", flush=True)

    def keep_best(layers):
        layers[-1][1][:3] += torch.tensor(SURER)
        network.save(layers, a.out)
        if a.out == p.get_default("out"):
            golden(layers, HERE / "testdata" / "network.bin")

    train(net, Batches(voices, quiet, np.random.RandomState(a.seed)), validation(stop, quiet), quiet, a.steps, a.seed, keep_best)


if __name__ == "__main__":
    main()
