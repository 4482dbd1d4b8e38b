package copart.vectors;

/** One fresh instance of a client's partitioner. */
interface Placer extends AutoCloseable {
    /** What {@link #place} returns when the client leaves the choice open. */
    int OPEN = -1;

    int place(byte[] key, int partitions) throws Exception;

    /** What the client does with a key for which {@link #place} returns {@link #OPEN}. */
    default String open() {
        return "left open";
    }

    /** The client's own hash of a key that it pins, or null if it has none to show. */
    default Integer hash(byte[] key) {
        return null;
    }

    @Override
    default void close() {}
}
