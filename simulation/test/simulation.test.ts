/**
 * Whole runs: one seed gives one history, seeds keep the contract, and bugs that are planted are found.
 */
import { assert, describe, it } from "@effect/vitest"
import { History, type PromiseName } from "@wac/checker"
import { DeliveryStore, MessageStore, Provider } from "@wac/core"
import * as Extent from "@wac/testbed/Extent"
import { Effect, Layer, Option, Result } from "effect"
import * as Plan from "../src/Plan.ts"
import * as Shrink from "../src/Shrink.ts"
import * as Simulation from "../src/Simulation.ts"
import * as Table from "../src/Table.ts"

const seeds = Array.from({ length: Extent.of(8, 500) }, (_, index) => index + 1)

/** What is met under the seeds, together. */
const expected = [
  "accepted",
  "refused",
  "not_sent",
  "unknown",
  "report failed",
  "report read",
  "cancel 200",
  "send 200",
  "send 202",
  "send 409",
  "send 504",
  "send null",
  "attempt 200",
  "attempt 500",
  "attempt null",
  "the connection is lost before it",
  "it is done, and the connection is lost",
  "it fails at its deadline, and is done later",
  "the process is killed at it",
  "is suspended for ",
  "has started",
  "is dead"
]

const printed = ({ history, notes }: Simulation.Run): string => History.print(history) + JSON.stringify(notes)

describe("Simulation.run", () => {
  it("one seed gives one history, byte for byte, and another seed another", async () => {
    const [first, second, other] = [
      await Simulation.run(Plan.make(1)),
      await Simulation.run(Plan.make(1)),
      await Simulation.run(Plan.make(2))
    ]
    assert.strictEqual(printed(second), printed(first))
    assert.notStrictEqual(printed(other), printed(first))
  })

  it("each of these seeds keeps every promise of the contract, and together they meet each kind of fault", async () => {
    const seen = new Set<string>()
    for (const seed of seeds) {
      const run = await Simulation.run(Plan.make(seed))
      assert.isTrue(run.verdict.ok, `npm run simulate -- --seed ${seed}`)
      for (const entry of run.history.entries) {
        seen.add(
          entry.kind === "provider_call" ? entry.outcome : "status" in entry ? `${entry.kind} ${entry.status}` : ""
        )
      }
      for (const { text } of run.notes) seen.add(text.replace(/^.*: |\d+ ms/g, ""))
    }
    for (const each of expected) assert.include([...seen], each)
  })
})

/** A bug, the promise that it breaks, and within how many seeds it is found. */
interface Bug {
  readonly title: string
  readonly planted: Simulation.Planted
  readonly breaks: PromiseName
  readonly within: number
}

const bugs: ReadonlyArray<Bug> = [
  {
    title: "an adapter that asks the provider again after no answer",
    planted: {
      provider: (right) =>
        Layer.effect(
          Provider.Provider,
          Effect.map(Provider.Provider, (provider) => ({
            ...provider,
            send: (command: Provider.ProviderSend) =>
              Effect.flatMap(
                provider.send(command),
                (outcome) => outcome._tag === "Unknown" ? provider.send(command) : Effect.succeed(outcome)
              )
          }))
        ).pipe(Layer.provide(right))
    },
    breaks: "one-provider-call",
    within: 3
  },
  {
    title: "an event that is delivered under another id when it is tried again",
    planted: {
      inFront: Layer.effect(
        DeliveryStore.DeliveryStore,
        Effect.map(DeliveryStore.DeliveryStore, (store) => ({
          ...store,
          claimDue: (command) =>
            Effect.map(store.claimDue(command), (claimed) => ({
              ...claimed,
              deliveries: claimed.deliveries.map((one) =>
                one.delivery.attemptCount === 0
                  ? one
                  : { ...one, event: { ...one.event, id: `${one.event.id.slice(0, -1)}Z` as typeof one.event.id } }
              )
            }))
        }))
      )
    },
    breaks: "event-fixed",
    within: 3
  },
  {
    title: "a cancellation that is answered and not stored",
    planted: {
      inFront: Layer.effect(
        MessageStore.MessageStore,
        Effect.map(MessageStore.MessageStore, (store) => ({
          ...store,
          cancel: (command) =>
            Effect.flatMap(
              store.get(command.workspaceId, command.messageId),
              (found) =>
                Option.isSome(found) && found.value.status === "queued"
                  ? Effect.succeed(Option.some(Result.succeed({ ...found.value, status: "cancelled" as const })))
                  : store.cancel(command)
            )
        }))
      )
    },
    breaks: "cancelled-is-never-sent",
    within: 10
  },
  {
    title: "a report that is acknowledged before it is stored",
    planted: {
      inFront: Layer.effect(
        MessageStore.MessageStore,
        Effect.map(MessageStore.MessageStore, (store) => ({
          ...store,
          applyReport: (command) =>
            Effect.as(Effect.forkDetach(Effect.delay(store.applyReport(command), "1 second")), undefined)
        }))
      )
    },
    breaks: "every-event",
    within: 20
  }
]

describe("Simulation.Planted", () => {
  it.each(bugs)("$title is found within few seeds", async ({ breaks, planted, within }) => {
    for (let seed = 1; seed <= within; seed++) {
      const { verdict } = await Simulation.run(Plan.make(seed), planted)
      if (verdict.broken.some(({ promise }) => promise === breaks)) return
    }
    assert.fail(`not found in ${within} seeds`)
  })
})

describe("Shrink.shrink", () => {
  /** Fails with the sends 3 and 7, and faults of the storage. */
  const fails: Shrink.Fails = async ({ faults, operations }) =>
    faults.includes("storage") && [3, 7].every((id) => operations.some((operation) => operation.id === id))

  it("a plan that fails is shrunk to the operations and the faults without which it does not fail", async () => {
    const { faults, operations } = await Shrink.shrink(Plan.make(1), fails)
    assert.deepStrictEqual(faults, ["storage"])
    assert.deepStrictEqual(operations.map(({ id }) => id).sort(), [3, 7])
  })
})

describe("Table.of", () => {
  it("a table has what was seen and what befell the processes in the order of time, and marks what proves a broken promise", () => {
    const guilty: History.Entry = {
      kind: "provider_call",
      process: "provider",
      message_id: "msg_01KDVDNA00MQT1N0V1ZQPD2ZAV",
      outcome: "unknown",
      begun: 2000,
      ended: 3500
    }
    const table = Table.of({
      plan: { seed: 5, processes: 2, length: 1, faults: [], quota: null, operations: [] },
      history: { header: { format: "wac-history", version: 1 }, entries: [guilty] },
      notes: [{ at: 1000, process: "p1", text: "is dead" }],
      verdict: {
        ok: false,
        broken: [{ promise: "one-provider-call", section: 3, found: "called twice", evidence: [guilty] }]
      }
    })
    assert.deepStrictEqual(
      table.split("\n").slice(0, 4),
      [
        "seed 5, 2 processes, faults: none",
        "   begun  ended  who       what",
        "   0.000         p1        is dead",
        ">  1.000  2.500  provider  send msg-1: unknown "
      ].map((line) => line.trimEnd())
    )
    assert.include(table, "§3 one-provider-call: called twice. Promised: After a provider call")
  })
})
