"""Network captures (pcap, pcapng) into traces, and traces into captures."""
