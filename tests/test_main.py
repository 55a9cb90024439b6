"""The entry point: a control-C before the command line is loaded."""

import subprocess
import sys

CODE = """
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "phraseloom.cli":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
from phraseloom.__main__ import main
main()
"""


def test_an_interrupt_while_loading_shows_no_traceback() -> None:
    result = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=False
    )

    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")
