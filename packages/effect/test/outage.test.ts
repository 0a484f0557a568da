/**
 * What runs in the background while the storage fails: over the memory storage, whose operations fail when the test
 * says so.
 */
import { Polling, Ports, ProviderWebhook, StoreError } from "@wac/core"
import { MemoryStorage } from "@wac/memory"
import { SandboxProvider } from "@wac/sandbox"
import { Context, Effect, Layer } from "effect"
import { assert, describe, it } from "vitest"
import { Adapter } from "../src/index.ts"
import type { LogEntry } from "../src/promises.ts"
import { start } from "./instance.ts"

/** Which operations fail, such as `QueueStore.work`. */
interface Outage {
  fails: (operation: string) => boolean
}

/** The operations that wait for a hint, and so never fail. */
const hint = "awaitHint"

/** A port whose operations fail while the outage says so. */
const failing = <Service extends object>(port: Ports.Name, service: Service, outage: Outage): Service => {
  const failed = <A>(operation: string, effect: Effect.Effect<A>) =>
    Effect.suspend(() =>
      outage.fails(operation) ? Effect.fail(new StoreError.StoreError({ operation, problem: "disk_full" })) : effect
    )
  const member = (name: string, value: unknown): unknown => {
    const operation = `${port}.${name}`
    if (name === hint) return value
    if (operation === "OutboxStore.enqueueFunction") return "enqueue"
    if (Effect.isEffect(value)) return failed(operation, value as Effect.Effect<unknown>)
    if (typeof value !== "function") return value
    return (...args: ReadonlyArray<unknown>) => {
      const answer: unknown = value.apply(service, args)
      return Effect.isEffect(answer) ? failed(operation, answer as Effect.Effect<unknown>) : answer
    }
  }
  return Object.fromEntries(Object.entries(service).map(([name, value]) => [name, member(name, value)])) as Service
}

const storage = (outage: Outage): Layer.Layer<Ports.Ports> =>
  Layer.effectContext(
    Effect.map(Layer.build(MemoryStorage.layer), (context) =>
      (Object.keys(Ports.all) as ReadonlyArray<Ports.Name>).reduce(
        (kept, port) => {
          const key = Ports.all[port] as Context.Key<Ports.Ports, object>
          return Context.add(kept, key, failing(port, Context.get(context, key), outage))
        },
        // other processes write to a storage that can be unavailable
        Context.add(context, Polling.Polling, Polling.steady)
      ))
  )

/** The sandbox, as if it posted to us. */
const provider = Layer.mergeAll(
  SandboxProvider.layer,
  Layer.succeed(ProviderWebhook.ProviderWebhook, {
    name: "sandbox",
    handshake: () => undefined,
    verify: () => Effect.succeed(false),
    read: () => Effect.succeed([])
  })
)

const minutes = 5

/** Lines without their number of failures, and how often each came. */
const counted = (lines: ReadonlyArray<LogEntry>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const { message } of lines) {
    const line = message.replace(/ \(and \d+ more times? since the last line\)$/, "")
    counts.set(line, (counts.get(line) ?? 0) + 1)
  }
  return counts
}

/** What each component says once its work succeeds again, by what it said before. */
const endOf = (failed: string): RegExp =>
  new RegExp(`^${failed.replace(/ failed; .*$/, "")} succeeds again after \\d+ failures? in .+$`)

describe("a storage that fails for minutes", () => {
  it("each component in the background says so once a minute, with a count, and says when it ends", async () => {
    const outage: Outage = { fails: () => false }
    const { clock, log, wac } = await start({
      storage: Adapter.storage(storage(outage)),
      provider: Adapter.provider(provider),
      masterKey: new Uint8Array(32).fill(1),
      previousMasterKey: new Uint8Array(32).fill(2)
    })
    wac.on("message.sent", () => {})
    await wac.subscribe("receipts", { types: ["message.delivered"] }, () => {})
    // until shortly before the hourly work
    await clock.advance("58 minutes")
    assert.deepStrictEqual(log.filter(({ level }) => level === "warn" || level === "error"), [])

    outage.fails = () => true
    const begun = log.length
    await clock.advance(`${minutes} minutes`)
    outage.fails = () => false
    const during = log.slice(begun).filter(({ level }) => level === "warn" || level === "error")
    const lines = counted(during)
    assert.includeMembers([...lines.keys()], [
      "work on the queue failed; it is tried again",
      "writing heartbeats failed; it is tried again",
      "work on the outbox failed; it is tried again",
      "work on campaigns failed; it is tried again",
      "work on replays failed; it is tried again",
      "work on the subscription receipts failed; it is tried again",
      "reading events for a listener failed; it is tried again",
      "claiming deliveries failed; it is tried again",
      "claiming provider posts failed; it is tried again",
      "claiming customers' files failed; it is tried again",
      "sweeping messages failed; it is tried again",
      "sweeping provider posts failed; it is tried again",
      "tidying skipped deliveries failed; it is tried again",
      "deleting expired data failed; it is tried again",
      "deleting files failed; it is tried again",
      "rewrapping secrets failed; it is tried again",
      "checking for alerts failed; it is tried again",
      "syncing templates failed; it is tried again"
    ])
    for (const [line, times] of lines) assert.isAtMost(times, minutes, line)
    assert.isTrue(
      during.some(({ message }) => /^work on the queue .* \(and \d\d+ more times since the last line\)$/.test(message))
    )
    assert.isTrue(during.every(({ error = "" }) => !/select|insert|update/i.test(error)))

    const ended = log.length
    await clock.advance("2 hours")
    const after = log.slice(ended).map(({ message }) => message)
    for (const line of lines.keys()) assert.lengthOf(after.filter((said) => endOf(line).test(said)), 1, line)
    assert.deepStrictEqual(log.slice(ended).filter(({ level }) => level === "warn" || level === "error"), [])
  })

  it("until the first heartbeat, the log says once a minute that queued messages wait for it", async () => {
    const { clock, log } = await start({
      storage: Adapter.storage(storage({ fails: (operation) => operation === "QueueStore.beat" }))
    })
    await clock.advance("3 minutes")
    const lines = log.filter(({ level }) => level === "warn").map(({ message }) => message)
    const line = "the heartbeat that queued messages wait for failed; it is tried again"
    assert.deepStrictEqual(lines, [line, ...[1, 2, 3].map(() => `${line} (and 11 more times since the last line)`)])
  })
})
