/**
 * Encrypted connections to a server with certificates of its own, one without encryption, and one on a Unix socket.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { owner } from "@wac/testbed/Owner"
import * as PostgresServer from "@wac/testbed/PostgresServer"
import * as Program from "@wac/testbed/Program"
import { Context, Effect, Fiber, Layer, Queue, Redacted, Schedule } from "effect"
import { execFileSync } from "node:child_process"
import { chmodSync, chownSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, inject } from "vitest"
import { Notifications } from "../src/Notifications.ts"
import * as PostgresClient from "../src/PostgresClient.ts"
import { Sessions } from "../src/Sessions.ts"

const needed = Program.needed({
  programs: ["openssl"],
  untested: "PostgreSQL over TLS",
  install: "apt-get install openssl, brew install openssl"
})

/** Certificates: an authority's of its own, one that nobody trusts, and theirs for a server and a client. */
let directory: string
let server: PostgresServer.PostgresServer | undefined

const at = (name: string) => join(directory, name)

const openssl = (...args: ReadonlyArray<string>) => execFileSync("openssl", args, { cwd: directory, stdio: "pipe" })

const certify = (name: string, subject: string, ...more: ReadonlyArray<string>) => {
  const made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
  openssl(...made, "-subj", `/CN=${subject}`, "-keyout", `${name}.key`, "-out", `${name}.pem`, ...more)
}

const signed = (name: string, subject: string, authority: string) =>
  certify(
    name,
    subject,
    "-CA",
    `${authority}.pem`,
    "-CAkey",
    `${authority}.key`,
    ...[
      `subjectAltName=DNS:${subject}`,
      "basicConstraints=CA:FALSE"
    ].flatMap((extension) => ["-addext", extension])
  )

/** Who may connect how, before the rules for everybody. */
const rules = `
hostssl all certified all cert
hostssl all encrypted_only all trust
hostnossl all plain_only all trust
host all encrypted_only all reject
host all plain_only all reject
`

const run = (statement: string, url = server!.url) =>
  Effect.flatMap(PgClient.PgClient, (client) => client.unsafe<Record<string, unknown>>(statement)).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
    Effect.orDie
  )

beforeAll(async () => {
  if ("skip" in needed) return
  directory = mkdtempSync(join(tmpdir(), "wac-tls-"))
  chmodSync(directory, 0o755)
  const guide = readFileSync(new URL("../../../docs/guides/postgresql.md", import.meta.url), "utf8")
  const [, commands] = /^```sh in="a folder for certificates"\n(.*?)^```$/ms.exec(guide)!
  execFileSync("sh", ["-e", "-c", commands!], { cwd: directory, stdio: "pipe" })
  certify("stranger", "A stranger's authority")
  signed("client", "certified", "authority")
  signed("impostor", "certified", "stranger")
  openssl("pkey", "-in", "client.key", "-aes256", "-passout", "pass:hunter3", "-out", "locked.key")
  const as = owner()
  if (as !== undefined) {
    for (const name of ["server.key", ""]) chownSync(at(name), as.uid, as.gid)
  }
  server = await PostgresServer.start(
    "fsync=off",
    `ssl_cert_file=${at("server.pem")}`,
    `ssl_key_file=${at("server.key")}`,
    `ssl_ca_file=${at("authority.pem")}`,
    `unix_socket_directories=${directory}`
  )
  const file = join(server.data, "pg_hba.conf")
  writeFileSync(file, `${rules}${readFileSync(file, "utf8")}`)
  // not on the command line, which would come before what a test changes
  await Effect.runPromise(run("alter system set ssl = on"))
  await server.stop()
  await server.start()
  for (const role of ["certified", "encrypted_only", "plain_only"]) {
    await Effect.runPromise(run(`create role ${role} login`))
  }
})
afterAll(async () => {
  await server?.remove()
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true })
})

/** The server's URL with parameters. `hunter2` stands where a password of a user who needs none does. */
const urlOf = (query: string, user?: string, host = "127.0.0.1"): string => {
  const url = new URL(server!.url)
  url.hostname = host
  if (user !== undefined) {
    url.username = user
    url.password = "hunter2"
  }
  return `${url}?${query.replaceAll("~", directory)}`
}

const layerOf = (url: string) => PostgresClient.layer({ url: Redacted.make(url), maxConnections: 4 })

const encrypted = PgClient.PgClient.use((client) =>
  client<{ ssl: boolean; version: string | null }>`select ssl, version from pg_stat_ssl where pid = pg_backend_pid()`
).pipe(Effect.map(([row]) => row!))

/** Whether the connections by a URL are encrypted, or why there are none. */
const connected = (url: string): Effect.Effect<boolean | string> =>
  encrypted.pipe(
    Effect.map(({ ssl }) => ssl),
    Effect.provide(layerOf(url)),
    Effect.catchTag("OpenError", ({ message }) => {
      assert.notInclude(message, "hunter")
      return Effect.succeed(message)
    }),
    Effect.orDie
  )

const plain = () => inject("postgresUrl")

describe("the encryption of connections", needed, () => {
  const known = "sslrootcert=~/authority.pem"
  const foreign = "sslrootcert=~/stranger.pem"
  /** The name in the certificate, without looking it up. */
  const named = "host=db.example.com&hostaddr=127.0.0.1"

  it.live.each<[query: string, expected: boolean | RegExp]>([
    ["", true],
    ["sslmode=disable", false],
    ["sslmode=allow", false],
    ["sslmode=prefer", true],
    ["sslmode=require", true],
    [`sslmode=require&${known}`, true],
    [`sslmode=require&${foreign}`, /signature|issuer|self-signed|verify/],
    ["sslmode=verify-ca", /issuer|self-signed|verify/],
    [`sslmode=verify-ca&${known}`, true],
    [`sslmode=verify-ca&${foreign}`, /signature|issuer|self-signed|verify/],
    [`sslmode=verify-full&${known}`, /altnames/],
    [`sslmode=verify-full&${known}&${named}`, true],
    [`sslmode=verify-full&${known}&${named}&sslsni=0`, true],
    [`sslmode=verify-full&${foreign}&${named}`, /signature|issuer|self-signed|verify/],
    [`sslmode=verify-full&${known}&host=other.example&hostaddr=127.0.0.1`, /altnames/],
    [`sslrootcert=system&${named}`, /issuer|self-signed|verify/],
    [`sslmode=prefer&${known}`, true],
    // as libpq does: what cannot be verified is not encrypted either
    [`sslmode=prefer&${foreign}`, false],
    ["sslmode=require&sslrootcert=~/none.pem", /sslrootcert cannot be read: ENOENT/],
    ["sslmode=require&sslrootcert=~/client.key", /certificate|PEM/],
    ["sslmode=require&sslcert=~/client.pem&sslkey=~/server.key", /key/]
  ])(
    "a server with certificates is reached or refused as libpq does: %s",
    ([query, expected]) =>
      Effect.gen(function*() {
        const found = yield* connected(urlOf(query))
        if (typeof expected === "boolean") assert.strictEqual(found, expected)
        else assert.match(String(found), expected)
      })
  )

  it.live.each<[query: string, expected: boolean | RegExp]>([
    ["", false],
    ["sslmode=disable", false],
    ["sslmode=allow", false],
    ["sslmode=prefer", false],
    ["sslmode=require", /^cannot use PostgreSQL: The server does not support TLS$/],
    ["sslmode=verify-ca", /does not support TLS/],
    ["sslmode=verify-full", /does not support TLS/]
  ])(
    "a server without encryption is reached or refused as libpq does: %s",
    ([query, expected]) =>
      Effect.gen(function*() {
        const found = yield* connected(`${plain()}?${query}`)
        if (typeof expected === "boolean") assert.strictEqual(found, expected)
        else assert.match(String(found), expected)
      })
  )

  it.live.each<[user: string, query: string, expected: boolean | RegExp]>([
    ["encrypted_only", "sslmode=allow", true],
    ["encrypted_only", "sslmode=prefer", true],
    ["encrypted_only", "sslmode=disable", /reject/],
    ["plain_only", "sslmode=prefer", false],
    ["plain_only", "sslmode=allow", false],
    ["plain_only", "sslmode=require", /reject/],
    ["certified", "sslmode=require&sslcert=~/client.pem&sslkey=~/client.key", true],
    ["certified", "sslmode=prefer&sslcert=~/client.pem&sslkey=~/client.key", true],
    ["certified", "sslmode=require&sslcert=~/client.pem&sslkey=~/locked.key&sslpassword=hunter3", true],
    ["certified", "sslmode=require&sslcert=~/client.pem&sslkey=~/locked.key&sslpassword=hunter4", /encryption/],
    ["certified", "sslmode=require", /certificate/],
    ["certified", "sslmode=require&sslcert=~/client.pem&sslkey=~/client.key&sslcertmode=disable", /certificate/],
    ["certified", "sslmode=require&sslcert=~/impostor.pem&sslkey=~/impostor.key", /unknown ca|certificate/]
  ])(
    "a user connects in the way that the server demands, if the mode has it: %s %s",
    ([user, query, expected]) =>
      Effect.gen(function*() {
        const found = yield* connected(urlOf(query, user))
        if (typeof expected === "boolean") assert.strictEqual(found, expected)
        else assert.match(String(found), expected)
      })
  )

  it.live("a Unix socket is used, and is not encrypted in any mode", () =>
    Effect.gen(function*() {
      const { password, port } = new URL(server!.url)
      for (const mode of ["disable", "prefer", "require", "verify-full"]) {
        const url = `postgres://postgres:${password}@/postgres?host=${directory}&port=${port}&sslmode=${mode}`
        assert.strictEqual(yield* connected(url), false)
      }
      const url = `postgres://postgres:${password}@${encodeURIComponent(directory)}:${port}/postgres`
      assert.strictEqual(yield* connected(url), false)
    }))

  it.live("a version of TLS can be required", () =>
    Effect.gen(function*() {
      for (const version of ["TLSv1.2", "TLSv1.3"]) {
        const found = yield* Effect.provide(
          encrypted,
          layerOf(urlOf(`sslmode=require&ssl_min_protocol_version=${version}&ssl_max_protocol_version=${version}`))
        )
        assert.strictEqual(found.version, version)
      }
    }))

  it.live("a client's certificate that was renewed is used by the next connection", () =>
    Effect.gen(function*() {
      const files = ["pem", "key"].map((kind) => at(`renewed.${kind}`))
      const use = (name: string) => ["pem", "key"].forEach((kind, i) => copyFileSync(at(`${name}.${kind}`), files[i]!))
      use("client")
      const url = urlOf("sslmode=require&sslcert=~/renewed.pem&sslkey=~/renewed.key", "certified")
      const client = Context.get(yield* Layer.build(layerOf(url)), PgClient.PgClient)
      const serial = client<{ serial: string }>`select client_serial::text as serial from pg_stat_ssl
        where pid = pg_backend_pid()`
      const [before] = yield* serial
      signed("next", "certified", "authority")
      use("next")
      yield* run("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'certified'")
      const [after] = yield* Effect.retry(
        serial,
        Schedule.upTo(Schedule.spaced("50 millis"), { duration: "5 seconds" })
      )
      assert.notStrictEqual(after!.serial, before!.serial)
    }).pipe(Effect.scoped))

  it.live("parameters of a session are its settings, and the name of the program is the URL's", () =>
    Effect.gen(function*() {
      const settings = PgClient.PgClient.use((client) =>
        client<{ name: string; geqo: string }>`select current_setting('application_name') as name,
          current_setting('geqo') as geqo`
      )
      const [given] = yield* Effect.provide(settings, layerOf(urlOf("application_name=other&options=-c%20geqo%3Doff")))
      assert.deepStrictEqual({ ...given! }, { name: "other", geqo: "off" })
      const [own] = yield* Effect.provide(settings, layerOf(urlOf("")))
      assert.deepStrictEqual({ ...own! }, { name: "wac", geqo: "on" })
    }))

  it.live("if the only host must accept writes, a host that does not is refused", () =>
    Effect.gen(function*() {
      const attributes = "target_session_attrs=read-write"
      assert.strictEqual(yield* connected(urlOf(attributes)), true)
      assert.strictEqual(
        yield* connected(urlOf(`${attributes}&options=-c%20default_transaction_read_only%3Don`)),
        "cannot use PostgreSQL: no host can be written to"
      )
    }))

  it.live.each(["allow", "prefer", "require"])(
    "steps, notifications and cancelled statements work on connections of the mode %s",
    (mode) =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const { pipelined } = yield* Sessions
        const { listen } = yield* Notifications
        const large = "x".repeat(3_000_000)
        const rows = yield* pipelined([{ text: "select $1::text as large", params: [large] }, {
          text: "select 1 as n"
        }])
        assert.strictEqual(rows[0]![0]!["large"], large)
        assert.deepStrictEqual(rows[1]!.map((row) => ({ ...row })), [{ n: 1 }])
        const heard = yield* listen("test")
        assert.strictEqual(yield* Queue.take(heard), "")
        yield* client`select pg_notify('test', 'told')`
        assert.strictEqual(yield* Queue.take(heard), "told")
        const sleeping = client<{ n: number }>`select count(*)::int as n from pg_stat_activity
          where query like 'select pg_sleep%' and state = 'active'`.pipe(Effect.delay("20 millis"))
        const asleep = yield* Effect.forkChild(client`select pg_sleep(60)`)
        yield* Effect.repeat(sleeping, { until: ([row]) => row!.n === 1 })
        yield* Fiber.interrupt(asleep)
        yield* Effect.repeat(sleeping, { until: ([row]) => row!.n === 0 })
      }).pipe(Effect.scoped, Effect.provide(Layer.unwrap(Effect.sync(() => layerOf(urlOf(`sslmode=${mode}`))))))
  )

  it.live("a server that turns its encryption off or on is reached again by the mode prefer", () =>
    Effect.gen(function*() {
      const client = Context.get(yield* Layer.build(layerOf(urlOf("sslmode=prefer"))), PgClient.PgClient)
      const now = client<{ ssl: boolean }>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`
      for (const ssl of [false, true]) {
        yield* run(`alter system set ssl = ${ssl ? "on" : "off"}`)
        yield* run("select pg_reload_conf()")
        // the server reads its settings some time after it was told to
        const next = Effect.andThen(
          run("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'wac'"),
          Effect.retry(now, Schedule.upTo(Schedule.spaced("50 millis"), { duration: "5 seconds" }))
        )
        yield* Effect.repeat(Effect.delay(next, "50 millis"), { until: ([row]) => row!.ssl === ssl })
      }
    }).pipe(Effect.scoped))
})
