"""Authorization: ACLs, decisions and requirements, without sockets, codecs or clocks."""
