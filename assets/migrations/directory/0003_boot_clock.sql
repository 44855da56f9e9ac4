-- When the intent, then the sending, became durable, on a clock that nobody moves: "BOOT:MICROSECONDS" since that boot.
-- Null where the system has no such clock; the wall clock then decides.
ALTER TABLE rotations ADD COLUMN boot_clock TEXT;
