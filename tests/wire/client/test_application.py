"""What a client's session and its application say to each other are plain values."""

from wireloom.wire.client.application import Answered, Failed, Request


def test_a_request_has_an_answer_only_if_it_says_so() -> None:
    assert Request(id="a", seconds=1).answer is None
    assert Answered("a").answer is None


def test_a_failure_may_be_about_nothing_in_particular() -> None:
    assert Failed(ValueError("x")).id is None  # type: ignore[arg-type]
