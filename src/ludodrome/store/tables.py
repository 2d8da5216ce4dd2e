"""All tables together: importing this makes ``METADATA`` whole, whichever module a table is in."""

import importlib
import pkgutil

import ludodrome.store
from ludodrome.store.models import Base

for _module in pkgutil.iter_modules(ludodrome.store.__path__, "ludodrome.store."):
    if _module.name.endswith("_models"):
        importlib.import_module(_module.name)

METADATA = Base.metadata
