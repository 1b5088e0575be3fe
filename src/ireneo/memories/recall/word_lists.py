"""The lists of words that reading a text needs: those that say nothing, and the irregular forms of those that do."""

from __future__ import annotations

COMMON_WORDS = frozenset(
    """
    a an the this that these those there here
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves one
    am is are was were be been being isn aren wasn weren do does did doing done don doesn didn
    have has had having haven hasn hadn will would shall should can could may might must won wouldn shouldn couldn ain
    and or but nor so if then than because as while although though unless whether
    of at by for with about into through to from in on off out over under again once up down
    what which who whom whose when where why how
    all any both each few more most other some such no not only own same too very just also even ever
    s t d ll re ve m im ive id ill dont didnt cant thats whats
    get got gotten getting gets let lets
    yes yeah yep oh hey hi hello wow ok okay um uh hmm please thanks thank
    really actually well like now still much many lot lots
    """.split()
)
"""What stands in every other sentence, and so tells none of them apart."""

_IRREGULAR = """
    arise arose arisen; awake awoke awoken; bear bore borne; beat beaten; become became; begin began begun; bend bent;
    bind bound; bite bit bitten; bleed bled; blow blew blown; break broke broken; breed bred; bring brought;
    build built; burn burnt; buy bought; catch caught; choose chose chosen; come came; creep crept; deal dealt; dig dug;
    draw drew drawn; dream dreamt; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed;
    feel felt; fight fought; find found; flee fled; fly flew flown; forbid forbade forbidden; forget forgot forgotten;
    forgive forgave forgiven; freeze froze frozen; give gave given; go went gone goes; grow grew grown; hang hung;
    hear heard; hide hid hidden; hold held; keep kept; kneel knelt; know knew known; lay laid; lead led; lean leant;
    learn learnt; leave left; lend lent; lie lay lain; light lit; lose lost; make made; mean meant; meet met; pay paid;
    ride rode ridden; ring rang rung; rise rose risen; run ran; say said; see saw seen; seek sought; sell sold;
    send sent; sew sewn; shake shook shaken; shine shone; shoot shot; show shown; shrink shrank shrunk; sing sang sung;
    sink sank sunk; sit sat; sleep slept; slide slid; speak spoke spoken; speed sped; spend spent; spin spun;
    stand stood; steal stole stolen; stick stuck; sting stung; strike struck; swear swore sworn; sweep swept;
    swell swollen; swim swam swum; swing swung; take took taken; teach taught; tear tore torn; tell told;
    think thought; throw threw thrown; understand understood; wake woke woken; wear wore worn; weave wove woven;
    weep wept; win won; wind wound; withdraw withdrew withdrawn; write wrote written;
    child children; man men; woman women; person people; mouse mice; foot feet; tooth teeth; goose geese;
    life lives; wife wives; knife knives; leaf leaves; wolf wolves; half halves; shelf shelves;
    good better best; bad worse worst; mum mom mommy mummy; dad daddy; kid kids; photo photos photograph photographs;
    bike bicycle bicycles bikes; fridge refrigerator; phone telephone; tv television televisions
"""

BASE_FORMS = {
    form: base
    for base, *forms in (group.split() for group in _IRREGULAR.split(";"))
    for form in forms
    if form not in {"lay", "wound", "leaves", "lives", "best"}
}
"""Forms that a stemmer can't lead back to their word, and the word; those that are mostly another word are left out."""

FRAME_WORDS = """
    remind remember recall tell know wonder confirm say mention discuss talk conversation chat previous earlier suggest
    recommend provide kind type name different total number amount specific whole average long often
    day week month year ago time first last before after currently recently past order latest earliest start between
    pass since during ever
"""
"""What a question says about itself, or about the sort of answer that it wants; rarely in the words of the answer."""
