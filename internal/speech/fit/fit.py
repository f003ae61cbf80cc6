#!/usr/bin/env python3
"""Fit the small network in ../opening.bin that turns sound into how far a mouth opens.

usage: fit.py ../opening.bin     (needs libespeak-ng, numpy, scipy, scikit-learn)

Sentences are spoken by espeak-ng, which tells when each phoneme starts. The target is the opening that phonetics gives
a phoneme: vowels by their height (IPA chart), consonants by their place, closed for bilabials and pauses. The features
are those of ../features.go. The file holds little-endian float32: weights in-by-hidden, biases, weights hidden, bias.
"""
import ctypes, sys
import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.signal import resample_poly
from sklearn.neural_network import MLPRegressor

RATE, WINDOW, HOP, FFT, BANDS, HIDDEN = 16000, 400, 160, 512, 20, 16
CONTEXT = range(-8, 9, 2)  # hops of 10 ms

SENTENCES = {
    "en-us en-gb en-us+f2 en-us+m3 en-gb+f4 en-us+m7 en-gb-scotland en-us+f5": [
        "The quick brown fox jumps over the lazy dog while my mother bakes five apple pies in the old farm house.",
        "Please remember to bring your passport, a warm jacket and maybe some money for the boat trip tomorrow.",
        "Peter Piper picked a peck of pickled peppers. How much wood would a woodchuck chuck?",
        "Good morning everybody. Today I want to talk about oceans, and what each of us can do about them.",
        "Amazing results were obtained by combining both methods; however, problems remain with very small samples.",
        "She sells sea shells by the sea shore. Oh my, what a beautiful bay you have here!",
        "Numbers: one, two, three, four, five, six, seven, eight, nine, ten. Mama and papa embrace Bob.",
        "You should open the window wide, turn off the lamp, and wait until the music stops. Then, and only then, speak.",
        "Rain pours. Thunder booms above empty market squares. A calm voice whispers: no fear, my friend.",
    ],
    "de de+f3 de+m4": [
        "Guten Morgen, meine Damen und Herren. Heute sprechen wir über das Wetter, den Markt und unsere Pläne für den Sommer.",
        "Bitte bringen Sie Papier, Bleistift und ein wenig Geduld mit; am Abend gibt es Kaffee und Kuchen.",
    ],
    "es es+f3 es+m4": [
        "Buenos días a todos. Hoy vamos a hablar de la música, del mar y de las montañas de nuestro país.",
        "Por favor, abra la ventana y apague la lámpara antes de empezar a trabajar con el aparato.",
    ],
    "fr-fr fr-fr+f3 fr-fr+m4": [
        "Bonjour à tous. Aujourd'hui nous parlons de la musique, de la mer et des montagnes.",
        "Maman a préparé un beau gâteau pour Paul, mais papa a oublié les bougies.",
    ],
    "it it+f3 it+m4": ["Buongiorno a tutti. Oggi parliamo di musica, di mare e di montagna, e poi mangiamo una buona pizza."],
    "pl pl+f3 pl+m4": ["Dzień dobry. Porozmawiamy dzisiaj o muzyce, o morzu i o górach."],
}

# Openings by phonetic class; the first class that holds the mnemonic's head counts.
CLASSES = [
    (0.0, ["m", "b", "p", "_", "?"]),           # bilabials, pauses
    (0.1, ["f", "v"]),                          # labiodentals
    (1.0, ["a", "A"]),                          # open vowels
    (0.85, ["0", "aI", "aU", "V"]),
    (0.7, ["O", "E", "o"]),                     # mid vowels
    (0.6, ["e"]),
    (0.45, ["3", "@"]),
    (0.35, ["i", "I", "y", "U", "u", "Y"]),     # close vowels
    (0.2, ["w", "s", "z", "S", "Z", "tS", "dZ"]),
    (0.3, ["t", "d", "n", "l", "r", "k", "g", "N", "j", "T", "D", "R", "*"]),
    (0.5, ["h", "x", "H"]),
]


def opening(mnemonic):
    name = mnemonic.strip("',%=|")
    if not name:
        return 0.0
    fits = [(len(head), value) for value, heads in CLASSES for head in heads if name.startswith(head)]
    return max(fits)[1] if fits else 0.4


class Id(ctypes.Union):
    _fields_ = [("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8)]


class Event(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("unique", ctypes.c_uint), ("text_position", ctypes.c_int),
                ("length", ctypes.c_int), ("audio_position", ctypes.c_int), ("sample", ctypes.c_int),
                ("user_data", ctypes.c_void_p), ("id", Id)]


PHONEME, PHONEME_EVENTS, SYNCHRONOUS, UTF8 = 7, 1, 2, 1


class Voice:
    def __init__(self):
        self.lib = ctypes.CDLL("libespeak-ng.so.1")
        self.rate = self.lib.espeak_Initialize(SYNCHRONOUS, 0, None, PHONEME_EVENTS)
        self.callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int,
                                         ctypes.POINTER(Event))(self.collect)
        self.lib.espeak_SetSynthCallback(self.callback)

    def collect(self, samples, count, events):
        if count > 0 and samples:
            self.sound.append(np.ctypeslib.as_array(samples, (count,)).copy())
        i = 0
        while events[i].type:
            if events[i].type == PHONEME:
                self.phonemes.append((events[i].audio_position / 1000, bytes(events[i].id.string).split(b"\0")[0].decode()))
            i += 1
        return 0

    def speak(self, text, voice, words_a_minute):
        """-> samples at RATE in -1..1, [(seconds, mnemonic)]"""
        self.sound, self.phonemes = [], []
        self.lib.espeak_SetVoiceByName(voice.encode())
        self.lib.espeak_SetParameter(1, words_a_minute, 0)
        raw = text.encode() + b"\0"
        self.lib.espeak_Synth(raw, len(raw), 0, 1, 0, UTF8, None, None)
        self.lib.espeak_Synchronize()
        return resample_poly(np.concatenate(self.sound) / 32768, RATE // 50, self.rate // 50), sorted(self.phonemes)


def spectra(x):
    x = np.r_[np.zeros(WINDOW // 2), x, np.zeros(WINDOW)]
    n = (len(x) - WINDOW) // HOP
    return np.abs(np.fft.rfft(x[np.arange(WINDOW) + HOP * np.arange(n)[:, None]] * np.hanning(WINDOW), FFT)) ** 2


def filters():
    mel = lambda hz: 2595 * np.log10(1 + hz / 700)
    edges = 700 * (10 ** (np.linspace(mel(80), mel(7600), BANDS + 2) / 2595) - 1)
    f = np.fft.rfftfreq(FFT, 1 / RATE)
    return np.array([np.clip(np.minimum((f - l) / (c - l), (r - f) / (r - c)), 0, None)
                     for l, c, r in zip(edges, edges[1:], edges[2:])])


FILTERS, FREQUENCIES = filters(), np.fft.rfftfreq(FFT, 1 / RATE)


def features(power):
    bands = 10 * np.log10(power @ FILTERS.T + 1e-7)
    level = 10 * np.log10(power[:, (FREQUENCIES >= 80) & (FREQUENCIES < 3000)].sum(1) + 1e-7)
    loud = np.percentile(level, 95)
    bands -= bands[level > loud - 25].mean(0)
    x = np.c_[np.clip(bands, -35, 15) / 10, np.clip((level - loud) / 30, -1.3, .1)]
    padded = np.pad(x, ((8, 8), (0, 0)), mode="edge")
    return np.concatenate([padded[8 + d:8 + d + len(x)] for d in CONTEXT], 1)


def targets(phonemes, n):
    """opening at each hop of 10 ms, smoothed as a jaw is"""
    t, y = np.arange(n * 5) * .002, np.zeros(n * 5)
    for (start, name), (end, _) in zip(phonemes, phonemes[1:] + [(n * .01, "")]):
        y[(t >= start) & (t < end)] = opening(name)
    return gaussian_filter1d(y, 12).reshape(n, 5).mean(1)


def coloured(power, rng):
    """the same speech through another microphone in a noisier room"""
    gain = np.interp(np.arange(FFT // 2 + 1), [0, 20, 60, 130, 256], rng.uniform(-9, 9, 5))
    power = power * 10 ** (gain / 10)
    noise = 10 ** -rng.uniform(3, 5.5) * np.percentile(power.sum(1), 95) / power.shape[1]
    return power + noise * rng.exponential(1, power.shape)


def main(out):
    voice, rng, x, y = Voice(), np.random.RandomState(1), [], []
    for voices, texts in SENTENCES.items():
        for i, text in enumerate(texts):
            for k, name in enumerate(voices.split()):
                sound, phonemes = voice.speak(text, name, 140 + 20 * ((i + k) % 3))
                power = spectra(sound)
                for p in (power, coloured(power, rng)):
                    x.append(features(p))
                    y.append(targets(phonemes, len(p)))
    net = MLPRegressor(hidden_layer_sizes=(HIDDEN,), alpha=1, max_iter=80, early_stopping=True, random_state=0)
    net.fit(np.concatenate(x), np.concatenate(y))
    print("frames", sum(map(len, y)), "correlation on a tenth left out", round(net.best_validation_score_ ** .5, 3))
    with open(out, "wb") as f:
        for a in (net.coefs_[0], net.intercepts_[0], net.coefs_[1], net.intercepts_[1]):
            f.write(a.astype("<f4").tobytes())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
