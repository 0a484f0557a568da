// A receiver for Java: WEBHOOK_SECRET=whsec_… java Receiver.java
import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.*;
import java.net.InetSocketAddress;
import java.nio.file.*;
import java.security.*;
import java.time.Instant;
import java.util.*;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receiver {
  static final Path INBOX = Path.of(System.getenv().getOrDefault("INBOX", "inbox"));

  /** Whether the header X-Service-Signature was made with this secret, over these raw bytes, within 300 seconds. */
  static boolean verify(byte[] body, String header, String secret, long now) throws GeneralSecurityException {
    var times = new ArrayList<String>();
    var signatures = new ArrayList<String>();
    for (var pair : header.split(",")) {
      if (pair.startsWith("t=")) times.add(pair.substring(2));
      if (pair.startsWith("v1=")) signatures.add(pair.substring(3));
    }
    if (secret.isEmpty() || header.length() > 4096 || signatures.size() > 8) return false;
    if (times.size() != 1 || !times.get(0).matches("[0-9]{1,12}")) return false;
    var mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
    mac.update((times.get(0) + ".").getBytes(UTF_8));
    var expected = HexFormat.of().formatHex(mac.doFinal(body)).getBytes(UTF_8);
    var genuine = false;
    for (var signature : signatures) genuine |= MessageDigest.isEqual(expected, signature.getBytes(UTF_8));
    return genuine && Math.abs(now - Long.parseLong(times.get(0))) <= 300;
  }

  /**
   * Keeps an event once, whole or not at all. Do the work later, from there: 5 seconds are soon over. Leave a file of
   * this name there after the work: the event can come again.
   */
  static void store(String id, byte[] body) throws IOException {
    var temporary = Files.write(INBOX.resolve("." + id + "." + UUID.randomUUID()), body);
    try {
      Files.createLink(INBOX.resolve(id + ".json"), temporary);
    } catch (FileAlreadyExistsException e) {
      // it came before: answer 200 again
    } finally {
      Files.delete(temporary);
    }
  }

  /** The value of a field. The JDK has no JSON parser; take the one of your framework where you need more than the id. */
  static String field(String json, String pattern) {
    var found = Pattern.compile(pattern).matcher(json);
    return found.find() ? found.group(1) : "";
  }

  static final Pattern ID = Pattern.compile("\\s*:\\s*\"(evt_\\w+)\"");

  /** The field id of the event, which may be anywhere in it, or "" if it has none: the webhook's envelope is b. */
  static String idOf(String json) {
    for (int i = 0, depth = 0; i < json.length(); i++) {
      var c = json.charAt(i);
      if (c == '{' || c == '[') depth++;
      if (c == '}' || c == ']') depth--;
      if (c != '"') continue;
      var found = ID.matcher(json).region(Math.min(i + 4, json.length()), json.length());
      if (depth == 1 && json.startsWith("\"id\"", i) && found.lookingAt()) return found.group(1);
      for (i++; i < json.length() && json.charAt(i) != '"'; i++) if (json.charAt(i) == '\\') i++;
    }
    return "";
  }

  static void receive(HttpExchange exchange) throws IOException {
    var status = 500; // it comes again
    try {
      var body = exchange.getRequestBody().readNBytes(1 << 20);
      var header = Objects.requireNonNullElse(exchange.getRequestHeaders().getFirst("X-Service-Signature"), "");
      var genuine = verify(body, header, System.getenv("WEBHOOK_SECRET"), Instant.now().getEpochSecond());
      var id = genuine ? idOf(new String(body, UTF_8)) : "";
      if (!id.isEmpty()) store(id, body);
      status = id.isEmpty() ? 400 : 200;
    } catch (GeneralSecurityException | IOException e) {
      e.printStackTrace();
    }
    exchange.sendResponseHeaders(status, -1);
    exchange.close();
  }

  public static void main(String[] args) throws Exception {
    if (args.length > 0 && args[0].equals("check")) {
      for (var line : new BufferedReader(new InputStreamReader(System.in, UTF_8)).lines().toList()) {
        var body = Base64.getDecoder().decode(field(line, "\"body\":\"([^\"]*)\""));
        var now = Long.parseLong(field(line, "\"now\":([0-9]+)"));
        var header = field(line, "\"header\":\"([^\"]*)\"");
        System.out.println(verify(body, header, field(line, "\"secret\":\"([^\"]*)\""), now) ? "ok" : "refused");
      }
    } else {
      Files.createDirectories(INBOX);
      var port = Integer.parseInt(System.getenv().getOrDefault("PORT", "3000"));
      var server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
      server.createContext("/", Receiver::receive);
      server.setExecutor(Executors.newCachedThreadPool());
      server.start();
    }
  }
}
