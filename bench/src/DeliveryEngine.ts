/**
 * A job queue as the engine of deliveries: how jobs come in, and how they are worked off.
 */
import type { Job } from "./WebhookEvent.ts"

/** Where it keeps its jobs, and where attempts are recorded. */
export interface Where {
  readonly databaseUrl: string
  /** Of Redis; 0 for who needs none. */
  readonly redisPort: number
}

/** Attempts a job and records the attempt. Rejects when the job is to be tried again. */
type Handle = (job: Job) => Promise<void>

export interface Engine {
  /** Makes ready what it needs. Then each call adds jobs durably: one by itself, or many in bulk. */
  readonly enqueue: (where: Where) => Promise<(jobs: ReadonlyArray<Job>) => Promise<void>>
  /** Works for as long as the process, on so many jobs at once. */
  readonly work: (where: Where, concurrency: number, handle: Handle) => Promise<void>
}
