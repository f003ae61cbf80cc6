#!/usr/bin/env python3
"""Align the words of many people who read aloud, for train.py.

usage: people.py READ FOLDER

READ holds ID.flac or ID.wav of each recording and texts.txt with a line "ID WORDS" of each; README.md says from where. The people of
train-clean-100 and LJSpeech train: FOLDER gets people.pkl. Those of test-other say when to stop: FOLDER gets stops.pkl. Both are like the files of data.py.
"""
import multiprocessing, pickle, subprocess, sys
from pathlib import Path

import numpy as np

import data
from align import RATE, align

STOPS = {"libri-" + n for n in ("1688", "1998", "2033", "2414", "2609", "3005", "3080", "3331", "367", "533")}  # of test-other
SIMILAR = {"libri-" + n for n in ("2514", "3436", "5322", "8088", "1926", "1841", "8238", "6078")}  # the voices most like those of the two LibriVox readers who test
BEAM = 1e-20  # with wider ones the aligner gives up on every other of these
SHORTEST = .03  # seconds; no sound is aligned shorter
HASTY = .5  # where more of the sounds are as short, they are not where the aligner puts them


def read(path):
    command = ["ffmpeg", "-v", "error", "-i", path, "-f", "s16le", "-ac", "1", "-ar", str(RATE), "-"]
    return np.frombuffer(subprocess.run(command, capture_output=True, check=True).stdout, "<i2")


def utterance(job):
    """-> as data.utterance, or None where the aligner finds no place for the words"""
    path, words = job
    samples = read(path)
    try:
        sounds = align(samples, words, [BEAM])
    except RuntimeError:
        return None
    if np.mean([end - start < SHORTEST + .005 for start, end, _ in sounds]) > HASTY:
        return None
    return dict(voice=_voice(path.stem), language="en", samples=samples, sounds=data.release(samples.astype(float), sounds), words=words)


def _voice(name):
    return "lj" if name.startswith("LJ") else "libri-" + name.split("-")[0]


def main(recordings, folder):
    texts = dict(line.rstrip("\n").split(maxsplit=1) for line in open(Path(recordings, "texts.txt")))
    paths = {path.stem: path for path in Path(recordings).iterdir()}
    if missing := texts.keys() - paths.keys():
        sys.exit("no recording of " + ", ".join(sorted(missing)))
    jobs = [(paths[name], words.lower()) for name, words in sorted(texts.items()) if _voice(name) not in SIMILAR]
    with multiprocessing.Pool() as pool:
        done = pool.map(utterance, jobs, chunksize=1)
    kept = [u for u in done if u]
    for name, said in (("people", [u for u in kept if u["voice"] not in STOPS]), ("stops", [u for u in kept if u["voice"] in STOPS])):
        pickle.dump(said, open(Path(folder, name + ".pkl"), "wb"))
        print(f"{name:10} {len(said):3} sentences of {len({u['voice'] for u in said}):3} people, {sum(len(u['samples']) for u in said) / RATE / 60:4.1f} minutes")
    print(f"{len(jobs) - len(kept)} not aligned")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
