"""The words by which a secret is known; English, with the plainest of German, French and Spanish."""

from __future__ import annotations

from ireneo.pyramid.offline.cues import HAVE, NAME, PEOPLE, THEM, cue

_ANYONE = "(?:anyone|anybody|any one|a soul|a living soul|no one|nobody|another soul)"
_NOT = r"(?:do not|don't|don’t|never|not to|must not|mustn't|mustn’t|must never|can't|cannot|can’t|can never)"
_THIS = "(?:of |about )?(?:this|it|that)"

SECRETS = (
    cue(
        "secret",
        "tell|breathe|mention|speak & not|don|never|mustn|can|cannot",
        rf"(?<!\bI )(?<!\bwe )(?<!\btrying )\b{_NOT}(?: you)?(?: ever)? (?:tell|breathe a word (?:{_THIS} )?to|speak"
        rf" {_THIS} to|mention (?:this|it) to) "
        rf"(?:(?:this|it) to )?(?:{_ANYONE}|(?P<whom>{NAME})|my (?:father|mother|brother|sister|wife|husband|lord|lady"
        rf"|master))\b"
        rf"(?! (?:what to do|how to))",
        weight=1.5,
        says=1,
        told=False,
    ),
    cue(
        "secret",
        "know|find|hear|learn & must|mustn|can|cannot|should|may|shall",
        r"\b(?:nobody|no one|none of them|not a soul) (?:else )?(?:must|should|may|shall) (?:ever |never )?(?:know"
        r"(?! how| what to| where to| if)|find out|hear of (?:this|it)|learn (?:of|that|who|what))"
        rf"|\b(?:he|she|they|{NAME}|my \w+|your \w+) (?:must not|mustn't|must never|can never) (?:ever )?"
        r"(?:know (?:of|about|that|what|who|this|it)|know\W*$|find out|hear of (?:this|it)|learn (?:of|that|who|what))",
        weight=1.5,
        says=1,
    ),
    cue(
        "secret",
        "between & us|ourselves|you",
        r"\b(?:stays|must stay|has to stay|remains|must remain|is|keep|keeps|will stay|had better stay|kept|keep it"
        r"|keep"
        r" this|let it be|this) (?:strictly |just |only )?between (?:us|you and me|ourselves|the two of us|you and I)\b"
        r"(?! and\b)",
        weight=1.5,
        says=1,
        told=False,
    ),
    cue(
        "secret",
        "keep & quiet|secret|us|yourself|yourselves|hat|from",
        r"\bkeep (?:this|that|it|what \w+.{2,30}|the matter|everything)(?: all)? (?:quiet|secret|a secret|between us|to"
        r" yourself|to yourselves|under your hat|from (?:him|her|them|everyone|everybody|my \w+|your \w+))\b"
        r"|(?:^\W*|[,;:] |\b(?:you|must|please|to|shall|will|I'll|we'll) )keep (?:my|our|his|her|the|this|that)"
        r" secret\b",
        weight=1.4,
        says=1,
        told=False,
    ),
    cue(
        "secret",
        "told|confessed|breathed & never|not|haven",
        rf"\bI{HAVE} never (?:told|confessed(?: it)? to|breathed a word(?: of it)? to) (?:{_ANYONE}|(?P<whom>{NAME})"
        rf"|him|her|them"
        rf"|my \w+|you)\b(?: else)?(?= (?:that|this|of|about|what|who|how|why|the truth|before)|[.,;!]|$)"
        rf"|\bI (?:have not|haven't|haven’t) told (?:{_ANYONE})\b",
        weight=1.4,
        says=1,
    ),
    cue(
        "secret",
        "lied",
        rf"\b(?P<who>I|we)(?: have| had|'ve|’ve)? lied to (?P<whom>{THEM}|my \w+)\b",
        weight=1.5,
        says=0,
    ),
    cue(
        "secret",
        "from & kept|keeping|hid|hidden|hiding|concealed|concealing",
        rf"\b(?P<who>{PEOPLE}){HAVE}(?: been| always| carefully| long)* (?:kept|keeping|hid|hidden|hiding|concealed"
        r"|concealing) (?:this|that|it|the truth|a secret|the secret|her secret|his secret|their secret|my secret"
        rf"|the fact|the matter)\b[^.?!]{{0,40}}? from (?P<whom>{THEM}|everyone|everybody|my \w+|his \w+|her \w+)\b",
        weight=1.4,
    ),
    cue(
        "secret",
        "secrecy|confidence",
        rf"\b(?:swore|sworn|bound|promised?|pledged?|swear) (?:(?P<whom>{THEM}) )?(?:to )?(?:the strictest |strict "
        rf"|absolute )?secrecy\b"
        rf"|\b(?:told|confided to|confessed to) (?:{THEM}) [^.?!]{{0,40}}?in (?:strict |the strictest )?confidence\b",
        weight=1.3,
        says=2,
    ),
    cue(
        "secret",
        "know|learn|find|told|discover|hear & never & must|should",
        rf"\b(?:he|she|they|nobody|no one|{NAME}|my \w+|your \w+) (?:must|should) never (?:know|learn|find out|hear"
        rf" of|be"
        r" told|discover)\b",
        weight=1.4,
        says=1,
    ),
    cue(
        "secret",
        "niemandem|niemand|unter",
        r"\b(?:sag|sagt|erzähl|erzählt) (?:es |das )?niemandem\b|\bniemand darf (?:es |das |davon )?(?:wissen"
        r"|erfahren)\b"
        r"|\bdas bleibt unter uns\b",
        weight=1.5,
        says=0,
    ),
    cue(
        "secret",
        "personne|nous",
        r"\bne (?:le )?(?:dis|dites)(?: rien| le)? à personne\b|\bpersonne ne doit (?:le )?savoir\b"
        r"|\b(?:ça|cela) reste entre nous\b",
        weight=1.5,
        says=0,
    ),
    cue(
        "secret",
        "nadie|nosotros",
        r"\bno se lo (?:digas|diga) a nadie\b|\bnadie (?:debe|puede) saber\w*\b|\b(?:esto|eso) queda entre nosotros\b",
        weight=1.5,
        says=0,
    ),
)
