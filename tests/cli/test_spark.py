"""Spark behind a command."""

import os

import pytest

from wireloom.cli.misuse import MisuseError
from wireloom.cli.progress import ProgressLine
from wireloom.cli.spark import Listener, parsed, passed_on

BANNER = """\
WARNING: Using incubator modules: jdk.incubator.vector
Picked up JAVA_TOOL_OPTIONS: -Xmx1g
Using Spark's default log4j profile: org/apache/spark/log4j2-defaults.properties
Setting default log level to "WARN".
To adjust logging level use sc.setLogLevel(newLevel). For SparkR, use setLogLevel(newLevel).
26/01/01 08:00:00 WARN NativeCodeLoader: Unable to load native-hadoop library for your platform
26/01/01 08:00:00 WARN Utils: Your hostname, box, resolves to a loopback address: 127.0.1.1
08:00:00 INFO SparkContext: Running Spark version 4.1.0
:: loading settings :: url = jar:file:/spark/jars/ivy-2.5.3.jar!/org/apache/ivy/core/settings.xml
Ivy Default Cache set to: /home/ann/.ivy2.5.2/cache
The jars for the packages stored in: /home/ann/.ivy2.5.2/jars
org.apache.hadoop#hadoop-aws added as a dependency
:: resolving dependencies :: org.apache.spark#spark-submit-parent;1.0
\tconfs: [default]
\tfound org.apache.hadoop#hadoop-aws;3.4.2 in central
downloading https://repo1.maven.org/maven2/org/apache/hadoop/hadoop-aws.jar ...
\t---------------------------------------------------------------------
\t|                  |            modules            ||   artifacts   |
"""

ERRORS = """\
08:00:00 ERROR Executor: Exception in task 0.0 in stage 1.0 (TID 1)
java.lang.OutOfMemoryError: Java heap space
Exception in thread "main" org.apache.spark.SparkException: Could not parse Master URL: 'nope'
Error: Could not create the Java Virtual Machine.
Invalid maximum heap size: -Xmxxyz
"""


def test_what_spark_says_at_every_start_is_hidden() -> None:
    assert [line for line in BANNER.splitlines(keepends=True) if passed_on(line)] == []


def test_errors_are_passed_on() -> None:
    lines = ERRORS.splitlines(keepends=True)
    assert [line for line in lines if passed_on(line)] == lines


def test_a_setting_has_a_key_and_a_value() -> None:
    assert parsed(["a=b=c", "d="]) == {"a": "b=c", "d": ""}
    for wrong in ("foo", "=foo"):
        with pytest.raises(MisuseError, match=f"--conf {wrong}: a setting is KEY=VALUE"):
            parsed([wrong])


def test_a_process_that_ended_said_why(capsys: pytest.CaptureFixture[str]) -> None:
    listener = Listener(ProgressLine())
    os.write(listener.ear, (BANNER + ERRORS.splitlines(keepends=True)[2]).encode())
    assert listener.reason() == "Could not parse Master URL: 'nope'"
    assert capsys.readouterr().err == ""


def test_once_it_has_started_its_errors_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    listener = Listener(ProgressLine())
    os.write(listener.ear, BANNER.encode())
    listener.show()
    os.write(listener.ear, b"08:00:00 ERROR Executor: it failed\n")
    assert listener.reason() is None
    assert capsys.readouterr().err == "08:00:00 ERROR Executor: it failed\n"
