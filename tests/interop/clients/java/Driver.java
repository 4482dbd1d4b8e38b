import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ExecutionException;

/** Does with Java's client what each line of the input asks for: Driver BOOTSTRAP. See ../README.md. */
public final class Driver {
    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Client client = new Client(arguments[0])) {
            for (String line = requests.readLine(); line != null; line = requests.readLine()) {
                answers.println(Json.write(answer(client, new Request(Json.read(line)))));
            }
        }
    }

    private static Map<String, Object> answer(Client client, Request request) {
        try {
            return java.util.Collections.singletonMap("ok", client.act(request));
        } catch (Exception problem) {
            Throwable cause = problem instanceof ExecutionException ? problem.getCause() : problem;
            return Map.of("error", cause.getClass().getSimpleName() + ": " + cause.getMessage());
        }
    }
}
