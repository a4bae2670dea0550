from uuid import UUID

from wireloom.wire.ids import Ids


def test_ids_are_uuids_of_version_8_and_none_is_made_twice() -> None:
    one, other = Ids("one"), Ids("other")
    made = [one.next() for _ in range(3)] + [other.next()]
    assert len(set(made)) == 4
    assert [str(UUID(id_)) for id_ in made] == made
    assert {id_[14] + id_[19] for id_ in made} == {"88"}


def test_one_life_makes_the_same_ids_again() -> None:
    assert Ids("one").next() == Ids("one").next()


def test_the_number_can_be_counted_up_by_whoever_writes_ids_itself() -> None:
    ids = Ids("one")
    ids.number += 254
    assert ids.next() == f"{ids.prefix}0000000000ff"
