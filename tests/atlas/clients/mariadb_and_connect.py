"""Start MariaDB with a table, then a worker of Connect; stop both on SIGTERM.

python mariadb_and_connect.py DEBIAN_FOLDER FOLDER JAVA_COMMAND ...
The port of the database replaces PORT in FOLDER/connector.properties.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

START_SECONDS = 120
SQL = """CREATE DATABASE shop;
CREATE TABLE shop.items (id INT PRIMARY KEY, name VARCHAR(9));
INSERT INTO shop.items VALUES (1, 'one'), (2, 'two');
CREATE USER 'debezium'@'127.0.0.1' IDENTIFIED BY 'secret';
GRANT ALL ON *.* TO 'debezium'@'127.0.0.1';
"""


def main() -> int:
    debian, folder, *command = sys.argv[1:]
    data = Path(folder, "mariadb")
    os.environ["LD_LIBRARY_PATH"] = f"{debian}/usr/lib/x86_64-linux-gnu"
    os.environ["PATH"] = f"{debian}/usr/bin:{debian}/usr/sbin:{os.environ['PATH']}"
    share = f"--lc-messages-dir={debian}/usr/share/mysql"
    install = [
        "mariadb-install-db",
        f"--basedir={debian}/usr",
        f"--datadir={data}",
        "--no-defaults",
    ]
    subprocess.run(
        [*install, "--user=root", "--auth-root-authentication-method=normal", share],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    Path(folder, "init.sql").write_text(SQL)
    words = ["--bind-address=127.0.0.1", f"--port={port}", f"--socket={folder}/socket", "--log-bin"]
    words += ["--binlog-format=ROW", "--server-id=1", f"--init-file={folder}/init.sql"]
    server_command = [
        "mariadbd",
        "--no-defaults",
        "--user=root",
        f"--datadir={data}",
        share,
        *words,
    ]
    database = subprocess.Popen(server_command, stderr=subprocess.DEVNULL)
    try:
        _wait_for_port(port)
        settings = Path(folder, "connector.properties")
        settings.write_text(settings.read_text().replace("PORT", str(port)))
        worker = subprocess.Popen(command)
        signal.signal(signal.SIGTERM, lambda *_: worker.terminate())
        return worker.wait()
    finally:
        database.terminate()
        database.wait()


def _wait_for_port(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        else:
            return


if __name__ == "__main__":
    sys.exit(main())
