// A receiver for C#: mcs receiver.cs && WEBHOOK_SECRET=whsec_… mono receiver.exe, or as Program.cs of `dotnet new console`
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading.Tasks;

static class Receiver {
  static readonly string Inbox = Environment.GetEnvironmentVariable("INBOX") ?? "inbox";

  /// Whether the header X-Service-Signature was made with this secret, over these raw bytes, within 300 seconds.
  static bool Verify(byte[] body, string header, string secret, long now) {
    var pairs = header.Split(',');
    var times = pairs.Where(pair => pair.StartsWith("t=", StringComparison.Ordinal)).Select(pair => pair.Substring(2)).ToList();
    var signatures = pairs.Where(pair => pair.StartsWith("v1=", StringComparison.Ordinal)).Select(pair => pair.Substring(3)).ToList();
    if (secret == "" || header.Length > 4096 || signatures.Count > 8) return false;
    if (times.Count != 1 || !Regex.IsMatch(times[0], @"\A[0-9]{1,12}\z")) return false;
    string expected;
    using (var hmac = new HMACSHA256(Encoding.UTF8.GetBytes(secret)))
      expected = string.Concat(hmac.ComputeHash(Encoding.UTF8.GetBytes(times[0] + ".").Concat(body).ToArray()).Select(b => b.ToString("x2")));
    var genuine = false;
    foreach (var signature in signatures) genuine |= IsEqual(expected, signature);
    return genuine && Math.Abs(now - long.Parse(times[0])) <= 300;
  }

  /// In a time that does not depend on where they differ.
  static bool IsEqual(string expected, string given) {
    var difference = expected.Length ^ given.Length;
    for (var i = 0; i < expected.Length && i < given.Length; i++) difference |= expected[i] ^ given[i];
    return difference == 0;
  }

  /// Keeps an event once, whole or not at all. Do the work later, from there: 5 seconds are soon over.
  /// Leave a file of this name there after the work: the event can come again.
  static void Store(string id, byte[] body) {
    var temporary = Path.Combine(Inbox, "." + id + "." + Guid.NewGuid());
    var path = Path.Combine(Inbox, id + ".json");
    File.WriteAllBytes(temporary, body);
    try {
      File.Move(temporary, path);
    } catch (IOException) when (File.Exists(path)) {
      File.Delete(temporary); // it came before: answer 200 again
    }
  }

  /// The value of a field. Take a JSON parser where you need more than the id: System.Text.Json on .NET.
  static string Field(string json, string pattern) => Regex.Match(json, pattern).Groups[1].Value;

  static readonly Regex Id = new Regex(@"\G\s*:\s*""(evt_\w+)""");

  /// The field id of the event, which may be anywhere in it, or "" if it has none: the webhook's envelope is b.
  static string IdOf(string json) {
    for (int i = 0, depth = 0; i < json.Length; i++) {
      if (json[i] == '{' || json[i] == '[') depth++;
      if (json[i] == '}' || json[i] == ']') depth--;
      if (json[i] != '"') continue;
      var isId = depth == 1 && string.CompareOrdinal(json, i, "\"id\"", 0, 4) == 0;
      var found = isId ? Id.Match(json, i + 4) : Match.Empty;
      if (found.Success) return found.Groups[1].Value;
      for (i++; i < json.Length && json[i] != '"'; i++) if (json[i] == '\\') i++;
    }
    return "";
  }

  /// The body. Of a longer one than any event's, only the beginning, whose signature is wrong.
  static byte[] Read(Stream input) {
    var body = new MemoryStream();
    var part = new byte[1 << 16];
    for (int read; body.Length <= 1 << 20 && (read = input.Read(part, 0, part.Length)) > 0;) body.Write(part, 0, read);
    return body.ToArray();
  }

  static void Receive(HttpListenerContext context) {
    try {
      var bytes = Read(context.Request.InputStream);
      context.Response.KeepAlive = bytes.Length <= 1 << 20; // else the rest would be read before the next request
      var header = context.Request.Headers["X-Service-Signature"] ?? "";
      var secret = Environment.GetEnvironmentVariable("WEBHOOK_SECRET") ?? "";
      var genuine = Verify(bytes, header, secret, DateTimeOffset.UtcNow.ToUnixTimeSeconds());
      var id = genuine ? IdOf(Encoding.UTF8.GetString(bytes)) : "";
      if (id != "") Store(id, bytes);
      context.Response.StatusCode = id == "" ? 400 : 200;
    } catch (Exception error) {
      Console.Error.WriteLine(error);
      context.Response.StatusCode = 500; // it comes again
    }
    context.Response.Close();
  }

  static void Main(string[] args) {
    if (args.Length > 0 && args[0] == "check") {
      for (string line; (line = Console.ReadLine()) != null;) {
        var body = Convert.FromBase64String(Field(line, "\"body\":\"([^\"]*)\""));
        var now = long.Parse(Field(line, "\"now\":([0-9]+)"));
        var header = Field(line, "\"header\":\"([^\"]*)\"");
        Console.WriteLine(Verify(body, header, Field(line, "\"secret\":\"([^\"]*)\""), now) ? "ok" : "refused");
      }
    } else {
      Directory.CreateDirectory(Inbox);
      var listener = new HttpListener();
      listener.Prefixes.Add("http://127.0.0.1:" + (Environment.GetEnvironmentVariable("PORT") ?? "3000") + "/");
      listener.Start();
      while (true) {
        var context = listener.GetContext();
        Task.Run(() => Receive(context));
      }
    }
  }
}
