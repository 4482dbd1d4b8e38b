import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.EndTransactionMarker;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.utils.AppInfoParser;

/** Prints one line a vector: its name and its bytes in hex. The records are those of expected() in kafka_clients.rs. */
public class Vectors {
    static final long FIRST_TIMESTAMP = 1_600_000_000_000L;

    public static void main(String[] args) {
        System.out.println("# Written by kafka-clients " + AppInfoParser.getVersion() + "; made by java/run.");
        for (CompressionType type : CompressionType.values()) {
            print("v2 " + type.name, set(RecordBatch.MAGIC_VALUE_V2, type, TimestampType.CREATE_TIME, 20, false));
            if (type != CompressionType.NONE)
                print("v2 " + type.name + " large", set(RecordBatch.MAGIC_VALUE_V2, type, TimestampType.CREATE_TIME, 24, true));
            if (type == CompressionType.ZSTD) continue;
            print("v1 " + type.name, set(RecordBatch.MAGIC_VALUE_V1, type, TimestampType.CREATE_TIME, 20, false));
            print("v1 " + type.name + " append time", set(RecordBatch.MAGIC_VALUE_V1, type, TimestampType.LOG_APPEND_TIME, 20, false));
            print("v0 " + type.name, set(RecordBatch.MAGIC_VALUE_V0, type, TimestampType.NO_TIMESTAMP_TYPE, 20, false));
        }
        print("v2 none append time", set(RecordBatch.MAGIC_VALUE_V2, CompressionType.NONE, TimestampType.LOG_APPEND_TIME, 20, false));
        print("v2 none idempotent", append(new Builder().producer(4711, (short) 3, Integer.MAX_VALUE - 3, false).build(), RecordBatch.MAGIC_VALUE_V2, 20, false));
        print("v2 none transactional", append(new Builder().producer(4711, (short) 3, 0, true).build(), RecordBatch.MAGIC_VALUE_V2, 20, false));
        print("v2 none delete horizon", append(new Builder().deleteHorizon(FIRST_TIMESTAMP - 5).build(), RecordBatch.MAGIC_VALUE_V2, 20, false));
        print("marker commit", marker(ControlRecordType.COMMIT));
        print("marker abort", marker(ControlRecordType.ABORT));
    }

    /** A builder of v2 batches with what most of them don't have. */
    static class Builder {
        long producerId = -1;
        short epoch = -1;
        int sequence = -1;
        boolean transactional = false;
        long deleteHorizon = -1;

        Builder producer(long id, short epoch, int sequence, boolean transactional) {
            this.producerId = id;
            this.epoch = epoch;
            this.sequence = sequence;
            this.transactional = transactional;
            return this;
        }

        Builder deleteHorizon(long timestamp) {
            this.deleteHorizon = timestamp;
            return this;
        }

        MemoryRecordsBuilder build() {
            return new MemoryRecordsBuilder(new org.apache.kafka.common.utils.ByteBufferOutputStream(64), RecordBatch.MAGIC_VALUE_V2,
                Compression.NONE, TimestampType.CREATE_TIME, 100, RecordBatch.NO_TIMESTAMP, producerId, epoch, sequence,
                transactional, false, 9, Integer.MAX_VALUE, deleteHorizon);
        }
    }

    static MemoryRecords set(byte magic, CompressionType type, TimestampType timestampType, int count, boolean large) {
        long appendTime = timestampType == TimestampType.LOG_APPEND_TIME ? FIRST_TIMESTAMP + 999 : RecordBatch.NO_TIMESTAMP;
        MemoryRecordsBuilder builder = MemoryRecords.builder(ByteBuffer.allocate(64), magic, Compression.of(type).build(),
            timestampType, 100, appendTime, RecordBatch.NO_PRODUCER_ID, RecordBatch.NO_PRODUCER_EPOCH, RecordBatch.NO_SEQUENCE,
            false, 9);
        return append(builder, magic, count, large);
    }

    static MemoryRecords append(MemoryRecordsBuilder builder, byte magic, int count, boolean large) {
        for (int i = 0; i < count; i++) {
            long timestamp = magic == RecordBatch.MAGIC_VALUE_V0 ? RecordBatch.NO_TIMESTAMP : FIRST_TIMESTAMP + (i * 37 % 101);
            byte[] key = i % 5 == 0 ? null : ("key-" + i % 4).getBytes(StandardCharsets.UTF_8);
            byte[] value = i % 7 == 3 ? null : ("value-" + i + "-").repeat(large ? 700 : i).getBytes(StandardCharsets.UTF_8);
            Header[] headers = magic == RecordBatch.MAGIC_VALUE_V2 && i % 3 == 1
                ? new Header[] {
                    new RecordHeader("h", new byte[] {(byte) i}),
                    new RecordHeader("", new byte[0]),
                    new RecordHeader("h", null)}
                : Record.EMPTY_HEADERS;
            builder.append(timestamp, key, value, headers);
        }
        return builder.build();
    }

    static MemoryRecords marker(ControlRecordType type) {
        return MemoryRecords.withEndTransactionMarker(100, FIRST_TIMESTAMP, 9, 4711, (short) 3, new EndTransactionMarker(type, 17));
    }

    static void print(String name, MemoryRecords records) {
        ByteBuffer buffer = records.buffer().duplicate();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        System.out.println(name + ": " + HexFormat.of().formatHex(bytes));
    }
}
