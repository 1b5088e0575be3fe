"""What must always hold of stories: pyramids that grow, branch, break off and are written by many."""
