/**
 * Graphile Worker as a delivery engine: keeps its jobs in PostgreSQL.
 */
import { Logger, makeWorkerUtils, run } from "graphile-worker"
import type { Engine } from "./DeliveryEngine.ts"
import type { Job } from "./WebhookEvent.ts"

const task = "deliver"

const logger = new Logger(() => (level, message) => {
  if (level === "error") process.stderr.write(`graphile-worker: ${message}\n`)
})

/** The number of jobs in the local queue per concurrent job, as the tasks are short. */
const fetched = 4

/**
 * Settings from the documentation's page on performance: jobs are fetched into a local queue and completed in batches.
 * Longer delays before completing only left workers idle.
 */
export const engine: Engine = {
  enqueue: async ({ databaseUrl }) => {
    const utils = await makeWorkerUtils({ connectionString: databaseUrl, logger })
    await utils.migrate()
    return async (jobs) => {
      if (jobs.length === 1) await utils.addJob(task, jobs[0]!)
      else await utils.addJobs(jobs.map((payload) => ({ identifier: task, payload })))
    }
  },
  work: async ({ databaseUrl }, concurrency, handle) => {
    await run({
      preset: {
        worker: {
          connectionString: databaseUrl,
          concurrentJobs: concurrency,
          maxPoolSize: 10,
          localQueue: { size: concurrency * fetched },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
          logger
        }
      },
      noHandleSignals: true,
      taskList: { [task]: (payload) => handle(payload as Job) }
    })
  }
}
