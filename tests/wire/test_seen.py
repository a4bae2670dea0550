from wireloom.wire.seen import Seen


def test_what_was_put_is_known() -> None:
    seen: Seen[str, bytes] = Seen(10)
    assert seen.get("a", 0) is None
    seen.put("a", b"x")
    assert seen.get("a", 10**12) == b"x"


def test_at_least_half_of_what_fits_is_remembered_and_never_more_than_fits() -> None:
    seen: Seen[int, bytes] = Seen(10)
    for number in range(100):
        seen.put(number, b"x")
        known = [one for one in range(100) if seen.get(one, 0) is not None]
        assert known[-1] == number
        assert min(5, number + 1) <= len(known) <= 10


def test_bytes_are_counted_and_bounded() -> None:
    seen: Seen[int, bytes] = Seen(1_000, max_size=100)
    for number in range(50):
        seen.put(number, b"x", 10)
        assert seen.size <= 100
    assert seen.get(49, 0) == b"x"
    assert seen.get(0, 0) is None


def test_what_is_old_is_forgotten() -> None:
    seen: Seen[str, bytes] = Seen(10, span_ms=1_000)
    assert seen.get("a", 5_000) is None
    seen.put("a", b"x")
    assert seen.get("a", 5_999) == b"x"
    assert seen.get("a", 6_000) == b"x"
    assert seen.get("a", 7_000) is None
    assert seen.size == 0


def test_an_empty_value_is_known_too() -> None:
    seen: Seen[str, bytes] = Seen(10)
    seen.put("a", b"")
    assert seen.get("a", 0) == b""


def test_a_key_is_known_with_its_value() -> None:
    seen: Seen[str, str] = Seen(20)
    assert seen.add("1", "a")
    assert not seen.add("1", "a")
    assert seen.has("1", "a")
    assert not seen.has("1", "b")
    assert not seen.has("2", "a")


def test_the_latest_are_remembered_and_no_more_than_twice_as_many() -> None:
    seen: Seen[str, str] = Seen(20)
    for number in range(1_000):
        seen.add(str(number), "a")
        known = sum(seen.has(str(earlier), "a") for earlier in range(number + 1))
        assert min(10, number + 1) <= known <= 20
        assert seen.has(str(number), "a")


def test_another_value_of_the_same_key_takes_its_place() -> None:
    seen: Seen[str, str] = Seen(20)
    seen.add("1", "a")
    seen.add("1", "b")
    assert seen.has("1", "b")
    assert not seen.has("1", "a")
