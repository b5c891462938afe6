package org.apache.kafka.image.loader;

/** A broker outside has loaded all metadata: `RaftLog.endOffset` waits for that. */
public class MetadataLoader {
    public long lastAppliedOffset() {
        return Long.MAX_VALUE;
    }
}
