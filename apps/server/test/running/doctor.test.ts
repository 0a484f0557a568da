/**
 * `wac doctor`: what it says of configurations, databases, the provider and receivers that are right or wrong.
 */
import { assert, describe, it } from "@effect/vitest"
import { CloudApi, CloudApiClock } from "@wac/simulator"
import * as S3Server from "@wac/testbed/S3Server"
import { Clock, Effect } from "effect"
import { once } from "node:events"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Diagnosis from "../../src/Diagnosis.ts"
import * as checks from "../checks.ts"
import { type Ended, wac } from "../commandLine.ts"
import { receiver, setWebhook, signIn, start } from "../harness.ts"
import { emptyDatabase, masterKey, ownPostgresWith, sql } from "../processes.ts"

const findingsOf = ({ stdout }: Ended): ReadonlyArray<Diagnosis.Finding> => JSON.parse(stdout).findings

const wrongOf = (ended: Ended) => findingsOf(ended).filter(({ state }) => state === "wrong")

/** The machine's time; but whatever it times takes no time, so that no advice depends on this machine's speed. */
const { clock: untimed } = CloudApiClock.make({
  currentTimeMillisUnsafe: checks.now,
  currentTimeNanosUnsafe: () => BigInt(checks.now()) * 1_000_000n,
  monotonicTimeNanosUnsafe: () => 0n
})

/** The address of an object store whose bucket can be listed, but in which nothing can be deleted. */
const undeletable = Effect.map(
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(({ method }, response) => {
        response.writeHead(method === "DELETE" ? 403 : 200, { "content-type": "application/xml" })
        response.end(method === "DELETE" ? "<Error><Code>AccessDenied</Code></Error>" : "<ListBucketResult/>")
      })
      await once(server.listen(0, "127.0.0.1"), "listening")
      return server
    }),
    (server) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
  ),
  (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
)

describe("wac doctor", () => {
  it.live("the doctor finds nothing wrong beside a running server, and names each fault", () =>
    Effect.gen(function*() {
      const env = {
        // one whose settings are those of production
        DATABASE_URL: yield* Effect.flatMap(ownPostgresWith(), ({ url }) => emptyDatabase(url)),
        WAC_MASTER_KEY: masterKey(),
        WEBHOOK_ALLOW_INSECURE: "true",
        WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8"
      }
      const doctor = wac(env, "doctor", "--json")
      const before = yield* doctor("")
      assert.strictEqual(before.code, 0)
      assert.deepInclude(
        findingsOf(before).filter(({ state }) => state === "doubtful").map(({ advice }) => advice),
        "if it should contain data, check the database's name in DATABASE_URL, or restore the backup; " +
          "otherwise, run `wac migrate`, or start a server, which does it too"
      )
      assert.deepStrictEqual(
        yield* sql(env.DATABASE_URL, "select 1 from pg_namespace where nspname = 'wac'"),
        [],
        "it changes nothing"
      )
      yield* Effect.gen(function*() {
        const { url } = yield* start({ environment: env })
        const session = yield* signIn(url)
        const { url: receiverUrl } = yield* receiver
        yield* setWebhook({ url, session }, { url: receiverUrl })
        const healthy = yield* Effect.provideService(doctor(""), Clock.Clock, untimed)
        assert.deepStrictEqual([healthy.code, healthy.stderr], [0, ""])
        assert.isTrue(JSON.parse(healthy.stdout).healthy)
        assert.deepStrictEqual(findingsOf(healthy).filter(({ state }) => state !== "fine"), [])
        assert.includeMembers(findingsOf(healthy).map(({ check }) => check), [
          "configuration",
          "database",
          "clock",
          "secrets",
          "provider",
          "numbers",
          "queue",
          "receivers"
        ])
        const forPeople = yield* wac(env)("doctor")
        assert.match(forPeople.stdout, /^ok {5}configuration: /)
      }).pipe(Effect.scoped)
      const another = new URL(env.DATABASE_URL)
      another.pathname = "/postgres"
      for (
        const [DATABASE_LISTEN_URL, message] of [
          [env.DATABASE_URL, undefined],
          [another.href, /^DATABASE_LISTEN_URL leads to another database than DATABASE_URL/],
          ["postgres://wac:secret@127.0.0.1:1/wac?connect_timeout=1", /^DATABASE_LISTEN_URL: /]
        ] as const
      ) {
        const found = wrongOf(yield* doctor("", { env: { DATABASE_LISTEN_URL } }))
          .filter(({ check }) => check === "database")
        if (message === undefined) assert.deepStrictEqual(found, [])
        else assert.match(found[0]!.message, message)
      }
      // the receiver ended with its scope
      const unreachable = yield* doctor("")
      assert.strictEqual(unreachable.code, "one thing is wrong")
      assert.match(wrongOf(unreachable)[0]!.message, /^http:\/\/127\.0\.0\.1:\d+\S* of ws_\w+ cannot be reached: /)
      const refused = yield* doctor("", { env: { WEBHOOK_ALLOW_CIDRS: "" } })
      assert.match(wrongOf(refused)[0]!.message, /public addresses/)
      const sealed = yield* doctor("", { env: { WAC_MASTER_KEY: masterKey() } })
      assert.include(wrongOf(sealed).map(({ check }) => check), "secrets")
      // as if the previous master key were removed before everything was sealed again
      yield* sql(env.DATABASE_URL, "update wac.webhook_secrets set key_id = '01234567'")
      const left = wrongOf(yield* doctor("")).filter(({ check }) => check === "secrets")
      assert.match(left[0]!.message, /^secrets are sealed under a master key that is not configured \(01234567\)/)
    }).pipe(Effect.scoped))

  it.live("the doctor reports what waits for a person since the database was restored, and how it is released", () =>
    Effect.gen(function*() {
      const env = {
        DATABASE_URL: yield* Effect.flatMap(ownPostgresWith(), ({ url }) => emptyDatabase(url)),
        WAC_MASTER_KEY: masterKey()
      }
      const { services } = yield* start({ environment: env })
      const queue = Effect.map(
        wac(env, "doctor", "--json")(""),
        (ended) => findingsOf(ended).find(({ check }) => check === "queue")
      )
      assert.deepInclude(yield* queue, { state: "fine" })
      yield* checks.holdQueues({ services })
      const held = yield* queue
      assert.deepInclude(held, { state: "doubtful" })
      assert.match(held!.message, /queued messages of ws_\w+ since \d{4}-/)
      assert.include(held!.advice, "`wac messages confirm`")
      yield* wac(env)("messages confirm")
      assert.deepInclude(yield* queue, { state: "fine" })
    }).pipe(Effect.scoped))

  it.live("the doctor reports whether the object store gives access to its bucket", () =>
    Effect.gen(function*() {
      const store = yield* Effect.acquireRelease(Effect.promise(() => S3Server.start()), ({ stop }) =>
        Effect.promise(stop))
      const doctor = (MEDIA_STORE: string, endpoint = store.endpoint) =>
        Effect.map(
          wac(
            {
              DATABASE_URL: "memory:",
              MEDIA_STORE,
              AWS_ENDPOINT_URL: endpoint,
              AWS_ACCESS_KEY_ID: "an-id",
              AWS_SECRET_ACCESS_KEY: "a-secret"
            },
            "doctor",
            "--json"
          )(""),
          (ended) =>
            findingsOf(ended).find(({ check }) => check === "files")
        )
      assert.deepInclude(yield* doctor(`s3://${store.bucket}/wac`), { state: "fine" })
      assert.deepInclude(yield* doctor("s3://another"), {
        state: "wrong",
        message: "the object store refuses access to the bucket: NoSuchBucket (404)"
      })
      const found = yield* doctor(`s3://${store.bucket}/wac`, yield* undeletable)
      assert.deepInclude(found, {
        state: "wrong",
        message: "the object store refuses access to the bucket: DeleteObject: AccessDenied (403)"
      })
      assert.include(JSON.stringify(found), "a restored copy deletes no files that its backup names")
      // a deletion of what does not exist leaves a delete marker in a versioned bucket
      assert.include((yield* wac({}, "doctor")("--help")).stdout, "deletes the name no-object, which no file has")
    }).pipe(Effect.scoped))

  it.live("the doctor reports an invalid configuration, an unreachable database and an embedded one in use", () =>
    Effect.gen(function*() {
      const bad = yield* wac({ PORT: "many" }, "doctor", "--json")("")
      assert.match(wrongOf(bad)[0]!.message, /^PORT: expected a port number/)
      const misspelled = yield* wac({ DATABSE_URL: "memory:" }, "doctor", "--json")("")
      assert.match(wrongOf(misspelled)[0]!.message, /^DATABSE_URL: expected the name DATABASE_URL,/)
      const fileless = yield* wac({ DATABASE_URL: "memory:", WAC_MASTER_KEY_FILE: "/nowhere" }, "doctor", "--json")("")
      assert.match(wrongOf(fileless)[0]!.message, /^WAC_MASTER_KEY_FILE: .*\/nowhere cannot be read \(ENOENT\)$/)
      const priceless = yield* wac({ DATABASE_URL: "memory:", WAC_RATE_CARD: "/nowhere.csv" }, "doctor", "--json")("")
      assert.match(wrongOf(priceless)[0]!.message, /^WAC_RATE_CARD: .*it cannot be read$/)
      const away = yield* wac(
        {
          DATABASE_URL: "postgres://wac:secret@127.0.0.1:1/wac?connect_timeout=1",
          WAC_MASTER_KEY: masterKey(),
          WAC_MASTERKEY: "typo"
        },
        "doctor",
        "--json"
      )("")
      assert.strictEqual(wrongOf(away)[0]!.check, "database")
      assert.notInclude(away.stdout, "secret@")
      assert.include(JSON.stringify(findingsOf(away)), "WAC_MASTERKEY is not a variable")
      const directory = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "wac-doctor-"))),
        (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
      )
      const embedded = { DATABASE_URL: `pglite:${directory}` }
      const doctor = wac(embedded, "doctor", "--json")
      assert.strictEqual((yield* doctor("")).code, 0)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(directory)), [], "it creates nothing")
      yield* start({ environment: embedded })
      const used = yield* doctor("")
      assert.deepStrictEqual(wrongOf(used), [])
      const [doubt] = findingsOf(used).filter(({ check }) => check === "database")
      assert.strictEqual(doubt!.state, "doubtful")
      assert.match(doubt!.message, /is in use by process \d+/)
      assert.include(doubt!.advice, "GET /readyz")
    }).pipe(Effect.scoped))

  it.live("the doctor requests the number from the provider with the configured token, and reports the response", () =>
    Effect.gen(function*() {
      const api = yield* CloudApi.make()
      const env = { ...api.environment, DATABASE_URL: "memory:", PUBLIC_URL: "https://wac.example.com" }
      const right = yield* wac(env, "doctor", "--json")("")
      assert.deepStrictEqual(wrongOf(right), [])
      assert.match(JSON.stringify(findingsOf(right)), /the provider knows \+\d+ and accepts the access token/)
      assert.include(JSON.stringify(findingsOf(right)), "set METRICS_TOKEN if Prometheus reads this service")
      const refused = yield* wac({ ...env, WHATSAPP_ACCESS_TOKEN: "wrong" }, "doctor", "--json")("")
      assert.strictEqual(wrongOf(refused)[0]!.check, "provider")
      assert.notInclude(right.stdout, "nobody can sign in")
      const plain = yield* wac({ ...env, PUBLIC_URL: "http://wac.lan:8080" }, "doctor", "--json")("")
      assert.include(JSON.stringify(findingsOf(plain)), "nobody can sign in at http://wac.lan:8080/")
      const local = yield* wac({ ...env, PUBLIC_URL: "" }, "doctor", "--json")("")
      assert.match(JSON.stringify(findingsOf(local)), /where Meta cannot post/)
      assert.notInclude(JSON.stringify(findingsOf(local)), "METRICS_TOKEN")
      assert.notInclude(JSON.stringify(findingsOf(local)), "nobody can sign in")
    }).pipe(Effect.scoped))
})

describe("the diagnosis", () => {
  const sound = {
    version: "17.2",
    versionNumber: 170_002,
    isWritable: true,
    problem: undefined,
    role: "wac",
    isEncrypted: true,
    unprovenMode: undefined,
    missingRights: [],
    schemaVersion: 9,
    neededSchemaVersion: 9,
    clockAhead: 12,
    roundTrip: 1,
    connections: 5,
    maxConnections: 100,
    bytes: 9e6,
    settings: { fsync: "on", full_page_writes: "on", synchronous_commit: "on", autovacuum: "on" }
  }

  it.each(
    [
      ["an old version", { versionNumber: 140_011 }, "wrong"],
      ["a standby", { isWritable: false }, "wrong"],
      ["a full disk", { problem: "disk_full" }, "wrong"],
      ["a right that is missing", { problem: "not_permitted" }, "wrong"],
      ["a right that is missing, by name", { missingRights: ["insert on wac.messages"] }, "wrong"],
      ["fsync that is off", { settings: { ...sound.settings, fsync: "off" } }, "wrong"],
      ["commits that are not awaited", { settings: { ...sound.settings, synchronous_commit: "off" } }, "wrong"],
      ["a clock a minute away", { clockAhead: -61_000 }, "wrong"],
      ["a clock two seconds away", { clockAhead: 2000 }, "doubtful"],
      ["an old schema", { schemaVersion: 8 }, "doubtful"],
      ["a distant database", { roundTrip: 80 }, "doubtful"],
      ["a database that does not prove who it is", { unprovenMode: "prefer" }, "doubtful"],
      ["few free connections", { connections: 95 }, "doubtful"],
      ["tables that nobody vacuums", { settings: { ...sound.settings, autovacuum: "off" } }, "doubtful"]
    ] as const
  )("the diagnosis notices %s, and gives advice", (_, change, state) => {
    const found = Diagnosis.ofServer({ ...sound, ...change }).filter((finding) => finding.state !== "fine")
    assert.deepStrictEqual(found.map((finding) => finding.state), [state])
    assert.isNotEmpty(found[0]!.advice)
  })

  it("for a database that cannot be opened, the advice is about what the database names, else about the way to it", () => {
    const advice = "look at the network"
    const message = "cannot use PostgreSQL: could not write init file, XX000"
    assert.strictEqual(Diagnosis.ofUnopened({ message }, advice).advice, advice)
    assert.match(Diagnosis.ofUnopened({ message, problem: "io_error" }, advice).advice!, /disk/)
  })

  it("secrets under a key that is not configured are wrong, and those under the previous one are doubtful", () => {
    const keys = { current: "new", previous: "old" }
    const stateOf = (used: ReadonlyArray<string>, of: Parameters<typeof Diagnosis.ofMasterKeys>[1] = keys) =>
      Diagnosis.ofMasterKeys(used, of).state
    assert.strictEqual(stateOf(["new"]), "fine")
    assert.strictEqual(stateOf(["new", "old"]), "doubtful")
    assert.strictEqual(stateOf(["new", "old", "older"]), "wrong")
    assert.strictEqual(stateOf(["new", "old"], { current: "new", previous: undefined }), "wrong")
  })

  it("the advice about a paused webhook names the workspace to resume, even if its receiver cannot be reached", () => {
    const at = { workspace: "ws_1", url: "https://receiver.example/", pausedAt: 0 }
    for (const [failure, state] of [[undefined, "doubtful"], ["refused", "wrong"]] as const) {
      const found = Diagnosis.ofReceiver({ ...at, failure })
      assert.strictEqual(found.state, state)
      assert.include(found.message, "paused since 1970-01-01T00:00:00.000Z")
      assert.include(found.advice, "`wac webhook resume --workspace ws_1`")
    }
    assert.include(Diagnosis.ofReceiver({ ...at, pausedAt: null, failure: "refused" }).advice, "24 hours")
  })

  it("the finding about what waits counts workspaces and campaigns, and either alone is doubtful", () => {
    const one = { workspace: "ws_1", since: 0 }
    assert.strictEqual(Diagnosis.ofHold({ queues: [], campaigns: 0 }).state, "fine")
    const campaigns = Diagnosis.ofHold({ queues: [], campaigns: 2 })
    assert.strictEqual(campaigns.state, "doubtful")
    assert.match(campaigns.message, /: 2 campaigns$/)
    assert.match(Diagnosis.ofHold({ queues: [one], campaigns: 0 }).message, /: queued messages of ws_1 since \S+$/)
    assert.match(
      Diagnosis.ofHold({ queues: [one, { ...one, workspace: "ws_2" }], campaigns: 1 }).message,
      /: queued messages of 2 workspaces since 1970-01-01T00:00:00\.000Z; one campaign$/
    )
  })

  it("the finding about campaigns alone names an outage as a possible cause, and advice names only what waits", () => {
    const queues = [{ workspace: "ws_1", since: 0 }]
    const advised = (finding: Diagnosis.Finding) => finding.advice?.match(/`wac \w+ confirm`/g)
    const campaigns = Diagnosis.ofHold({ queues: [], campaigns: 2 })
    assert.include(campaigns.message, ", or nothing ran for 5 minutes: 2 campaigns")
    assert.notInclude(Diagnosis.ofHold({ queues, campaigns: 2 }).message, "nothing ran")
    assert.deepStrictEqual(advised(campaigns), ["`wac campaigns confirm`"])
    assert.deepStrictEqual(advised(Diagnosis.ofHold({ queues, campaigns: 0 })), ["`wac messages confirm`"])
    assert.deepStrictEqual(
      advised(Diagnosis.ofHold({ queues, campaigns: 1 })),
      ["`wac campaigns confirm`", "`wac messages confirm`"]
    )
  })

  it("the diagnosis finds a sound database sound", () => {
    assert.deepStrictEqual(Diagnosis.ofServer(sound).filter(({ state }) => state !== "fine"), [])
  })
})
