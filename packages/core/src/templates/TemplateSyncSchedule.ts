/**
 * When a workspace's templates are listed next (`TemplateSync`): every hour, soon after a change, and sooner after a
 * failure. Pure.
 */
import { Duration } from "effect"

/** The longest interval between listings. Providers allow a few hundred calls per hour and account. */
export const interval = Duration.hours(1)

/**
 * The shortest interval between listings of a workspace, however often the provider reports changes. Also the first
 * delay after a failure.
 */
export const minInterval = Duration.minutes(1)

/** When a workspace's templates are listed next, by `Elapsed`, and how earlier listings ended. */
export interface TemplateSyncSchedule {
  /** `Infinity` while a listing runs, unless a change was reported meanwhile. */
  readonly dueAt: number
  readonly startedAt: number | null
  /** Failures since the last success. */
  readonly failures: number
}

/** The schedule of a workspace that is new to this process. */
export const initial = (now: number): TemplateSyncSchedule => ({ dueAt: now, startedAt: null, failures: 0 })

/** The schedule when a listing begins. */
export const started = (schedule: TemplateSyncSchedule, now: number): TemplateSyncSchedule => ({
  ...schedule,
  dueAt: Infinity,
  startedAt: now
})

/**
 * The schedule when a listing ends. After a failure the delay is shorter and doubles each time. A change that was
 * reported meanwhile is listed earlier.
 */
export const ended = (schedule: TemplateSyncSchedule, now: number, succeeded: boolean): TemplateSyncSchedule => {
  const wait = succeeded ? interval : Duration.min(interval, Duration.times(minInterval, 2 ** schedule.failures))
  return {
    ...schedule,
    dueAt: Math.min(schedule.dueAt, now + Duration.toMillis(wait)),
    failures: succeeded ? 0 : schedule.failures + 1
  }
}

/** The schedule when the process stops a listing: it begins again with the runner. */
export const interrupted = (schedule: TemplateSyncSchedule, now: number): TemplateSyncSchedule => ({
  ...schedule,
  dueAt: now
})

/** The schedule after the provider has reported a change. */
export const requested = (schedule: TemplateSyncSchedule, now: number): TemplateSyncSchedule => ({
  ...schedule,
  dueAt: Math.min(
    schedule.dueAt,
    Math.max(now, schedule.startedAt === null ? now : schedule.startedAt + Duration.toMillis(minInterval))
  )
})
