#!/usr/bin/env python3
"""Train the networks that hear articulation.

usage: train.py FOLDER [--steps 8000] [--threads 2]      (FOLDER is what data.py, people.py, languages.py and labelled.py made)

Writes ../articulation.bin, and ../testdata/network.bin, which holds inputs and outputs that Go's inference must reproduce.
"""
import argparse, copy, pickle, time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import decide, features, network, phones
from examples import HOPS, STOPS, Batches, examples, silent

HERE = Path(__file__).resolve().parent.parent
OPENING, CLOSURE, LABIODENTAL, ROUNDING, SPREAD, SILENCE, LIKE_LIPS, LIKE_SPREAD = range(8)
NAMES = .15  # what the names of the phones count in the loss


def loss(logits, y, counts):
    target = y[..., :6]
    positive, weight = torch.tensor([1, 4, 3, 2, 1, 1.0]), torch.tensor([2, 2, 2.5, 2, 1, .7])
    each = F.binary_cross_entropy_with_logits(logits, target, pos_weight=positive, reduction="none") * weight
    hard = torch.ones_like(each)
    hard[..., CLOSURE] += 3 * y[..., LIKE_LIPS] + 2 * y[..., LABIODENTAL]  # n is not m, d is not b, nor is v
    hard[..., LABIODENTAL] += 2 * y[..., CLOSURE]
    hard[..., [ROUNDING, SPREAD]] += 3 * y[..., LIKE_SPREAD, None]  # y is not i
    opening = features.compose(torch.sigmoid(logits))[..., OPENING]
    error = (opening - target[..., OPENING]) ** 2 * (1 + 2 * target[..., CLOSURE])
    return (((each * hard).sum(-1) / 6 + 4 * error) * counts).sum() / counts.sum()


def validation(voices, quiet):
    """-> a batch of the voices that say when to stop, clean and harmed, always the same"""
    g, out = torch.Generator().manual_seed(7), []
    pad = lambda a, fill: F.pad(a, (0, 0, 0, HOPS - len(a)), value=fill)
    items = [[a[:HOPS] for a in e] for v in voices.values() for e in v[:72]]
    power = torch.stack([pad(torch.from_numpy(p.astype(np.float32)).exp(), features.FLOOR) for p, *_ in items])
    y = torch.stack([pad(torch.from_numpy(t.astype(np.float32)), 0) for _, t, _ in items])
    counts = torch.stack([(torch.arange(HOPS) < len(p)).float() for p, *_ in items])
    y[..., SILENCE] = torch.where(counts > 0, y[..., SILENCE], 1.0)
    for p in (power, features.harm(power, quiet, g)):
        out.append((features.normalise(p), y, counts))
    return out


@torch.no_grad()
def check(net, batches):
    net.eval()
    losses, said = zip(*[(float(loss(z, y, c)), (torch.sigmoid(z), y, c)) for x, y, c in batches for z in [net(x)[0]]])
    z, y, c = said[0]
    inside = c > 0
    r = [round(float(np.corrcoef(z[..., i][inside], y[..., i][inside])[0, 1]), 3) for i in range(6)]
    return losses, r


def train(net, batches, checks, quiet, steps, seed):
    """-> the layers, at the step at which the checks are best"""
    names = torch.nn.CrossEntropyLoss(reduction="none")
    g, average = torch.Generator().manual_seed(seed), copy.deepcopy(net)
    best, layers, began, total = 9.0, None, time.time(), 0.0
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps, pct_start=.1)
    for step in range(1, steps + 1):
        power, y, said, counts = batches.draw()
        x = features.mask(features.normalise(features.harm(power, quiet, g)), g)
        net.train()
        with torch.autocast("cpu", torch.bfloat16):
            z, named = net(x)
        l = loss(z.float(), y, counts) + NAMES * (names(named.float(), said) * counts).sum() / counts.sum()
        optimizer.zero_grad()
        l.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 2)
        optimizer.step()
        schedule.step()
        with torch.no_grad():
            keep = min(.998, step / (step + 20))
            for a, b in zip(average.state_dict().values(), net.state_dict().values()):
                a.mul_(keep).add_(b, alpha=1 - keep) if a.dtype.is_floating_point else a.copy_(b)
        total += l.item()
        if step % 250 == 0 or step == steps:
            losses, r = check(average, checks)
            better = sum(losses) < best
            if better:
                best, layers = sum(losses), average.fold()
            print(f"{step:5} {time.time() - began:5.0f} s, loss {total / 250:.4f}, stops {losses[0]:.4f}, harmed {losses[1]:.4f}, r {r}{' *' if better else ''}", flush=True)
            total = 0.0
    return layers


def raise_rare(layers, shares):
    """Name front round vowels, which few voices speak, as if they were as common as the vowels they are like.

    Their logits get the logarithm of how much more common those are: Menon et al., Long-tail learning via logit adjustment, 2021.
    """
    for rare, like in phones.LIKE_SPREAD.items():
        rare, like = phones.CLASSES.index(rare), phones.CLASSES.index(like)
        if shares[rare]:
            layers[-1][1][features.OUTPUTS + rare] += float(np.log(shares[like] / shares[rare]))


def golden(networks, path):
    """inputs drawn at random and what they give, for the test of ../network.go"""
    x = torch.randn(1, 96, features.INPUTS, generator=torch.Generator().manual_seed(1))
    y = network.run(networks, x)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(a[0].numpy().astype("<f4").tobytes() for a in (x, y)))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=Path)
    p.add_argument("--steps", type=int, default=8000)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--out", default=HERE / "articulation.bin")
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    began = time.time()
    (voices, stops), quiet = examples(a.folder), silent(400)
    hours = sum(len(e[0]) for v in voices.values() for e in v) / 360000
    print(f"{len(voices)} voices, {hours:.1f} hours, {time.time() - began:.0f} s to read", flush=True)
    networks = []
    for seed, size in enumerate(network.SIZES):
        torch.manual_seed(seed)
        batches = Batches(voices, quiet, np.random.RandomState(seed))
        networks.append(train(network.Network(size), batches, validation(stops, quiet), quiet, a.steps, seed))
        raise_rare(networks[-1], batches.shares())
    surer = decide.decide(networks, [u for name in STOPS for u in pickle.load(open(a.folder / (name + ".pkl"), "rb"))])
    print("added to the logits of closure and labiodental:", *surer)
    for layers in networks:
        layers[-1][1][[CLOSURE, LABIODENTAL]] += 2 * torch.tensor(surer).half()  # half of it counts
    network.save(networks, a.out)
    if a.out == p.get_default("out"):
        golden(networks, HERE / "testdata" / "network.bin")


if __name__ == "__main__":
    main()
