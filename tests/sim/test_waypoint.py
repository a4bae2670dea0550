"""Machines that walk."""

from math import dist
from random import Random

from wireloom.sim.streams import Streams
from wireloom.sim.tables import Mobility
from wireloom.sim.waypoint import Walker, near

PARK = Mobility(width_m=100, height_m=50, least_speed=1, most_speed=2, rest_seconds=5)


def test_a_walker_stays_inside_and_is_never_faster_than_it_can_be() -> None:
    walker = Walker("ada", PARK, Streams(1))
    places = [walker.at]
    for _ in range(2_000):
        walker.step(1)
        places.append(walker.at)
    assert all(0 <= x <= 100 and 0 <= y <= 50 for x, y in places)
    assert max(map(dist, places, places[1:])) <= 2
    assert len(set(places)) > 1_000


def test_a_way_follows_from_the_seed_and_the_name() -> None:
    ada, again, bob = (Walker(name, PARK, Streams(1)) for name in ("ada", "ada", "bob"))
    for walker in (ada, again, bob):
        for _ in range(50):
            walker.step(1)
    assert ada.at == again.at != bob.at


def test_who_is_near_whom_is_found_in_squares_as_among_all() -> None:
    random = Random(3)
    walkers = [Walker(str(number), PARK, Streams(1)) for number in range(60)]
    for walker in walkers:
        walker.at = random.uniform(0, 100), random.uniform(0, 50)
    everybody = {
        frozenset((one.name, two.name))
        for one in walkers
        for two in walkers
        if one is not two and dist(one.at, two.at) <= 12
    }
    found = [frozenset(pair) for pair in near(walkers, 12)]
    assert len(found) == len(set(found))
    assert set(found) == everybody
