#!/usr/bin/env python3
"""Write the speech that ../articulation_test.go listens to.

usage: testdata.py FOLDER...     (what data.py and readers.py made)
"""
import json, pickle, sys, wave
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent / "testdata"
CHOSEN = {"human-librivox": 4, "human-cards": 4, "festival-lj": 2}


def main(folders):
    sounds = {}
    for folder in folders:
        for name, number in CHOSEN.items():
            path = Path(folder, name + ".pkl")
            if not path.exists():
                continue
            u = pickle.load(open(path, "rb"))[number]
            with wave.open(str(OUT / (name + ".wav")), "wb") as w:
                w.setnchannels(1)
                w.setsampwidth(2)
                w.setframerate(16000)
                w.writeframes(u["samples"].tobytes())
            sounds[name] = [{"start": round(a, 3), "end": round(b, 3), "sound": s} for a, b, s in u["sounds"]]
    lines = ",\n".join(json.dumps(name) + ": [\n" + ",\n".join("  " + json.dumps(s) for s in sounds[name]) + "]" for name in sorted(sounds))
    (OUT / "sounds.json").write_text("{" + lines + "}\n")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
