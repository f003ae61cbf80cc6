#!/usr/bin/env python3
"""Align the words of people who were recorded, for evaluate.py.

usage: readers.py RECORDINGS FOLDER

RECORDINGS holds jfk.wav and sonnet.wav (README.md says from where); the others are Debian's pocketsphinx-testdata. FOLDER gets a file
human-NAME.pkl for each reader, like those of data.py.
"""
import pickle, sys
from pathlib import Path

import numpy as np
from pocketsphinx import Decoder

import phones

RATE = 16000
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
WORDS = {"feedst": "F IY D S T", "thy": "DH AY", "buriest": "B EH R IY AH S T", "churl": "CH ER L", "makst": "M EY K S T",
         "niggarding": "N IH G ER D IH NG", "thine": "DH AY N", "thereby": "DH EH R B AY", "self": "S EH L F", "riper": "R AY P ER", "beauty's": "B Y UW T IY Z", "glutton": "G L AH T AH N"}


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


def align(samples, words):
    """-> [(start, end, sound)]. The aligner gives up on some beams and on some lengths of the pause before, so several are tried."""
    for pause in (0, .3, .1, .5):
        for beam in (1e-48, 1e-80, 1e-120):
            try:
                found = phones_of(np.r_[hiss(pause), samples, hiss(pause)], words, beam)
            except RuntimeError as e:
                failed = e
                continue
            return phones.split([(max(start - pause, 0), end - pause, name) for start, end, name in found if end > pause])
    raise failed


def hiss(seconds):
    return (3 * np.random.default_rng(0).standard_normal(int(seconds * RATE))).astype(np.int16)


def phones_of(samples, words, beam):
    """-> [(start, end, sound)], in two passes: words, then the states of their phones"""
    decoder = Decoder(lm=None, loglevel="FATAL", beam=beam, wbeam=beam, pbeam=beam)
    for word, spelled in WORDS.items():
        if not decoder.lookup_word(word):
            decoder.add_word(word, spelled)
    decoder.set_align_text(words)
    for second in (False, True):
        if second:
            decoder.set_alignment()
        decoder.start_utt()
        decoder.process_raw(samples.tobytes(), full_utt=True)
        decoder.end_utt()
    return [(p.start / 100, (p.start + p.duration) / 100, phones.arpabet(p.name)) for word in decoder.get_alignment() for p in word]


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
