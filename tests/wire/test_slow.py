from wireloom.wire.slow import MAX_NAMES, OTHERS, SlowReaders


def test_slow_readers_are_counted_by_name_up_to_a_limit() -> None:
    slow = SlowReaders()
    for number in range(MAX_NAMES + 2):
        slow.note(f"peer {number}")
    slow.note("peer 0")
    assert slow["peer 0"] == 2
    assert slow[OTHERS] == 2
    assert len(slow) == MAX_NAMES + 1


def test_a_peer_without_a_name_counts_among_the_others() -> None:
    slow = SlowReaders()
    slow.note(None)
    assert slow == {OTHERS: 1}
