-- A checksum of what stands in a row, written with it, so that a byte that changed by itself can be told from what was
-- stored. Rows of earlier versions have none.
ALTER TABLE messages ADD COLUMN checksum INTEGER;
ALTER TABLE branches ADD COLUMN checksum INTEGER;
ALTER TABLE summaries ADD COLUMN checksum INTEGER;
ALTER TABLE annotations ADD COLUMN checksum INTEGER;
ALTER TABLE memories ADD COLUMN checksum INTEGER;
ALTER TABLE pads ADD COLUMN checksum INTEGER;
ALTER TABLE runs ADD COLUMN checksum INTEGER;
ALTER TABLE sightings ADD COLUMN checksum INTEGER;
ALTER TABLE vectors ADD COLUMN checksum INTEGER;
