"""Words that decide whether a capital makes a name in the prose of a story."""

from __future__ import annotations

OPENERS = frozenset(
    """
a about above across after afterward afterwards again against all almost alone along already also although always
among an and another any anybody anyone anything around as aside at away back because before behind below beneath
beside besides between beyond both but by despite down during each earlier either else enough even eventually ever
every everybody everyone everything except far few finally first for from had half has have having he hence her here
hers herself him himself his how however i if in indeed inside instead into it its itself just last later least left
less like long many maybe meanwhile men midway more moreover most much my myself near nearly neither never nevertheless
next no nobody none nonetheless nor not nothing now nowhere of off often on once one only onto or other others
otherwise our ours out outside over people perhaps presently rather shaken she since so some somebody someone something
somehow sometimes somewhere soon still such suddenly than thanks that the their them themselves then there thereafter
thereby therefore these they this those though three through throughout thus till to together tonight too toward
towards two under until up upon upset us very was we well were what whatever when whenever where whereas wherever
whether which whichever while who whoever whom whose why with within without women yesterday yet you your children
four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundreds thousands dozens word words news
abruptly absently actually angrily anxiously apparently awkwardly bitterly bravely briefly calmly carefully cautiously
certainly clearly coldly consequently desperately early eagerly evidently exactly finally firmly formerly frantically
gently gladly gradually gravely grimly happily hardly hastily hesitantly immediately impatiently initially instantly
inwardly lately mainly merely mostly mutely nervously only openly originally partly patiently plainly politely
previously privately promptly proudly publicly quickly quietly recently reluctantly repeatedly sadly secretly seemingly
sharply shortly silently similarly simply slowly softly solely solemnly steadily sternly strangely supposedly surely
swiftly tearfully tenderly tentatively thoughtfully truly ultimately unexpectedly unfortunately unknowingly usually
wearily willingly
time night morning evening noon midnight dawn dusk day days weeks months years hours minutes neither nor
""".split()
)
"""What may begin an English sentence and is no name, though its sources don't have it."""
TITLES = frozenset(
    """
mr mrs ms miss dr sir madam madame lord lady king queen prince princess duke duchess count countess baron captain
colonel general major sergeant lieutenant doctor professor master mistress father mother brother sister uncle aunt
grandfather grandmother god st saint herr frau monsieur mademoiselle señor señora signor signora don donna ok
""".split()
)
"""What stands before a name, and says nothing by itself."""
_VERBS = """
is was were had has did will now can may
would could might must should said told asked gave took went came saw knew felt left kept made
found thought stood fell ran began became brought caught chose drew drove fought forgave forgot got grew held hid hit
hurt laid led lent let lost meant met owed paid put read rode rose sent set shot shut slept sold spent spoke stole stuck
struck swore threw tore woke won wore wrote bound broke built burst bit bled fled flew froze heard lay lit rang sang
ate bade beat bent blew bought cast crept cut dealt drank dreamt dug hung knelt leant leapt shone slew slid sought spat
stank strode strove wound wove
sank sat shook spun sprang stung swam swung taught wept withdrew never also still then soon only himself herself
war hatte gab nahm ging kam sah ließ hielt stand fiel rief schrieb sprach starb trug warf wusste lag log schlug stieß
schwor verlor zog bot trat traf brach schoss ritt floh
"""
VERBS = frozenset(_VERBS.split())
"""What follows somebody who does something, where its ending doesn't tell."""
_ENGLISH_ENDINGS = ("ed", "s", "ly", "n't", "n’t")
VERB_ENDINGS: dict[str | None, tuple[str, ...]] = {
    "German": ("te", "ten"),
    "English": _ENGLISH_ENDINGS,
    None: _ENGLISH_ENDINGS,
}
"""What such a word, or an adverb before it, ends with, by language; None where that isn't known."""
BEFORE_TITLES = frozenset(
    "a an the his her their my our your its this that old young poor dear little great der die das dem den ein eine"
    " le la les un une el los las il lo gli o os as".split()
)
"""After one of these what the sources write small may be written large: the Captain."""
