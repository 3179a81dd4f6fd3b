"""``python -m trtforensics``."""

import sys

from trtforensics.cli import main

sys.exit(main())
