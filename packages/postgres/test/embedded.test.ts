/**
 * The embedded database in a directory: acknowledged writes survive whatever happens to the process.
 */
import { assert, describe, it } from "@effect/vitest"
import { ApiKeyStore, type Id, Storage, WorkspaceStore } from "@wac/core"
import { Fixture } from "@wac/testkit"
import { Clock, Effect, Layer, Option, Schedule, type Scope } from "effect"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, vi } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import * as newPglite from "./newPglite.ts"

const temporary: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "wac-embedded-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

// the first start is one of the subjects
beforeAll(newPglite.genuine)
afterAll(newPglite.copy)

let template: string
beforeAll(async () => {
  template = mkdtempSync(join(tmpdir(), "wac-embedded-"))
  await Effect.runPromise(opened(template, Effect.void))
})
afterAll(() => rmSync(template, { recursive: true, force: true }))

/** A directory with a database that was opened once and is empty. A first start takes seconds. */
const prepared = Effect.tap(
  temporary,
  (directory) => Effect.sync(() => cpSync(template, directory, { recursive: true }))
)

/** Builds a new storage, runs the effect on it and closes it. */
const opened = <A, E>(directory: string, effect: Effect.Effect<A, E, PortsOf>) =>
  Effect.provide(
    effect,
    Layer.fresh(Layer.provide(PostgresStorage.layerEmbedded({ directory }), Fixture.timeOfAsker)),
    { local: true }
  )
type PortsOf = Layer.Success<ReturnType<typeof PostgresStorage.layerEmbedded>>

/** A process that keeps a database in the directory, started by a command, and the lines that it prints. */
const keeper = (directory: string, by: ReadonlyArray<string> = []) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const [command, ...args] = [
        ...by,
        process.execPath,
        "--conditions=source",
        "--disable-warning=ExperimentalWarning",
        fileURLToPath(new URL("keeper.ts", import.meta.url)),
        directory
      ]
      const child = spawn(command!, args, { stdio: ["ignore", "pipe", "inherit"] })
      return { child, lines: createInterface({ input: child.stdout }) }
    }),
    ({ child }) => Effect.promise(() => killed(child))
  )

const killed = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, "exit")
  child.kill("SIGKILL")
  await exit
}

describe("the embedded database", () => {
  it.live("the embedded database keeps every acknowledged write if its process is killed", () =>
    Effect.gen(function*() {
      const directory = yield* prepared
      const { child, lines } = yield* keeper(directory)
      const acknowledged: Array<string> = []
      yield* Effect.promise(async () => {
        for await (const line of lines) {
          if (acknowledged.push(line) === 60) await killed(child)
        }
      })
      const [workspaceId, ...keyIds] = acknowledged as [Id.WorkspaceId, ...Array<Id.ApiKeyId>]
      assert.isAtLeast(keyIds.length, 59)
      const check = Effect.gen(function*() {
        const keys = yield* ApiKeyStore.ApiKeyStore
        const workspaces = yield* WorkspaceStore.WorkspaceStore
        const workspace = yield* Effect.fromOption(yield* workspaces.get(workspaceId))
        assert.deepStrictEqual([workspace.tier, workspace.monthlyQuota], ["scale", 5])
        for (const id of keyIds) assert.isTrue(Option.isSome(yield* keys.get(workspaceId, id)), id)
        // after a kill, it continues normally
        yield* workspaces.configure(workspaceId, { tier: "free" })
      })
      yield* opened(directory, check)
      const tier = yield* opened(
        directory,
        WorkspaceStore.WorkspaceStore.use((store) => Effect.map(store.get(workspaceId), Option.getOrThrow))
      )
      assert.strictEqual(tier.tier, "free")
    }))

  it.live("the embedded database is used by one process at a time, and its error names the process", () =>
    Effect.gen(function*() {
      const directory = yield* prepared
      const { child, lines } = yield* keeper(directory)
      yield* Effect.promise(() => once(lines, "line"))
      const refused = yield* Effect.flip(opened(directory, Effect.void))
      assert.strictEqual(
        refused.message,
        `the embedded database in ${directory} is in use by process ${child.pid}, as ${join(directory, "lock")} says`
      )
      yield* Effect.promise(() => killed(child))
      yield* opened(directory, Effect.void)
    }))

  it.live("the embedded database of another user is refused, and nothing is written beside it", () =>
    Effect.gen(function*() {
      const directory = yield* prepared
      const before = readdirSync(directory, { recursive: true })
      const user = process.getuid!()
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.spyOn(process, "getuid").mockReturnValue(user + 1)),
        (spy) => Effect.sync(() => spy.mockRestore())
      )
      const refused = yield* Effect.flip(opened(directory, Effect.void))
      assert.strictEqual(
        refused.message,
        `the embedded database in ${directory} belongs to another user (id ${user}): run as that user`
      )
      assert.deepStrictEqual(readdirSync(directory, { recursive: true }), before)
    }))

  it.live("a killed process whose parent never asks for its status no longer uses the embedded database", () =>
    Effect.gen(function*() {
      const directory = yield* prepared
      const { lines } = yield* keeper(directory, ["sh", "-c", "\"$@\" & exec sleep 60", "sh"])
      yield* Effect.promise(() => once(lines, "line"))
      const { pid } = JSON.parse(readFileSync(join(directory, "lock"), "utf8"))
      process.kill(pid, "SIGKILL")
      // its threads end within moments; it stays in the system's table of processes
      yield* Effect.retry(opened(directory, Effect.void), Schedule.upTo(Schedule.spaced("50 millis"), { times: 40 }))
      assert.match(readFileSync(`/proc/${pid}/stat`, "utf8"), /\) Z /)
    }))

  it.live("the embedded database names itself, and leaves nothing open or incomplete behind", () =>
    Effect.gen(function*() {
      const directory = join(yield* temporary, "deeply", "new")
      // an interrupted first start leaves this behind
      mkdirSync(join(directory, "postgres.new"), { recursive: true })
      writeFileSync(join(directory, "postgres.new", "PG_VERSION"), "18\n")
      yield* opened(
        directory,
        Effect.gen(function*() {
          const storage = yield* Storage.Storage
          assert.deepStrictEqual([storage.name, storage.durable], [`embedded PostgreSQL in ${directory}`, true])
          yield* storage.ping
          // opening it twice in one process is refused as well
          assert.include((yield* Effect.flip(opened(directory, Effect.void))).message, `process ${process.pid}`)
        })
      )
      assert.deepStrictEqual(readdirSync(directory), ["postgres"])
      assert.strictEqual(readFileSync(join(directory, "postgres", "PG_VERSION"), "utf8").trim(), "18")
    }))

  it.live.each(["/proc/wac", "/sys/wac/data", "/dev/null/data", "/dev/full"])(
    "a directory in which nothing can be created is refused immediately: %s",
    (directory) =>
      Effect.gen(function*() {
        const refused = yield* Effect.flip(opened(directory, Effect.void))
        assert.match(refused.message, new RegExp(`^cannot keep a database in ${directory}: E[A-Z]+: [^\n]+$`))
      })
  )

  it.live("a directory without enough space is refused immediately, and nothing is left in it", () =>
    Effect.gen(function*() {
      const directory = yield* temporary
      // files are limited to 8 MiB, which a writer sees as a full disk
      const program = `import("./src/index.ts").then(async ({ PostgresStorage }) => {
        const { Effect, Layer } = await import("effect")
        const built = Layer.build(PostgresStorage.layerEmbedded({ directory: process.argv[1] }))
        const { message } = await Effect.runPromise(Effect.flip(Effect.scoped(built)))
        process.stdout.write(message)
      })`
      const { stdout } = yield* Effect.promise(() =>
        promisify(execFile)("sh", [
          "-c",
          "ulimit -f 8192; exec \"$0\" --conditions=source --eval \"$1\" \"$2\"",
          process.execPath,
          program,
          join(directory, "data")
        ], { cwd: fileURLToPath(new URL("..", import.meta.url)) })
      )
      assert.match(stdout, /^cannot keep a database in [^ ]+: EFBIG: [^\n]+$/)
      assert.deepStrictEqual(readdirSync(join(directory, "data")), [])
    }))

  it.live("a lock of another container counts as held only while its file is renewed", () =>
    Effect.gen(function*() {
      const directory = yield* prepared
      const lock = join(directory, "lock")
      const holder = JSON.stringify({ pid: 1, startedAt: "1", space: "elsewhere" })
      writeFileSync(lock, holder)
      const refused = yield* Effect.flip(opened(directory, Effect.void))
      assert.include(refused.message, "is in use by process 1")
      assert.strictEqual(readFileSync(lock, "utf8"), holder)
      const long = (yield* Clock.currentTimeMillis) / 1000 - 60
      utimesSync(lock, long, long)
      yield* opened(directory, Effect.void)
    }))

  it.live("the error for an unusable directory explains in one line why it cannot be used", () =>
    Effect.gen(function*() {
      const file = join(yield* temporary, "file")
      writeFileSync(file, "")
      const refused = yield* Effect.flip(opened(file, Effect.void))
      assert.match(refused.message, /^cannot keep a database in .*file: .*EEXIST/)
      // an existing directory in which nothing can be created, because Linux limits paths to 4,096 bytes
      const directory = `${yield* temporary}${`/${"a".repeat(200)}`.repeat(21)}`.slice(0, 4093)
      const unlocked = yield* Effect.flip(opened(directory, Effect.void))
      assert.match(unlocked.message, /^the embedded database in [^ ]* cannot be locked: [^\n]*ENAMETOOLONG/)
    }))
})
