/**
 * The interface of a job queue that runs deliveries: how jobs are added and how workers process them.
 */
import type { Job } from "./WebhookEvent.ts"

/** The addresses of the queue's storage and of the database that records attempts. */
export interface Where {
  readonly databaseUrl: string
  /** The port of Redis; 0 if the queue does not use Redis. */
  readonly redisPort: number
}

/** Attempts a job and records the attempt. Rejects if the job has to be retried. */
type Handle = (job: Job) => Promise<void>

export interface Engine {
  /** Prepares the queue. Each call of the returned function adds jobs durably: one job alone, several in bulk. */
  readonly enqueue: (where: Where) => Promise<(jobs: ReadonlyArray<Job>) => Promise<void>>
  /** Processes jobs until the process ends, up to `concurrency` at once. */
  readonly work: (where: Where, concurrency: number, handle: Handle) => Promise<void>
}
