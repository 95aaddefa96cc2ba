from lyceum.web.answers import (
    HANDLERS as HANDLERS,
    JsonAnswer as JsonAnswer,
    Refused as Refused,
    decode_json as decode_json,
    encode_json as encode_json,
)
from lyceum.web.doors import (
    Door as Door,
    TokenDoor as TokenDoor,
    check_address as check_address,
)
from lyceum.web.limits import Limited as Limited, Limits as Limits
from lyceum.web.running import (
    Certificates as Certificates,
    address_of as address_of,
    bind as bind,
    run as run,
    run_workers as run_workers,
)
