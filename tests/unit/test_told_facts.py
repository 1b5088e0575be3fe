"""What is read of what people tell in passing: sentences of our own, with what a reader would keep of each."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ireneo.memories.extract import extract_facts
from ireneo.memories.facts import attribute_of, cardinality_of
from ireneo.memories.quoting import SaidFact

NOW = datetime(2031, 5, 14, 10, 0, tzinfo=UTC)
"""A Wednesday."""


def told(text: str, *before: str) -> list[SaidFact]:
    return extract_facts(text, speaker="Ines", at=NOW, before=before)


SLOTS = (
    ("We finally moved to Tavira, and the boxes are everywhere.", "home", "Tavira"),
    ("I live in a tiny flat near Olhão with two flatmates.", "home", "tiny flat near Olhão"),
    ("btw I'm based in Ghent these days, so euros please", "home", "Ghent"),
    ("I've been living in Turku for six years now.", "home", "Turku"),
    ("I grew up in Malmö, if that matters for the accent.", "origin", "Malmö"),
    ("I'm originally from Recife.", "origin", "Recife"),
    ("I was born in Aarhus.", "birthplace", "Aarhus"),
    ("I now live with Tove in Kiruna, Hjalmarsgatan 9.", "home", "Kiruna"),
    ("I live with my parents and a parrot in a narrow house in Delft.", "home", "narrow house in Delft"),
    ("I work at Hexagon Labs and my days are long.", "employer", "Hexagon Labs"),
    ("Just started my new job at Fenwick & Sons!", "employer", "Fenwick & Sons"),
    ("I got the job at Fenwick & Sons!", "employer", "Fenwick & Sons"),
    ("Since Monday I'm a teacher at a nursing school.", "job", "teacher"),
    ("I'm a freelance illustrator, mostly children's books.", "job", "freelance illustrator"),
    ("It's not sesame, it's mustard I'm allergic to.", "allergy", "mustard"),
    ("it's Ghent that we live in, not Bruges", "home", "Ghent"),
    ("I work as a night nurse.", "job", "night nurse"),
    ("I retired in April.", "job", "retired"),
    ("I'm vegetarian, by the way.", "diet", "vegetarian"),
    ("I went vegan last autumn.", "diet", "vegan"),
    ("I'm badly allergic to walnuts.", "allergy", "walnuts"),
    ("Turns out I have a latex allergy.", "allergy", "latex"),
    ("I'm lactose intolerant so no cream please", "allergy", "lactose intolerant"),
    ("I can't eat mussels.", "avoids", "mussels"),
    ("We adopted a greyhound called Otto.", "pet", "Otto"),
    ("I have two cats, Miso and Pip.", "pet", "Miso"),
    ("I have three kids.", "child", "three kids"),
    ("I speak Portuguese.", "language", "Portuguese"),
    ("I'm learning Finnish, slowly.", "learns", "Finnish"),
    ("I play the cello in a quartet.", "plays", "cello"),
    ("I hate coriander.", "dislike", "coriander"),
    ("I can't stand open-plan offices.", "dislike", "open-plan offices"),
    ("I love long train rides.", "like", "long train rides"),
    ("I'm a huge fan of brutalist architecture.", "like", "brutalist architecture"),
    ("I take 50 mg of sertraline in the morning.", "medication", "50 mg of sertraline"),
    ("I was diagnosed with asthma as a kid.", "condition", "asthma"),
    ("I weigh 71.5 kg as of this morning.", "weight", "71.5 kg"),
    ("I'm down to 69 kg!", "weight", "69 kg"),
    ("I'm 41.", "age", "41"),
    ("I just turned 34.", "age", "34"),
    ("I drive a rusty Volvo.", "vehicle", "rusty Volvo"),
    ("We got engaged in Siena!", "marital_status", "engaged"),
    ("I'm married to Tove.", "partner", "Tove"),
    ("I study marine biology.", "studies", "marine biology"),
    ("My favourite colour is teal.", "favourite colour", "teal"),
    ("My rent went up to 940 euros.", "rent", "940 euros"),
    ("My dentist appointment is on Friday at 9.", "dentist appointment", "16 May 2031 at 9"),
    ("Ich wohne jetzt in Lübeck.", "home", "Lübeck"),
    ("Seit März wohne ich in Bregenz.", "home", "Bregenz"),
    ("Bin letzte Woche nach Graz übersiedelt.", "home", "Graz"),
    ("Ich wohne jetzt bei Nora in Graz.", "home", "Graz"),
    ("Ich arbeite bei Festo.", "employer", "Festo"),
    ("Heute fange ich bei Festo an.", "employer", "Festo"),
    ("Seit heute bin ich Fahrlehrer.", "job", "Fahrlehrer"),
    ("I'm allergic to walnuts, and Bella my cat sleeps on the oven.", "allergy", "walnuts"),
    ("Ich fange heute in der Augenklinik Ulm an.", "employer", "Augenklinik Ulm"),
    ("Ich arbeite als Hebamme.", "job", "Hebamme"),
    ("Ich bin Lehrerin an einer Dorfschule.", "job", "Lehrerin"),
    ("Ich komme ursprünglich aus Jena.", "origin", "Jena"),
    ("Ich bin allergisch gegen Haselnüsse.", "allergy", "Haselnüsse"),
    ("Ich habe eine Pollenallergie.", "allergy", "Pollenallergie"),
    ("Ich esse kein Schweinefleisch.", "avoids", "Schweinefleisch"),
    ("Wir haben eine Katze namens Mohrle.", "pet", "Mohrle"),
    ("Ich lerne Norwegisch.", "learns", "Norwegisch"),
    ("Ich spiele Geige.", "plays", "Geige"),
    ("Ich hasse Koriander.", "dislike", "Koriander"),
    ("Ich bin seit Mai verheiratet.", "marital_status", "verheiratet"),
    ("Ich wiege 82 kg.", "weight", "82 kg"),
    ("Mein Lieblingstier ist der Otter.", "lieblingstier", "Otter"),
    ("Ich heiße Wiebke.", "name", "Wiebke"),
    ("Nenn mich bitte Tini.", "called", "Tini"),
    ("Call me Jo, everyone does.", "called", "Jo"),
)

KINDS = (
    ("procedural", "When I bottle honey I always warm the jars first, then strain it twice."),
    ("procedural", "I always back up the ledger before I close the month."),
    ("procedural", "Wenn ich Brot backe, kommt zuerst der Vorteig, dann ruht er zwölf Stunden."),
    ("failure", "I tried soaking the labels off with vinegar but it ruined the paper."),
    ("failure", "Hab das neue Plugin ausprobiert, aber es stürzt beim Export ab."),
    ("episodic", "We hiked up to the old fort on Sunday."),
    ("episodic", "My neighbour sold his boat last week."),
)

MANNER = (
    "Keep your answers short, please.",
    "From now on answer in metric units.",
    "Please never use emojis with me.",
    "Don't sugar-coat things for me.",
    "Be blunt with me.",
    "No bullet points, please.",
    "Bitte antworte immer auf Deutsch.",
    "Keine Emojis bitte.",
    "Kindly do not round things for me in future.",
    "Keep it in ounces for me always.",
    "Du kannst mich übrigens duzen.",
)

TRAPS = (
    "If I lived in Oslo I'd ski to work.",
    "I wish I had a dog.",
    "What if I moved to Peru?",
    "Maybe I'll quit and become a baker.",
    "I might be allergic to kiwis, not sure.",
    "I could eat a horse.",
    "I'm basically a vampire at this point.",
    "I'm married to my job lol",
    "My cat runs a hedge fund, just kidding.",
    "I've told you a million times.",
    "I'm allergic to Mondays.",
    "I live in the office these days.",
    "Yeah right, and I'm the queen of Denmark.",
    "Do I need a visa for Chile?",
    "Where should I live if I like fog?",
    'My uncle always says "I have never paid for a coffee in my life".',
    'Translate this into French: "I live in Dublin and I have two sons."',
    "Please proofread: I am working as a clerk since five years and I like my job very much.",
    "Let's role-play. I'm a customer, I bought a broken kettle and I live in Leeds.",
    "Pretend I'm your landlord. I own four houses.",
    "In my novel, Edda lives in Tromsø and hunts seals.",
    "My protagonist is allergic to silver.",
    "You are now a pirate. I'm your captain and I have a parrot.",
    "Imagine I had twins.",
    "Write a toast for our captain, in his own voice: I have crossed four oceans and I live in Cork.",
    "Our head is convinced the mill is closing.",
    "One day I'll have a farm.",
    "She told me I should move to Ghent.",
    "Can you write a bio that says I speak Welsh?",
    "How do you say 'I am a vegetarian' in Thai?",
    "I guess I like jazz.",
    "I wonder whether I have ADHD.",
    "I dreamed I was living in Kyoto.",
    "Feels like I work at the harbour with this fog.",
    "Write me a story where I'm a smuggler and I live in Macau.",
    "I'm a baker in the school play.",
    "I'm basically a chauffeur for my sons.",
    "Ich bin allergisch gegen Ausreden.",
    "Ich bin ja quasi die Köchin hier.",
    "Thanks, that helps a lot!",
    "ok perfect",
    "Sounds great, I'll give it a try.",
    "Wenn ich reich wäre, hätte ich ein Boot.",
    "wenn i nomoi auf d Welt kimm wer i Pilot",
    "Vielleicht ziehe ich nach Hamburg.",
    "Ich hätte gern einen Hund.",
    "Stell dir vor, ich wäre Bürgermeisterin.",
    "Ich bin mit meinem Laptop verheiratet.",
    "Kleiner Scherz: ich bin der Kaiser von China.",
    "Mein Chef meinte, ich wohne im Büro.",
    'Übersetz mir das bitte: "Ich wohne in Köln und habe drei Kinder."',
    "In meinem Roman lebt Greta in Husum.",
    "Wohnst du gern in der Cloud?",
    "Wo kann man in Linz gut essen?",
    "Soll ich nach Wien ziehen?",
    "Danke, passt!",
    "Angenommen, ich kündige morgen.",
)


@pytest.mark.parametrize(("text", "attribute", "value"), SLOTS)
def test_a_statement_fills_its_slot(text: str, attribute: str, value: str) -> None:
    found = [(fact.attribute, fact.value) for fact in told(text)]
    assert (attribute, value) in found


@pytest.mark.parametrize(
    "text",
    [
        "I'm having some issues with my cat's litter box.",
        "I just got a new litter box with low sides for my cat.",
        "I have had grilled chicken and turkey breast before.",
        "I just got my car serviced for the first time.",
        "I have got a new bike computer.",
        "I have been working in the industry for five years.",
        "I like the template.",
        "My target is 65 by Diwali.",
        "Turned 4 on Thursday, the pair of them.",
        "My brother is 17.",
        "On Saturdays I work at the bakery.",
        "Am Samstag arbeite ich bei der Trafik.",
        "Schreib mir bitte eine Anzeige.",
        "My top priority is to find out why it is slow.",
    ],
)
def test_what_only_sounds_like_a_value_fills_no_slot(text: str) -> None:
    assert not [each for each in extract_facts(text, speaker="Ana", at=None) if each.attribute]


@pytest.mark.parametrize(
    "text",
    [
        "I have the Welsh from my granny, English from school.",
        "Owen's boyfriend Piet comes in instead of Bo.",
        "Die Frau Kollegin Berger sitzt auf meinem Stuhl.",
        "Das erlaubt mir die Frau Doktor.",
        "My stand partner Wen has a modern one.",
        "My wife is French.",
    ],
)
def test_what_stands_beside_a_relation_may_be_nobody_of_the_speakers(text: str) -> None:
    assert not [fact for fact in told(text) if "called" in fact.text or "heißt" in fact.text]


@pytest.mark.parametrize(
    "text",
    ["No more ladders till I'm 71.", "Been restless since I retired.", "Never cared for him.", "Never had a garden."],
)
def test_what_only_says_when_and_what_never_was_fill_no_slot(text: str) -> None:
    assert not [fact for fact in told(text) if fact.attribute]


@pytest.mark.parametrize(
    "text",
    [
        "Bo next door tells everybody I captained the lifeboat.",
        "Our Sal's sister has it that I'm a baronet.",
        "Mia has got it all worked out that I'm moving to Perth.",
        "Tante Grete erzählt überall, ich hätte Höhenangst.",
    ],
)
def test_what_others_put_about_is_not_held(text: str) -> None:
    assert not told(text)


def test_what_is_put_right_after_hearsay_is_no_name() -> None:
    assert "name" not in {fact.attribute for fact in told("Everybody thinks I'm from Poland, I'm Slovak.")}


def test_what_is_so_from_now_on_is_no_wish_for_answers() -> None:
    assert "manner" not in {fact.attribute for fact in told("Only years 7 and 8 from now on.")}


def test_a_part_in_a_play_is_no_name() -> None:
    assert not [fact for fact in told("The drama club handed out the parts. I'm Lady Harrow.") if fact.attribute]


@pytest.mark.parametrize(
    "text",
    [
        "I handed in my notice on Friday!",
        "I resigned yesterday.",
        "I quit.",
        "I quit two weeks ago!",
        "Ich habe gekündigt.",
        "Ich habe heute meine Stelle gekündigt.",
        "Mir wurde gekündigt.",
    ],
)
def test_who_gives_notice_has_the_job_no_longer(text: str) -> None:
    (fact,) = [each for each in told(text) if each.attribute == "employer"]
    assert fact.against


@pytest.mark.parametrize(
    "text",
    [
        "I resigned as treasurer of the rowing club.",
        "First day at the Lakeside Festival!",
        "First day at Skanska for Tove.",
        "Ich habe mein Zeitungsabo gekündigt.",
        "Ich habe die Wohnung gekündigt.",
        "Ich fange noch mal bei Null an.",
        "Ich fange am Montag im Garten an.",
    ],
)
def test_what_only_sounds_like_a_beginning_or_an_end_of_work_is_none(text: str) -> None:
    assert not [each for each in told(text) if each.attribute in ("employer", "job")]


def test_for_whom_and_as_what_somebody_works_are_two_facts() -> None:
    for text, texts in (
        ("I work as a nurse at the old hospital.", ["Ines works at the old hospital.", "Ines works as a nurse."]),
        ("I work at Philips as an analyst.", ["Ines works at Philips.", "Ines works as an analyst."]),
        ("I'm an analyst at Philips.", ["Ines works at Philips.", "Ines is an analyst."]),
    ):
        facts = told(text)
        assert [each.attribute for each in facts] == ["employer", "job"]
        assert [each.text for each in facts] == texts


def test_an_allergy_is_told_apart_from_a_diet() -> None:
    for text in (
        "I'm vegetarian and allergic to walnuts.",
        "can you suggest smth for dinner? im vegetarian btw and allergic to walnuts",
    ):
        assert [(each.attribute, each.text) for each in told(text)] == [
            ("diet", "Ines is vegetarian."),
            ("allergy", "Ines is allergic to walnuts."),
        ]


def test_what_has_just_begun_is_told_with_its_day() -> None:
    (fact,) = [each for each in told("I just started as a nurse at Fenwick Hall.") if each.attribute == "employer"]
    assert "14 May 2031" in fact.text


@pytest.mark.parametrize(
    "text",
    [
        "In my novel I live in Atlantis and work as a wizard.",
        "In our campaign I'm a bard. I live in Waterdeep.",
        "My character lives in a lighthouse and I work as a smuggler.",
        "In meinem Roman wohne ich in Atlantis und arbeite als Zauberer.",
    ],
)
def test_what_is_told_of_a_story_is_so_of_nobody(text: str) -> None:
    assert not told(text)


def test_what_may_be_meant_for_a_story_that_was_asked_for_is_not_quoted() -> None:
    asked = "Write a skit about a smuggler who lives in a lighthouse."
    assert not extract_facts(
        "I'm the smuggler and I have a parrot.", speaker="Ines", at=NOW, before=[asked, "Here it is."]
    )


def test_what_has_no_word_that_tells_something_is_not_quoted() -> None:
    assert not told("So I said no. No no.")


def test_what_is_no_longer_so_is_told_in_good_english() -> None:
    (fact,) = told("I no longer work at Siemens.")
    assert fact.text == "Ines no longer works at Siemens."


def test_a_name_alone_is_not_quoted() -> None:
    assert not [fact for fact in told("My wife Ana and I have two kids.") if not fact.attribute]


def test_when_something_is_done_is_nothing_that_is_liked() -> None:
    facts = told("I love climbing, usually on Saturdays at the hall, and chess.")
    assert [fact.value for fact in facts if fact.attribute == "like"] == ["climbing", "chess"]


@pytest.mark.parametrize(("kind", "text"), KINDS)
def test_how_things_are_done_what_failed_and_what_happened(kind: str, text: str) -> None:
    assert [fact.kind for fact in told(text)] == [kind]


@pytest.mark.parametrize("text", MANNER)
def test_how_the_assistant_is_to_be(text: str) -> None:
    assert {fact.attribute for fact in told(text)} == {"manner"}


@pytest.mark.parametrize("text", TRAPS)
def test_what_is_not_stated_in_earnest_is_not_read(text: str) -> None:
    assert told(text) == []


def test_what_is_said_in_a_play_goes_on_being_play() -> None:
    assert told("I own a bakery in Bath.", "Let's pretend you are a tax inspector and I'm a baker.") == []
    assert told("I own a bakery in Bath.", "How do I register a shop?")


def test_several_things_of_one_message_are_told_apart() -> None:
    found = told("I'm allergic to cashews, sesame and latex, and my sister Lena lives in Graz. Can you plan a menu?")
    assert [fact.value for fact in found if fact.attribute == "allergy"] == ["cashews", "sesame", "latex"]
    assert ("sibling", "Lena") in [(fact.attribute, fact.value) for fact in found]
    assert "Ines's sister Lena lives in Graz." in [fact.text for fact in found]


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("I'm no longer vegan.", "diet", "vegan"),
        ("I quit Hexagon Labs.", "employer", "Hexagon Labs"),
        ("I'm not allergic to strawberries after all.", "allergy", "strawberries"),
        ("I don't play tennis anymore.", "plays", "tennis"),
    ],
)
def test_what_is_over_is_said_to_be(text: str, attribute: str, value: str) -> None:
    assert [(fact.attribute, fact.value, fact.against) for fact in told(text)] == [(attribute, value, True)]


def test_since_when_it_is_so_is_read() -> None:
    (fact,) = [each for each in told("I have been living in Faro since January.") if each.attribute == "home"]
    assert fact.at == datetime(2031, 1, 1, tzinfo=UTC)


def test_the_words_of_a_fact_stand_in_the_message() -> None:
    for text, _, _ in SLOTS:
        for fact in told(text):
            assert fact.quote in text
            assert fact.at


@pytest.mark.parametrize(
    ("name", "code", "holding"),
    [
        ("place of residence", "home", "one"),
        ("Wohnort", "home", "one"),
        ("Allergies", "allergy", "set"),
        ("weight", "weight", "series"),
        ("Miete", "rent", "series"),
        ("favourite colour", "favourite colour", "one"),
        ("spoken languages", "spoken languages", "set"),
        ("DNS", "dns", "one"),
    ],
)
def test_an_attribute_has_one_code_and_holds_as_the_world_does(name: str, code: str, holding: str) -> None:
    assert (attribute_of(name), cardinality_of(name)) == (code, holding)
