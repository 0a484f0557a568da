/**
 * The handler of a durable subscription in a simulated world. It records every call, whatever becomes of the caller.
 */
import { Event, type Id, SubscriptionRunner } from "@wac/core"
import { Effect } from "effect"
import type { Lane } from "./Timeline.ts"
import type { World } from "./World.ts"

/** What becomes of a call. */
const fates = { done: 8, failed: 3, slow: 1 }

const name = "world"

/** The handler, which every process calls. */
export const make = (world: World) => {
  const { now } = world.timeline

  const take = (eventId: string, attempt: number) =>
    Effect.gen(function*() {
      const begun = now()
      const chance = world.nextChance(`handler of ${eventId}`)
      const fate = world.isFaultActive("handler") ? chance.weighted(fates) : "done"
      yield* Effect.sleep(fate === "slow" ? chance.between(5000, 20_000) : chance.between(1, 300))
      const ok = fate !== "failed"
      world.record({
        kind: "handled",
        process: "handler",
        subscription: name,
        event_id: eventId,
        ok,
        attempt,
        begun,
        ended: now()
      })
      return ok
    })

  let workspaceId: Id.WorkspaceId | undefined
  const types = Event.EventType.literals

  return {
    /** Uses the subscription's name for the first time. */
    open: Effect.fnUntraced(function*(workspace: Id.WorkspaceId) {
      const begun = now()
      yield* SubscriptionRunner.open({ workspaceId: workspace, name, types })
      world.record({ kind: "subscription", process: "world", subscription: name, begun, ended: now() })
      workspaceId = workspace
    }),
    /** The subscription of a process that starts; `undefined` before it is opened. */
    of: (process: Lane): SubscriptionRunner.Options | undefined =>
      workspaceId === undefined ? undefined : {
        workspaceId,
        name,
        types,
        concurrency: 2,
        recorded: { count: () => 0, after: () => Effect.never },
        handle: ({ attempt, event }) =>
          Effect.flatMap(
            world.runFor(process, () => take(event.id, attempt)),
            (ok) => ok ? Effect.void : Effect.fail("the handler failed")
          )
      }
  }
}
