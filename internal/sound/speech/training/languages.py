#!/usr/bin/env python3
"""Align the words of people who speak several languages, for train.py.

usage: languages.py FOLDER      (the packages are in README.md)

Nine people name the pictures of Tux Paint, the fish of Fish Fillets talk, and four people read what the telephone system Asterisk
says. FOLDER gets a file people-NAME.pkl for each, like those of data.py. espeak-ng says how the words sound; the aligner knows English
sounds only, so each sound is found as the most similar English one.
"""
import gzip, multiprocessing, pickle, re, subprocess, sys
from pathlib import Path

import numpy as np

import data, phones, texts
from align import RATE, place
from people import HASTY, SHORTEST, read

STAMPS, PROMPTS = Path("/usr/share/tuxpaint/stamps"), Path("/usr/share/asterisk/sounds")
PICTURES = {"be": "be", "bg": "bg", "ca": "ca", "da": "da", "el": "el", "es": "es", "fr": "fr", "ro": "ro", "ru": "ru"}  # the voice of espeak-ng for each
TALKS = {"cs": "cs", "nl": "nl"}
READS = {  # likewise, for each folder of a reader
    "en_US_f_Allison": "en-us", "es_MX_f_Allison": "es-419", "fr_CA_f_June": "fr", "it_IT_m_Carlo": "it", "ru_RU_f_IvrvoiceRU": "ru",
}
MOST = 300  # lines of one speaker
SHORTEST_LINE, LONGEST_LINE = .5, 9  # seconds
HASTIER = .7 * HASTY  # English models fit these sounds less, so more of the lines are not where the aligner puts them

ENGLISH = {  # the most similar English sound of each, in the names of the aligner
    "a": "AA", "A": "AA", "&": "AE", "0": "AA", "V": "AH", "a~": "AA", "O": "AO", "o": "OW", "E": "EH", "e": "EH", "E~": "EH", "o~": "AO",
    "3": "ER", "@": "AH", "2": "ER", "9": "ER", "i": "IY", "I": "IH", "1": "IH", "y": "UW", "Y": "UH", "U": "UH", "u": "UW",
    "m": "M", "b": "B", "p": "P", "B": "V", "f": "F", "v": "V", "M": "M", "P": "V", "w": "W", "s": "S", "z": "Z", "ts": "S", "dz": "Z",
    "S": "SH", "Z": "ZH", "tS": "CH", "dZ": "JH", "s;": "SH", "T": "TH", "D": "DH", "t": "T", "d": "D", "n": "N", "n^": "N", "N": "NG",
    "l": "L", "l^": "L", "r": "R", "*": "D", "k": "K", "g": "G", "c": "K", "j": "Y", "x": "HH", "h": "HH", "?": "HH"}


def words_of(text, voice):
    """-> [[sound]] of each word"""
    printed = subprocess.run(["espeak-ng", "-q", "-x", "--sep=_", "-v", voice, "--", text], capture_output=True, text=True, check=True).stdout
    words = [[sound for name in word.split("_") for sound in sounds_of(name, voice)] for word in re.sub(r"\(\w+\)", " ", printed).split()]
    return [w for w in words if w]


def sounds_of(name, voice):
    """-> the sounds in a name of espeak-ng, which may be of two vowels; signs that no table has are left out"""
    name, out = re.sub("[',%=|:!;-]", "", name), []
    while name:
        end, sound = phones.longest(name), phones.sampa(name, voice)
        if sound:
            out += phones.DIPHTHONGS.get(sound, [sound])
        name = name[max(end, 1):].lstrip("0123456789")  # variants of the sound
    return out


def utterance(job):
    """-> as data.utterance, or None where the aligner finds no place for the words"""
    speaker, language, voice, path, text = job
    samples, words = read(path), words_of(text, voice)
    if not words or not SHORTEST_LINE <= len(samples) / RATE <= LONGEST_LINE:
        return None
    try:
        sounds = place(samples, words, ENGLISH)
    except RuntimeError:
        return None
    said = [end - start < SHORTEST + .005 for start, end, name in sounds if name != phones.SILENCE]
    if not said or np.mean(said) > HASTIER:
        return None
    return dict(voice=speaker, language=language, samples=samples, sounds=data.release(samples.astype(float), sounds), words=text)


def pictures(language):
    for path in sorted(STAMPS.rglob(f"*_desc_{language}.ogg")):
        names = path.with_name(path.name.replace(f"_desc_{language}.ogg", ".txt"))
        for line in open(names, encoding="utf-8", errors="replace") if names.exists() else ():
            if line.startswith(language + ".utf8="):
                yield path, line.split("=", 1)[1].strip()


def talks(language, font):
    for scene, script in texts.scripts(language):
        for name, text in re.findall(rf'dialogId\("([^"]+)", "{font}",[^\n]*\n\s*' + texts.LINE, script):
            sound = texts.FISH / "sound" / scene / language / (name + ".ogg")
            if sound.exists():
                yield sound, text.replace("\\", "")


def prompts(reader):
    """-> path and text of each line that a reader has"""
    language = reader[:2]
    for line in gzip.open(f"/usr/share/doc/asterisk-core-sounds-{language}/core-sounds-{language}.txt.gz", "rt", encoding="utf-8-sig"):
        name, _, text = line.partition(":")
        path = PROMPTS / reader / (name + ".g722")
        if path.exists() and not re.search(r"[\[(]", text):  # what is in brackets is no speech
            yield path, text.strip()


def main(folder):
    speakers = {f"people-{language}": (f"people-{language}", language, voice, list(pictures(language))) for language, voice in PICTURES.items()}
    for language, voice in TALKS.items():
        for fish in ("small", "big"):
            speakers[f"people-{language}-{fish}"] = f"people-{language}-{fish}", language, voice, list(talks(language, "font_" + fish))
    for reader, voice in READS.items():
        speakers[f"people-{reader[:2]}-prompts"] = "people-" + reader.split("_")[-1], reader[:2], voice, list(prompts(reader))  # one reads in two languages
    with multiprocessing.Pool() as pool:
        for name, (speaker, language, voice, lines) in speakers.items():
            lines = [lines[i * len(lines) // MOST] for i in range(MOST)] if len(lines) > MOST else lines
            said = [u for u in pool.map(utterance, [(speaker, language, voice, *line) for line in lines], chunksize=4) if u]
            pickle.dump(said, open(Path(folder, name + ".pkl"), "wb"))
            print(f"{name:16} {len(said):3} of {len(lines):3} lines, {sum(len(u['samples']) for u in said) / RATE / 60:4.1f} minutes", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
