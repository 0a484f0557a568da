/**
 * Measures every few minutes how much waits in each workspace (queued messages and held events), and stores the peak of
 * each hour. Any number of processes may run it.
 */
import { Clock, Effect, Layer, Option } from "effect"
import * as BackgroundLoop from "./BackgroundLoop.ts"
import { QueueStore } from "./queue/QueueStore.ts"
import * as RepeatedFailure from "./RepeatedFailure.ts"
import { UsageStore } from "./usage/UsageStore.ts"
import * as Waiting from "./usage/Waiting.ts"
import { WebhookStore } from "./webhooks/WebhookStore.ts"
import type { Workspace } from "./workspaces/Workspace.ts"
import { WorkspaceStore } from "./workspaces/WorkspaceStore.ts"

/** How many workspaces are measured concurrently, few enough not to delay requests. */
const concurrency = 4

/** Runs as long as its scope. */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const usage = yield* UsageStore
    const queue = yield* QueueStore
    const webhooks = yield* WebhookStore
    const workspaces = yield* WorkspaceStore

    const measure = Effect.fnUntraced(function*({ id }: Workspace) {
      const now = yield* Clock.currentTimeMillis
      const [{ queued }, webhook] = yield* Effect.all([queue.backlog(id, now), webhooks.get(id)])
      const held = Option.match(webhook, { onNone: () => 0, onSome: ({ heldCount }) => heldCount })
      yield* usage.raise(Waiting.peakAt(id, now, { queued, held }))
    })

    const round = Effect.flatMap(workspaces.list, (all) => RepeatedFailure.each(all, measure, { concurrency }))
    yield* Effect.forkScoped(BackgroundLoop.make("counting what waits", round, Effect.sleep(Waiting.every)))
  })
)
