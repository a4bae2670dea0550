"""What happens when."""

from wireloom.sim.agenda import Agenda


def test_what_is_due_comes_by_its_time_and_then_in_its_order() -> None:
    agenda = Agenda()
    for at_ns, name in ((5, "b"), (3, "a"), (5, "c"), (9, "late")):
        agenda.put(at_ns, print, name)
    assert len(agenda) == 4
    taken = []
    while (entry := agenda.take(5)) is not None:
        taken.append((entry[0], *entry[3]))
    assert taken == [(3, "a"), (5, "b"), (5, "c")]
