"""The networks, and the file that ../network.go reads."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from features import INPUTS, OUTPUTS
from phones import ARTICULATION, CLASSES

SIZES = (112, 80, 112)  # channels of the networks in ../articulation.bin
FIRST, DILATIONS = 5, (1, 2, 4, 8, 4, 2, 1)
WANTED = torch.tensor([ARTICULATION[name] for name in CLASSES]).half()  # of each phone
UNSURE = 1e-3  # no phones ask for a number nearer to 0 or 1


class Network(nn.Module):
    """A convolution over 5 hops, then residual ones over 3, 240 ms to either side in all."""

    def __init__(self, channels):
        super().__init__()
        convolution = lambda inputs, taps, dilation: nn.Conv1d(inputs, channels, taps, padding=taps // 2 * dilation, dilation=dilation)
        self.convolutions = nn.ModuleList([convolution(INPUTS, FIRST, 1)] + [convolution(channels, 3, d) for d in DILATIONS])
        self.norms = nn.ModuleList([nn.BatchNorm1d(channels) for _ in self.convolutions])
        self.last, self.names, self.drop = nn.Conv1d(channels, OUTPUTS, 1), nn.Conv1d(channels, len(CLASSES), 1), nn.Dropout1d(.1)

    def forward(self, x):
        """(items, hops, INPUTS) -> logits of the articulation (items, hops, OUTPUTS) and of the phones (items, CLASSES, hops)"""
        h = F.relu(self.norms[0](self.convolutions[0](x.transpose(1, 2))))
        for convolution, norm in zip(self.convolutions[1:], self.norms[1:]):
            h = h + F.relu(norm(convolution(self.drop(h))))
        return self.last(h).transpose(1, 2), self.names(h)

    def fold(self):
        """-> [(weights (taps, inputs, outputs), biases)] with the norms in them, rounded to 16 bits; the last layer says articulation and phones"""
        out = []
        for convolution, norm in zip(self.convolutions, self.norms):
            scale = norm.weight.detach() / torch.sqrt(norm.running_var + norm.eps)
            out.append((convolution.weight.detach() * scale[:, None, None], (convolution.bias.detach() - norm.running_mean) * scale + norm.bias.detach()))
        out.append(tuple(torch.cat([getattr(layer, part).detach() for layer in (self.last, self.names)]) for part in ("weight", "bias")))
        return [(w.permute(2, 1, 0).half(), b.half()) for w, b in out]


def save(networks, path):
    with open(path, "wb") as f:
        f.write(WANTED.numpy().astype("<f2").tobytes())
        for weights, biases in (layer for layers in networks for layer in layers):
            f.write(weights.numpy().astype("<f2").tobytes() + biases.numpy().astype("<f2").tobytes())


def load(path):
    """-> the layers of each network that save wrote"""
    numbers, networks = torch.from_numpy(np.fromfile(path, "<f2").astype(np.float32)), []
    wanted, numbers = numbers.tensor_split([WANTED.numel()])
    assert wanted.equal(WANTED.float().flatten()), "phones.py changed since " + str(path)
    for n in SIZES:
        networks.append([])
        for taps, inputs, outputs in [(FIRST, INPUTS, n)] + [(3, n, n)] * len(DILATIONS) + [(1, n, OUTPUTS + len(CLASSES))]:
            weights, biases, numbers = numbers.tensor_split([taps * inputs * outputs, (taps * inputs + 1) * outputs])
            networks[-1].append((weights.reshape(taps, inputs, outputs), biases))
    assert not len(numbers), path
    return networks


def run(networks, x):
    """folded networks, as Go runs them: (items, hops, INPUTS) -> articulation (items, hops, OUTPUTS)

    It is half that which the networks say, and half that which the phones ask for that they name.
    """
    said, named = (sum(logits(layers, x) for layers in networks) / len(networks)).tensor_split([OUTPUTS], -1)
    asked = torch.softmax(named, -1) @ WANTED.float()
    return torch.sigmoid((said + torch.logit(asked, UNSURE)) / 2)


def logits(layers, x):
    """a folded network: (items, hops, INPUTS) -> its logits of articulation and phones (items, hops, OUTPUTS + CLASSES)"""
    h = None
    for (weights, biases), dilation in zip(layers, (1, *DILATIONS, 1)):
        source = x.transpose(1, 2) if h is None else h
        y = F.conv1d(source, weights.float().permute(2, 1, 0), biases.float(), padding=len(weights) // 2 * dilation, dilation=dilation)
        if len(weights) == 1:
            return y.transpose(1, 2)
        h = F.relu(y) if h is None else h + F.relu(y)
