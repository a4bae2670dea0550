"""Load for servers, and what it takes to compare ours with others."""
