/**
 * pg-boss as a delivery engine: keeps its jobs in PostgreSQL.
 */
import { PgBoss } from "pg-boss"
import type { Engine } from "./DeliveryEngine.ts"
import type { Job } from "./WebhookEvent.ts"

const queue = "deliver"

/**
 * The number of the queue's workers; each fetches its share of jobs at once. With more, CPU use and latency both grew.
 */
const workers = 2

/** Workers are woken by notifications, fetch in batches, and do not pause while batches come back full. */
export const engine: Engine = {
  enqueue: async ({ databaseUrl }) => {
    const boss = new PgBoss({ connectionString: databaseUrl, supervise: false, schedule: false })
    boss.on("error", () => {})
    await boss.start()
    await boss.createQueue(queue, { notify: true, retryLimit: 10, retryBackoff: true })
    return async (jobs) => {
      if (jobs.length === 1) await boss.send(queue, jobs[0]!)
      else await boss.insert(queue, jobs.map((data) => ({ data })))
    }
  },
  work: async ({ databaseUrl }, concurrency, handle) => {
    const boss = new PgBoss({ connectionString: databaseUrl, useListenNotify: true, schedule: false })
    boss.on("error", (error) => process.stderr.write(`pg-boss: ${error.message}\n`))
    await boss.start()
    await boss.work<Job, void, {
      readonly batchSize: number
      readonly localConcurrency: number
      readonly burstWhenBatchFull: true
      readonly pollingIntervalSeconds: number
      readonly perJobResults: true
    }>(
      queue,
      {
        batchSize: concurrency / workers,
        localConcurrency: workers,
        burstWhenBatchFull: true,
        pollingIntervalSeconds: 0.5,
        perJobResults: true
      },
      (jobs) =>
        Promise.all(jobs.map(({ data, id }) =>
          handle(data).then(
            () => ({ id, status: "completed" as const }),
            () => ({ id, status: "failed" as const })
          )
        ))
    )
  }
}
