# A receiver for Ruby: WEBHOOK_SECRET=whsec_... ruby receiver.rb
require "base64"
require "fileutils"
require "json"
require "openssl"
require "securerandom"
require "socket"

INBOX = ENV.fetch("INBOX", "inbox")

# Whether the header X-Service-Signature was made with this secret, over these raw bytes, within 300 seconds.
def verify(body, header, secret, now)
  pairs = header.split(",").map { |pair| pair.split("=", 2) }
  times = pairs.filter_map { |name, value| value if name == "t" }
  signatures = pairs.filter_map { |name, value| value if name == "v1" }.first(8)
  return false if secret.empty? || header.bytesize > 4096 || times.size != 1 || times[0] !~ /\A[0-9]{1,12}\z/

  expected = OpenSSL::HMAC.hexdigest("SHA256", secret, "#{times[0]}.".b + body.b)
  genuine = signatures.map { |each| OpenSSL.secure_compare(expected, each) }
  genuine.any? && (now.to_i - times[0].to_i).abs <= 300
end

# Keeps an event once, whole or not at all. Do the work later, from there: 5 seconds are soon over.
# Leave a file of this name there after the work: the event can come again.
def store(id, body)
  temporary = "#{INBOX}/.#{id}.#{SecureRandom.uuid}"
  File.binwrite(temporary, body)
  File.link(temporary, "#{INBOX}/#{id}.json")
rescue Errno::EEXIST
  # it came before: answer 200 again
ensure
  File.unlink(temporary) if File.exist?(temporary)
end

# The id of the event, or nil if it has none: the webhook's envelope is b.
def id_of(body)
  event = JSON.parse(body)
  id = event["id"] if event.is_a?(Hash)
  id if id.is_a?(String) && id.match?(/\Aevt_\w+\z/)
rescue JSON::ParserError
  nil
end

# Without a gem there is no HTTP server; in Rack, the body is request.body.read, before any parser.
def receive(socket)
  headers = {}
  socket.gets("\r\n", 8192)
  100.times do
    line = socket.gets("\r\n", 8192)
    break if line.nil? || line == "\r\n"

    name, value = line.split(":", 2)
    headers[name.downcase] = value.to_s.strip
  end
  body = socket.read(headers["content-length"].to_i.clamp(0, 1 << 20))
  genuine = verify(body, headers["x-service-signature"].to_s, ENV.fetch("WEBHOOK_SECRET"), Time.now)
  id = id_of(body) if genuine
  store(id, body) if id
  socket.write("HTTP/1.1 #{id ? "200 OK" : "400 Bad Request"}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
ensure
  socket.close
end

if ARGV == ["check"]
  STDIN.each_line do |line|
    body, header, now, secret = JSON.parse(line).values_at("body", "header", "now", "secret")
    puts verify(Base64.decode64(body), header, secret, now) ? "ok" : "refused"
  end
else
  FileUtils.mkdir_p(INBOX)
  server = TCPServer.new("127.0.0.1", ENV.fetch("PORT", "3000").to_i)
  loop { Thread.new(server.accept) { |socket| receive(socket) } }
end
