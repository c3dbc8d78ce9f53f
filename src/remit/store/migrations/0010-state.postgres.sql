-- The newest entries of the ledger say how these stand; there are no tables for them any more.
DROP TABLE gate_pass;
DROP TABLE spent;
DROP TABLE daily;
DROP TABLE launch;
