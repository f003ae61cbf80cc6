"""Where the sounds of words that someone said are, by forced alignment."""
import subprocess

import numpy as np
from pocketsphinx import Decoder

import phones

RATE = 16000
BEAMS = 1e-48, 1e-80, 1e-120
WORDS = {"feedst": "F IY D S T", "thy": "DH AY", "buriest": "B EH R IY AH S T", "churl": "CH ER L", "makst": "M EY K S T",
         "niggarding": "N IH G ER D IH NG", "thine": "DH AY N", "thereby": "DH EH R B AY", "self": "S EH L F", "riper": "R AY P ER", "beauty's": "B Y UW T IY Z", "glutton": "G L AH T AH N"}


def align(samples, text, beams=BEAMS):
    """-> [(start, end, sound)] of English text"""
    def add(decoder):
        for word in text.split():
            if not decoder.lookup_word(word):
                decoder.add_word(word, WORDS.get(word) or spell(word))
        return text
    return _align(samples, add, lambda word: [phones.arpabet(p.name) for p in word], beams)


def place(samples, words, models, beams=BEAMS[:2]):
    """-> [(start, end, sound)] of words given by their sounds; models has the name that the aligner finds each sound by"""
    def add(decoder):
        for i, sounds in enumerate(words):
            decoder.add_word(f"word{i}", " ".join(models[s] for s in sounds))
        return " ".join(f"word{i}" for i in range(len(words)))
    return _align(samples, add, lambda word: words[int(word.name[4:])] if word.name.startswith("word") else [phones.SILENCE for _ in word], beams)


def _align(samples, add, sounds, beams):
    """The aligner gives up on some beams and on some lengths of the pause before, so several are tried."""
    for pause in (0, .3, .1, .5):
        for beam in beams:
            try:
                found = _pass(np.r_[hiss(pause), samples, hiss(pause)], add, sounds, beam)
            except RuntimeError as e:
                failed = e
                continue
            return phones.split([(max(start - pause, 0), end - pause, name) for start, end, name in found if end > pause])
    raise failed


def _pass(samples, add, sounds, beam):
    """-> [(start, end, sound)], in two passes: words, then the states of their phones"""
    decoder = Decoder(lm=None, loglevel="FATAL", beam=beam, wbeam=beam, pbeam=beam)
    decoder.set_align_text(add(decoder))
    for second in (False, True):
        if second:
            decoder.set_alignment()
        decoder.start_utt()
        decoder.process_raw(samples.tobytes(), full_utt=True)
        decoder.end_utt()
    if not decoder.get_alignment():
        raise RuntimeError("not aligned")
    return [(p.start / 100, (p.start + p.duration) / 100, name) for word in decoder.get_alignment() for p, name in zip(word, sounds(word), strict=True)]


def hiss(seconds):
    return (3 * np.random.default_rng(0).standard_normal(int(seconds * RATE))).astype(np.int16)


def spell(word):
    """-> the sounds of a word that the aligner doesn't know, by flite's rules"""
    said = subprocess.run(["flite", "-ps", "-t", word, "none"], capture_output=True, text=True, check=True).stdout.split()
    return " ".join({"ax": "AH", "axr": "ER"}.get(s, s.upper()) for s in said if s != "pau")
