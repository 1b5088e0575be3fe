"""Work behind the conversation: find what is due, take the lease on it, write it, and store it in one transaction.

Any number of processes may do so at once. What is due is derived from the log and from what is stored, so nothing is
queued, and whoever is killed leaves nothing to be cleaned up. Two that meet all the same write the same anchor: what
the first has stored stays, and the second takes it over.
"""
