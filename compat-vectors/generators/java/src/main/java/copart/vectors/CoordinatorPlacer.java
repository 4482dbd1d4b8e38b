package copart.vectors;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import sun.misc.Unsafe;

/**
 * Calls partitionFor of the broker's own coordinator classes, which place group ids in __consumer_offsets and
 * transactional ids in __transaction_state. The coordinator is not started: only the partition count is set in it.
 */
final class CoordinatorPlacer implements Placer {
    static final String GROUP_SERVICE = "org.apache.kafka.coordinator.group.GroupCoordinatorService";
    static final String GROUP_MANAGER = "kafka.coordinator.group.GroupMetadataManager";
    static final String TRANSACTION_MANAGER = "kafka.coordinator.transaction.TransactionStateManager";

    private final Class<?> type;
    private final Object coordinator;
    private final MethodHandle partitionFor;
    private final Field count;

    CoordinatorPlacer(String className) throws ReflectiveOperationException {
        type = Class.forName(className);
        coordinator = unsafe().allocateInstance(type); // the constructors want a whole broker
        // A handle, because plain reflection would load the type of every parameter of every method.
        partitionFor = MethodHandles.lookup().findVirtual(type, "partitionFor", MethodType.methodType(int.class, String.class));
        switch (className) {
            case GROUP_SERVICE:
                count = field("numPartitions");
                field("isActive").set(coordinator, new AtomicBoolean(true));
                break;
            case GROUP_MANAGER:
                count = field("groupMetadataTopicPartitionCount");
                break;
            case TRANSACTION_MANAGER:
                count = field("transactionTopicPartitionCount");
                break;
            default:
                throw new IllegalArgumentException("no coordinator class named " + className);
        }
    }

    /** A coordinator's id is a String: the bytes are read as UTF-8, as the broker reads them from a request. */
    @Override
    public int place(byte[] key, int partitions) throws Exception {
        String id = key == null ? null : new String(key, StandardCharsets.UTF_8);
        count.setInt(coordinator, partitions);
        try {
            return (int) partitionFor.bindTo(coordinator).invoke(id);
        } catch (Exception raised) {
            throw raised;
        } catch (Throwable raised) {
            throw new IllegalStateException(raised);
        }
    }

    @Override
    public Integer hash(byte[] key) {
        return new String(key, StandardCharsets.UTF_8).hashCode();
    }

    /** The class that a broker of this version uses: the group coordinator was rewritten in Java. */
    static String groupClass() {
        try {
            return Class.forName(GROUP_MANAGER).getName();
        } catch (ClassNotFoundException rewritten) {
            return GROUP_SERVICE;
        }
    }

    private Field field(String name) throws ReflectiveOperationException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    private static Unsafe unsafe() throws ReflectiveOperationException {
        Field instance = Unsafe.class.getDeclaredField("theUnsafe");
        instance.setAccessible(true);
        return (Unsafe) instance.get(null);
    }
}
