"""What mends a list that a cut has torn: one file a rule, each a pure function from drafts to drafts.

A mend leaves a list that keeps its rule exactly as it is, and a draft whose parts it changes loses its native
payload. A format is a sequence of mends, and then a plain writing down.
"""
