"""A real S3 server on this machine, for tests of data sets behind URLs."""

import os
import uuid
from contextlib import contextmanager
from unittest.mock import patch


@contextmanager
def bucket():
    """The URL of an empty bucket; while the block runs, the environment of this process and its children
    leads there.
    """
    import fsspec
    from moto.server import ThreadedMotoServer

    forget = fsspec.get_filesystem_class("s3").clear_instance_cache  # file systems remember where they lead
    forget()
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    told = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "town",
        "AWS_SECRET_ACCESS_KEY": "town",
        "AWS_DEFAULT_REGION": "us-east-1",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }
    try:
        with patch.dict(os.environ, told):
            name = f"towns-{uuid.uuid4().hex[:8]}"
            fsspec.filesystem("s3", skip_instance_cache=True).mkdir(name)
            yield f"s3://{name}"
    finally:
        server.stop()
        forget()
