"""Without the extra: the package imports, and creating an environment says what to install."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("package", "name"),
    [
        ("gymnasium", "GameEnv"),
        ("gymnasium", "GameVectorEnv"),
        ("gymnasium", "MetaGame"),
        ("gymnasium", "aec_env"),
        ("pettingzoo", "parallel_env"),
    ],
)
def test_the_sentence_names_the_extra(package: str, name: str) -> None:
    program = f"""
import sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {package!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Nothing())
try:
    import ludodrome.envs
    from ludodrome.envs import {name}
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert f"need {package}, which is not installed: pip install 'ludodrome[rl]'" in done.stdout


def test_the_client_names_its_extra() -> None:
    program = "import sys; sys.modules['httpx'] = None; import ludodrome.client"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "a client needs httpx, which is not installed: pip install 'ludodrome[client]'" in done.stderr


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    program = "import sys, ludodrome.envs; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_there_is_nothing_else_in_the_package() -> None:
    import ludodrome.envs

    with pytest.raises(AttributeError, match="has no attribute 'Chess'"):
        _ = ludodrome.envs.Chess
