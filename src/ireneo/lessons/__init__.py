"""What runs teach: from what was tried, with which outcome, to lessons, and to a guard that warns before a call."""
