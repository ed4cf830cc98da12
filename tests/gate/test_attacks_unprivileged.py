"""All attacks once more as an unprivileged user: who runs the gate makes no difference."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from testkit.paths import ROOT
from testkit.sampling import nightly, slow


def _python_for(user):
    """An interpreter of this version that another user may execute."""
    for path in (
        sys.executable,
        f"/usr/bin/python3.{sys.version_info.minor}",
        f"/usr/local/bin/python3.{sys.version_info.minor}",
    ):
        code = "import sys; print(sys.version_info[:2])"
        try:
            done = subprocess.run(
                [path, "-c", code], user=user, capture_output=True, text=True, cwd="/", check=False
            )
        except OSError:
            continue
        if done.stdout.strip() == str(sys.version_info[:2]):
            return path
    return None


@pytest.mark.parametrize(
    "topic",
    [
        slow("files", timeout=900),
        nightly("processes", timeout=900),
        nightly("limits", timeout=900),
        nightly("reports", timeout=900),
    ],
)
@pytest.mark.skipif(os.getuid() != 0, reason="the suite runs as an unprivileged user already")
def test_the_attacks_end_the_same_for_an_unprivileged_user(topic):
    """D-S8-11: the attacks once more, as nobody; what the source shows does not depend on the user."""
    nobody = 65534
    python = _python_for(nobody)
    if python is None:
        pytest.skip("no Python here may be executed by another user")
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))  # another user may reach it
    try:
        folder.chmod(0o755)
        home = folder / "home"
        home.mkdir()
        os.chown(home, nobody, nobody)
        checkout = ROOT
        for part in ("src", "tests"):
            shutil.copytree(checkout / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(checkout / "pyproject.toml", folder)
        places = [str(folder / "src"), *(path for path in sys.path if path.endswith("site-packages"))]
        options = [
            "-q",
            "-p",
            "no:cacheprovider",
            "-n",
            "2",
            f"--basetemp={home}/tmp",
            "-k",
            "not unprivileged",
        ]
        done = subprocess.run(
            [python, "-B", "-m", "pytest", *options, f"tests/gate/test_attacks_{topic}.py"],
            cwd=folder,
            user=nobody,
            group=nobody,
            extra_groups=[],
            env={
                "PATH": os.defpath,
                "HOME": str(home),
                "TMPDIR": str(home),
                "PYTHONPATH": os.pathsep.join(places),
            },
            capture_output=True,
            text=True,
            timeout=800,
            check=False,
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        assert " passed" in done.stdout
    finally:
        shutil.rmtree(folder)
