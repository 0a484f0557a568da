/**
 * The limit on test events of a workspace, which a person triggers: tests of the webhook, and the probes of resumes. Each
 * is posted to any public address and stored with its attempt.
 */
import { Clock, Effect } from "effect"
import type { WorkspaceId } from "../Id.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import type { RateLimitStore } from "../limits/RateLimitStore.ts"
import type { AttemptTrigger } from "./Delivery.ts"

/** What a test event is for. */
export type TestTrigger = Extract<AttemptTrigger, "test" | "probe">

/** Ten tests, then one in six seconds. Two tokens are left to probes, so that tests do not prevent a resume. */
const probes: RateLimit.Policy = { name: "workspace", interval: 6_000, capacity: 12 }
const policies: { readonly [trigger in TestTrigger]: RateLimit.Policy } = {
  probe: probes,
  test: { ...probes, reserve: 2 }
}

/** Counts a test event, or fails if the workspace has triggered too many. */
export const spend = Effect.fnUntraced(function*(
  limits: RateLimitStore["Service"],
  workspaceId: WorkspaceId,
  trigger: TestTrigger
) {
  const bucket = { key: `webhook_test:${workspaceId}`, policy: policies[trigger] }
  const readings = yield* limits.spend([bucket], yield* Clock.currentTimeMillis)
  yield* RateLimit.observe(readings)
  const refusal = RateLimit.refusal(readings, "the workspace tests its webhook too often; wait before the next test")
  if (refusal !== undefined) return yield* refusal
})
