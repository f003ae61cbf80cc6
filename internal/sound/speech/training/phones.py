"""The articulation that phonetics gives each sound, and the names that the synthesizers give the sounds.

A sound has a name of its own here, close to X-SAMPA. ARTICULATION gives what the mouth does: vowels open by their height and
round by the IPA chart, consonants by their place.
"""

SILENCE = "_"
COLUMNS = ["opening", "closure", "labiodental", "rounding", "spread", "silence"]


def _sound(opening, closure=0.0, labiodental=0.0, rounding=0.0, spread=0.0, silence=0.0):
    return (opening, closure, labiodental, rounding, spread, silence)


ARTICULATION = {
    SILENCE: _sound(0, silence=1),
    # open and mid vowels
    "a": _sound(.9), "A": _sound(.95), "&": _sound(.85), "0": _sound(.8, rounding=.4), "V": _sound(.65), "a~": _sound(.9),
    "O": _sound(.75, rounding=1), "o": _sound(.6, rounding=1), "E": _sound(.65), "e": _sound(.6, spread=.5),
    "E~": _sound(.65), "o~": _sound(.7, rounding=1), "3": _sound(.45), "@": _sound(.4), "2": _sound(.45, rounding=1),
    "9": _sound(.5, rounding=1),
    # close vowels
    "i": _sound(.35, spread=1), "I": _sound(.4, spread=1), "1": _sound(.35), "y": _sound(.3, rounding=1), "Y": _sound(.35, rounding=1),
    "U": _sound(.35, rounding=1), "u": _sound(.3, rounding=1),
    # lips
    "m": _sound(0, closure=1), "b": _sound(0, closure=1), "p": _sound(0, closure=1), "B": _sound(.12, closure=.5),
    "f": _sound(.1, labiodental=1), "v": _sound(.1, labiodental=1), "M": _sound(.05, closure=.5, labiodental=.5),
    "P": _sound(.15, labiodental=.5), "w": _sound(.2, rounding=1),
    # tongue
    "s": _sound(.2, spread=1), "z": _sound(.2, spread=1), "ts": _sound(.2, spread=1), "dz": _sound(.2, spread=1),
    "S": _sound(.25, rounding=1), "Z": _sound(.25, rounding=1), "tS": _sound(.22, rounding=1), "dZ": _sound(.22, rounding=1),
    "s;": _sound(.25, spread=.5), "T": _sound(.25), "D": _sound(.25), "t": _sound(.25, spread=1), "d": _sound(.25, spread=1),
    "n": _sound(.25, spread=1), "n^": _sound(.25), "N": _sound(.3), "l": _sound(.35), "l^": _sound(.35), "r": _sound(.3),
    "*": _sound(.25), "k": _sound(.3), "g": _sound(.3), "c": _sound(.3), "j": _sound(.3, spread=.3), "x": _sound(.4),
    "h": _sound(.5), "?": _sound(.4),
}

DIPHTHONGS = {
    "aI": ("a", "I"), "aU": ("a", "U"), "OI": ("O", "I"), "oU": ("o", "U"), "eI": ("e", "I"), "@U": ("@", "U"),
    "e@": ("E", "@"), "i@": ("I", "@"), "U@": ("U", "@"),
}

CLASSES = sorted(ARTICULATION)
CLOSED = {"m", "b", "p"}
TEETH = {"f", "v"}  # P is the approximant of Finnish and Hindi: neither teeth nor not
NASALS = {"n", "n^", "N"}  # sound like m, with open lips
LIKE_LIPS = dict.fromkeys(NASALS, 1) | dict.fromkeys(("d", "t", "g", "k"), .5)  # sounds that differ from m, b and p in their place only, and how much that matters
LIKE_SPREAD = {"y": "i", "Y": "I", "2": "e", "9": "E"}  # front round vowels, and what each is less its rounding
OPEN_VOWELS = {"a", "A", "&", "0", "V", "O", "E", "e", "a~", "E~"}
ROUNDED = {name for name, a in ARTICULATION.items() if a[3] == 1}
SPREAD = {name for name, a in ARTICULATION.items() if a[4] == 1}

ARPABET = dict(
    aa="A", ae="&", ah="V", ao="O", aw="aU", ax="@", axr="3", ay="aI", b="b", ch="tS", d="d", dh="D", eh="E", er="3", ey="eI",
    f="f", g="g", hh="h", hv="h", ih="I", iy="i", jh="dZ", k="k", l="l", el="l", m="m", em="m", n="n", en="n", ng="N", nx="n",
    ow="oU", oy="OI", p="p", r="r", s="s", sh="S", t="t", dx="*", th="T", uh="U", uw="u", v="v", w="w", y="j", z="z", zh="Z",
    pau="_", sil="_", ssil="_")

# Names of espeak-ng and of SAMPA; a longer name that begins with one of these is taken for the longest such.
SAMPA = {name: name for name in ARTICULATION} | {name: name for name in DIPHTHONGS} | {
    "OY": "OI", "3:": "3", "8": "3", "A~": "a~", "O~": "o~", "W": "9", "W~": "E~", "Q": "g", "u@": "U@", "pF": "p", "R": "r",
    "l^": "l^", "Q^": "l", "J": "j", "C": "x", "X": "x", "q": "k", "H": "h", "S;": "S", "ts;": "tS", "dz;": "dZ", "tS;": "tS",
    "z;": "Z", "I2": "I", "ae": "E", "@2": "@", "a#": "V", "oe": "9", "y:": "y", "Y:": "Y", "&:": "&", "i\"": "1", "u\"": "u",
    "@-": "@", "V\"": "V", "e#": "e", "o#": "o", "E2": "E", "O2": "O", "w#": "w", "G": "g", "L": "l^"}

OWN = {  # what a name means in some voices of espeak-ng only
    "y": {"pl": "1", "ro": "1", "ru": "1", "pt-br": "I"}, "8": {"nl": "Y", "sv": "Y"}}

FESTIVAL = {
    "it": {"JJ": "n^", "L": "l^", "ng": "N", "nf": "M", "SS": "S", "LL": "l^", "tts": "ts", "ddz": "dz", "ttS": "tS", "ddZ": "dZ"},
    "cs": {"c": "ts", "c~": "tS", "s~": "S", "z~": "Z", "ch": "x", "r~": "Z", "r~*": "Z", "n~": "n^", "t~": "c", "d~": "j", "dz~": "dZ", "o": "O", "e": "E"},
    "fi": {"v": "P", "@": "&", "7": "9", "ng": "N", "oe": "9", "ae": "&", "{": "&"},
    "ru": {"y": "1", "c": "ts", "ch": "tS", "sh": "S", "zh": "Z", "sch": "S", "h": "x", "ae": "@", "ur": "@", "ii": "i", "ee": "E",
           "aa": "a", "oo": "o", "uu": "u", "yy": "1"},
    "ca": {"ax": "@", "ux": "u", "uw": "w", "L": "l^", "J": "n^", "nj": "n^", "ll": "l^", "sh": "S", "zh": "Z", "ch": "tS", "jh": "dZ",
           "y": "j", "iw": "j"},
    # The voices of Hindi and Telugu share names.
    "in": {"a": "V", "aa": "A", "ih": "I", "iy": "i", "uh": "U", "uw": "u", "eh": "e", "ee": "e", "ay": "E", "oh": "o", "oo": "o", "aw": "O",
           "ch": "tS", "T": "t", "D": "d", "N": "n", "th": "t", "dh": "d", "y": "j", "v": "P", "L": "l", "R": "r", "sh": "S", "j": "dZ",
           "ksh": "S", "sri": "s", "kh": "k", "gh": "g", "td": "t", "tth": "t", "ddh": "d", "bh": "b", "zh": "l", "ph": "p"},
}

unknown = {}  # names that no table has, and how often they were met


def arpabet(name):
    return ARPABET.get(name.lower()) or _unknown("arpabet", name)


def espeak(name, voice):
    """-> a sound, or None for a mark that belongs to the sound before it"""
    name = name.strip("',%=| ")
    if name in {";", "!", ":"} or name.startswith("("):
        return None
    return sampa(name, voice) or _unknown("sampa", name) if name else SILENCE


def sampa(name, voice):
    """-> the sound of a name of espeak-ng, None if it has none"""
    name = name[:longest(name)]
    return OWN.get(name, {}).get(voice) or SAMPA.get(name)


def festival(name, language):
    if name in {"#", "##", "pau", "_", "h#", "ssil"}:
        return SILENCE
    if language == "en":
        return arpabet(name)
    name = name.rstrip("0123456789") or name
    return FESTIVAL[language].get(name) or SAMPA.get(name[:longest(name)]) or _unknown("sampa", name)


def longest(name):
    """-> how much of the start of a name SAMPA has, 0 for nothing"""
    return next((end for end in range(len(name), 0, -1) if name[:end] in SAMPA), 0)


def _unknown(table, name):
    unknown[table, name] = unknown.get((table, name), 0) + 1
    return "@"


def split(sounds):
    """[(start, end, sound)] -> the same with each diphthong as its two vowels"""
    out = []
    for start, end, name in sounds:
        first, second = DIPHTHONGS.get(name, (name, None))
        middle = (start + end) / 2 if second else end
        out.append((start, middle, first))
        if second:
            out.append((middle, end, second))
    return out
