"""Constraints as users and system prompts word them, each with a sentence that lifts it again, and idle talk."""

from __future__ import annotations

from msgspec import Struct


class Rule(Struct, frozen=True):
    """A constraint, and what a user says who no longer wants it."""

    text: str
    lift: str


RULES = (
    Rule("Never push to the release branch.", "You may push to the release branch now."),
    Rule(
        "Keep the public API of the billing module stable.",
        "The public API of the billing module can change after all.",
    ),
    Rule("Use tabs for indentation, never spaces.", "Forget the rule about tabs and spaces for indentation."),
    Rule("Don't touch anything under third_party/.", "You can now touch third_party/ again."),
    Rule(
        "From now on every commit message starts with a ticket number.",
        "Commit messages no longer have to start with a ticket number.",
    ),
    Rule(
        "Please do not add any new dependencies without asking me first.",
        "Feel free to add new dependencies from now on.",
    ),
    Rule("All timestamps must be stored in UTC.", "Timestamps don't have to be stored in UTC any more."),
    Rule("The staging database is read-only for you.", "The staging database is no longer read-only."),
    Rule(
        "Only use the standard library in the scripts folder.",
        "The scripts folder needn't use only the standard library.",
    ),
    Rule("never log customer email addresses", "You may log customer email addresses again."),
    Rule("Make sure the response time stays under 200 ms.", "Never mind the 200 ms for the response time."),
    Rule("For the whole session: answer me in short sentences.", "There is no need to answer me in short sentences."),
    Rule("Anything in the legacy folder is off limits.", "The legacy folder is no longer off limits."),
    Rule("You must not change the format of the audit log.", "You can now change the format of the audit log."),
    Rule("Stick to Python 3.11 syntax.", "The limit to Python 3.11 syntax is lifted."),
    Rule("I don't want any emojis in the docs.", "Emojis in the docs are fine, you can use emojis in the docs again."),
    Rule(
        "Whatever you do, leave the nightly cron job alone.", "You no longer have to leave the nightly cron job alone."
    ),
    Rule("No deployments on Fridays, no exceptions.", "The ban on Friday deployments is lifted."),
    Rule("Ask me before you delete a table.", "You don't have to ask me before you delete a table."),
    Rule("The vendored fonts are not to be replaced.", "It's ok to replace the vendored fonts now."),
    Rule("We never rebase shared branches here.", "You can rebase shared branches now."),
    Rule("Under no circumstances may the migration be run twice.", "It's fine to run the migration twice after all."),
    Rule("Every public function needs a docstring.", "Public functions no longer need a docstring."),
    Rule("Avoid global state in the scheduler.", "The scheduler may now have global state again, forget that ban."),
    Rule("Prefer composition over inheritance in the widgets.", "Drop the rule about composition and inheritance."),
    Rule("Passwords should never be written to disk.", "Passwords may be written to disk again, I allow that now."),
    Rule("Always run the linter before you commit.", "You needn't run the linter before you commit."),
    Rule("Write error messages in plain English.", "Error messages don't have to be in plain English any more."),
    Rule("Bitte niemals die Lizenztexte ändern.", "You can change the Lizenztexte now, ändern is fine."),
    Rule("Limit every request to 50 rows.", "Forget the limit of 50 rows for every request."),
)

TALK = (
    "The meeting ran late, so I only saw this now.",
    "I was told the numbers looked odd last week.",
    "Maria thinks that the cache is the culprit, and I tend to agree with her.",
    "By the way, the coffee machine on our floor works again.",
    "It worked on my machine yesterday evening.",
    "I have no idea who wrote this part.",
    "Thanks for the quick turnaround on the last one.",
    "What do you think about the new layout?",
    "The customers in Lisbon complained about it twice.",
    "We shipped the previous version in spring and it went well.",
    "Could this be related to the outage?",
    "I looked at the graphs for an hour and learned nothing.",
    "That would be a nice surprise for the team.",
    "Somebody renamed the service in the meantime.",
)
