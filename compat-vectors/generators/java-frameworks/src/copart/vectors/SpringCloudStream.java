package copart.vectors;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.cloud.stream.binder.PartitionHandler;
import org.springframework.cloud.stream.binder.ProducerProperties;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.messaging.Message;
import org.springframework.messaging.support.MessageBuilder;

/**
 * Usage: SpringCloudStream KEYS_JSONL COUNTS OUT_DIR
 *
 * A binding with partition-key-expression=headers['key'] and nothing else configured. The key is a String.
 */
public final class SpringCloudStream implements Placer {
    private final PartitionHandler handler;

    private SpringCloudStream() {
        ProducerProperties properties = new ProducerProperties();
        properties.setPartitionKeyExpression(new SpelExpressionParser().parseExpression("headers['key']"));
        properties.setPartitionCount(1);
        handler = new PartitionHandler(new StandardEvaluationContext(), properties, new DefaultListableBeanFactory());
    }

    @Override
    public int place(byte[] key, int partitions) {
        String header = key == null ? null : new String(key, StandardCharsets.UTF_8);
        Message<String> message = MessageBuilder.withPayload("v").setHeader("key", header).build();
        handler.setPartitionCount(partitions);
        return handler.determinePartition(message);
    }

    public static void main(String[] args) throws Exception {
        Run run = new Run();
        run.profile = "spring-cloud-stream/default";
        run.client = "spring-cloud-stream";
        run.version = PartitionHandler.class.getPackage().getImplementationVersion();
        run.partitioner = "PartitionHandler.determinePartition";
        run.how = "spring-cloud-stream jar from Maven; PartitionHandler called with messages whose key header is the key read as UTF-8";
        int[] counts = Arrays.stream(args[1].split(",")).mapToInt(Integer::parseInt).toArray();
        run.write(Key.read(Path.of(args[0])), counts, SpringCloudStream::new, Path.of(args[2]));
    }
}
