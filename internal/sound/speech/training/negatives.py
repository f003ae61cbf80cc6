"""Sound that no mouth makes: noise, tones, chords, melodies, drums, clicks, hum."""
import numpy as np

RATE = 16000


def make(rng, seconds=3.3):
    """-> samples from -1 to 1"""
    kind = KINDS[rng.randint(len(KINDS))]
    x = kind(rng, int(seconds * RATE))
    if rng.rand() < .3:  # two at once
        x = x / (x.std() + 1e-9) + KINDS[rng.randint(len(KINDS))](rng, len(x)) * 3
    return .3 * x / (np.abs(x).max() + 1e-9)


def noise(rng, n):
    spectrum = np.fft.rfft(rng.randn(n))
    f = np.fft.rfftfreq(n, 1 / RATE) + 20
    slope = rng.uniform(-1.2, .3)
    x = np.fft.irfft(spectrum * f ** slope, n)
    return x / x.std() * _swell(rng, n)


def _swell(rng, n):
    """a slow change of loudness, or none"""
    points = rng.uniform(.3, 1, max(2, int(n / RATE * rng.choice([.5, 1, 4]))))
    return np.interp(np.arange(n), np.linspace(0, n, len(points)), points) if rng.rand() < .6 else np.ones(n)


def _note(rng, n, hz, partials, decay):
    t = np.arange(n) / RATE
    vibrato = 1 + rng.choice([0, 0, .004]) * np.sin(2 * np.pi * 5.5 * t)
    phase = 2 * np.pi * hz * np.cumsum(vibrato) / RATE
    x = sum(a * np.sin(k * phase + rng.rand() * 6) for k, a in partials if hz * k < 7800)
    return x * np.minimum(t / .01, 1) * np.exp(-t / decay)


def _timbre(rng):
    fall = rng.uniform(.5, 2.5)
    odd = rng.rand() < .3
    return [(k, k ** -fall) for k in range(1, rng.choice([2, 6, 20]), 2 if odd else 1)] or [(1, 1)]


def tone(rng, n):
    return _note(rng, n, 10 ** rng.uniform(1.9, 3.7), _timbre(rng) if rng.rand() < .4 else [(1, 1)], 99) * _swell(rng, n)


def sweep(rng, n):
    low, high = 10 ** rng.uniform(2, 3.8, 2)
    return np.sin(2 * np.pi * np.cumsum(np.geomspace(low, high, n)) / RATE)


def music(rng, n):
    """chords or a melody, and drums with some"""
    x, beat, timbre = np.zeros(n), int(RATE * rng.uniform(.12, .9)), _timbre(rng)
    decay, root, chord = rng.choice([.15, .5, 2, 99]), 10 ** rng.uniform(1.9, 2.7), rng.rand() < .6
    for start in range(0, n, beat):
        steps = [(0, 4, 7), (0, 3, 7), (0, 5, 9), (2, 5, 9)][rng.randint(4)] if chord else [rng.randint(-5, 13)]
        length = min(n - start, int(beat * rng.uniform(.8, 1.6)))
        for s in steps:
            x[start:start + length] += _note(rng, length, root * 2 ** (s / 12), timbre, decay)
    x /= x.std() + 1e-9
    return x + drums(rng, n) * rng.uniform(.3, 2) if rng.rand() < .5 else x


def drums(rng, n):
    x, beat = np.zeros(n), int(RATE * rng.uniform(.1, .5))
    for i, start in enumerate(range(rng.randint(beat), n, beat)):
        length = min(n - start, int(RATE * .15))
        t = np.arange(length) / RATE
        if i % 2:
            x[start:start + length] += rng.randn(length) * np.exp(-t / rng.uniform(.01, .06))
        else:
            x[start:start + length] += 2 * np.sin(2 * np.pi * (50 * t + 8 * (1 - np.exp(-t / .02)))) * np.exp(-t / .05)
    return x / (x.std() + 1e-9)


def clicks(rng, n):
    x = .001 * rng.randn(n)
    for start in rng.randint(0, n - 200, rng.randint(1, 30)):
        x[start:start + 200] += rng.randn(200) * np.exp(-np.arange(200) / rng.uniform(3, 60))
    return x


def hum(rng, n):
    t = np.arange(n) / RATE
    return sum(rng.rand() * np.sin(2 * np.pi * rng.choice([50, 60]) * k * t) for k in range(1, 9)) + rng.uniform(0, .3) * rng.randn(n)


KINDS = [noise, noise, tone, tone, sweep, music, music, music, drums, clicks, hum]
