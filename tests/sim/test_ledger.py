"""The books of a world."""

from random import Random

from wireloom.sim.ledger import MARK, Ledger, Meant, content

ID = "11111111-1111-4111-8111-111111111111"


def test_a_message_is_known_by_its_content_wherever_it_turns_up() -> None:
    ledger = Ledger()
    text = content(ID, 100, Random(1))
    assert len(text) == 100
    assert len(content(ID, 1, Random(1))) == 38
    assert MARK.findall(b"{" + text.encode() + b"}") == [ID.encode()]
    message = Meant(ID, "ada", ("bob",), text, 0, 0)
    ledger.enter(message)
    ledger.lose(b"\0" + text.encode(), "bob")
    ledger.lose(content(ID.replace("1", "2"), 50, Random(1)).encode(), "bob")
    assert message.lost == {"bob"}
