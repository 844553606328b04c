import pytest

pytest.register_assert_rewrite(f"{__name__}.eventlog_contract")
