"""Kill a study at twenty random moments, each time resuming it: python tests/studies/kill_twenty.py
[SEED].

Says where the results differ from those of a study that was never killed.
"""

import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.studies.kills import files, kill_after, results, run


def main(seed: int) -> int:
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "never"
        seconds = run(whole)
        print(f"never killed: {seconds:.1f} s")
        different = kills = n = 0
        while kills < 20:
            n += 1
            out = Path(folder) / f"killed{n}"
            for _ in range(4):
                # tasks come first and are short: more of the moments are early
                moment = seconds * rng.random() ** 3
                alive = kill_after(out, moment)
                kills += alive
                done = (
                    len(list((out / "predictions").glob("*.parquet")))
                    if out.exists()
                    else 0
                )
                print(
                    f"study {n}: after {moment:.2f} s {'killed' if alive else 'ended'}, {done}"
                    " predictions"
                )
            run(out)
            same = results(out) == results(whole) and files(out) == files(whole)
            different += not same
            print(f"study {n}: {'same results' if same else 'DIFFERENT RESULTS'}")
        print(f"{kills} kills, {n} studies, {different} with different results")
    return different


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
