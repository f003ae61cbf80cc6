"""The network, and the file that ../network.go reads."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from features import INPUTS, OUTPUTS
from phones import CLASSES

CHANNELS, FIRST, DILATIONS = 80, 5, (1, 2, 4, 8, 2, 1)


class Network(nn.Module):
    """A convolution over 5 hops, then residual ones over 3, 200 ms to either side in all."""

    def __init__(self):
        super().__init__()
        convolution = lambda inputs, taps, dilation: nn.Conv1d(inputs, CHANNELS, taps, padding=taps // 2 * dilation, dilation=dilation)
        self.convolutions = nn.ModuleList([convolution(INPUTS, FIRST, 1)] + [convolution(CHANNELS, 3, d) for d in DILATIONS])
        self.norms = nn.ModuleList([nn.BatchNorm1d(CHANNELS) for _ in self.convolutions])
        self.last, self.names, self.drop = nn.Conv1d(CHANNELS, OUTPUTS, 1), nn.Conv1d(CHANNELS, len(CLASSES), 1), nn.Dropout1d(.1)

    def forward(self, x):
        """(items, hops, INPUTS) -> logits of the articulation (items, hops, OUTPUTS) and of the phones (items, CLASSES, hops), which only teach"""
        h = F.relu(self.norms[0](self.convolutions[0](x.transpose(1, 2))))
        for convolution, norm in zip(self.convolutions[1:], self.norms[1:]):
            h = h + F.relu(norm(convolution(self.drop(h))))
        return self.last(h).transpose(1, 2), self.names(h)

    def fold(self):
        """-> [(weights (taps, inputs, outputs), biases)] with the norms in them, rounded to 16 bits"""
        out = []
        for convolution, norm in zip([*self.convolutions, self.last], [*self.norms, None]):
            w, b = convolution.weight.detach(), convolution.bias.detach()
            if norm:
                scale = norm.weight.detach() / torch.sqrt(norm.running_var + norm.eps)
                w, b = w * scale[:, None, None], (b - norm.running_mean) * scale + norm.bias.detach()
            out.append((w.permute(2, 1, 0).half(), b.half()))
        return out


def save(layers, path):
    with open(path, "wb") as f:
        for weights, biases in layers:
            f.write(weights.numpy().astype("<f2").tobytes() + biases.numpy().astype("<f2").tobytes())


def load(path):
    """-> the layers that save wrote"""
    numbers, layers = torch.from_numpy(np.fromfile(path, "<f2").astype(np.float32)), []
    for taps, inputs, outputs in [(FIRST, INPUTS, CHANNELS)] + [(3, CHANNELS, CHANNELS)] * len(DILATIONS) + [(1, CHANNELS, OUTPUTS)]:
        weights, biases, numbers = numbers.tensor_split([taps * inputs * outputs, (taps * inputs + 1) * outputs])
        layers.append((weights.reshape(taps, inputs, outputs), biases))
    assert not len(numbers), path
    return layers


def run(layers, x):
    """the folded network, as Go runs it: (items, hops, INPUTS) -> articulation (items, hops, OUTPUTS)"""
    h = None
    for (weights, biases), dilation in zip(layers, (1, *DILATIONS, 1)):
        source = x.transpose(1, 2) if h is None else h
        y = F.conv1d(source, weights.float().permute(2, 1, 0), biases.float(), padding=len(weights) // 2 * dilation, dilation=dilation)
        if len(biases) == OUTPUTS:
            return torch.sigmoid(y).transpose(1, 2)
        h = F.relu(y) if h is None else h + F.relu(y)
