"""Words that decide what is a name: those that are none however they are written, and those that join two."""

from __future__ import annotations

NO_NAMES = frozenset(
    """
i i'm i'll i've i'd im ill ive id me my mine we we're we'll we've we'd us our you you're you'll you've you'd your yours
he he's he'll he'd him his she she's she'll she'd her hers it it's it'll its they they're they'll they've they'd them
their this that that's that'll these those there there's here here's the a an and or but nor so if then than when
where why how what what's who who's whom whose which while because since until although though as at by for from in
into of off on onto out over to under up upon with within without about above across after against along among around
before behind below beneath beside between beyond down during except inside like near outside past through toward
towards not no nope nah never none nothing nobody nowhere yes yeah yep yup yay ok okay oh ooh ah aha ahh aw aww huh hm
hmm mm mmm mhm uh um er eh ha haha hah heh hey hi hello bye goodbye wow whoa woah well ugh ow ouch oops shh please
thanks thank sorry god gosh jesus christ damn shit fuck fucking hell dude man guys sir ma'am mister miss
mr mrs ms dr st hon co prof let
let's do don't does doesn't did didn't is isn't are aren't was wasn't were weren't be been being am have haven't has
hasn't had hadn't can can't cannot could couldn't will won't would wouldn't shall should shouldn't may might must
mustn't go going gonna gotta wanna come get got give take make just now still even only also too very really actually
maybe perhaps again always ever every everyone everybody everything each all any anyone anybody anything some someone
somebody something both either neither other another one two three four five six seven eight nine ten first second
third last next more most much many few less least own same such true false good great nice cool right left alright
sure fine exactly absolutely definitely totally correct wait look see listen hold stop stay keep think know guess mean
say says said tell ask want need try love chapter part section volume book act scene end yet once twice plus minus
january february july september october november december monday tuesday thursday saturday sunday
today tomorrow yesterday tonight morning evening awesome amazing perfect holy
ich du er sie es wir ihr mich dich ihn uns euch mir dir ihm ihnen mein dein sein unser euer der die das den dem des ein
eine einen einem einer und oder aber doch nicht kein keine ja nein so wie was wer wo wann warum weil dass wenn als ob da
hier dort nun jetzt dann noch schon nur auch sehr mehr herr frau sehr kapitel
je tu il elle nous vous ils elles on le la les un une des du de et ou mais ne pas que qui quoi où quand comment
pourquoi ce cette ces mon ma mes ton ta tes son sa ses notre votre leur oui non monsieur madame mademoiselle chapitre
yo tú él ella nosotros ellos el los las una unos y o pero no sí que quién dónde cuándo cómo por para con sin mi su señor
señora usted ustedes capítulo io lui lei noi voi loro gli uno e ma non sì che chi dove quando come perché signor signora
eu ele ela nós eles os as um uma não sim mas senhor senhora
""".split()
)
"""Never a name by itself, however it is written."""
PARTICLES = frozenset("of the de la le du des del di da do dos von van der den zu al el bin ibn y e d'".split())
"""What may stand between two words of one name."""
ABBREVIATED = frozenset("Mr Mrs Ms Dr St Prof Capt Col Gen Lt Sgt Rev Mme Mlle Hr Fr".split())
"""Titles whose full stop ends no sentence."""
DETERMINERS = frozenset(
    """
der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner mein meine meinen meinem meiner
dein deine deinen deinem deiner sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer unser unsere unseren unserem
unserer dieser diese dieses diesen diesem jener jene jenes jenen jenem jeder jede jedes jeden jedem im am zum zur beim
vom ins ans alle aller allen viel viele vielen mehr zwei drei vier fünf welche welcher welches
""".split()
)
"""German words before a noun: a name mostly stands without them."""
NOUN_ENDINGS = (
    "ung",
    "heit",
    "keit",
    "schaft",
    "tion",
    "chen",
    "nis",
    "tum",
    "tät",
    "ungen",
    "heiten",
    "keiten",
    "leute",
)
"""What German nouns end with that are no names."""
