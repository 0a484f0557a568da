/**
 * `npm start`: the standalone server.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import * as Guide from "./Guide.ts"
import * as Heap from "./Heap.ts"
import { orphaned } from "./Orphaned.ts"
import { run } from "./Run.ts"
import * as StopDeadline from "./StopDeadline.ts"
import { teardown } from "./Teardown.ts"

Heap.bounded()

const main = Effect.gen(function*() {
  const { guide } = yield* run(process.env)
  if (guide !== undefined) yield* Console.log(Guide.text(guide))
  return yield* orphaned(process.env)
})

NodeRuntime.runMain(Effect.scoped(StopDeadline.enforced(main)), { disableErrorReporting: true, teardown })
