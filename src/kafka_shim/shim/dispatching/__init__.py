"""From a frame to its response: decoding, handlers, encoding, the response cache, interceptors."""
