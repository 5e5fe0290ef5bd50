"""A real S3 server on this machine, for tests of data sets behind URLs."""

import os
import uuid
from contextlib import contextmanager
from unittest.mock import patch


@contextmanager
def bucket():
    """The URL of an empty bucket, to which the environment leads while the block runs."""
    import fsspec
    from moto.server import ThreadedMotoServer

    forget = fsspec.get_filesystem_class("s3").clear_instance_cache  # file systems remember where they lead
    forget()
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    environment = {"AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_DEFAULT_REGION": "us-east-1"}
    environment |= dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "town")
    environment |= dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
    try:
        with patch.dict(os.environ, environment):
            name = f"towns-{uuid.uuid4().hex[:8]}"
            fsspec.filesystem("s3", skip_instance_cache=True).mkdir(name)
            yield f"s3://{name}"
    finally:
        server.stop()
        forget()
