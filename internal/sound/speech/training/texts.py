"""Sentences to speak: of Debian's fortune cookies, of its talking fish, and some of languages that have neither."""
import glob, random, re
from pathlib import Path

FOLDER = "/usr/share/games/fortunes/"
FILES = {
    "en": ["*"], "de": ["de/*"], "es": ["es/*"], "it": ["it/*", "formiche", "definizioni", "leggi"], "pl": ["pl/*"], "ru": ["ru/*"],
    "cs": ["cs/*", "cz/*"], "bg": ["bg/*"], "pt": ["brasil"], "eo": ["eo/*"],
}
FISH = Path("/usr/share/games/fillets-ng")  # the game Fish Fillets
LINE = r'dialogStr\("((?:[^"\\]|\\.)+)"\)'  # of a fish, in a script
FINNISH = """Hyvää huomenta, mitä teille kuuluu tänään? Minun äitini paistaa omenapiirakkaa vanhassa puutalossa. Poika meni metsään poimimaan mustikoita.
Pieni lammas makaa pellolla ja vanha mies puhuu puhelimeen. Ostin kaupasta maitoa, perunoita, voita ja tuoretta leipää. Kevään ensimmäinen päivä oli kaunis ja lämmin.
Pappa ja mummo asuvat pienessä kylässä meren rannalla. Huomenna menemme yhdessä kaupunkiin katsomaan uutta elokuvaa. Lapset leikkivät pihalla koko pitkän päivän.
Kissa nukkuu sohvalla, mutta koira haluaa mennä ulos. Viime talvena satoi paljon lunta ja järvi jäätyi. Voisitteko puhua hieman hitaammin, minä en ymmärrä kaikkea.
Opettaja kirjoitti taululle pitkän lauseen ja pyysi oppilaita lukemaan sen. Vanhan sillan alla virtaa leveä ja syvä joki. Bussi lähtee asemalta kello puoli viisi.
Me ihailimme punaista auringonlaskua veneestä. Profeetta ei ole kunniassa omalla maallaan. Firma avasi uuden toimiston Forssan keskustaan."""
HINDI = """मेरा नाम मोहन है और मैं भारत में रहता हूँ। आज मौसम बहुत अच्छा है। मेरी माँ बाज़ार से सब्ज़ी और फल लाती है। पापा अपने कमरे में किताब पढ़ रहे हैं।
बच्चे मैदान में खेल रहे हैं। हम सब मिलकर काम करेंगे। यह पुस्तक बहुत पुरानी और महत्वपूर्ण है। कृपया मुझे एक गिलास पानी दीजिए। भारत की राजधानी दिल्ली है।
कल शाम को हम सिनेमा देखने जाएँगे। उसके भाई ने एक नया मकान बनाया। पुलिस ने चोर को बाज़ार में पकड़ लिया। समय बहुत कीमती होता है। बूढ़ा आदमी पेड़ के नीचे बैठा था।
मुझे आम और अमरूद बहुत पसंद हैं। सब मनुष्य जन्म से स्वतंत्र और समान हैं। पहाड़ों पर बर्फ पड़ रही है। बिल्ली ने सारा दूध पी लिया।"""
TELUGU = """నా పేరు మోహన్. మా అమ్మ బజారు నుంచి పండ్లు తెచ్చింది. ఈ రోజు వాతావరణం చాలా బాగుంది. పిల్లలు మైదానంలో ఆడుతున్నారు. మనం అందరం కలిసి పని చేద్దాం.
ఈ పుస్తకం చాలా పాతది. దయచేసి నాకు ఒక గ్లాసు మంచి నీళ్ళు ఇవ్వండి. రేపు సాయంత్రం మేము సినిమాకి వెళ్తాము. నాకు మామిడి పండు అంటే చాలా ఇష్టం.
బాబు బడికి వెళ్ళాడు. పాప పాలు తాగింది. భారతదేశం చాలా పెద్ద దేశం. ఆమె ఒక అందమైన పాట పాడింది."""


def sentences(text, shortest=4, longest=13):
    """the plain sentences of a text, of so many words"""
    out = []
    for s in re.split(r'(?<=[.?!;:।])\s+|--|"', re.sub(r"\s+", " ", text)):
        s = s.strip(" -_*()[]")
        plain = re.fullmatch(r"[\w ,.'?!;:\-\u0900-\u0d7f]+", s) and not re.search(r"\d|_|[A-Z]{3}", s)
        if plain and shortest <= len(s.split()) <= longest:
            out.append(s.rstrip(";:,") + ("" if s[-1] in ".?!।" else "."))
    return out


def _fortunes(patterns):
    text = ""
    for path in sorted(p for pattern in patterns for p in glob.glob(FOLDER + pattern)):
        try:
            if not path.endswith((".dat", ".u8")):
                text += " " + open(path, encoding="utf8", errors="replace").read().replace("\n%\n", " . ")
        except IsADirectoryError:
            pass
    return text


def scripts(language):
    """-> scene and script of each talk of the fish"""
    for path in sorted(FISH.glob(f"script/*/dialogs_{language}.lua")):
        yield path.parent.name, path.read_text(encoding="utf-8", errors="replace")


def load():
    """-> {language: shuffled sentences}"""
    out = {}
    for language, patterns in FILES.items():
        out[language] = sentences(_fortunes(patterns))
    for language in ("fr", "nl", "sv"):
        out[language] = sentences(" ".join(line.replace("\\", "") for _, script in scripts(language) for line in re.findall(LINE, script)))
    out["en"] = [s for s in out["en"] if s.isascii()]
    for language, text in (("fi", FINNISH), ("hi", HINDI), ("te", TELUGU)):
        out[language] = sentences(text, 2, 20)
    for language, s in out.items():
        random.Random(language).shuffle(s)
        if not s:
            raise SystemExit(f"texts.py: no sentences in {language}: are Debian's fortunes and fillets-ng-data installed?")
    return out


if __name__ == "__main__":
    for language, s in load().items():
        print(language, len(s), s[:2])
