"""Align the words of a text with a recording, and print when each phone starts.

usage: align.py SPEECH.wav TEXT   (16 kHz, mono; lower case, no punctuation)
Prints a JSON list of {"ms": start, "phoneme": name in ARPABET}.
"""
import json, sys, wave

from pocketsphinx import Decoder

# Words that pocketsphinx's dictionary lacks.
WORDS = {"beauty's": "B Y UW T IY Z", "riper": "R AY P ER"}

with wave.open(sys.argv[1]) as w:
    sound = w.readframes(w.getnframes())
decoder = Decoder(lm=None, loglevel="FATAL")
for word, phones in WORDS.items():
    decoder.add_word(word, phones)


def decode():
    decoder.start_utt()
    decoder.process_raw(sound, full_utt=True)
    decoder.end_utt()


decoder.set_align_text(sys.argv[2])
decode()
if decoder.hyp() is None:
    sys.exit("align: the words do not fit " + sys.argv[1])
decoder.set_alignment()  # a second time, for the phones within the words
decode()
json.dump([{"ms": 10 * phone.start, "phoneme": phone.name} for word in decoder.get_alignment() for phone in word], sys.stdout)
