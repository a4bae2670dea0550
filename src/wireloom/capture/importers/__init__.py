"""Frames out of what other tools captured: pcap and pcapng files."""
