"""What a serving process sets for itself."""

import subprocess
import sys


def test_a_process_takes_all_the_files_it_may_have() -> None:
    script = (
        "import gc, resource\n"
        "_, most = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (100, most))\n"
        "from wireloom.live.process import GC_THRESHOLDS, prepare\n"
        "prepare()\n"
        "assert resource.getrlimit(resource.RLIMIT_NOFILE) == (most, most)\n"
        "assert gc.get_threshold() == GC_THRESHOLDS\n"
        "assert gc.get_freeze_count() > 0\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
