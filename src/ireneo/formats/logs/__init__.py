"""The logs that agents leave on disk, read as sessions of drafts."""
