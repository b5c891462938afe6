"""Who may do what: ACLs, decisions and requirements; no sockets, no codec, no clock."""
