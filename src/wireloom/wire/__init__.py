"""What all five protocols are made of: bytes, fields, messages, outcomes, keys, errors."""
