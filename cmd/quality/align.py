"""Align the words of a text with a recording, and print when each phone starts.

usage: align.py SPEECH.wav TEXT VOICE   (16 kHz, mono)
Prints a JSON list of {"ms": start, "phoneme": mnemonic of espeak-ng}.

espeak-ng says which phones the words have, by its VOICE. pocketsphinx finds them, with its model of English: a phone that English
lacks is found as the one that sounds most alike.
"""
import json, re, subprocess, sys, wave

from pocketsphinx import Decoder

# The phones of the model, and the mnemonics that are found as each.
ARPABET = """
AA A: A@ A; A~ 0 | AE a a- | AH V @ @- @2 @5 a# E# W~ | AO O: O O@ O~ | AW aU aU@ | AY aI aI@ aI3 | B b B | CH tS | D d | DH D | EH E e e@ E~ E2 e:
ER 3: 3 W Y | EY eI | F f | G g Q | HH h x | IH I I2 I# i@ | IY i: i | JH dZ | K k | L l l^ @L | M m | N n n^ | NG N | OW oU o o@ o- | OY OI | P p
R r r- R R2 * ** | S s ss | SH S | T t t2 t# | TH T | UH U U@ u/ | UW u: u y | V v | W w w2 | Y j | Z z z2 | ZH Z
"""
PHONES = {mnemonic: line.split()[0] for line in re.split(r"[|\n]", ARPABET.strip()) for mnemonic in line.split()[1:]}


def spoken(text, voice):
    """The phones of each word, as espeak-ng says it in its sentence."""
    printed = subprocess.run(["espeak-ng", "-q", "-x", "--sep=_", "-v", voice, text], capture_output=True, text=True, check=True).stdout
    for word in printed.split():
        phones = [re.sub("[',%=|!]", "", phone) for phone in word.split("_")]
        phones = [re.sub("(?<=[^aeiouyAEIOUY3]):$", "", phone) for phone in phones if phone.strip(":;")]  # long consonants are found as short ones
        # The schwa that espeak-ng puts before a tapped r is not in recordings.
        yield [phone for phone, after in zip(phones, phones[1:] + [""]) if (phone, after) != ("@-", "*")]


with wave.open(sys.argv[1]) as w:
    sound = w.readframes(w.getnframes())
words = [word for word in spoken(sys.argv[2], sys.argv[3]) if word]
decoder = Decoder(lm=None, loglevel="FATAL")
for i, word in enumerate(words):
    decoder.add_word(f"word{i}", " ".join(PHONES[phone] for phone in word))


def decode():
    decoder.start_utt()
    decoder.process_raw(sound, full_utt=True)
    decoder.end_utt()


decoder.set_align_text(" ".join(f"word{i}" for i in range(len(words))))
decode()
if decoder.hyp() is None:
    sys.exit("align: the words do not fit " + sys.argv[1])
decoder.set_alignment()  # a second time, for the phones within the words
decode()
events = []
for found in decoder.get_alignment():
    names = words[int(found.name[4:])] if found.name.startswith("word") else None
    for i, phone in enumerate(found):
        events.append({"ms": 10 * phone.start, "phoneme": names[i] if names else "_"})
json.dump(events, sys.stdout)
