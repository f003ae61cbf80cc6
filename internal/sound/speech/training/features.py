"""What the network sees of sound, what it shall say of it, and the harm done to sound that it shall hear through.

features() and normalise() are those of ../features.go and ../input.go: the power of 40 mel bands; these in dB, each less its mean while
someone speaks, and the level under the loudest.
"""
import numpy as np
import torch
import torch.nn.functional as F
from scipy.ndimage import gaussian_filter1d

import phones

RATE, WINDOW, HOP, FFT, BANDS, FLOOR = 16000, 400, 160, 512, 40, 1e-9
INPUTS, OUTPUTS = BANDS + 1, len(phones.COLUMNS)
TARGETS = OUTPUTS + 2


def _bank():
    mel = lambda hz: 2595 * np.log10(1 + hz / 700)
    edges = 700 * (10 ** (np.linspace(mel(80), mel(7600), BANDS + 2) / 2595) - 1)
    f = np.fft.rfftfreq(FFT, 1 / RATE)
    bank = [np.clip(np.minimum((f - l) / (c - l), (r - f) / (r - c)), 0, None) for l, c, r in zip(edges, edges[1:], edges[2:])]
    return np.array(bank), edges[1:-1]


BANK, CENTRES = _bank()
WIDTHS = torch.tensor(BANK.sum(1), dtype=torch.float32)  # of the bands, in bins
VOICE = torch.tensor(CENTRES < 3000, dtype=torch.float32)  # the bands of a voice's loudness
HANN = np.hanning(WINDOW)
INERTIA = torch.exp(-.5 * (torch.arange(-14, 15) / 3.5) ** 2)  # of lips and jaw, over hops
INERTIA /= INERTIA.sum()


def features(samples):
    """samples from -1 to 1 -> power of each band, (hops, BANDS); hop i is around sample i * HOP"""
    hops = -(-len(samples) // HOP)
    padded = np.r_[np.zeros(WINDOW // 2), samples, np.zeros(WINDOW)]
    windows = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP][:hops] * HANN
    return np.maximum(np.abs(np.fft.rfft(windows, FFT)) ** 2 @ BANK.T, FLOOR).astype(np.float32)


def normalise(power):
    """power (items, hops, BANDS) -> inputs (items, hops, INPUTS), the same at any gain and through any microphone"""
    level = 10 * torch.log10((power * VOICE).sum(-1))
    loud = torch.quantile(level, .95, dim=1, keepdim=True)
    decibels = torch.maximum(10 * torch.log10(power), (loud - 62)[..., None])
    speaks = (level > loud - 30).float()[..., None]
    mean = (decibels * speaks).sum(1, keepdim=True) / speaks.sum(1, keepdim=True)
    return torch.cat([((decibels - mean) / 10).clamp(-4.5, 2.5), ((level - loud) / 20).clamp(-3, .3)[..., None]], -1)


def targets(sounds, hops, stretch=1.0):
    """-> (hops, TARGETS): the articulation, smoothed as lips move; how easily the sound is taken for one of the lips, and whether for one of spread lips"""
    steps = hops * 5 + 4  # of 2 ms
    t, y = np.arange(steps) * .002 - .004, np.zeros((steps, TARGETS))
    y[:, OUTPUTS - 1] = 1  # silence
    for start, end, name in sounds:
        y[(t >= start * stretch) & (t < end * stretch)] = (*phones.ARTICULATION[name], phones.LIKE_LIPS.get(name, 0), name in phones.LIKE_SPREAD)
    smooth = [gaussian_filter1d(y[:, i], s) for i, s in enumerate((10, 4, 8, 13, 13, 5, 3, 3))]
    smooth[0] *= 1 - smooth[1]
    return np.stack(smooth, 1)[2:2 + hops * 5:5].astype(np.float32)


def phones_at(sounds, hops, stretch=1.0):
    """-> which of phones.CLASSES sounds at each hop"""
    y = np.full(hops, phones.CLASSES.index(phones.SILENCE))
    for start, end, name in sounds:
        y[round(start * stretch * 100):round(end * stretch * 100)] = phones.CLASSES.index(name)
    return y


def compose(said):
    """what the network says (items, hops, OUTPUTS) -> articulation, as ../articulation.go composes it"""
    opening, closure, labiodental, silence = said[..., 0], said[..., 1], said[..., 2], said[..., 5]
    opening = (opening * (1 - closure) * (1 - silence))[:, None]
    reach = len(INERTIA) // 2
    opening = F.conv1d(F.pad(opening, (reach, reach), mode="replicate"), INERTIA[None, None])[:, 0]
    return torch.cat([torch.stack([opening * (1 - closure ** 2), closure, labiodental * (1 - silence)], -1), said[..., 3:]], -1)


def harm(power, negatives, g):
    """other speakers, rooms, microphones and noise: (items, hops, BANDS) -> the same shape"""
    items, hops, _ = power.shape
    rand = lambda *shape: torch.rand(*shape, generator=g)
    power = _warp(power, .88 + .24 * rand(items, 1), rand(items, 1) - .5)
    wet = (rand(items) < .5).float() * 10 ** -(1.6 * rand(items))
    power = power + wet[:, None, None] * _tail(power, .1 + .9 * rand(items) ** 1.5)
    power = power * _microphone(items, rand)
    power = power + _noise(power, rand, g)
    loud = power.sum(-1).quantile(.95, dim=1)
    at = lambda chance, least, most: torch.where(rand(items) < chance, least + (most - least) * rand(items), torch.full((items,), 90.0))
    power = power + power.roll(1, 0) * (10 ** (-at(.12, 8, 25) / 10) * loud / loud.roll(1, 0))[:, None, None]  # babble
    pick = torch.randint(0, len(negatives), (items,), generator=g)
    other = torch.stack([negatives[i][:hops] for i in pick])
    quiet = 10 ** (-at(.15, 5, 25) / 10) * loud / other.sum(-1).quantile(.95, dim=1)
    return power + other * quiet[:, None, None] + FLOOR


def _warp(power, scale, shift):
    """another vocal tract: the bands moved"""
    items, hops, bands = power.shape
    at = (torch.arange(bands).float()[None] * scale + shift).clamp(0, bands - 1.001)
    low, part = at.floor().long(), at - at.floor()
    log = torch.log(power)
    take = lambda i: torch.gather(log, 2, i[:, None].expand(items, hops, bands))
    return torch.exp(take(low) * (1 - part[:, None]) + take(low + 1) * part[:, None])


def _tail(power, seconds):
    """reverberation that falls by 60 dB in so many seconds, as strong in all as the sound itself"""
    keep = (10 ** (-6 * HOP / RATE / seconds))[:, None]
    out, last = torch.zeros_like(power), torch.zeros_like(power[:, 0])
    for t in range(1, power.shape[1]):
        last = keep * last + (1 - keep) * power[:, t - 1]
        out[:, t] = last
    return out


def _microphone(items, rand):
    gains = F.interpolate((rand(items, 1, 6) - .5) * 20, size=BANDS, mode="linear", align_corners=True)[:, 0]
    band = torch.arange(BANDS).float()[None]
    top = torch.where(rand(items) < .3, 24 + 16 * rand(items), torch.full((items,), 99.0))
    bottom = torch.where(rand(items) < .2, 7 * rand(items), torch.full((items,), -9.0))
    gains = gains - (band - top[:, None]).clamp(0, 4) * 10 - (bottom[:, None] - band).clamp(0, 4) * 6
    return (10 ** (gains / 10))[:, None]


def _noise(power, rand, g):
    items, hops, _ = power.shape
    loud = power.sum(-1).quantile(.95, dim=1)
    ratio = torch.where(rand(items) < .75, 6 + 40 * rand(items), 46 + 24 * rand(items))
    colour = 10 ** (F.interpolate((rand(items, 1, 5) - .5) * 24, size=BANDS, mode="linear", align_corners=True)[:, 0] / 10) * WIDTHS
    colour = colour / colour.sum(-1, keepdim=True) * (loud * 10 ** (-ratio / 10))[:, None]
    freedom = WIDTHS.clamp(min=1).expand(items, hops, BANDS)
    return colour[:, None] * torch._standard_gamma(freedom, generator=g) / freedom


def mask(inputs, g):
    """bands and moments left out, after SpecAugment (Park et al. 2019)"""
    items, hops, _ = inputs.shape
    whole = lambda low, high: int(torch.randint(low, high, (1,), generator=g))
    for i in range(items):
        if whole(0, 10) < 4:
            width = whole(1, 7)
            start = whole(0, BANDS - width)
            inputs[i, :, start:start + width] = 0
        if whole(0, 10) < 3:
            width = whole(2, 6)
            start = whole(0, hops - width)
            inputs[i, start:start + width] = 0
    return inputs
