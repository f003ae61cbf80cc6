#!/usr/bin/env python3
"""Align the words of people who were recorded, for evaluate.py.

usage: readers.py RECORDINGS FOLDER

RECORDINGS holds jfk.wav and sonnet.wav (README.md says from where); the others are Debian's pocketsphinx-testdata. FOLDER gets a file
human-NAME.pkl for each reader, like those of data.py.
"""
import pickle, sys
from pathlib import Path

import numpy as np

from align import RATE, align
import phones

TESTDATA = Path("/usr/share/pocketsphinx/test/data")
SONNET = [  # seconds, words; a LibriVox volunteer
    (2.68, 5.88, "from fairest creatures we desire increase"), (5.88, 8.64, "that thereby beauty's rose might never die"),
    (8.64, 11.96, "but as the riper should by time decease"), (11.96, 14.44, "his tender heir might bear his memory"),
    (14.44, 18.52, "but thou contracted to thine own bright eyes"), (18.52, 22.72, "feedst thy light's flame with self substantial fuel"),
    (22.72, 25.48, "making a famine where abundance lies"), (25.48, 30.4, "thy self thy foe to thy sweet self too cruel"),
    (30.4, 34.4, "thou that art now the world's fresh ornament"), (34.4, 36.6, "and only herald to the gaudy spring"),
    (36.6, 40.64, "within thine own bud buriest thy content"), (40.64, 43.64, "and tender churl makst waste in niggarding"),
    (43.64, 48.08, "pity the world or else this glutton be"), (48.08, 53.2, "to eat the world's due by the grave and thee")]
KENNEDY = [(0, 11, "and so my fellow americans ask not what your country can do for you ask what you can do for your country")]


def read(path):
    data = Path(path).read_bytes()
    return np.frombuffer(data[44:] if data[:4] == b"RIFF" else data, "<i2")


def librivox():
    for line in open(TESTDATA / "librivox/transcription"):
        words, name = line.split("</s>")
        yield read(TESTDATA / "librivox" / (name.strip(" ()\n") + ".wav")), words.replace("<s>", "").strip().replace("a amiable", "amiable")


def cards():
    for line in open(TESTDATA / "cards/cards.transcription"):
        words, name = line.split("</s>")
        yield read(TESTDATA / "cards" / (name.strip(" ()\n") + ".wav")), words.replace("<s>", "").strip()


def commands():
    yield read(TESTDATA / "goforward.raw"), "go forward ten meters"
    yield read(TESTDATA / "something.raw"), "go somewhere and do something"


def pieces(path, texts):
    samples = read(path)
    for start, end, words in texts:
        yield samples[int(start * RATE):int(end * RATE)], words


def main(recordings, folder):
    readers = {"librivox": librivox(), "cards": cards(), "commands": commands(),
               "sonnet": pieces(Path(recordings, "sonnet.wav"), SONNET), "kennedy": pieces(Path(recordings, "jfk.wav"), KENNEDY)}
    for name, read_aloud in readers.items():
        kept = []
        for samples, words in read_aloud:
            try:
                kept.append(dict(voice="human-" + name, language="en", samples=samples, sounds=align(samples, words), words=words))
            except RuntimeError as e:
                print(name, words, e)
        pickle.dump(kept, open(Path(folder, f"human-{name}.pkl"), "wb"))
        print(f"{name:10} {len(kept):2} pieces {sum(len(u['samples']) for u in kept) / RATE:5.1f} s, {sum(s[2] in phones.CLOSED for u in kept for s in u['sounds'])} closures")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
