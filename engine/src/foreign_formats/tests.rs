//! Tests of the formats, on files of a temporary folder.
