import java.nio.ByteBuffer;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.MessageSizeAccumulator;

/** A message body to bytes and back, without header or length prefix. */
final class Wire {
    private Wire() {
    }

    static byte[] encode(Message message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        MessageSizeAccumulator size = new MessageSizeAccumulator();
        message.addSize(size, cache, version);
        ByteBuffer buffer = ByteBuffer.allocate(size.totalSize());
        message.write(new ByteBufferAccessor(buffer), cache, version);
        if (buffer.hasRemaining()) {
            throw new IllegalStateException(buffer.remaining() + " bytes of the computed size were not written");
        }
        return buffer.array();
    }

    static int decode(Message message, short version, byte[] body) {
        ByteBuffer buffer = ByteBuffer.wrap(body);
        message.read(new ByteBufferAccessor(buffer), version);
        return buffer.remaining();
    }
}
