"""The manifest is what the operator takes, and says what the docs say."""

import json
import re
import shlex
from collections.abc import Callable
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "deploy" / "sparkapplication.schema.json").read_text())

Manifest = dict[str, Any]


@pytest.fixture
def manifest() -> Manifest:
    """The manifest."""
    found: Manifest = yaml.safe_load((ROOT / "deploy" / "kubernetes.yaml").read_text())
    return found


def problems(manifest: Manifest) -> list[str]:
    """Where a manifest is not of the schema."""
    return [error.json_path for error in Draft202012Validator(SCHEMA).iter_errors(manifest)]


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_the_manifest_is_of_the_schema(manifest: Manifest) -> None:
    assert problems(manifest) == []


def set_(*path: str, value: Any) -> Callable[[Manifest], None]:
    """A change of one field."""

    def change(manifest: Manifest) -> None:
        place = manifest
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (set_("apiVersion", value="sparkoperator.k8s.io/v1beta1"), "$.apiVersion"),
        (set_("metadata", "name", value="Wireloom_run"), "$.metadata.name"),
        (set_("spec", "mode", value="in-cluster"), "$.spec.mode"),
        (set_("spec", "executors", value={}), "$.spec"),
        (set_("spec", "executor", "instances", value="4"), "$.spec.executor.instances"),
        (set_("spec", "executor", "memory", value=6), "$.spec.executor.memory"),
        (set_("spec", "driver", "memory", value="4 GB"), "$.spec.driver.memory"),
        (set_("spec", "driver", "envFrom", value=[{}]), "$.spec.driver.envFrom[0]"),
        (set_("spec", "sparkConf", "spark.ui.enabled", value=False), "spark.ui.enabled"),
        (lambda manifest: manifest["spec"].pop("mainApplicationFile"), "$.spec"),
    ],
)
def test_a_broken_manifest_is_refused(
    manifest: Manifest, change: Callable[[Manifest], None], where: str
) -> None:
    change(manifest)
    (found,) = problems(manifest)
    assert where in found


def test_credentials_come_from_a_secret_and_are_nowhere_else(manifest: Manifest) -> None:
    for pod in ("driver", "executor"):
        assert manifest["spec"][pod]["envFrom"] == [{"secretRef": {"name": "wireloom-storage"}}]
    assert "AWS" not in json.dumps(manifest)


def test_the_manifest_fits_the_spark_that_is_tested(manifest: Manifest) -> None:
    assert manifest["spec"]["sparkVersion"] == version("pyspark")
    script = manifest["spec"]["mainApplicationFile"].removeprefix("local:///opt/wireloom/")
    assert (ROOT / script).is_file()


def test_the_submission_in_the_docs_is_the_same_run(manifest: Manifest) -> None:
    page = (ROOT / "docs" / "cluster.md").read_text()
    found = re.search(r"^spark-submit --master k8s://.*?[^\\]$", page, re.MULTILINE | re.DOTALL)
    assert found is not None
    words = shlex.split(found[0])
    spec = manifest["spec"]
    assert words[words.index(spec["mainApplicationFile"]) + 1 :] == spec["arguments"]
    given = (word.split("=", 1) for before, word in pairwise(words) if before == "--conf")
    settings = dict(given)
    assert spec["sparkConf"].items() <= settings.items()
    assert settings["spark.kubernetes.container.image"] == spec["image"]
    for pod in ("driver", "executor"):
        assert settings[f"spark.{pod}.memory"] == spec[pod]["memory"]
        key = f"spark.kubernetes.{pod}.secretKeyRef.AWS_ACCESS_KEY_ID"
        assert settings[key] == "wireloom-storage:AWS_ACCESS_KEY_ID"
