"""From captured frames to tables, on Spark: ingest, refine, analyse."""
