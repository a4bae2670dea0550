from wireloom.capture.frame import CapturedFrame
from wireloom.generate.timeline import END_US, QUIET_MS, START_US, Timeline, conversation_at
from wireloom.wire.outcome import Direction


def frame(at: int) -> CapturedFrame:
    return CapturedFrame(
        captured_at=at, node="n", protocol="dtn", link="l", direction=Direction.IN, raw=b"x"
    )


def test_frames_are_written_in_order_of_time_and_not_before_it() -> None:
    written: list[CapturedFrame] = []
    timeline = Timeline(written.append)
    for at in (3, 1, 2, 1):
        assert timeline.add(frame(START_US + at))
    timeline.advance(START_US + 2)
    assert [one.captured_at - START_US for one in written] == [1, 1, 2]
    timeline.advance(END_US)
    assert len(written) == timeline.count == 4


def test_nothing_is_captured_after_the_end() -> None:
    timeline = Timeline(lambda _: None)
    assert timeline.add(frame(END_US))
    assert not timeline.add(frame(END_US + 1))
    assert timeline.count == 1


def test_conversations_spread_over_the_time_and_leave_the_end_quiet() -> None:
    assert conversation_at(0) == START_US
    assert conversation_at(1) == conversation_at(1.5) == END_US - QUIET_MS * 1000
