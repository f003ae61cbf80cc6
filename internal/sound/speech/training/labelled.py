#!/usr/bin/env python3
"""Read people whose phones were labelled by hand, for train.py.

usage: labelled.py EMODB FOLDER

EMODB holds wav and lablaut of the Berlin database of emotional speech; README.md says from where. FOLDER gets labelled.pkl, and german.pkl of two who only test. Both are
like the files of data.py.

A line of a label file is: the end of a segment in seconds, a color, the phone, and marks. A phone that begins with ! is the burst of a
plosive, one with asp its breath, one with _ the silence before it. A segment without a phone belongs to the phone before it.
"""
import pickle, sys
from pathlib import Path

import numpy as np

import phones
from align import RATE
from people import read

TESTS = {"15", "16"}  # a man and a woman; all say the same ten sentences
LATE = .06  # seconds by which the labels are early: moved by this, the vowels lie on the loudest sound
ALONE = {".": "_", "(": "_", "(gef": "_", "": None, "6": "V", "4": "*", "V": "P", "H": "y", "L": "l", "i6": ("i", "V"), "E6": ("E", "V"), "a6": "a", "I6": ("I", "V"), "@6": "@",
         "aO": ("a", "O"), "AO": ("A", "O"), "ao": ("a", "o"), "AU": ("A", "U"), "ia": ("i", "a"), "i@": ("i", "@"), "e@": ("e", "@"), "I@": ("I", "@"), "nn": "n", "NN": "N"}


def sound(name):
    """-> the sounds of a label, or None where the one before goes on"""
    if name in ALONE:
        said = ALONE[name]
        return said if said is None or isinstance(said, tuple) else (said,)
    if name.endswith("asp") or name[:1] == "!" and name[1:] in {"p", "b"}:
        return ("h",)  # the lips have parted
    said = phones.espeak(name.lstrip("!_"), "de")
    return phones.DIPHTHONGS.get(said, (said,)) if said else None


def sounds(path):
    """-> [(start, end, sound)]"""
    out, last, begun = [], 0.0, False
    for line in path.read_text("latin-1").split("\n"):
        if not begun or not line.strip():
            begun = begun or line.strip() == "#"
            continue
        time, _, *name = line.split("\t")[0].split()
        end, said = float(time), sound(name[0] if name and name[0][0] not in "+-[" else "")
        if said is None and out:
            out[-1] = (out[-1][0], end, out[-1][2])
        elif said:
            edges = np.linspace(last, end, len(said) + 1)
            out += list(zip(edges, edges[1:], said))
        last = end
    return out


def main(emodb, folder):
    kept = []
    for path in sorted(Path(emodb, "wav").glob("*.wav")):
        labels = Path(emodb, "lablaut", path.stem + "xx.lablaut")
        if not labels.exists():
            continue
        samples = read(path)
        seconds = len(samples) / RATE
        said = [(start + LATE, min(end + LATE, seconds), name) for start, end, name in sounds(labels) if start + LATE < seconds]
        if len(said) >= 5:
            kept.append(dict(voice="emodb-" + path.stem[:2], language="de", samples=samples, sounds=said))
    for name, said in (("labelled", [u for u in kept if u["voice"][-2:] not in TESTS]), ("german", [u for u in kept if u["voice"][-2:] in TESTS])):
        pickle.dump(said, open(Path(folder, name + ".pkl"), "wb"))
        print(f"{name:10} {len(said):3} sentences of {len({u['voice'] for u in said}):3} people, {sum(len(u['samples']) for u in said) / RATE / 60:4.1f} minutes", phones.unknown or "")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
