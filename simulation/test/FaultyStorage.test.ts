import { assert, describe, it } from "@effect/vitest"
import { type Ports, WorkspaceStore } from "@wac/core"
import { MemoryStorage } from "@wac/memory"
import { Context, Effect, Exit, Layer } from "effect"
import * as FaultyStorage from "../src/FaultyStorage.ts"
import * as Timeline from "../src/Timeline.ts"

const workspace = { id: "ws_1" as never, name: "W", createdAt: 0, tier: null, monthlyQuota: null, suspended: false }
const phoneNumber = { id: "pn_1", workspaceId: "ws_1", providerNumberId: "1" } as never

/** Creates a workspace in one weather. Returns what the process learned, and how many workspaces there are in the end. */
const created = async (fate: FaultyStorage.Fate) => {
  const timeline = Timeline.make(1)
  const [world, process] = [timeline.lane("world"), timeline.lane("process")]
  const storage = await Effect.runPromise(Effect.scoped(Layer.build(MemoryStorage.layer)))
  const ports = await Effect.runPromise(Effect.scoped(Layer.build(
    FaultyStorage.layer(storage, process, world, { operation: () => fate, isHintLost: () => false })
  )))
  const began = timeline.now()
  let learned: string | undefined
  let after: number | undefined
  const { create } = Context.get(ports as Context.Context<Ports.Ports>, WorkspaceStore.WorkspaceStore)
  Effect.runForkWith(process.context)(create({ workspace, phoneNumber })).addObserver((exit) => {
    learned = Exit.isSuccess(exit) ? "done" : "failed"
    after = timeline.now() - began
  })
  await timeline.run(world, Effect.sleep("1 minute"))
  const { list } = Context.get(storage, WorkspaceStore.WorkspaceStore)
  return { learned, after, stored: (await Effect.runPromise(list)).length, isDead: process.isDead() }
}

describe("FaultyStorage.layer", () => {
  it.each<readonly [string, FaultyStorage.Fate, Awaited<ReturnType<typeof created>>]>([
    ["an operation is carried out", { _tag: "Done" }, { learned: "done", after: 0, stored: 1, isDead: false }],
    ["an operation fails, and was not carried out", { _tag: "Refused" }, {
      learned: "failed",
      after: 0,
      stored: 0,
      isDead: false
    }],
    ["an operation fails, and was carried out", { _tag: "AnswerLost" }, {
      learned: "failed",
      after: 0,
      stored: 1,
      isDead: false
    }],
    ["an operation is slow", { _tag: "Slow", before: 20, after: 30 }, {
      learned: "done",
      after: 50,
      stored: 1,
      isDead: false
    }],
    [
      "an operation fails, and is carried out later",
      { _tag: "Late", failsAfter: 10, doneAfter: 20 },
      { learned: "failed", after: 10, stored: 1, isDead: false }
    ],
    [
      "the process dies before an operation",
      { _tag: "Killed", isDone: false },
      { learned: undefined, after: undefined, stored: 0, isDead: true }
    ],
    [
      "the process dies after an operation",
      { _tag: "Killed", isDone: true },
      { learned: undefined, after: undefined, stored: 1, isDead: true }
    ]
  ])("%s", async (_, fate, expected) => {
    assert.deepStrictEqual(await created(fate), expected)
  })
})
