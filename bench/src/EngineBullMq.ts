/**
 * BullMQ as a delivery engine: keeps its jobs in Redis.
 */
import { Queue, Worker } from "bullmq"
import type { Engine } from "./DeliveryEngine.ts"
import type { Job } from "./WebhookEvent.ts"

const name = "deliver"

/** The number of jobs per bulk command. */
const bulk = 1000

/** Only the last thousand completed jobs are kept, as PostgreSQL holds the record of attempts. */
const options = { attempts: 10, backoff: { type: "exponential", delay: 1000 }, removeOnComplete: { count: 1000 } }

export const engine: Engine = {
  enqueue: async ({ redisPort }) => {
    const queue = new Queue<Job>(name, {
      connection: { host: "127.0.0.1", port: redisPort },
      defaultJobOptions: options
    })
    await queue.waitUntilReady()
    return async (jobs) => {
      if (jobs.length === 1) await queue.add(name, jobs[0]!)
      else {
        for (let i = 0; i < jobs.length; i += bulk) {
          await queue.addBulk(jobs.slice(i, i + bulk).map((data) => ({ name, data })))
        }
      }
    }
  },
  work: async ({ redisPort }, concurrency, handle) => {
    const worker = new Worker<Job>(name, (job) => handle(job.data), {
      connection: { host: "127.0.0.1", port: redisPort, maxRetriesPerRequest: null },
      concurrency
    })
    worker.on("error", (error) => process.stderr.write(`BullMQ: ${error.message}\n`))
    await worker.waitUntilReady()
  }
}
