import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import * as ServerUrl from "../src/ServerUrl.ts"

const parsed = (text: string): ServerUrl.ServerUrl =>
  Result.getOrThrowWith(ServerUrl.parse(text), (why) => new Error(why))

const faultOf = (text: string): string | undefined =>
  Result.match(ServerUrl.parse(text), { onFailure: (why) => why, onSuccess: () => undefined })

describe("a server's URL", () => {
  const local = { name: "localhost", port: 5432 }
  it.each<[text: string, hosts: ReadonlyArray<ServerUrl.Host>, name: string]>([
    ["postgres://u:p@h:1/db", [{ name: "h", port: 1 }], "h:1/db"],
    ["postgres://u@h1:1,h2/db?sslmode=require", [{ name: "h1", port: 1 }, { name: "h2", port: 5432 }], "h1:1,h2/db"],
    [
      "postgresql://u:p@[::1]:5433,h2/db",
      [{ name: "::1", port: 5433 }, { name: "h2", port: 5432 }],
      "[::1]:5433,h2/db"
    ],
    ["postgres:///db?host=/run/postgresql", [{ name: "/run/postgresql", port: 5432 }], "/run/postgresql/db"],
    ["postgres://%2Frun%2Fpostgresql/db", [{ name: "/run/postgresql", port: 5432 }], "%2Frun%2Fpostgresql/db"],
    ["postgres://u:p%40%2F@h", [{ name: "h", port: 5432 }], "h"],
    ["postgres:///db", [local], "/db"],
    ["postgres://?dbname=db", [local], "/db"],
    ["postgres://h:1/db?host=a,b&port=2", [{ name: "a", port: 2 }, { name: "b", port: 2 }], "a:2,b:2/db"],
    ["postgres:///?host=a,b&port=2,3", [{ name: "a", port: 2 }, { name: "b", port: 3 }], "a:2,b:3"],
    ["postgres://h/db?port=2", [{ name: "h", port: 2 }], "h:2/db"],
    ["postgres://h/db?hostaddr=10.0.0.1", [{ name: "h", port: 5432, address: "10.0.0.1" }], "h:5432/db"]
  ])("a URL names its hosts: %s", (text, hosts, name) => {
    const url = parsed(text)
    assert.deepStrictEqual<unknown>(url.hosts, hosts)
    assert.strictEqual(url.name, name)
  })

  it.each([
    ["postgres://h/db", "prefer"],
    ["postgres://h/db?sslmode=disable", "disable"],
    ["postgres://h/db?sslmode=require", "require"],
    ["postgres://h/db?sslmode=prefer&sslrootcert=/a.pem", "prefer"],
    ["postgres://localhost,h/db?sslmode=allow", "allow"],
    ["postgres://localhost/db?hostaddr=10.0.0.1", "prefer"],
    ["postgres://127.example.com/db", "prefer"],
    ["postgres://h/db?sslmode=require&sslrootcert=/a.pem", undefined],
    ["postgres://h/db?sslmode=verify-ca", undefined],
    ["postgres://h/db?sslrootcert=system", undefined],
    ["postgres:///db", undefined],
    ["postgres://127.0.0.1,[::1]/db", undefined],
    ["postgres:///db?host=/run/postgresql", undefined]
  ])("a mode is unproven if another machine need not prove who it is: %s", (text, mode) => {
    assert.strictEqual(ServerUrl.unprovenMode(parsed(text)), mode)
  })

  it("parameters come before what stands in front of them, and the last of a name before the others", () => {
    const url = parsed("postgres://a:b@h/c?user=d&user=e%2B+&password=f%26&dbname=g")
    assert.deepStrictEqual([url.user, Redacted.value(url.password!), url.database], ["e++", "f&", "g"])
    assert.strictEqual(url.name, "h/g")
  })

  it.each<[text: string, mode: ServerUrl.SslMode]>([
    ["postgres://h/db", "prefer"],
    ...ServerUrl.sslModes.map((mode): [string, ServerUrl.SslMode] => [`postgres://h/db?sslmode=${mode}`, mode]),
    ["postgres://h/db?sslrootcert=system", "verify-full"]
  ])("encryption has the mode of libpq: %s", (text, mode) => {
    assert.strictEqual(parsed(text).encryption.mode, mode)
  })

  it.each([
    ["hunter2", "it does not begin with postgres://"],
    ["postgres://u:hunter2@h1:1,h2:hunter2/db", "the port of the second host is no number from 1 to 65535"],
    ["postgres://u:hunter2@h:0/db", "the port of the host is no number from 1 to 65535"],
    ["postgres://u:hunter2@h:70000/db", "the port of the host is no number from 1 to 65535"],
    ["postgres://u:hunter2@h1,,h3/db", "the second host is missing"],
    ["postgres://u:hunter2@h1,/db", "the second host is missing"],
    ["postgres://u:hunter2@:5432/db", "the host is missing"],
    [
      "postgres://u:hunter2@::1:5432/db",
      "the host is no name and no address: one of IPv6 stands in brackets, as in [::1]:5432"
    ],
    [
      "postgres://u:hunter2/x@h/db",
      "there is a / ? or # before the @: in a user or a password they are written %2F %3F %23"
    ],
    ["postgres://u:hunter2@x@h/db", "there are two @ before the host: one in a user or a password is written %40"],
    ["postgres://u:hunter2@h h/db", "it is no URL"],
    ["postgres://u:hunter2%zz@h/db", "the password has an invalid percent-encoding"],
    ["postgres://u:hunter2%00@h/db", "the password must not contain NUL"],
    ["postgres://u@h/db?password=hunter2%zz", "password has an invalid percent-encoding"],
    ["postgres://u:hunter2@h1,h2/db?port=1,2,3", "port must be one, or one for each host"],
    ["postgres://u:hunter2@h/db?sslcert=a.crt", "sslcert needs sslkey"],
    ["postgres://u:hunter2@h/db?sslkey=a.key", "sslkey needs sslcert"],
    [
      "postgres://u:hunter2@h/db?sslmode=require&sslrootcert=system",
      "sslrootcert=system needs sslmode=verify-full: anybody may have a certificate of a public authority"
    ],
    [
      "postgres://u:hunter2@h1,h2/db?target_session_attrs=any",
      "target_session_attrs cannot be any with several hosts: wac writes, and follows the host that accepts writes"
    ],
    [
      "postgres://u:hunter2@h/db?ssl_min_protocol_version=TLSv1.3&ssl_max_protocol_version=TLSv1.2",
      "ssl_min_protocol_version must not be above ssl_max_protocol_version"
    ]
  ])("an invalid URL is refused with the cause and without its text: %s", (text, why) => {
    assert.deepStrictEqual(ServerUrl.parse(text), Result.fail(why))
  })

  it.each([
    ["ssl=true", "the parameter ssl is not known: use sslmode=require or sslmode=verify-full"],
    ["ssl_mode=require", "the parameter ssl_mode is not known: use sslmode"],
    ["sslMode=require", "the parameter sslMode is not known: use sslmode"],
    ["sslmod=require", "the parameter sslmod is not known: use sslmode"],
    ["sslrootcrt=x", "the parameter sslrootcrt is not known: use sslrootcert"],
    ["aplication_name=x", "the parameter aplication_name is not known: use application_name"],
    ["schema=x", "the parameter schema is not known: use DATABASE_SCHEMA, or the option schema"],
    ["pgbouncer=true", "the parameter pgbouncer is not known"],
    ["__proto__=x", "a parameter is not known"],
    ["toString=x", "the parameter toString is not known"],
    ["hunter2%20hunter2", "a parameter is not known"]
  ])("a parameter that libpq does not have is refused, with the one that was meant: %s", (query, why) => {
    assert.strictEqual(faultOf(`postgres://u@h/db?${query}`), why)
  })

  /** Each parameter of libpq 18 (`PQconndefaults`), with values that it takes. */
  const parameters: { readonly [name: string]: ReadonlyArray<string> } = {
    service: ["s"],
    servicefile: ["f"],
    user: ["u"],
    password: ["p"],
    passfile: ["f"],
    channel_binding: ["disable", "prefer", "require"],
    connect_timeout: ["0", "10"],
    dbname: ["d"],
    host: ["h", "/run/postgresql"],
    hostaddr: ["127.0.0.1"],
    port: ["5433"],
    client_encoding: ["UTF8", "auto", "LATIN1"],
    options: ["-c%20geqo%3Doff"],
    application_name: ["a"],
    fallback_application_name: ["a"],
    keepalives: ["0", "1"],
    keepalives_idle: ["10"],
    keepalives_interval: ["10"],
    keepalives_count: ["3"],
    tcp_user_timeout: ["1000"],
    sslmode: ServerUrl.sslModes,
    sslnegotiation: ["postgres", "direct"],
    sslcompression: ["0", "1"],
    sslcert: ["f"],
    sslkey: ["f"],
    sslkeylogfile: ["f"],
    sslcertmode: ["disable", "allow", "require"],
    sslpassword: ["p"],
    sslrootcert: ["f", "system"],
    sslcrl: ["f"],
    sslcrldir: ["d"],
    sslsni: ["0", "1"],
    requirepeer: ["u"],
    require_auth: ["scram-sha-256"],
    min_protocol_version: ["3.0", "3.2", "latest"],
    max_protocol_version: ["3.0", "3.2", "latest"],
    ssl_min_protocol_version: ["TLSv1.2"],
    ssl_max_protocol_version: ["TLSv1.3"],
    gssencmode: ["disable", "prefer", "require"],
    krbsrvname: ["s"],
    gsslib: ["gssapi"],
    gssdelegation: ["1"],
    replication: ["database"],
    target_session_attrs: ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"],
    load_balance_hosts: ["disable", "random"],
    scram_client_key: ["k"],
    scram_server_key: ["k"],
    oauth_issuer: ["i"],
    oauth_client_id: ["c"],
    oauth_client_secret: ["s"],
    oauth_scope: ["s"]
  }

  it.each(
    Object.entries(parameters).flatMap(([name, values]) => values.map((value): [string, string] => [name, value]))
  )(
    "each parameter of libpq is carried out, or refused by its name: %s=%s",
    (name, value) => {
      const more = name === "sslcert" ? "&sslkey=k" : name === "sslkey" ? "&sslcert=c" : ""
      const fault = faultOf(`postgres://u@h/db?${name}=${value}${more}`)
      if (fault === undefined) return
      assert.isTrue(fault.startsWith(name), fault)
      assert.notInclude(fault, "not known")
    }
  )

  it("an empty or a foreign value is never taken for another", () => {
    const faultless = new Set(["password", "options", "application_name", "fallback_application_name", "sslpassword"])
    for (const name of Object.keys(parameters).filter((name) => !faultless.has(name))) {
      assert.isString(faultOf(`postgres://u@h/db?${name}=`), name)
    }
  })
})
