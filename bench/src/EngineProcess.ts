/**
 * The worker of a job queue in a child process: the service that one would write by hand on top of the queue.
 */
import * as AttemptLog from "./AttemptLog.ts"
import * as Child from "./Child.ts"
import type { Where } from "./DeliveryEngine.ts"
import * as Engines from "./Engines.ts"
import * as WebhookAttempt from "./WebhookAttempt.ts"
import type { Webhook } from "./WebhookEvent.ts"

export interface Options {
  readonly engine: Engines.Name
  readonly where: Where
  readonly concurrency: number
  readonly webhooks: ReadonlyArray<Webhook>
}

Child.serve<Options, never>(async ({ concurrency, engine, webhooks, where }) => {
  const attempt = WebhookAttempt.to(webhooks)
  const record = AttemptLog.open(where.databaseUrl)
  const { work } = await Engines.load(engine)
  await work(where, concurrency, async (job) => {
    const attempted = await attempt(job)
    await record(job, attempted)
    if (attempted.status !== 200) throw new Error(`answered ${attempted.status}; only 200 counts`)
  })
  return { ready: null }
})
