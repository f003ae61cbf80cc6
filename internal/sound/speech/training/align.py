"""Where the sounds of words that someone said are, by forced alignment."""
import subprocess

import numpy as np
from pocketsphinx import Decoder

import phones

RATE = 16000
WORDS = {"feedst": "F IY D S T", "thy": "DH AY", "buriest": "B EH R IY AH S T", "churl": "CH ER L", "makst": "M EY K S T",
         "niggarding": "N IH G ER D IH NG", "thine": "DH AY N", "thereby": "DH EH R B AY", "self": "S EH L F", "riper": "R AY P ER", "beauty's": "B Y UW T IY Z", "glutton": "G L AH T AH N"}


def align(samples, words, beams=(1e-48, 1e-80, 1e-120)):
    """-> [(start, end, sound)]. The aligner gives up on some beams and on some lengths of the pause before, so several are tried."""
    for pause in (0, .3, .1, .5):
        for beam in beams:
            try:
                found = phones_of(np.r_[hiss(pause), samples, hiss(pause)], words, beam)
            except RuntimeError as e:
                failed = e
                continue
            return phones.split([(max(start - pause, 0), end - pause, name) for start, end, name in found if end > pause])
    raise failed


def hiss(seconds):
    return (3 * np.random.default_rng(0).standard_normal(int(seconds * RATE))).astype(np.int16)


def spell(word):
    """-> the sounds of a word that the aligner doesn't know, by flite's rules"""
    said = subprocess.run(["flite", "-ps", "-t", word, "none"], capture_output=True, text=True, check=True).stdout.split()
    return " ".join({"ax": "AH", "axr": "ER"}.get(s, s.upper()) for s in said if s != "pau")


def phones_of(samples, words, beam):
    """-> [(start, end, sound)], in two passes: words, then the states of their phones"""
    decoder = Decoder(lm=None, loglevel="FATAL", beam=beam, wbeam=beam, pbeam=beam)
    for word in words.split():
        if not decoder.lookup_word(word):
            decoder.add_word(word, WORDS.get(word) or spell(word))
    decoder.set_align_text(words)
    for second in (False, True):
        if second:
            decoder.set_alignment()
        decoder.start_utt()
        decoder.process_raw(samples.tobytes(), full_utt=True)
        decoder.end_utt()
    return [(p.start / 100, (p.start + p.duration) / 100, phones.arpabet(p.name)) for word in decoder.get_alignment() for p in word]
