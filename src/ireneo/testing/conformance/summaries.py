"""Records on a session's tree: summaries and the frontier they form, rebuild marks, annotations, read marks."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.errors import BadInput, MessageNotFound, SessionNotFound
from ireneo.log.message import Message, MessageId
from ireneo.log.tree import BEFORE_FIRST, Annotation, AnnotationId, SessionKey
from ireneo.ports.store import Rebuild, Span, Transaction
from ireneo.summaries.summary import Summary, SummaryId, Writing
from ireneo.testing.conformance.check import (
    KEY,
    SPACE,
    SUMMARIZER,
    Place,
    after,
    expect,
    expect_error,
    noted,
    numbered,
    rebuilt,
    summarise,
    tell,
    tell_after,
)


def put(tx: Transaction, *summaries: Summary) -> int:
    """Store summaries."""
    return tx.summaries.put(KEY, summaries)


def frontier(tx: Transaction, to: Message, summarizer: str = SUMMARIZER) -> list[Summary]:
    """Read the frontier along the path to a message."""
    return list(tx.summaries.frontier(KEY, to.id, summarizer))


def spans(tx: Transaction, to: Message, depth: int = 1, first: int = 0) -> list[tuple[int, int]]:
    """Read the first and last position of each span along the path to a message."""
    found = tx.summaries.spans(KEY, to.id, SUMMARIZER, depth, first)
    return [(span.first_position, span.last_position) for span in found]


NEVER = SessionKey(SPACE, "never made")


def put_marks(tx: Transaction, *rebuilds: Rebuild) -> None:
    """Store marks."""
    for rebuild in rebuilds:
        tx.rebuilds.put(KEY, rebuild)


def last(tx: Transaction, to: Message, summarizer: str = SUMMARIZER, budget_tokens: int = 1000) -> Rebuild | None:
    """Read the last mark along the path to a message."""
    return tx.rebuilds.last(KEY, to.id, summarizer, budget_tokens)


def put_notes(tx: Transaction, *annotations: Annotation) -> int:
    """Store annotations."""
    return tx.annotations.put(KEY, annotations)


def on_path(tx: Transaction, to: Message) -> list[Annotation]:
    """Read the annotations on the path to a message."""
    return list(tx.annotations.on_path(KEY, to.id))


def in_order(annotations: Sequence[Annotation]) -> list[Annotation]:
    """Annotations in the order in which a path has them."""
    return sorted(annotations, key=lambda each: (each.at_position, each.id))


def mark_read(tx: Transaction, to: Message, reader: str = "one") -> None:
    """Mark a path as read up to a message."""
    tx.read_marks.put(KEY, to.id, reader)


def read_to(tx: Transaction, to: Message, reader: str = "one") -> int:
    """How far the path to a message was read."""
    return tx.read_marks.read_to(KEY, to.id, reader)


class SummaryChecks:
    """Checks of a store's summaries, rebuild marks, annotations and read marks."""

    def a_summary_comes_back_as_it_was_written(self, store: Place) -> None:
        """A summary is read back equal, with how it was written, by id in the order asked; unknown ids are skipped."""
        messages = store.write(tell, numbered(8))
        plain = Writing(prompt="turn-1", model="a/model:1", tokens_in=3000, tokens_out=400, supported=1.0)
        repaired = replace(plain, supported=1 / 3, repaired=True, struck=2, disputes=("d_one", "d_two"))
        offline, one, two = (summarise(messages[first], messages[first + 1]) for first in (0, 2, 4))
        written = [offline, replace(one, writing=plain), replace(two, writing=repaired)]
        put(store, *written)
        expect(frontier(store, messages[-1]), written, "the frontier")
        asked = [written[2].id, SummaryId("s_unknown"), written[0].id, written[1].id]
        expect(store.summaries.get(KEY, asked), [written[2], *written[:2]], "what is got, in the order asked")
        expect(store.summaries.find(KEY, written[2].id), written[2:], "what is found")

    def an_anchor_is_taken_once(self, store: Place) -> None:
        """If a summary's anchor is in use, the stored one stays, and the new one doesn't count."""
        messages = store.write(tell, numbered(4))
        first = summarise(messages[0], messages[3], text="first")
        second = summarise(messages[0], messages[3], text="second")
        expect(put(store, first), 1, "new")
        expect(put(store, second, summarise(messages[0], messages[1]), first), 1, "new of three")
        expect(store.summaries.get(KEY, [first.id]), [first], "the summary")

    def a_summary_needs_its_messages(self, store: Place) -> None:
        """A summary whose first or last message is missing, or elsewhere, is refused, with all others of that call."""
        messages = store.write(tell, numbered(4))
        missing = after(messages[-1], numbered(2, "missing"))
        good = summarise(messages[0], messages[1])
        moved = Summary(
            id=SummaryId("s_moved"),
            level="turn",
            depth=1,
            first=messages[0].id,
            last=messages[1].id,
            first_position=1,
            last_position=2,
            summarizer=SUMMARIZER,
            source_tokens=0,
        )
        with expect_error(MessageNotFound, "a summary of messages that are not stored"):
            store.summaries.put(KEY, [good, summarise(messages[0], missing[-1])])
        with expect_error(BadInput, "a summary with wrong positions"):
            store.summaries.put(KEY, [good, moved])
        expect(store.summaries.get(KEY, [good.id]), [], "what is stored")

    def what_is_derived_needs_a_session(self, store: Place) -> None:
        """Summaries and annotations of a session that does not exist raise SessionNotFound; reading finds nothing."""
        m = after(None, numbered(2))
        with expect_error(SessionNotFound, "a summary"):
            put(store, summarise(m[0], m[1]))
        with expect_error(SessionNotFound, "an annotation"):
            put_notes(store, noted(m[0], "early"))
        expect(store.summaries.find(KEY, "s_"), [], "what is found")
        expect(store.summaries.get(KEY, [SummaryId("s_x")]), [], "what is got")

    def summaries_are_found_by_the_beginning_of_their_id(self, store: Place) -> None:
        """Summaries are found by the beginning of their id, the newest stretch first, at most ten."""
        messages = store.write(tell, numbered(30))
        all_of_them = [summarise(messages[2 * number], messages[2 * number + 1]) for number in range(14)]
        put(store, *all_of_them)
        expect(store.summaries.find(KEY, "s_"), all_of_them[:3:-1], "what is found by the shortest")
        expect(store.summaries.find(KEY, all_of_them[5].id[:12]), [all_of_them[5]], "what is found by a long one")
        expect(store.summaries.find(KEY, "s_00"), [], "what is found by an unknown one")

    def a_frontier_is_the_widest(self, store: Place) -> None:
        """Of summaries that begin at the same message, the frontier takes the one that reaches furthest."""
        m = store.write(tell, numbered(20))
        turns = [summarise(m[first], m[first + 3]) for first in (0, 4, 8, 12)]
        goal = summarise(m[0], m[7], level="goal", depth=1)
        story = summarise(m[0], m[11], level="story", depth=2)
        put(store, *turns)
        expect(frontier(store, m[-1]), turns, "the frontier of turns")
        put(store, goal)
        expect(frontier(store, m[-1]), [goal, *turns[2:]], "the frontier with a goal")
        put(store, story)
        expect(frontier(store, m[-1]), [story, turns[3]], "the frontier with a story")

    def a_frontier_takes_the_nearest_first(self, store: Place) -> None:
        """A summary that begins earlier goes before one that reaches further; gaps stay open, nothing overlaps."""
        m = store.write(tell, numbered(30))
        near, wide, inside, later = (
            summarise(m[first], m[last]) for first, last in ((2, 5), (4, 20), (8, 11), (22, 29))
        )
        put(store, wide, later, inside, near)
        expect(frontier(store, m[-1]), [near, inside, later], "the frontier")

    def a_frontier_takes_the_deeper_of_two_alike(self, store: Place) -> None:
        """Of two summaries of the same stretch the frontier takes the deeper one."""
        m = store.write(tell, numbered(6))
        shallow, deep = summarise(m[0], m[5]), summarise(m[0], m[5], level="goal", depth=2)
        put(store, shallow, deep)
        expect(frontier(store, m[-1]), [deep], "the frontier")

    def a_frontier_is_of_one_family(self, store: Place) -> None:
        """A frontier holds only summaries of the summarizer that was asked for."""
        m = store.write(tell, numbered(8))
        ours, theirs = summarise(m[0], m[3]), summarise(m[0], m[7], summarizer="summarizer-2")
        put(store, ours, theirs)
        expect(frontier(store, m[-1]), [ours], "the frontier")
        expect(frontier(store, m[-1], "summarizer-2"), [theirs], "the frontier of the other family")
        expect(frontier(store, m[-1], "summarizer-3"), [], "the frontier of no family")

    def a_frontier_ends_with_its_path(self, store: Place) -> None:
        """A summary that reaches beyond the end of a path is not on it."""
        m = store.write(tell, numbered(12))
        one, two, both = summarise(m[0], m[3]), summarise(m[4], m[7]), summarise(m[0], m[7], level="goal")
        put(store, one, two, both)
        expect(frontier(store, m[7]), [both], "the frontier at its end")
        expect(frontier(store, m[6]), [one], "the frontier one message earlier")
        expect(frontier(store, m[2]), [], "the frontier inside the first summary")

    def a_frontier_stays_on_its_branch(self, store: Place) -> None:
        """A fork sees the summaries of the shared part, and none that covers messages it left behind."""
        m = store.write(tell, numbered(16))
        shared, straddling, left = summarise(m[0], m[3]), summarise(m[4], m[9]), summarise(m[10], m[15])
        wide = summarise(m[0], m[15], level="goal", depth=2)
        put(store, shared, straddling, left, wide)
        fork = store.write(tell_after, m[7], numbered(6, "fork"))
        expect(frontier(store, fork[-1]), [shared], "the frontier of the fork")
        across = summarise(m[4], fork[1])
        own = summarise(fork[2], fork[5])
        put(store, across, own)
        expect(frontier(store, fork[-1]), [shared, across, own], "the frontier with the fork's own")
        expect(frontier(store, m[-1]), [wide], "the frontier of the trunk")

    def a_frontier_crosses_every_fork(self, store: Place) -> None:
        """Along a path through many forks, the summaries of all stretches are in order."""
        path = store.write(tell, numbered(6))
        for number in range(8):
            store.write(tell_after, path[-1], numbered(3, f"left {number}"))
            path = path[:-1] + store.write(tell_after, path[-2], numbered(5, f"taken {number}"))
        pairs = [summarise(path[first], path[first + 1]) for first in range(0, len(path) - 1, 2)]
        wide = summarise(path[10], path[25], level="goal", depth=2)
        put(store, *reversed(pairs))
        expect(frontier(store, path[-1]), pairs, "the frontier of pairs")
        put(store, wide)
        expect(frontier(store, path[-1]), [*pairs[:5], wide, *pairs[13:]], "the frontier with a wide one")

    def spans_are_of_one_summarizer_and_depth(self, store: Place) -> None:
        """Spans are the stretches of one summarizer's summaries of a depth, in order, with ids; they may overlap."""
        m = store.write(tell, numbered(20))
        alike = [summarise(m[4], m[7], level=level) for level in ("turn", "story")]
        own = [summarise(m[0], m[3]), summarise(m[4], m[5]), *sorted(alike, key=lambda each: each.id)]
        others = [summarise(m[0], m[7], level="goal", depth=2), summarise(m[8], m[11], summarizer="summarizer-2")]
        put(store, *reversed(own), *others)
        found = store.summaries.spans(KEY, m[-1].id, SUMMARIZER, 1)
        wanted = [
            Span(id=each.id, first_position=each.first_position, last_position=each.last_position) for each in own
        ]
        expect(list(found), wanted, "the spans")
        expect(spans(store, m[-1], depth=2), [(0, 7)], "the deeper ones")
        expect(spans(store, m[-1], depth=3), [], "those that aren't there")

    def spans_lie_on_their_path(self, store: Place) -> None:
        """A span is wholly on the path: none goes beyond its end or into an abandoned part."""
        m = store.write(tell, numbered(12))
        fork = store.write(tell_after, m[5], numbered(6, "fork"))
        twig = store.write(tell_after, fork[2], numbered(4, "twig"))
        pairs = (
            (m[0], m[3]),
            (m[4], m[7]),
            (m[4], fork[1]),
            (fork[0], fork[2]),
            (fork[2], twig[0]),
            (twig[1], twig[3]),
        )
        put(store, *(summarise(first, last) for first, last in reversed(pairs)))
        expect(spans(store, m[-1]), [(0, 3), (4, 7)], "the spans of the trunk")
        expect(spans(store, m[6]), [(0, 3)], "the spans of the trunk, one message short")
        expect(spans(store, fork[-1]), [(0, 3), (4, 7), (6, 8)], "the spans of the fork")
        expect(spans(store, twig[-1]), [(0, 3), (4, 7), (6, 8), (8, 9), (10, 12)], "the spans of the twig")

    def spans_begin_where_asked(self, store: Place) -> None:
        """Spans that begin before the given position are left out, however far they reach."""
        m = store.write(tell, numbered(12))
        fork = store.write(tell_after, m[5], numbered(6, "fork"))
        put(store, summarise(m[0], m[3]), summarise(m[3], fork[1]), summarise(m[4], m[5]), summarise(m[5], fork[2]))
        for first, wanted in ((0, 4), (1, 3), (4, 2), (5, 1), (6, 0), (50, 0)):
            expect(len(spans(store, fork[-1], first=first)), wanted, f"the spans from {first} on")

    def families_are_listed(self, store: Place) -> None:
        """The summarizers of a session are listed by name, each once, over all paths."""
        m = store.write(tell, numbered(8))
        fork = store.write(tell_after, m[3], numbered(2, "fork"))
        expect(store.summaries.summarizers(KEY), [], "the families of a session without summaries")
        put(store, *(summarise(m[number], m[number + 1], summarizer=f"summarizer-{number % 3}") for number in range(7)))
        put(store, summarise(fork[0], fork[1], summarizer="another"), summarise(m[0], m[7], summarizer=""))
        wanted = ["", "another", "summarizer-0", "summarizer-1", "summarizer-2"]
        expect(store.summaries.summarizers(KEY), wanted, "the families")

    def the_mark_furthest_along_the_path_counts(self, store: Place) -> None:
        """The last mark is the one whose edge is furthest along the path, whenever it was stored."""
        m = store.write(tell, numbered(12))
        expect(last(store, m[-1]), None, "the mark before any was put")
        far, near = rebuilt(m[8]), rebuilt(m[3])
        put_marks(store, far, near)
        expect(last(store, m[-1]), far, "the mark at the end")
        expect(last(store, m[8]), far, "the mark at its edge")
        expect(last(store, m[7]), near, "the mark before the far edge")
        expect(last(store, m[2]), None, "the mark before both")

    def marks_are_apart_by_family_and_budget(self, store: Place) -> None:
        """A mark counts only for its own summarizer and budget."""
        m = store.write(tell, numbered(6))
        one, two, three = rebuilt(m[2]), rebuilt(m[3], budget_tokens=2000), rebuilt(m[4], summarizer="summarizer-2")
        put_marks(store, one, two, three)
        expect(last(store, m[-1]), one, "the first mark")
        expect(last(store, m[-1], budget_tokens=2000), two, "the mark of another budget")
        expect(last(store, m[-1], "summarizer-2"), three, "the mark of another family")
        expect(last(store, m[-1], "summarizer-2", 2000), None, "the mark of neither")

    def a_mark_is_replaced_at_its_edge(self, store: Place) -> None:
        """A mark replaces an earlier one with the same edge, summarizer and budget."""
        m = store.write(tell, numbered(4))
        put_marks(store, rebuilt(m[2], target_tokens=100), rebuilt(m[2], target_tokens=70))
        expect(last(store, m[-1]), rebuilt(m[2], target_tokens=70), "the mark")

    def a_mark_names_its_texts(self, store: Place) -> None:
        """A mark is read back with the summaries it shows, in order, and both are replaced together."""
        m = store.write(tell, numbered(4))
        names = tuple(SummaryId(f"s_{letter}") for letter in "cab")
        for texts in (names, (), names[1:]):
            mark = rebuilt(m[2], taken_up=texts)
            put_marks(store, mark)
            expect(last(store, m[-1]), mark, "the mark")
        put_marks(store, rebuilt(m[3]))
        expect(last(store, m[-1]), rebuilt(m[3]), "a mark without any")

    def a_mark_stays_on_its_branch(self, store: Place) -> None:
        """A fork sees the marks of the shared part, and none of what it left behind."""
        m = store.write(tell, numbered(10))
        fork = store.write(tell_after, m[5], numbered(4, "fork"))
        shared, left = rebuilt(m[3]), rebuilt(m[8])
        put_marks(store, shared, left)
        expect(last(store, fork[-1]), shared, "the mark on the fork")
        own = rebuilt(fork[1])
        put_marks(store, own)
        expect(last(store, fork[-1]), own, "the fork's own mark")
        expect(last(store, m[-1]), left, "the mark on the trunk")

    def a_mark_needs_its_edge(self, store: Place) -> None:
        """A mark whose edge is missing, or elsewhere, is refused; so is one in a session that does not exist."""
        elsewhere = after(None, numbered(2))
        with expect_error(SessionNotFound, "a mark without a session"):
            store.rebuilds.put(KEY, rebuilt(elsewhere[0]))
        with expect_error(MessageNotFound, "the last mark of an unknown path"):
            store.rebuilds.last(KEY, elsewhere[0].id, SUMMARIZER, 1000)
        m = store.write(tell, numbered(3, "ours"))
        wrong = Rebuild(summarizer=SUMMARIZER, budget_tokens=1000, at=m[1].id, at_position=2, target_tokens=1)
        with expect_error(MessageNotFound, "a mark at an unknown edge"):
            store.rebuilds.put(KEY, rebuilt(elsewhere[0]))
        with expect_error(BadInput, "a mark with a wrong position"):
            store.rebuilds.put(KEY, wrong)
        expect(store.rebuilds.last(KEY, m[-1].id, SUMMARIZER, 1000), None, "what is stored")

    def every_mark_of_a_session_is_listed(self, store: Place) -> None:
        """A session's marks on all paths are listed by position; a session that doesn't exist has none."""
        m = store.write(tell, numbered(6))
        fork = store.write(tell_after, m[2], numbered(3, "fork"))
        near, far, aside = rebuilt(m[1]), rebuilt(m[4], budget_tokens=2000), rebuilt(fork[0], summarizer="summarizer-2")
        put_marks(store, far, aside, near)
        expect(store.rebuilds.of_session(KEY), [near, aside, far], "the marks")
        expect(store.rebuilds.of_session(NEVER), [], "the marks of a session that is not there")

    def an_annotation_comes_back(self, store: Place) -> None:
        """Annotations of every kind are read back equal, with all their fields."""
        m = store.write(tell, numbered(4))
        pin = noted(m[0], "Never touch “prod”.\n\x00 \U0001f9e0")
        release = noted(m[1], "It may be touched.", kind="release", about=pin.id)
        # What it is about, and its source, are only names.
        dispute = replace(noted(m[2], "Not so.", kind="dispute", about="s_x"), by="model", source=MessageId("m_x"))
        expect(put_notes(store, pin, release, dispute), 3, "new")
        expect(on_path(store, m[-1]), [pin, release, dispute], "the annotations")

    def annotations_stand_in_the_order_of_the_path(self, store: Place) -> None:
        """Annotations are sorted by position, those of one message by id, in whatever order they were stored."""
        m = store.write(tell, numbered(10))
        expect(on_path(store, m[-1]), [], "the annotations before any was put")
        notes = [noted(m[place], f"note {number}") for number in range(4) for place in (7, 2, 0, 9, 4)]
        expect(put_notes(store, *notes[:9]), 9, "new at first")
        expect(put_notes(store, *notes[9:]), 11, "new then")
        expect(on_path(store, m[-1]), in_order(notes), "the annotations")

    def an_annotation_is_stored_once(self, store: Place) -> None:
        """If an annotation's id is in use, the stored one stays, and the new one doesn't count."""
        m = store.write(tell, numbered(3))
        first = noted(m[1], "first")
        second = replace(first, text="second", by="model")
        elsewhere = replace(first, at=m[0].id, at_position=0)
        other = noted(m[1], "other")
        expect(put_notes(store, first), 1, "new")
        expect(put_notes(store, second, elsewhere, other, other, first), 1, "new of five")
        expect(put_notes(store), 0, "new of none")
        expect(on_path(store, m[-1]), in_order([first, other]), "the annotations")

    def annotations_stay_on_their_branch(self, store: Place) -> None:
        """A fork has the annotations of the shared part and its own, none of what it left behind."""
        m = store.write(tell, numbered(10))
        fork = store.write(tell_after, m[5], numbered(4, "fork"))
        shared, at_the_fork, left = noted(m[3], "shared"), noted(m[5], "at the fork"), noted(m[6], "left")
        put_notes(store, left, at_the_fork, shared)
        expect(on_path(store, fork[-1]), [shared, at_the_fork], "the annotations of the fork")
        own, late = noted(fork[0], "own"), noted(m[1], "late")
        put_notes(store, own, late)
        expect(on_path(store, fork[-1]), [late, shared, at_the_fork, own], "the annotations with the fork's own")
        expect(on_path(store, m[-1]), [late, shared, at_the_fork, left], "the annotations of the trunk")

    def annotations_cross_every_fork(self, store: Place) -> None:
        """Along a path through many forks, the annotations of all stretches are in order."""
        path = store.write(tell, numbered(6))
        aside: list[Annotation] = []
        for number in range(8):
            left = store.write(tell_after, path[-1], numbered(3, f"left {number}"))
            aside += [noted(message, f"aside {number}") for message in (path[-1], left[1])]
            path = path[:-1] + store.write(tell_after, path[-2], numbered(5, f"taken {number}"))
        notes = [noted(message, "along the path") for message in path]
        put_notes(store, *aside, *reversed(notes))
        expect(on_path(store, path[-1]), notes, "the annotations")

    def what_is_noted_before_the_first_message_is_on_every_path(self, store: Place) -> None:
        """An annotation at no message comes first on every path, even on an empty one, and stays there."""
        early = Annotation(
            id=AnnotationId("p_early"), kind="pin", at=MessageId(""), at_position=BEFORE_FIRST, text="early"
        )
        store.sessions.create(KEY, None)
        store.log.move(KEY, "main", None)
        expect(store.annotations.put(KEY, [early, early]), 1, "new")
        with expect_error(BadInput, "an annotation at no message with a position"):
            store.annotations.put(KEY, [replace(early, id=AnnotationId("p_else"), at_position=0)])
        expect(store.annotations.on_path(KEY, None), [early], "the annotations of an empty session")
        m = store.write(tell, numbered(4))
        fork = store.write(tell_after, m[1], numbered(2, "fork"))
        late = noted(m[0], "late")
        put_notes(store, late)
        expect(on_path(store, m[-1]), [early, late], "the annotations of the trunk")
        expect(on_path(store, fork[-1]), [early, late], "the annotations of the fork")
        expect(store.annotations.on_path(KEY, None), [early], "those before the first message")
        expect(store.upkeep.faults(), [], "what is wrong")
        store.upkeep.prune(KEY)
        expect(on_path(store, m[-1]), [early, late], "the annotations after a prune")

    def an_annotation_needs_its_message(self, store: Place) -> None:
        """An annotation whose message is missing, or elsewhere, is refused, with all others of that call."""
        m = store.write(tell, numbered(4))
        (missing,) = after(m[-1], numbered(1, "missing"))
        good, moved = noted(m[0], "good"), replace(noted(m[1], "moved"), at_position=2)
        with expect_error(MessageNotFound, "an annotation at a message that is not stored"):
            store.annotations.put(KEY, [good, noted(missing, "lost")])
        with expect_error(BadInput, "an annotation with a wrong position"):
            store.annotations.put(KEY, [good, moved])
        expect(store.annotations.on_path(KEY, m[-1].id), [], "what is stored")
        expect(on_path(store, m[-1]), [], "what is stored afterwards")

    def a_path_is_read_up_to_its_mark(self, store: Place) -> None:
        """A read mark counts on every path through its message, for its reader only, and never moves back."""
        m = store.write(tell, numbered(8))
        expect(read_to(store, m[-1]), -1, "what nobody has read")
        mark_read(store, m[5])
        expect([read_to(store, each) for each in (m[0], m[5], m[7])], [0, 5, 5], "how far it was read")
        mark_read(store, m[2])
        expect(read_to(store, m[-1]), 5, "how far it was read, once it was read less far")
        expect(read_to(store, m[-1], "two"), -1, "what another has read")
        mark_read(store, m[-1], "two")
        expect((read_to(store, m[-1]), read_to(store, m[-1], "two")), (5, 7), "what each has read")
        marks = [("one", m[5].id), ("two", m[7].id)]
        expect(store.read_marks.of_session(KEY), marks, "the marks")

    def forks_share_what_was_read_before_them(self, store: Place) -> None:
        """A read mark on a fork counts on the trunk up to the fork and no further, and the other way round."""
        m = store.write(tell, numbered(6))
        fork = store.write(tell_after, m[2], numbered(4, "fork"))
        twig = store.write(tell_after, fork[1], numbered(3, "twig"))
        mark_read(store, twig[1])
        ends = (m[5], m[1], fork[3], fork[0], twig[2])
        expect([read_to(store, each) for each in ends], [2, 1, 4, 3, 6], "how far each path was read")
        mark_read(store, m[4])
        expect([read_to(store, each) for each in ends], [4, 1, 4, 3, 6], "how far each was, with the trunk")
        late = store.write(tell_after, m[3], numbered(2, "late"))
        expect(read_to(store, late[1]), 3, "how far a later fork was read")

    def a_read_mark_needs_its_message(self, store: Place) -> None:
        """A mark at a message that is not stored is refused; a session that doesn't exist has no mark."""
        m = store.write(tell, numbered(2))
        (missing,) = after(m[-1], numbered(1, "missing"))
        with expect_error(MessageNotFound, "the mark"):
            mark_read(store, missing)
        with expect_error(MessageNotFound, "how far it was read"):
            read_to(store, missing)
        with expect_error(SessionNotFound, "a mark in a session that was never made"):
            store.read_marks.put(NEVER, m[0].id, "one")
        expect(store.read_marks.of_session(NEVER), [], "its marks")
