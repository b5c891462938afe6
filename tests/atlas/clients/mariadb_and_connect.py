"""Start MariaDB with a table, then a worker of Connect; stop both on SIGTERM.

python mariadb_and_connect.py DEBIAN_FOLDER FOLDER JAVA_COMMAND ...
A start with the same folder inserts another row. FOLDER/connector.properties gets the port.
"""

import os
import re
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
SQL_AT_RESTART = "INSERT INTO shop.items VALUES (3, 'three');\n"


def main() -> int:
    debian, folder, *command = sys.argv[1:]
    data = Path(folder, "mariadb")
    os.environ["LD_LIBRARY_PATH"] = f"{debian}/usr/lib/x86_64-linux-gnu"
    os.environ["PATH"] = f"{debian}/usr/bin:{debian}/usr/sbin:{os.environ['PATH']}"
    messages = f"{debian}/usr/share/mysql"
    is_new = not data.exists()
    if is_new:
        install = ["mariadb-install-db", f"--basedir={debian}/usr", f"--datadir={data}"]
        install += ["--no-defaults", "--user=root", f"--lc-messages-dir={messages}"]
        subprocess.run(
            [*install, "--auth-root-authentication-method=normal"],
            stdout=subprocess.DEVNULL,
            check=True,
        )
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    Path(folder, "init.sql").write_text(SQL if is_new else SQL_AT_RESTART)
    words = ["--no-defaults", "--user=root", f"--datadir={data}", f"--lc-messages-dir={messages}"]
    words += ["--bind-address=127.0.0.1", f"--port={port}", f"--socket={folder}/socket"]
    words += ["--log-bin", "--binlog-format=ROW", "--server-id=1", f"--init-file={folder}/init.sql"]
    database = subprocess.Popen(["mariadbd", *words], stderr=subprocess.DEVNULL)
    try:
        _wait_for_port(port)
        settings = Path(folder, "connector.properties")
        text = re.sub("(?<=database.port=).*", str(port), settings.read_text())
        settings.write_text(text)
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
