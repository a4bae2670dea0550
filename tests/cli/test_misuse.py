"""What a person got wrong."""

from wireloom.cli.misuse import one_of


def test_the_nearest_choice_comes_first_and_all_are_listed() -> None:
    assert one_of("dnt", ["cthun", "dtn"]) == "Did you mean dtn? Choose one of: cthun, dtn."


def test_nothing_is_near_to_something_else() -> None:
    assert one_of("smtp", ["cthun", "dtn"]) == "Choose one of: cthun, dtn."


def test_case_does_not_matter() -> None:
    assert one_of("DTN", ["cthun", "dtn"]).startswith("Did you mean dtn?")
    assert one_of("contents", ["CONTENT"]).startswith("Did you mean CONTENT?")
